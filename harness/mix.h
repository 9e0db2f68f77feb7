/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs the points of a mix (--interleave) are on. Pure. */
#ifndef SHOOTDOWN_MIX_H
#define SHOOTDOWN_MIX_H

#include "../lib/log.h"
#include "point.h"

struct mix {
	struct participant *participants;
	struct point *points;
	unsigned int *lists; /* capacity CPU lists of cpu_count numbers */
	const unsigned int *cpus;
	unsigned int cpu_count, capacity;
};

/* Room for capacity points on these CPUs (borrowed). 0 or -ENOMEM. */
int mix_new(unsigned int capacity, const unsigned int *cpus, unsigned int cpu_count,
	    struct mix **mix);
void mix_free(struct mix *mix);

/*
 * Gives each of the first count participants its CPUs: its control CPU and those of
 * its own threads first, then all others, so that its mm still sees every CPU. The
 * first that wants neighbours gets them, on the CPUs that are nobody's own. -EINVAL,
 * said, when there are too few CPUs.
 */
int mix_place(struct mix *mix, unsigned int count, struct log *log);

/*
 * Moves those of the first count participants that were not skipped to the front, in
 * their order, with their points; returns how many they are. mix_place() comes next.
 */
unsigned int mix_leave_out_skipped(struct mix *mix, unsigned int count);

#endif
