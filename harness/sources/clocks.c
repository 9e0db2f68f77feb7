// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wall time of the window and CPU time (user and system) of the workers in it, from
 * the kernel's CPU-time clock of each process.
 *
 * The window here is that between this source's readings, which is longer than the
 * call under test by what the sources behind it take; the call's own time is the
 * harness's time_ms.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/clock.h"
#include "../../lib/cpus.h"
#include "source.h"

static const struct source_metric metrics[] = {
	{ "wall_ms", "ms", "less", "time between the readings around the window" },
	{ "target_cpu_ns", "ns", "less", "CPU time of the target in the window" },
	{ "driver_cpu_ns", "ns", "less", "CPU time of the driver in the window" },
	{ "neighbour_share", "share", "same",
	  "smallest share of the window that a neighbour ran, 0 to 1" },
	{ NULL },
};

/* Tasks by their place in source_setup.tasks. */
enum { TARGET, DRIVER, FIRST_NEIGHBOUR };

struct moment {
	uint64_t cpu_ns;
	uint64_t wall_ns; /* when cpu_ns was read */
};

struct task_clock {
	clockid_t clock;
	bool there;  /* there is such a task */
	bool failed; /* its clock could not be read */
	struct moment before, after;
};

struct clocks_state {
	bool tickless; /* a CPU of the run has no tick while one task runs on it (nohz_full) */
	struct task_clock *tasks;
	unsigned int count;
	uint64_t before_ns, after_ns;
};

/*
 * A process's clock adds up what each thread had run at its last tick or switch
 * (read_sum_exec_runtime() in kernel/sched/cputime.c): without ticks it is out of
 * date by any amount for a task that goes on running.
 */
static bool any_tickless(const struct source_setup *setup)
{
	hwloc_bitmap_t tickless;
	bool found = false;

	if (cpus_from_file(setup->root, "/sys/devices/system/cpu/nohz_full", &tickless))
		return false;
	for (unsigned int i = 0; i < setup->cpu_count; i++)
		found |= hwloc_bitmap_isset(tickless, setup->cpus[i]);
	hwloc_bitmap_free(tickless);
	return found;
}

static int clocks_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct clocks_state *made = calloc(1, sizeof(*made));
	unsigned int i;

	(void)log;
	if (!made)
		return -ENOMEM;
	made->tickless = any_tickless(setup);
	made->count = setup->task_count < FIRST_NEIGHBOUR ? FIRST_NEIGHBOUR : setup->task_count;
	made->tasks = calloc(made->count, sizeof(*made->tasks));
	if (!made->tasks) {
		free(made);
		return -ENOMEM;
	}
	for (i = 0; i < setup->task_count; i++) {
		made->tasks[i].there = setup->tasks[i] > 0;
		if (made->tasks[i].there)
			made->tasks[i].failed = clock_getcpuclockid(setup->tasks[i],
								    &made->tasks[i].clock);
	}
	*state = made;
	return 0;
}

static void read_task(struct task_clock *task, struct moment *moment)
{
	struct timespec time;

	if (!task->there || task->failed)
		return;
	task->failed = clock_gettime(task->clock, &time);
	moment->cpu_ns = timespec_ns(&time);
	moment->wall_ns = monotonic_ns();
}

static int clocks_start(void *state)
{
	struct clocks_state *clocks = state;
	unsigned int i;

	for (i = clocks->count; i > 0; i--)
		read_task(&clocks->tasks[i - 1], &clocks->tasks[i - 1].before);
	clocks->before_ns = monotonic_ns();
	return 0;
}

static int clocks_stop(void *state)
{
	struct clocks_state *clocks = state;
	unsigned int i;

	clocks->after_ns = monotonic_ns();
	for (i = 0; i < clocks->count; i++)
		read_task(&clocks->tasks[i], &clocks->tasks[i].after);
	return 0;
}

static void add_task(const struct clocks_state *state, unsigned int place, int metric,
		     const char *absent, struct sample_sink *sink)
{
	const struct task_clock *task = &state->tasks[place];
	struct value value = { .status = VALUE_OK, .own = true };

	if (!task->there) {
		value.status = VALUE_UNSUPPORTED;
		value.reason = absent;
	} else if (task->failed) {
		value.status = VALUE_FAILED;
		value.reason = "the task ended before its clock was read";
	} else {
		value.value = (double)(task->after.cpu_ns - task->before.cpu_ns);
	}
	sink->add(sink, metrics[metric].name, metrics[metric].unit, &value, NULL, 0);
}

/* The share of its own window, between the two readings of its clock, that a task ran. */
static double share_of(const struct task_clock *task)
{
	double window_ns = (double)(task->after.wall_ns - task->before.wall_ns);
	double ran_ns = (double)(task->after.cpu_ns - task->before.cpu_ns);

	if (window_ns <= 0 || ran_ns >= window_ns)
		return 1;
	return ran_ns / window_ns;
}

static void add_neighbours(const struct clocks_state *state, struct sample_sink *sink)
{
	struct value value = { .status = VALUE_UNSUPPORTED,
			       .reason = "this point has no neighbours" };
	double share;
	unsigned int i;

	for (i = FIRST_NEIGHBOUR; i < state->count; i++) {
		if (!state->tasks[i].there)
			continue;
		if (state->tickless) {
			value.reason =
				"CPUs are nohz_full: CPU times of running tasks are out of date";
			break;
		}
		if (state->tasks[i].failed) {
			value.status = VALUE_FAILED;
			value.reason = "a neighbour ended before its clock was read";
			break;
		}
		share = share_of(&state->tasks[i]);
		if (value.status != VALUE_OK || share < value.value)
			value = (struct value){ .value = share, .status = VALUE_OK };
	}
	sink->add(sink, metrics[3].name, metrics[3].unit, &value, NULL, 0);
}

static void clocks_read(void *state, struct sample_sink *sink)
{
	struct clocks_state *clocks = state;
	struct value wall = {
		.value = (double)(clocks->after_ns - clocks->before_ns) / 1e6,
		.status = VALUE_OK,
	};

	sink->add(sink, metrics[0].name, metrics[0].unit, &wall, NULL, 0);
	add_task(clocks, TARGET, 1, "this point has no target", sink);
	add_task(clocks, DRIVER, 2, "the call is made in the target: there is no driver", sink);
	add_neighbours(clocks, sink);
}

static void clocks_close(void *state)
{
	struct clocks_state *clocks = state;

	free(clocks->tasks);
	free(clocks);
}

const struct source clocks_source = {
	.name = "clocks",
	.summary = "wall time, CPU time of the workers, how much neighbours ran",
	.metrics = metrics,
	.by_default = true,
	.open = clocks_open,
	.start = clocks_start,
	.stop = clocks_stop,
	.read = clocks_read,
	.close = clocks_close,
};
