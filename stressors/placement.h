/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between which NUMA nodes pages are moved, and on which node they are: what the
 * stressors that move pages share. Nodes are chosen from sysfs (lib/nodes.h), so
 * numbers with gaps and nodes without CPUs or without memory are fine. Moves nothing.
 */
#ifndef SHOOTDOWN_PLACEMENT_H
#define SHOOTDOWN_PLACEMENT_H

#include "region.h"

/* Option rows; "auto" leaves the choice to placement_find(). */
/* clang-format off */
#define PLACEMENT_OPTIONS                                                                         \
	{ .name = "from", .type = OPTION_NODE, .fallback = "auto", .metavar = "NODE",             \
	  .help = "node that the pages are on at first; auto: that of the control CPU, or the "   \
		  "nearest to it that has room" },                                                \
	{ .name = "to", .type = OPTION_NODE, .fallback = "auto", .metavar = "NODE",               \
	  .help = "node that they go to; auto: the nearest with room, or where the kernel "       \
		  "demotes to" }
/* clang-format on */

/*
 * Row of the environment table of a stressor that wants its pages where it put them:
 * NUMA balancing moves those that a thread on another node uses (1), and promotes those on
 * a slower tier (2).
 */
#define PLACEMENT_KNOB                                                                             \
	{                                                                                          \
		.kind = ENVIRONMENT_KNOB, .path = "/proc/sys/kernel/numa_balancing", .text = "0"   \
	}

struct placement {
	unsigned int from, to; /* node numbers */
};

/*
 * Chooses by the point's options "from", "to" and "pages". down: `from` is in the
 * fastest tier and `to` in a slower one. root as in lib/fs.h. 0; or 1, and reason
 * says what is missing and what to do.
 */
int placement_find(const char *root, const struct point *point, bool down,
		   struct placement *placement, char *reason, size_t size);

/* The same for a worker on the running machine; says a skip with its reason. */
int placement_choose(struct task *task, bool down, struct placement *placement);

/* region_make() with every page on one node; says it when the kernel put them elsewhere. */
int placement_make_region(struct task *task, struct region *region, unsigned int node);

/*
 * How many pages of the region are on a node now, by move_pages() without nodes.
 * -1 with errno when it cannot be asked.
 */
long placement_count(const struct region *region, unsigned int node);

/* move_pages(2), for the kernel's own numbers of nodes; as the system call, -1 with errno. */
long placement_move(pid_t pid, unsigned long count, void *const *pages, const int *nodes,
		    int *status, int flags);

#endif
