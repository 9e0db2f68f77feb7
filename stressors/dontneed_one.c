// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread discards pages with MADV_DONTNEED and writes them again, while the other
 * threads of its mm do nothing but spin, each on its own CPU: the time of each
 * iteration, for the sender alone. What the others lose is not measured here (see
 * dontneed-storm's readers).
 *
 * An iteration is the call, the write with its fault, and one reading of the clock. What
 * that reading takes is reported beside the times, and not subtracted. Times are kept
 * one by one, in memory that was written before.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../lib/clock.h"
#include "storm_dontneed.h"

#define CLOCK_READINGS 1001

static const struct option_row options[] = {
	STORM_OPTION_THREADS,
	{ .name = "ops",
	  .type = OPTION_UINT,
	  .fallback = "100000",
	  .min = 1,
	  .max = 1 << 28,
	  .metavar = "OPS",
	  .help = "iterations of the one thread" },
	STORM_MEMORY_OPTIONS,
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct metric_row metrics[] = {
	{ "iteration_ns", "ns", "less", "median time of an iteration" },
	{ "iteration_p99_ns", "ns", "less", "time that 99% of the iterations do not exceed" },
	{ "iteration_max_ns", "ns", "less", "time of the longest iteration" },
	{ "clock_ns", "ns", "same",
	  "median time of a reading of the clock, one of which is in each iteration" },
	{ NULL },
};

struct times {
	uint64_t *list; /* ops of them */
	uint64_t clock_ns;
};

static struct storm_crowd crowd_of(const struct point *point)
{
	unsigned int threads = storm_threads(point, 0);

	return (struct storm_crowd){ .workers = 1, .bystanders = threads - 1 };
}

static unsigned int own_cpus(const struct point *point)
{
	return crowd_of(point).bystanders;
}

static uint64_t memory_bytes(const struct point *point)
{
	return storm_memory_bytes(point, 0, 1) +
	       option_uint(point->parameters, "ops") * sizeof(uint64_t);
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	struct storm_crowd crowd = crowd_of(point);

	return storm_predict(point, crowd, storm_dontneed_cost(point, crowd), list);
}

/* The page is there before the first call, as it is before the others. */
static int prepare(struct storm_worker *worker)
{
	(void)worker;
	return 0;
}

static void discard(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	struct times *times = worker->storm->own;
	uint64_t visit = worker->visit, ops = worker->storm->ops, damaged = 0;
	uint64_t last_ns = monotonic_ns(), now;

	for (uint64_t op = 0; op < ops; op++, visit++) {
		if (madvise(worker->area.base, memory->call_bytes, MADV_DONTNEED)) {
			storm_failed(worker, STORM_DONTNEED);
			break;
		}
		damaged += storm_area_write(memory, worker->area.base, visit,
					    storm_expected(memory, visit, memory->shared));
		now = monotonic_ns();
		times->list[op] = now - last_ns;
		last_ns = now;
	}
	worker->slot->damaged = damaged;
}

static const struct storm_cause cause = {
	.call = STORM_DONTNEED,
	.refaults = true,
	.prepare = prepare,
	.loop = discard,
};

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median_of_readings(void)
{
	uint64_t readings[CLOCK_READINGS], last_ns = monotonic_ns();

	for (unsigned int i = 0; i < CLOCK_READINGS; i++) {
		uint64_t now = monotonic_ns();

		readings[i] = now - last_ns;
		last_ns = now;
	}
	qsort(readings, CLOCK_READINGS, sizeof(readings[0]), by_length);
	return readings[CLOCK_READINGS / 2];
}

static int setup(struct task *task)
{
	struct storm *storm = storm_new(task, &cause, crowd_of(task->point));
	struct times *times = calloc(1, sizeof(*times));

	if (!storm)
		return -ECANCELED;
	if (!times)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	storm->own = times;
	times->list = mmap(NULL, storm->ops * sizeof(*times->list), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (times->list == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "no memory for %llu times; give fewer ops",
				(unsigned long long)storm->ops);
	times->clock_ns = median_of_readings();
	return storm_start(storm, task->point->page_bytes, 0);
}

/* The smallest time that so many of a thousand do not exceed. */
static uint64_t rank(const struct times *times, uint64_t count, unsigned int of_thousand)
{
	return times->list[(count * of_thousand + 999) / 1000 - 1];
}

static int verify(struct task *task)
{
	struct storm *storm = task->state;
	struct times *times = storm->own;
	int rc = storm_check(storm);

	if (rc)
		return rc;
	qsort(times->list, storm->ops, sizeof(*times->list), by_length);
	task_report(task, "iteration_ns", rank(times, storm->ops, 500));
	task_report(task, "iteration_p99_ns", rank(times, storm->ops, 990));
	task_report(task, "iteration_max_ns", rank(times, storm->ops, 1000));
	task_report(task, "clock_ns", times->clock_ns);
	return 0;
}

const struct stressor dontneed_one_stressor = {
	.name = "dontneed-one",
	.version = 1,
	.summary = "one thread discards and writes a page while others run",
	.description =
		"One of N threads discards P pages and writes them again, OPS times; the other N-1 "
		"spin in the same mm, each on its own CPU. Each call flushes on all of them: OPS "
		"flushes and OPS x (N-1) interrupts on x86, OPS broadcast TLBI instructions for "
		"single pages on arm64. Its times are those that \"Flush remote and local TLBs "
		"concurrently\" was judged by, for N of 1, 2 and 4.\n\n"
		"Every iteration is timed; the reading of the clock is in it and is not subtracted: "
		"clock_ns says how much that is.\n\n"
		"Verified: a page that was discarded holds zeros (a private file's page what the file "
		"holds, a shared page what was last written), and came back by a fault.",
	.example = "dontneed-one --runs 3 --set threads=1,2,4 --set ops=1000",
	.needs = needs,
	.options = options,
	.metrics = metrics,
	.primary = "iteration_ns",
	.run_in_target = point_always,
	.neighbours = point_never,
	.own_cpus = own_cpus,
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.run = storm_run,
	.verify = verify,
	.teardown = storm_teardown,
};
