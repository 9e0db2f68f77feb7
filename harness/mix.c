// SPDX-License-Identifier: GPL-2.0-only
/* CPUs shared out among the points of a mix. */
#include "mix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mix_new(unsigned int capacity, const unsigned int *cpus, unsigned int cpu_count,
	    struct mix **out)
{
	struct mix *mix = calloc(1, sizeof(*mix));

	if (!mix)
		return -ENOMEM;
	mix->participants = calloc(capacity, sizeof(*mix->participants));
	mix->points = calloc(capacity, sizeof(*mix->points));
	mix->lists = calloc((size_t)capacity * cpu_count, sizeof(*mix->lists));
	if (!mix->participants || !mix->points || !mix->lists) {
		mix_free(mix);
		return -ENOMEM;
	}
	mix->cpus = cpus;
	mix->cpu_count = cpu_count;
	mix->capacity = capacity;
	*out = mix;
	return 0;
}

void mix_free(struct mix *mix)
{
	if (!mix)
		return;
	free(mix->participants);
	free(mix->points);
	free(mix->lists);
	free(mix);
}

/* The control CPU, and those of the target's own threads. */
static unsigned int own_cpus(const struct point *point)
{
	return 1 + (point->stressor->own_cpus ? point->stressor->own_cpus(point) : 0);
}

static bool wants_neighbours(const struct point *point)
{
	return !point->stressor->neighbours || point->stressor->neighbours(point);
}

/* The CPUs from first on, own of them, and behind them the others in their order. */
static void order_cpus(const struct mix *mix, unsigned int first, unsigned int own,
		       unsigned int *list)
{
	unsigned int used = own;

	memcpy(list, mix->cpus + first, own * sizeof(*list));
	for (unsigned int i = 0; i < mix->cpu_count; i++)
		if (i < first || i >= first + own)
			list[used++] = mix->cpus[i];
}

int mix_place(struct mix *mix, unsigned int count, struct log *log)
{
	unsigned int reserved = 0, first = 0;
	bool led = false;

	for (unsigned int i = 0; i < count; i++)
		reserved += own_cpus(&mix->points[i]);
	if (reserved > mix->cpu_count) {
		log_error(log,
			  "%u points at once need %u CPUs of their own, there are %u: give fewer",
			  count, reserved, mix->cpu_count);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < count; i++) {
		unsigned int *list = mix->lists + (size_t)i * mix->cpu_count;
		unsigned int own = own_cpus(&mix->points[i]);

		order_cpus(mix, first, own, list);
		mix->points[i].cpus = list;
		mix->participants[i].without_neighbours = led || !wants_neighbours(&mix->points[i]);
		mix->participants[i].reserved_cpus = reserved;
		led |= !mix->participants[i].without_neighbours;
		first += own;
	}
	return 0;
}

unsigned int mix_leave_out_skipped(struct mix *mix, unsigned int count)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (mix->participants[i].outcome == OUTCOME_SKIP)
			continue;
		mix->points[kept] = mix->points[i];
		mix->participants[kept] = mix->participants[i];
		mix->participants[kept].point = &mix->points[kept];
		kept++;
	}
	return kept;
}
