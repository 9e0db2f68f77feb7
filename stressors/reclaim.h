/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim asked for from outside, through memory.reclaim of the point's cgroup. */
#ifndef SHOOTDOWN_RECLAIM_H
#define SHOOTDOWN_RECLAIM_H

#include <stddef.h>

#include "stressor.h"

/* The swappiness that looks at anonymous pages only (MAX_SWAPPINESS in include/linux/swap.h). */
#define RECLAIM_ANONYMOUS 200

/* clang-format off */
#define RECLAIM_OPTION                                                                            \
	{ .name = "swappiness", .type = OPTION_UINT, .fallback = "200", .max = RECLAIM_ANONYMOUS, \
	  .metavar = "N",                                                                         \
	  .help = "given to memory.reclaim where the kernel takes it (6.10 and later); 0 spares "  \
		  "anonymous pages: a skip" }
/* clang-format on */

struct reclaim {
	int file; /* memory.reclaim */
	char request[64];
	size_t length;
};

/*
 * Opens the file and forms the request for this many bytes; says what went wrong, and
 * skips a swappiness by which the kernel would reclaim no anonymous pages.
 */
int reclaim_arm(struct task *task, struct reclaim *reclaim, uint64_t bytes);

/*
 * One write, nothing else. Less than was asked for is no error here (EAGAIN): the
 * stressor counts what was really reclaimed.
 */
int reclaim_run(struct task *task, const struct reclaim *reclaim);

#endif
