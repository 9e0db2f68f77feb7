/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NUMA nodes as the kernel lists them: numbers with gaps, nodes with memory and
 * no CPU (CXL, high-bandwidth memory), nodes with CPUs and no memory; memory
 * tiers and demotion. Reads sysfs under a root folder (lib/fs.h).
 */
#ifndef SHOOTDOWN_NODES_H
#define SHOOTDOWN_NODES_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

struct node {
	unsigned int number;
	hwloc_bitmap_t cpus;   /* online ones; may be empty */
	uint64_t memory_bytes; /* 0: no memory */
	uint64_t free_bytes;
	uint64_t room_bytes; /* of these, what user memory can have before the kernel reclaims */
	int tier;	     /* its memory tier (less is faster); -1: not known */
	bool allowed;	     /* this process may allocate from it */
	bool cxl;	     /* its memory is that of a CXL region, as far as sysfs tells */
};

struct nodes {
	struct node *list; /* ascending by number; online nodes */
	unsigned int count;
	unsigned int *distances; /* [from * count + to] by index; 0: not known */
	bool gaps;		 /* numbers are not 0..count-1 */
	int demotion;		 /* 1 on, 0 off, -1: this kernel cannot demote */
};

/* What "demotion" is read from; "1" or "0" is written there. */
#define NODES_DEMOTION_PATH "/sys/kernel/mm/numa/demotion_enabled"

/*
 * -ENOENT when the kernel has no NUMA nodes in sysfs (built without CONFIG_NUMA).
 * The caller frees with nodes_free().
 */
int nodes_read(const char *root, struct nodes **nodes);
void nodes_free(struct nodes *nodes);

/* NULL when there is no such node online. */
const struct node *nodes_find(const struct nodes *nodes, unsigned int number);

/* As the firmware's tables rate it: 10 is the node itself. 0: not known, or no such node. */
unsigned int nodes_distance(const struct nodes *nodes, unsigned int from, unsigned int to);

/* The tier of the fastest memory and of the slowest; -1: this kernel shows none. */
int nodes_top_tier(const struct nodes *nodes);
int nodes_bottom_tier(const struct nodes *nodes);

/*
 * Where the kernel demotes the pages of a node to first: the nearest node of the
 * next slower tier, by number when several are as near (mm/memory-tiers.c,
 * establish_demotion_targets(); of equals the kernel takes any). NULL: nowhere.
 */
const struct node *nodes_demotion_target(const struct nodes *nodes, const struct node *node);

/* Whether `to` is that node, or one that is as near to `from` in the same tier. */
bool nodes_demotes_to(const struct nodes *nodes, const struct node *from, const struct node *to);

/* How many have memory, and how many of these have no CPU. */
unsigned int nodes_with_memory(const struct nodes *nodes);
unsigned int nodes_memory_only(const struct nodes *nodes);

/*
 * The nodes that memory policy lets this process allocate from. -ENOSYS or -EPERM
 * when the calls that place and move pages cannot be used (a kernel without
 * CONFIG_NUMA, a container's filter). The caller frees with hwloc_bitmap_free().
 */
int nodes_policy(hwloc_bitmap_t *allowed);

#endif
