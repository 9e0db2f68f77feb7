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
	int tier;     /* its memory tier (less is faster); -1: not known */
	bool allowed; /* this process may allocate from it */
};

struct nodes {
	struct node *list; /* ascending by number; online nodes */
	unsigned int count;
	bool gaps;    /* numbers are not 0..count-1 */
	int demotion; /* 1 on, 0 off, -1: this kernel cannot demote */
};

/*
 * -ENOENT when the kernel has no NUMA nodes in sysfs (built without CONFIG_NUMA).
 * The caller frees with nodes_free().
 */
int nodes_read(const char *root, struct nodes **nodes);
void nodes_free(struct nodes *nodes);

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
