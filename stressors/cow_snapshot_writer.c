// SPDX-License-Identifier: GPL-2.0-only
/* The writer of cow-snapshot: what is measured while others fork and save. */
#include "cow_snapshot.h"

#include <sys/resource.h>

#include "../lib/clock.h"
#include "stressor.h"

/* Where the writer is. */
struct course {
	uint64_t write;		   /* number of the last one */
	size_t page;		   /* of that one */
	unsigned int seen;	   /* the snapshot it knows of */
	uint64_t since_ns, faults; /* when this phase began */
	uint64_t ended_ns; /* of the snapshot before: what was due until then was due in it */
};

static uint64_t own_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* A snapshot began or ended, or the writing did. */
static void change_phase(struct cow_writer *writer, struct course *course, unsigned int current,
			 uint64_t now_ns)
{
	struct cow_phase *phase = &writer->phases[course->seen != 0];
	uint64_t faults = own_faults();

	phase->faults += faults - course->faults;
	phase->elapsed_ns += now_ns - course->since_ns;
	if (course->seen) {
		writer->snapshots[course->seen - 1].ended = course->write;
		course->ended_ns = now_ns;
	}
	course->seen = current;
	course->since_ns = now_ns;
	course->faults = faults;
}

static void write_next(struct cow_writer *writer, struct course *course)
{
	const struct cow_data *data = &writer->data;

	course->page += data->stride;
	if (course->page >= data->pages)
		course->page -= data->pages;
	course->write++;
	*(volatile uint64_t *)(data->base + course->page * data->page_bytes) = course->write;
	atomic_store_explicit(&writer->written, course->write, memory_order_release);
}

static unsigned int current_snapshot(struct cow_writer *writer)
{
	return atomic_load_explicit(&writer->current, memory_order_acquire);
}

void cow_writer_run(struct cow_writer *writer, void (*between)(void *context, uint64_t now_ns),
		    void *context)
{
	uint64_t now_ns = monotonic_ns(), due_ns = now_ns;
	struct course course = { .since_ns = now_ns, .faults = own_faults() };
	unsigned int current;
	bool within;

	while (!atomic_load_explicit(&writer->stop, memory_order_relaxed)) {
		if (between)
			between(context, now_ns);
		current = current_snapshot(writer);
		if (current != course.seen)
			change_phase(writer, &course, current, now_ns);
		if (writer->interval_ns && now_ns < due_ns) {
			spin_pause();
			now_ns = monotonic_ns();
			continue;
		}
		if (!writer->interval_ns)
			due_ns = now_ns;
		write_next(writer, &course);
		now_ns = monotonic_ns();
		within = course.seen || current_snapshot(writer) || due_ns < course.ended_ns;
		latency_record(&writer->phases[within].latency, now_ns - due_ns);
		due_ns += writer->interval_ns;
	}
	change_phase(writer, &course, 0, now_ns);
}
