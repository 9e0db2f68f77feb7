/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim asked for from outside, through memory.reclaim of the point's cgroup. */
#ifndef SHOOTDOWN_RECLAIM_H
#define SHOOTDOWN_RECLAIM_H

#include <stddef.h>

#include "stressor.h"

/* clang-format off */
#define RECLAIM_OPTION                                                                            \
	{ .name = "swappiness", .type = OPTION_UINT, .fallback = "200", .max = 200,               \
	  .metavar = "N",                                                                         \
	  .help = "given to memory.reclaim where the kernel takes it (6.10 and later)" }
/* clang-format on */

struct reclaim {
	int file; /* memory.reclaim */
	char request[64];
	size_t length;
};

/* Opens the file and forms the request for this many bytes; says what went wrong. */
int reclaim_arm(struct task *task, struct reclaim *reclaim, uint64_t bytes);

/*
 * One write, nothing else. Less than was asked for is no error here (EAGAIN): the
 * stressor counts what was really reclaimed.
 */
int reclaim_run(struct task *task, const struct reclaim *reclaim);

#endif
