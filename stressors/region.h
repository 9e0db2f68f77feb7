/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private anonymous memory whose contents are known, and a task whose mm every
 * CPU has seen: what most stressors' targets are made of.
 */
#ifndef SHOOTDOWN_REGION_H
#define SHOOTDOWN_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "stressor.h"

struct region {
	unsigned char *base;
	size_t pages, page_bytes;
	uint64_t seed;
	bool compressible;
};

/* Option rows that stressors with a region share; used inside their tables. */
/* clang-format off */
#define REGION_OPTION_PAGES(count)                                                                \
	{ .name = "pages", .type = OPTION_UINT, .fallback = count, .min = 1, .max = 1ULL << 32,   \
	  .metavar = "P", .help = "base pages of private anonymous memory of the target" }
#define REGION_OPTION_CONTENTS                                                                    \
	{ .name = "contents", .type = OPTION_CHOICE, .fallback = "incompressible",                \
	  .choices = region_contents, .metavar = "KIND", .help = "what the pages hold" }
#define NEIGHBOURS_OPTION                                                                         \
	{ .name = "neighbours", .type = OPTION_CHOICE, .fallback = "spin",                        \
	  .choices = neighbour_choices, .metavar = "KIND",                                        \
	  .help = "the unrelated task on every other CPU: spins in user space, sleeps, or stays "  \
		  "in system calls" }

/* What ENVIRONMENT_ZRAM_SWAP reads. */
#define ZRAM_OPTIONS                                                                              \
	{ .name = "zram-size", .type = OPTION_SIZE, .fallback = "0", .min = 0, .max = 1ULL << 46, \
	  .metavar = "BYTES", .help = "size of the zram device; 0 makes it fit the pages" },      \
	{ .name = "zram-algorithm", .type = OPTION_STRING, .fallback = "default",                 \
	  .metavar = "NAME", .help = "its compressor, as its comp_algorithm file lists them" }
/* clang-format on */

extern const char *const region_contents[];
extern const char *const neighbour_choices[];

/*
 * Maps the pages of option "pages" without huge pages and fills them as option
 * "contents" says. Says what went wrong with task_say().
 */
int region_make(struct task *task, struct region *region);
void region_free(struct region *region);

/* A teardown() for a stressor whose state is allocated and begins with its region. */
void region_teardown(struct task *task);

/*
 * Runs on every CPU of the point, touching the region there, and ends pinned to
 * the control CPU: since Linux 6.14 the mm_cpumask then names every one of them
 * (commits 209954cbc7d0 and 6db2526c1d69).
 */
int region_prime(struct task *task, struct region *region);

/*
 * Pages that are in swap now, from /proc/self/pagemap (bit 62, see
 * Documentation/admin-guide/mm/pagemap.rst). -1 with errno when it cannot be read.
 */
long region_swapped(const struct region *region);

/* Reads every page; the number of those that do not hold what was written. */
size_t region_damaged(const struct region *region);

#endif
