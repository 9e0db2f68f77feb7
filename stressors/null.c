// SPDX-License-Identifier: GPL-2.0-only
/*
 * No cause at all: the same target, priming, neighbours and driver as pageout's,
 * and a window in which nothing is asked of the kernel. What it counts is the
 * floor of the harness and of the machine.
 */
#include <stdlib.h>

#include "../lib/clock.h"
#include "region.h"

static const struct option_row options[] = {
	REGION_OPTION_PAGES("4096"),
	REGION_OPTION_CONTENTS,
	NEIGHBOURS_OPTION,
	{ .name = "window",
	  .type = OPTION_DURATION,
	  .fallback = "100ms",
	  .min = 1000000,
	  .max = 3600000000000ULL,
	  .metavar = "T",
	  .help = "length of the measured window" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct metric_row metrics[] = {
	{ NULL },
};

static uint64_t memory_bytes(const struct point *point)
{
	return (option_uint(point->parameters, "pages") + 4096) * point->page_bytes;
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	(void)point;
	list[0] = (struct prediction){ "remote_ipis", 0 };
	list[1] = (struct prediction){ "flushes", 0 };
	return 2;
}

static int setup(struct task *task)
{
	struct region *region = malloc(sizeof(*region));
	int rc;

	if (!region)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = region;
	rc = region_make(task, region);
	return rc ? rc : region_prime(task, region);
}

static int run(struct task *task)
{
	uint64_t window_ns = task_uint(task, "window"), start_ns = monotonic_ns();

	do
		spin_pause();
	while (monotonic_ns() - start_ns < window_ns);
	return 0;
}

static int verify(struct task *task)
{
	size_t damaged = region_damaged(task->state);

	if (damaged)
		return task_say(task, OUTCOME_FAIL, "%zu pages lost their contents", damaged);
	return 0;
}

const struct stressor null_stressor = {
	.name = "null",
	.version = 1,
	.summary = "no cause: the floor of the harness and of the machine",
	.description =
		"Makes the same target, priming and neighbours as pageout, and then asks nothing of "
		"the kernel for the length of the window. Whatever is counted there was not caused by "
		"a stressor: subtract nothing, but do not trust a result that is of this size.",
	.example = "null --runs 3 --set pages=64 --set window=20ms",
	.needs = needs,
	.options = options,
	.metrics = metrics,
	.primary = "remote_ipis",
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = region_teardown,
};
