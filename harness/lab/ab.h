/* SPDX-License-Identifier: GPL-2.0-only */
/* The order of an A/B's boots; pure. */
#ifndef SHOOTDOWN_AB_H
#define SHOOTDOWN_AB_H

#include <stdint.h>

struct ab_boot {
	unsigned int arm;    /* index */
	unsigned int number; /* from 1 */
};

/*
 * boots blocks of all arms, each block in an order of its own that seed decides:
 * whatever drifts on the host meets all arms alike. With two arms the leader
 * changes from block to block. arms x boots rows, the caller frees; NULL: no memory.
 */
struct ab_boot *ab_order(unsigned int arms, unsigned int boots, uint64_t seed);

#endif
