/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Victims of a storm: they read memory of their own, which nobody discards, and make no
 * calls. Their speed in the storm by that before and after it is what it costs them.
 *
 * Speed is reads by the time that they had their CPUs: neither the interrupts of the storm
 * nor anything else of the kernel's is taken off, only the time in which another task ran
 * there. CPU time would not do: where the kernel accounts interrupts apart
 * (CONFIG_IRQ_TIME_ACCOUNTING) it leaves out what is to be measured.
 *
 * A reader is asked for its numbers by a mark, which it looks at between two turns. It
 * makes no system call but to answer.
 */
#ifndef SHOOTDOWN_STORM_READERS_H
#define SHOOTDOWN_STORM_READERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of time; a reader that did not run between two leaves the first one out. */
enum storm_mark {
	STORM_MARK_NONE,
	STORM_MARK_BEFORE,
	STORM_MARK_BEFORE_END,
	STORM_MARK_WITHIN,
	STORM_MARK_WITHIN_END,
	STORM_MARK_AFTER,
	STORM_MARK_AFTER_END,
	STORM_MARK_COUNT,
};

/* Since the reader began; had_ns is from an arbitrary start, 0: not read. */
struct storm_reading {
	uint64_t reads, had_ns;
};

/* In memory that processes share. */
struct storm_reader {
	_Atomic unsigned int answered; /* the last mark */
	struct storm_reading at[STORM_MARK_COUNT];
};

/* What a reader maps for itself. */
size_t storm_reader_bytes(size_t page_bytes);
/* Where its word number i is: each in another page, and in another set of the first cache. */
size_t storm_reader_offset(unsigned int i, size_t page_bytes);
/* A reader's life, in memory that is there. */
_Noreturn void storm_reader_live(struct storm_reader *reader, const _Atomic unsigned int *mark,
				 const unsigned char *memory, size_t page_bytes);

/* The time that a task waited for a CPU, by its schedstat; 0 where the kernel does not say. */
uint64_t storm_delay_ns(const char *schedstat);

/*
 * Speed within the storm by that before and after it, of `count` readers that are
 * stride_bytes apart; those that did not run in all three are left out. NAN: all are.
 */
double storm_readers_ratio(const struct storm_reader *first, unsigned int count,
			   size_t stride_bytes);

#endif
