// SPDX-License-Identifier: GPL-2.0-only
/* Nodes chosen, pages put there and found again. System calls: libnuma is not needed. */
#include "placement.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/nodes.h"

#define SPARE_BYTES (8ULL << 20) /* beside the pages: page tables, workers, other processes */
#define QUERY_PAGES 512

/* What is asked of a node, and how it is told apart from better ones. */
struct choice {
	const struct nodes *nodes;
	const struct node *near; /* its distance decides; NULL: the number does */
	uint64_t bytes;
	int below; /* only tiers slower than this one; INT_MIN: all */
	int tier;  /* only this tier; -1: all */
};

static bool suits(const struct choice *choice, const struct node *node)
{
	return node->allowed && node->room_bytes >= choice->bytes && node != choice->near &&
	       (choice->tier < 0 || node->tier == choice->tier) && node->tier > choice->below;
}

static unsigned int distance_to(const struct choice *choice, const struct node *node)
{
	return choice->near ? nodes_distance(choice->nodes, choice->near->number, node->number) : 0;
}

/* The nearest that suits; of equals the one with the lowest number. NULL: none. */
static const struct node *nearest(const struct choice *choice)
{
	const struct node *best = NULL;

	for (unsigned int i = 0; i < choice->nodes->count; i++) {
		const struct node *node = &choice->nodes->list[i];

		if (suits(choice, node) &&
		    (!best || distance_to(choice, node) < distance_to(choice, best)))
			best = node;
	}
	return best;
}

static const struct node *node_of_cpu(const struct nodes *nodes, unsigned int cpu)
{
	for (unsigned int i = 0; i < nodes->count; i++)
		if (hwloc_bitmap_isset(nodes->list[i].cpus, cpu))
			return &nodes->list[i];
	return NULL;
}

/* 1 with the reason when a node that the user named cannot be used. */
static int unusable(const struct choice *choice, const struct node *node, const char *option,
		    const char *given, char *reason, size_t size)
{
	if (!node)
		snprintf(reason, size,
			 "%s=%s: there is no such node online; \"shootdown check\" shows those "
			 "there are",
			 option, given);
	else if (!node->memory_bytes)
		snprintf(reason, size, "%s=%s: this node has no memory; name another", option,
			 given);
	else if (!node->allowed)
		snprintf(reason, size,
			 "%s=%s: this process may not use that node's memory (its cpuset)", option,
			 given);
	else if (node->room_bytes < choice->bytes)
		snprintf(reason, size,
			 "%s=%s: %llu MiB are needed there, %llu are free beside the kernel's "
			 "reserve; give fewer pages",
			 option, given, (unsigned long long)choice->bytes >> 20,
			 (unsigned long long)node->room_bytes >> 20);
	else
		return 0;
	return 1;
}

/* The node an option names; *node is NULL for "auto". */
static int named(const struct choice *choice, const struct point *point, const char *option,
		 const struct node **node, char *reason, size_t size)
{
	const char *given = option_string(point->parameters, option);

	*node = NULL;
	if (!strcmp(given, "auto"))
		return 0;
	*node = nodes_find(choice->nodes, strtoul(given, NULL, 10));
	return unusable(choice, *node, option, given, reason, size);
}

/* One that would suit if this process might use it; NULL: none. */
static const struct node *forbidden(const struct choice *choice)
{
	for (unsigned int i = 0; i < choice->nodes->count; i++) {
		struct node node = choice->nodes->list[i];

		if (node.allowed)
			continue;
		node.allowed = true;
		if (suits(choice, &node))
			return &choice->nodes->list[i];
	}
	return NULL;
}

static int say_none(const struct choice *choice, const char *what, char *reason, size_t size)
{
	const struct node *node = forbidden(choice);

	if (node) {
		snprintf(reason, size,
			 "needs %s: node %u would do, but this process may not use its memory; "
			 "give its cpuset (cpuset.mems) that node",
			 what, node->number);
		return 1;
	}
	snprintf(
		reason, size,
		"needs %s with %llu MiB free beside the kernel's reserve; give fewer pages, or a "
		"machine or guest with more nodes (\"shootdown check\" shows those here; \"lab --numa\" and \"--cxl\" make some)",
		what, (unsigned long long)choice->bytes >> 20);
	return 1;
}

static int find_from(struct choice *choice, const struct point *point, bool down,
		     const struct node **from, char *reason, size_t size)
{
	const struct node *home = point->cpu_count && point->cpus
					  ? node_of_cpu(choice->nodes, point->cpus[0])
					  : NULL;

	if (named(choice, point, "from", from, reason, size))
		return 1;
	choice->tier = down ? nodes_top_tier(choice->nodes) : -1;
	if (!*from && home && suits(choice, home))
		*from = home;
	choice->near = home;
	if (!*from)
		*from = nearest(choice);
	choice->near = NULL;
	if (!*from)
		return say_none(choice, "a node", reason, size);
	choice->tier = -1;
	return 0;
}

static int find_to(struct choice *choice, const struct point *point, bool down,
		   const struct node *from, const struct node **to, char *reason, size_t size)
{
	const char *words = down ? "a lower memory tier" : "a second node";

	if (named(choice, point, "to", to, reason, size))
		return 1;
	choice->near = from;
	choice->below = down ? from->tier : INT_MIN;
	if (*to && !suits(choice, *to)) {
		snprintf(reason, size, "pages cannot go from node %u to node %u: %s is needed",
			 from->number, (*to)->number, words);
		return 1;
	}
	if (!*to && down)
		*to = nodes_demotion_target(choice->nodes, from);
	if (*to && !suits(choice, *to))
		*to = NULL;
	if (!*to && !down)
		*to = nearest(choice);
	return *to ? 0 : say_none(choice, words, reason, size);
}

static int find(const struct nodes *nodes, const struct point *point, bool down,
		struct placement *placement, char *reason, size_t size)
{
	struct choice choice = {
		.nodes = nodes,
		.bytes = option_uint(point->parameters, "pages") * point->page_bytes + SPARE_BYTES,
		.below = INT_MIN,
		.tier = -1,
	};
	const struct node *from, *to;

	if (down && nodes->demotion < 0) {
		snprintf(reason, size,
			 "needs a kernel that demotes (Linux 5.18 or later with CONFIG_NUMA and "
			 "CONFIG_MIGRATION): there is no " NODES_DEMOTION_PATH);
		return 1;
	}
	if (find_from(&choice, point, down, &from, reason, size) ||
	    find_to(&choice, point, down, from, &to, reason, size))
		return 1;
	*placement = (struct placement){ from->number, to->number };
	return 0;
}

int placement_find(const char *root, const struct point *point, bool down,
		   struct placement *placement, char *reason, size_t size)
{
	struct nodes *nodes;
	int rc = nodes_read(root, &nodes);

	if (rc) {
		snprintf(reason, size, "needs NUMA nodes: %s",
			 rc == -ENOENT ? "this kernel has none (CONFIG_NUMA)" : strerror(-rc));
		return 1;
	}
	rc = find(nodes, point, down, placement, reason, size);
	nodes_free(nodes);
	return rc;
}

int placement_choose(struct task *task, bool down, struct placement *placement)
{
	char reason[400];

	if (placement_find("", task->point, down, placement, reason, sizeof(reason)))
		return task_say(task, OUTCOME_SKIP, "%s", reason);
	return 0;
}

/* ---- pages on nodes ---- */

long placement_move(pid_t pid, unsigned long count, void *const *pages, const int *nodes,
		    int *status, int flags)
{
	return syscall(SYS_move_pages, (long)pid, count, pages, nodes, status, flags);
}

/* Where new pages of this thread come from; node < 0: the default again. */
static int prefer(long node)
{
	unsigned long bits = 8 * sizeof(unsigned long), mask[64] = { 0 };

	if (node < 0)
		return syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0) ? -errno : 0;
	if ((unsigned long)node >= bits * 64)
		return -EINVAL;
	mask[node / bits] = 1UL << node % bits;
	/* maxnode counts one more than there are bits (get_nodes() in mm/mempolicy.c) */
	return syscall(SYS_set_mempolicy, MPOL_BIND, mask, bits * 64 + 1) ? -errno : 0;
}

int placement_make_region(struct task *task, struct region *region, unsigned int node)
{
	int rc = prefer(node), made;
	long there;

	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot take memory from node %u: %s", node,
				strerror(-rc));
	made = region_make(task, region);
	rc = prefer(-1);
	if (made)
		return made;
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot set the memory policy: %s",
				strerror(-rc));
	there = placement_count(region, node);
	if (there < 0)
		return task_say(task, OUTCOME_BROKEN,
				"move_pages() does not tell where pages are: %s", strerror(errno));
	if ((size_t)there != region->pages)
		return task_say(task, OUTCOME_BROKEN,
				"only %ld of %zu pages are on node %u at the start", there,
				region->pages, node);
	return 0;
}

long placement_count(const struct region *region, unsigned int node)
{
	void *pages[QUERY_PAGES];
	int status[QUERY_PAGES];
	long found = 0;

	for (size_t first = 0; first < region->pages; first += QUERY_PAGES) {
		size_t count = region->pages - first;

		if (count > QUERY_PAGES)
			count = QUERY_PAGES;
		for (size_t i = 0; i < count; i++)
			pages[i] = region->base + (first + i) * region->page_bytes;
		if (placement_move(0, count, pages, NULL, status, 0))
			return -1;
		for (size_t i = 0; i < count; i++)
			found += status[i] == (int)node;
	}
	return found;
}
