// SPDX-License-Identifier: GPL-2.0-only
/* Readers beside a storm; see storm_readers.h. */
#include "storm_readers.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "stressor.h"

#define WORDS	   64
#define LINE_BYTES 64
#define SCHEDSTAT  "/proc/thread-self/schedstat"

size_t storm_reader_offset(unsigned int i, size_t page_bytes)
{
	return i * (page_bytes + LINE_BYTES);
}

size_t storm_reader_bytes(size_t page_bytes)
{
	return storm_reader_offset(WORDS, page_bytes);
}

uint64_t storm_delay_ns(const char *schedstat)
{
	char *rest;

	strtoull(schedstat, &rest, 10);
	return strtoull(rest, NULL, 10);
}

/* No allocation, and no other memory: it is called amid the storm. */
static uint64_t delay_ns(void)
{
	char text[128] = "";
	int file = open(SCHEDSTAT, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file < 0)
		return 0;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	return length > 0 ? storm_delay_ns(text) : 0;
}

static void answer(struct storm_reader *reader, unsigned int mark, uint64_t reads)
{
	reader->at[mark] = (struct storm_reading){
		.reads = reads,
		.had_ns = monotonic_ns() - delay_ns(),
	};
	atomic_store(&reader->answered, mark);
}

void storm_reader_live(struct storm_reader *reader, const _Atomic unsigned int *mark,
		       const unsigned char *memory, size_t page_bytes)
{
	unsigned int answered = STORM_MARK_NONE, asked;
	uint64_t reads = 0;

	for (;;) {
		for (unsigned int i = 0; i < WORDS; i++)
			(void)*(const volatile uint64_t *)(memory +
							   storm_reader_offset(i, page_bytes));
		reads += WORDS;
		asked = atomic_load_explicit(mark, memory_order_relaxed);
		if (asked != answered)
			answer(reader, asked, reads);
		answered = asked;
		spin_pause();
	}
}

/* Adds what a reader did from one mark to the next. False: it did not run in between. */
static bool add(const struct storm_reader *reader, enum storm_mark from, struct storm_reading *sum)
{
	const struct storm_reading *first = &reader->at[from], *last = &reader->at[from + 1];

	if (!first->had_ns || last->had_ns <= first->had_ns || last->reads <= first->reads)
		return false;
	sum->reads += last->reads - first->reads;
	sum->had_ns += last->had_ns - first->had_ns;
	return true;
}

double storm_readers_ratio(const struct storm_reader *first, unsigned int count,
			   size_t stride_bytes)
{
	struct storm_reading calm = { 0 }, storm = { 0 };

	for (unsigned int i = 0; i < count; i++) {
		const struct storm_reader *reader =
			(const void *)((const char *)first + i * stride_bytes);
		struct storm_reading around = { 0 }, within = { 0 };

		if (!add(reader, STORM_MARK_BEFORE, &around) ||
		    !add(reader, STORM_MARK_WITHIN, &within) ||
		    !add(reader, STORM_MARK_AFTER, &around))
			continue;
		calm.reads += around.reads;
		calm.had_ns += around.had_ns;
		storm.reads += within.reads;
		storm.had_ns += within.had_ns;
	}
	if (!storm.reads)
		return NAN;
	return (double)storm.reads / storm.had_ns / ((double)calm.reads / calm.had_ns);
}
