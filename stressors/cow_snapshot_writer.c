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
	uint64_t due_ns;	   /* the next one */
	unsigned int seen;	   /* writer->current, as it knows it */
	enum cow_kind kind;	   /* of that */
	enum cow_kind late;	   /* what a write that is late now is late for */
	uint64_t since_ns, faults; /* when this phase began */
	uint64_t end_ns;	   /* what is due until then is still written; 0: no end yet */
};

static uint64_t own_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static enum cow_kind kind_of(unsigned int current)
{
	if (current == COW_CURRENT_ASIDE)
		return COW_ASIDE;
	return current ? COW_IN : COW_OUT;
}

/* A snapshot began or ended, or the writing did. */
static void change_phase(struct cow_writer *writer, struct course *course, unsigned int current,
			 uint64_t now_ns)
{
	struct cow_phase *phase = &writer->phases[course->kind];
	uint64_t faults = own_faults();

	phase->faults += faults - course->faults;
	phase->elapsed_ns += now_ns - course->since_ns;
	if (course->kind == COW_IN)
		writer->snapshots[course->seen - 1].ended = course->write;
	course->seen = current;
	course->kind = kind_of(current);
	if (course->kind != COW_OUT)
		course->late = course->kind;
	course->since_ns = now_ns;
	course->faults = faults;
}

static unsigned int current_snapshot(struct cow_writer *writer)
{
	return atomic_load_explicit(&writer->current, memory_order_acquire);
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

/* The time after the write that is due. */
static uint64_t write_one(struct cow_writer *writer, struct course *course)
{
	enum cow_kind blamed = course->late;
	uint64_t now_ns;

	write_next(writer, course);
	now_ns = monotonic_ns();
	if (blamed == COW_OUT)
		blamed = kind_of(current_snapshot(writer));
	writer->phases[course->kind].writes++;
	latency_record(&writer->phases[blamed].latency, now_ns - course->due_ns);
	course->due_ns += writer->interval_ns;
	return now_ns;
}

/* Nothing is late. */
static void note_on_time(struct cow_writer *writer, struct course *course, uint64_t now_ns)
{
	course->late = course->kind;
	atomic_store_explicit(&writer->waited_ns, now_ns, memory_order_release);
}

static bool is_over(struct cow_writer *writer, struct course *course, uint64_t now_ns)
{
	unsigned int stop = atomic_load_explicit(&writer->stop, memory_order_relaxed);

	if (stop == COW_GO_ON)
		return false;
	if (!course->end_ns)
		course->end_ns = now_ns;
	return stop == COW_QUIT || !writer->interval_ns || course->due_ns > course->end_ns;
}

void cow_writer_run(struct cow_writer *writer, void (*between)(void *context, uint64_t now_ns),
		    void *context)
{
	uint64_t now_ns = monotonic_ns();
	struct course course = { .due_ns = now_ns, .since_ns = now_ns, .faults = own_faults() };
	unsigned int current;

	while (!is_over(writer, &course, now_ns)) {
		if (between)
			between(context, now_ns);
		current = current_snapshot(writer);
		if (current != course.seen)
			change_phase(writer, &course, current, now_ns);
		if (!writer->interval_ns) {
			course.due_ns = now_ns;
			note_on_time(writer, &course, now_ns);
		} else if (now_ns < course.due_ns) {
			note_on_time(writer, &course, now_ns);
			spin_pause();
			now_ns = monotonic_ns();
			continue;
		}
		now_ns = write_one(writer, &course);
	}
	change_phase(writer, &course, 0, now_ns);
}
