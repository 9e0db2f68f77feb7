// SPDX-License-Identifier: GPL-2.0-only
/* A list of perf events as metrics; see counted.h. */
#include "counted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes ? bytes : 1);

	if (to && bytes)
		memcpy(to, from, bytes);
	return to;
}

int counted_open(const struct source_setup *setup, const char *unit, struct counted *counted)
{
	struct counted made = {
		.targets.cpu_count = setup->cpu_count,
		.targets.task_count = setup->task_count,
		.recorded = *setup->root,
		.unit = unit,
	};

	made.targets.cpus = copy(setup->cpus, setup->cpu_count * sizeof(*setup->cpus));
	made.targets.tasks = copy(setup->tasks, setup->task_count * sizeof(*setup->tasks));
	if (!made.targets.cpus || !made.targets.tasks) {
		counted_close(&made);
		return -ENOMEM;
	}
	*counted = made;
	return 0;
}

/* Takes the counter over, also when it fails. */
static int append(struct counted *counted, const char *metric, struct perf_counter *counter)
{
	struct counted_event *list;
	unsigned int i, limit = counted->cpu_limit;
	double *by_cpu;
	char *name;

	for (i = 0; i < counter->count; i++)
		if (counter->cpus[i] >= (int)limit)
			limit = (unsigned int)counter->cpus[i] + 1;
	name = strdup(metric);
	list = realloc(counted->list, (counted->count + 1) * sizeof(*list));
	if (list)
		counted->list = list;
	by_cpu = realloc(counted->by_cpu, (limit + 1) * sizeof(*by_cpu));
	if (by_cpu)
		counted->by_cpu = by_cpu;
	if (!name || !list || !by_cpu) {
		free(name);
		perf_counter_close(counter);
		return -ENOMEM;
	}
	counted->cpu_limit = limit;
	list[counted->count++] = (struct counted_event){ .metric = name, .counter = *counter };
	return 0;
}

int counted_add(struct counted *counted, const char *metric, const char *text, struct log *log)
{
	struct perf_counter counter = { 0 };
	struct perf_event event;
	int err;

	if (counted->recorded)
		return counted_add_missing(counted, metric,
					   "a recorded machine has no perf events to count");
	err = perf_event_parse(text, log, &event);
	if (err)
		return err;
	err = perf_counter_open(&event, &counted->targets, &counter);
	perf_event_release(&event);
	if (err == -EMFILE)
		log_error(
			log,
			"event \"%s\" needs an open file for each CPU, more than the limit allows: "
			"raise it (ulimit -n), or ask for fewer events",
			text);
	return err ? err : append(counted, metric, &counter);
}

int counted_add_missing(struct counted *counted, const char *metric, const char *reason)
{
	struct perf_counter counter = { .status = VALUE_UNSUPPORTED, .reason = strdup(reason) };

	if (!counter.reason)
		return -ENOMEM;
	return append(counted, metric, &counter);
}

int counted_start(struct counted *counted)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < counted->count; i++)
		err = perf_counter_start(&counted->list[i].counter);
	return err;
}

int counted_stop(struct counted *counted)
{
	unsigned int i;
	int err = 0, stopped;

	for (i = 0; i < counted->count; i++) {
		stopped = perf_counter_stop(&counted->list[i].counter);
		if (!err)
			err = stopped;
	}
	return err;
}

void counted_read(struct counted *counted, struct sample_sink *sink)
{
	struct counted_event *event;
	struct value value;
	unsigned int i;
	bool by_cpu;

	for (i = 0; i < counted->count; i++) {
		event = &counted->list[i];
		value = (struct value){ 0 };
		value.status = perf_counter_read(&event->counter, &value.value, counted->by_cpu,
						 counted->cpu_limit, &value.reason);
		value.own = event->counter.count && event->counter.cpus[0] < 0;
		by_cpu = value_status_has_value(value.status) && !value.own;
		sink->add(sink, event->metric, counted->unit, &value,
			  by_cpu ? counted->by_cpu : NULL, by_cpu ? counted->cpu_limit : 0);
	}
}

void counted_close(struct counted *counted)
{
	unsigned int i;

	for (i = 0; i < counted->count; i++) {
		perf_counter_close(&counted->list[i].counter);
		free(counted->list[i].metric);
	}
	free(counted->list);
	free(counted->by_cpu);
	free((void *)counted->targets.cpus);
	free((void *)counted->targets.tasks);
	*counted = (struct counted){ 0 };
}
