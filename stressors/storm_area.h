/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that one worker of a storm writes to and has discarded, unmapped or
 * protected: mapped apart from that of the others, with guards of no access on both
 * sides, so that neither a VMA nor a page table is shared with another worker. Its
 * contents are checked with one load for each write.
 */
#ifndef SHOOTDOWN_STORM_AREA_H
#define SHOOTDOWN_STORM_AREA_H

#include "stressor.h"

/* What is mapped, the same for all workers. */
struct storm_memory {
	size_t page_bytes;
	size_t unit_bytes; /* of a base page, or a huge one: one fault each */
	size_t call_bytes; /* that one call is about, whole units */
	size_t area_bytes; /* of a worker, whole calls */
	bool shared;	   /* MAP_SHARED */
	int file;	   /* descriptor; -1: anonymous */
	uint64_t fresh;	   /* what a word holds before a worker first writes to it */
};

/* A worker's. */
struct storm_area {
	const struct storm_memory *memory;
	unsigned char *base;
	off_t offset; /* in the file */
};

/* Option rows; used inside tables. */
/* clang-format off */
#define STORM_MEMORY_OPTIONS                                                                      \
	{ .name = "pages", .type = OPTION_UINT, .fallback = "1", .min = 1, .max = 1 << 24,        \
	  .metavar = "P", .help = "base pages a call, each written before it" },                  \
	{ .name = "sharing", .type = OPTION_CHOICE, .fallback = "private",                        \
	  .choices = storm_sharings, .metavar = "HOW",                                            \
	  .help = "how they are mapped: private or shared" },                                     \
	{ .name = "backing", .type = OPTION_CHOICE, .fallback = "anonymous",                      \
	  .choices = storm_backings, .metavar = "WHAT",                                           \
	  .help = "what they are pages of: anonymous memory, or an unlinked file" },              \
	{ .name = "folder", .type = OPTION_STRING, .fallback = "memfd", .metavar = "FOLDER",      \
	  .help = "where the file of backing=file is made; memfd: in memory, in no folder" }
/* clang-format on */

extern const char *const storm_sharings[];
extern const char *const storm_backings[];

/*
 * What the options ask for, in huge or base pages of unit_bytes, with areas of at
 * least map_bytes (0: of one call) for `workers` workers. Makes the file. 0 or, after
 * task_say(), a negative errno.
 */
int storm_memory_open(struct task *task, size_t unit_bytes, size_t map_bytes, unsigned int workers,
		      struct storm_memory *memory);
void storm_memory_close(struct storm_memory *memory);

/* Peak of all workers' areas and their file, for NEED_MEMORY. */
uint64_t storm_memory_bytes(const struct point *point, size_t map_bytes, unsigned int workers);

/* Whether pages come up as they were at first after a discard, or keep what was written. */
bool storm_memory_is_private(const struct point *point);

/* What one page table maps: it is a page of entries of 8 bytes, on x86-64 and arm64. */
size_t storm_table_bytes(size_t page_bytes);

/* Reserves a place with guards and maps the area there, for good. 0 or a negative errno. */
int storm_area_make(const struct storm_memory *memory, unsigned int worker,
		    struct storm_area *area);
/* Maps it again at its place, which nothing holds. Part of what is measured by munmap-storm. */
int storm_area_map(const struct storm_area *area);
/* The same in one step with the unmapping of what is there. */
int storm_area_renew(const struct storm_area *area);
/* Writes to every base page; the faults that took, a negative errno when unknown. */
long storm_area_fill(const struct storm_area *area);

/* Page faults of the calling thread so far. */
long storm_faults(void);

/*
 * The visit'th write (from 1) to each unit of a call's pages. Two words take turns, so
 * the one that is not written tells what became of the page since the last visit, and no
 * read comes before the write: that would map the page of zeros, and the write would need
 * a flush of its own. Returns how many units do not hold `expected` there. The last
 * base page of a unit is written as well: a fault more when the unit is no huge page.
 */
static inline unsigned int storm_area_write(const struct storm_memory *memory, unsigned char *at,
					    uint64_t visit, uint64_t expected)
{
	size_t last = memory->unit_bytes - memory->page_bytes;
	unsigned char *end = at + memory->call_bytes;
	unsigned int damaged = 0;

	for (; at < end; at += memory->unit_bytes) {
		volatile uint64_t *words = (volatile uint64_t *)at;

		words[visit & 1] = visit;
		damaged += words[~visit & 1] != expected;
		((volatile uint64_t *)(at + last))[2] = visit;
	}
	return damaged;
}

/* What the other word must hold at that visit: the last one, or what it was at first. */
static inline uint64_t storm_expected(const struct storm_memory *memory, uint64_t visit, bool keeps)
{
	return keeps ? visit - 1 : memory->fresh;
}

#endif
