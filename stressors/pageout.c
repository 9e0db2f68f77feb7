// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pageout: dirty anonymous pages reclaimed to swap on zram. The kernel must flush
 * before it writes a dirty page that user space may still be writing to, so each
 * page is a batch of its own (try_to_unmap_flush_dirty() before pageout() in
 * mm/vmscan.c), and every CPU that the batch names is interrupted.
 *
 * method=memcg reclaims from outside through memory.reclaim and is the measurement
 * to quote. method=madvise lets the target ask with MADV_PAGEOUT: that walk flushes
 * the mm itself as it ages pages, which may trim mm_cpumask (once a second), after
 * which the batches are local. It is another measurement, with no prediction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/nodes.h"
#include "reclaim.h"
#include "region.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

static const char *const methods[] = { "memcg", "madvise", NULL };

static const struct option_row options[] = {
	REGION_OPTION_PAGES("81920"),
	REGION_OPTION_CONTENTS,
	NEIGHBOURS_OPTION,
	{ .name = "method",
	  .type = OPTION_CHOICE,
	  .fallback = "memcg",
	  .choices = methods,
	  .metavar = "HOW",
	  .help = "who reclaims: memory.reclaim from outside, or MADV_PAGEOUT by the "
		  "target, which is another measurement" },
	RECLAIM_OPTION,
	ZRAM_OPTIONS,
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_ROOT },
	{ .kind = NEED_ZRAM },
	{ .kind = NEED_CGROUP_RECLAIM, .option = "method", .value = "memcg" },
	{ .kind = NEED_FILE, .path = "/proc/self/pagemap", .words = "the page map of processes" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

/* Where the kernel demotes, memory.reclaim moves pages to a lower tier and swaps none. */
static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_KNOB, .path = NODES_DEMOTION_PATH, .text = "0" },
	{ .kind = ENVIRONMENT_ZRAM_SWAP },
	{ .kind = ENVIRONMENT_CGROUP, .option = "method", .value = "memcg" },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "pages_reclaimed", "pages", "same",
	  "pages of the target found in swap after the window" },
	{ NULL },
};

struct state {
	struct region region;	/* first: region_teardown() */
	struct reclaim reclaim; /* driver only */
};

static bool by_madvise(const struct point *point)
{
	return !strcmp(option_string(point->parameters, "method"), "madvise");
}

/* The pages themselves, and as much again in zram when they do not compress. */
static uint64_t memory_bytes(const struct point *point)
{
	return (option_uint(point->parameters, "pages") * 2 + 8192) * point->page_bytes;
}

/*
 * A kernel that does not filter batches (6.14 and later): one flush a dirty page,
 * one IPI to each other CPU of the mask that is not lazy. Sleeping neighbours
 * leave their CPUs lazy.
 */
static unsigned int predict(const struct point *point, struct prediction *list)
{
	bool idle = !strcmp(option_string(point->parameters, "neighbours"), "idle");
	double pages = option_uint(point->parameters, "pages");
	double others = idle ? 0 : point->cpu_count - 1;
	unsigned int count = 0;

	list[count++] = (struct prediction){ "pages_reclaimed", pages };
	if (by_madvise(point))
		return count;
	list[count++] = (struct prediction){ "remote_ipis", pages * others };
	/* sleeping neighbours: the flush is counted, and finds only lazy CPUs */
	list[count++] = (struct prediction){ "flushes", point->cpu_count > 1 ? pages : 0 };
	return count;
}

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	rc = region_make(task, &state->region);
	return rc ? rc : region_prime(task, &state->region);
}

static int arm(struct task *task)
{
	uint64_t bytes = task_uint(task, "pages") * task->point->page_bytes;
	struct state *state;

	if (by_madvise(task->point))
		return 0;
	state = calloc(1, sizeof(*state));
	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	return reclaim_arm(task, &state->reclaim, bytes);
}

static int run(struct task *task)
{
	struct state *state = task->state;
	struct region *region = &state->region;

	if (by_madvise(task->point)) {
		if (madvise(region->base, region->pages * region->page_bytes, MADV_PAGEOUT))
			return task_say(task, OUTCOME_BROKEN, "MADV_PAGEOUT: %s", strerror(errno));
		return 0;
	}
	return reclaim_run(task, &state->reclaim);
}

static int verify(struct task *task)
{
	struct state *state = task->state;
	long swapped = region_swapped(&state->region);
	size_t damaged;

	if (swapped < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot read /proc/self/pagemap: %s",
				strerror(errno));
	task_report(task, "pages_reclaimed", swapped);
	damaged = region_damaged(&state->region);
	if (damaged)
		return task_say(task, OUTCOME_FAIL,
				"%zu of %zu pages came back with other contents", damaged,
				state->region.pages);
	if (swapped * 100 < (long)state->region.pages * 99)
		return task_say(
			task, OUTCOME_BROKEN,
			"only %ld of %zu pages were reclaimed (99%% are needed): give more pages, or "
			"more memory for zram",
			swapped, state->region.pages);
	return 0;
}

const struct stressor pageout_stressor = {
	.name = "pageout",
	.version = 1,
	.summary = "dirty anonymous pages reclaimed to swap on zram",
	.description =
		"A target with P pages has run on every CPU and now sleeps on one; an unrelated task "
		"runs on each of the others. Its pages are reclaimed to a zram device of the run's "
		"own. Each dirty page is flushed before it is written, so a kernel that does not "
		"filter stale CPUs sends P x (N-1) interrupts to N CPUs. Demotion to a lower memory "
		"tier is turned off for the run.\n\n"
		"With method=memcg (the default) the driver writes to memory.reclaim of the target's "
		"cgroup. With method=madvise the target calls MADV_PAGEOUT: that walk flushes the mm "
		"itself and may trim its CPU mask once a second, so its counts depend on timing and "
		"are not predicted; do not compare them with those of memcg.\n\n"
		"Verified: at least 99% of the pages are in swap after the window, and every page "
		"comes back with its contents.",
	.example = "pageout --runs 3 --set pages=1024",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "remote_ipis",
	.run_in_target = by_madvise,
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.arm = arm,
	.run = run,
	.verify = verify,
	.teardown = region_teardown,
};
