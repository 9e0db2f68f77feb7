// SPDX-License-Identifier: GPL-2.0-only
/* One repetition: who starts when, what lies in the window, what is written. */
#include "point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "needs.h"
#include "worker.h"

const struct source_metric window_metrics[] = {
	{ "time_ms", "ms", "less", "time of the call under test, on the monotonic clock" },
	{ NULL },
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* ---- samples ---- */

struct writer {
	struct sample_sink sink;
	const struct repetition *repetition;
	int rc; /* the first failure to write */
};

static json_t *by_cpu_json(const double *by_cpu, unsigned int cpu_count)
{
	json_t *object = json_object();
	char name[16];

	for (unsigned int cpu = 0; cpu < cpu_count; cpu++) {
		if (isnan(by_cpu[cpu]))
			continue;
		snprintf(name, sizeof(name), "%u", cpu);
		json_object_set_new(object, name, json_real(by_cpu[cpu]));
	}
	return object;
}

static void write_line(struct writer *writer, json_t *line)
{
	int rc = line ? record_sample(writer->repetition->record, line) : -ENOMEM;

	json_decref(line);
	if (rc && !writer->rc)
		writer->rc = rc;
}

static void write_sample(struct sample_sink *sink, const char *metric, const char *unit,
			 const struct value *value, const double *by_cpu, unsigned int cpu_count)
{
	struct writer *writer = (struct writer *)sink;
	const struct repetition *repetition = writer->repetition;
	json_t *line = json_pack("{s:i, s:i, s:s, s:s, s:s}", "point", (int)repetition->point_index,
				 "repetition", (int)repetition->number, "metric", metric, "unit",
				 unit, "status", value_status_name(value->status));

	if (value->status == VALUE_OK || value->status == VALUE_MULTIPLEXED)
		json_object_set_new(line, "value", json_real(value->value));
	if (value->reason)
		json_object_set_new(line, "reason", json_string(value->reason));
	if (by_cpu && value->status == VALUE_OK)
		json_object_set_new(line, "by_cpu", by_cpu_json(by_cpu, cpu_count));
	write_line(writer, line);
}

static void write_reports(struct writer *writer, const struct shared *shared)
{
	const struct metric_row *rows = writer->repetition->point->stressor->metrics;
	struct value value = { .status = VALUE_OK };

	for (unsigned int i = 0; rows[i].name && i < REPORTS_MAX; i++) {
		if (!atomic_load(&shared->reports[i].set))
			continue;
		value.value = shared->reports[i].value;
		write_sample(&writer->sink, rows[i].name, rows[i].unit, &value, NULL, 0);
	}
	value.value = (shared->window_end_ns - shared->window_start_ns) / 1e6;
	write_sample(&writer->sink, window_metrics[0].name, window_metrics[0].unit, &value, NULL,
		     0);
}

static void write_outcome(struct writer *writer, enum outcome outcome, const char *reason,
			  uint64_t started_ns, double seconds)
{
	json_t *line = json_pack("{s:i, s:i, s:s, s:I, s:f}", "point",
				 (int)writer->repetition->point_index, "repetition",
				 (int)writer->repetition->number, "outcome", outcome_name(outcome),
				 "started_ns", (json_int_t)started_ns, "seconds", seconds);

	if (line && *reason)
		json_object_set_new(line, "reason", json_string(reason));
	write_line(writer, line);
}

/* ---- sources ---- */

struct opened {
	void **states;
	unsigned int count; /* of the plan's sources, opened in order */
	pid_t *pids;
};

static void close_sources(const struct plan *plan, struct opened *opened)
{
	while (opened->count) {
		opened->count--;
		plan->sources[opened->count]->close(opened->states[opened->count]);
	}
	free(opened->states);
	free(opened->pids);
}

static int open_sources(const struct repetition *repetition, struct crew *crew,
			struct opened *opened)
{
	const struct plan *plan = repetition->plan;
	struct source_setup setup = {
		.root = "",
		.cpus = repetition->point->cpus,
		.cpu_count = repetition->point->cpu_count,
		.events = (const char *const *)plan->events,
	};
	unsigned int wanted = 0;
	int rc = 0;

	while (plan->sources[wanted])
		wanted++;
	opened->states = calloc(wanted + 1, sizeof(*opened->states));
	opened->pids = crew_pids(crew, &setup.task_count);
	if (!opened->states || !opened->pids)
		return -ENOMEM;
	setup.tasks = opened->pids;
	while (!rc && opened->count < wanted) {
		rc = plan->sources[opened->count]->open(&setup, repetition->log,
							&opened->states[opened->count]);
		if (rc)
			shared_say(crew->shared, OUTCOME_BROKEN, "cannot open source %s: %s",
				   plan->sources[opened->count]->name, strerror(-rc));
		else
			opened->count++;
	}
	return rc;
}

/* ---- the repetition ---- */

static bool runs_in_target(const struct point *point)
{
	return point->stressor->run_in_target && point->stressor->run_in_target(point);
}

static bool has_neighbours(const struct point *point)
{
	return !point->stressor->neighbours || point->stressor->neighbours(point);
}

static _Atomic uint64_t *turns_of(struct crew *crew, unsigned int neighbour)
{
	return &crew->shared->neighbours[crew->first_neighbour + neighbour].count;
}

/*
 * A neighbour that did not run was not there to be interrupted. A sleeping one
 * (neighbours=idle) is not expected to.
 */
static void judge_neighbours(struct crew *crew, const uint64_t *before)
{
	bool idle = !strcmp(option_string(crew->point->parameters, "neighbours"), "idle");

	for (unsigned int i = 0; !idle && i < crew->neighbour_count; i++)
		if (atomic_load(turns_of(crew, i)) == before[i])
			shared_say(crew->shared, OUTCOME_BROKEN,
				   "the neighbour on CPU %u did not run in the measured window",
				   crew->point->cpus[crew->first_neighbour + i]);
}

/* Nothing here but the call under test and the readings around it. */
static int measure(const struct plan *plan, struct crew *crew, struct worker *runner,
		   struct opened *opened, uint64_t *turns, uint64_t deadline_ns)
{
	int rc = 0, stopped;
	unsigned int i;

	for (i = 0; i < crew->neighbour_count; i++)
		turns[i] = atomic_load(turns_of(crew, i));
	for (i = 0; !rc && i < opened->count; i++)
		rc = plan->sources[i]->start(opened->states[i]);
	if (!rc)
		rc = crew_command(crew, runner, WORKER_RUN, deadline_ns);
	while (i--) {
		stopped = plan->sources[i]->stop(opened->states[i]);
		if (!rc)
			rc = stopped;
	}
	return rc;
}

static int prepare(const struct repetition *repetition, struct crew *crew, uint64_t deadline_ns)
{
	int rc = crew_start_target(crew);

	if (!rc)
		rc = crew_command(crew, &crew->target, WORKER_SETUP, deadline_ns);
	if (!rc && has_neighbours(repetition->point))
		rc = crew_start_neighbours(crew, deadline_ns);
	if (!rc && !runs_in_target(repetition->point))
		rc = crew_start_driver(crew);
	return rc;
}

static int perform(const struct repetition *repetition, struct crew *crew, struct opened *opened)
{
	const struct plan *plan = repetition->plan;
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + plan->timeout_ns;
	uint64_t *turns = calloc(repetition->point->cpu_count, sizeof(*turns));
	struct worker *runner;
	int rc = turns ? prepare(repetition, crew, deadline_ns) : -ENOMEM;

	runner = runs_in_target(repetition->point) ? &crew->target : &crew->driver;
	if (!rc)
		rc = open_sources(repetition, crew, opened);
	if (!rc)
		rc = crew_command(crew, runner, WORKER_ARM, deadline_ns);
	if (!rc)
		rc = measure(plan, crew, runner, opened, turns, deadline_ns);
	if (!rc) {
		judge_neighbours(crew, turns);
		rc = crew_command(crew, &crew->target, WORKER_VERIFY, deadline_ns);
	}
	if (!rc)
		rc = crew_command(crew, &crew->target, WORKER_TEARDOWN, deadline_ns);
	free(turns);
	return rc;
}

/* An errno that nobody put into words yet; -ECANCELED is task_say()'s. */
static void say_errno(const struct repetition *repetition, struct shared *shared, int rc)
{
	if (rc == -ECANCELED && atomic_load(&shared->outcome) != OUTCOME_PASS)
		return;
	if (rc == -EINTR)
		shared_say(shared, OUTCOME_INTERRUPTED, "stopped by a signal");
	else if (rc == -ETIMEDOUT)
		shared_say(shared, OUTCOME_BROKEN, "not done after %.0f s; give a longer --timeout",
			   repetition->plan->timeout_ns / 1e9);
	else if (rc)
		shared_say(shared, OUTCOME_BROKEN, "set-up failed: %s", strerror(-rc));
}

static void forget_supervisor(void *context)
{
	const struct repetition *repetition = context;

	journal_forget(repetition->environment->journal);
}

static void attempt(const struct repetition *repetition, struct writer *writer,
		    enum outcome *outcome, char *reason, size_t size)
{
	struct opened opened = { 0 };
	struct crew crew;
	int rc = environment_apply(repetition->environment, repetition->point, reason, size);

	*outcome = OUTCOME_BROKEN;
	if (rc)
		return;
	rc = crew_open(&crew, repetition->point, repetition->environment->cgroup_folder,
		       forget_supervisor, (void *)repetition);
	if (rc) {
		snprintf(reason, size, "cannot share memory with workers: %s", strerror(-rc));
		return;
	}
	rc = perform(repetition, &crew, &opened);
	say_errno(repetition, crew.shared, rc);
	if (crew.shared->window_end_ns) {
		for (unsigned int i = 0; i < opened.count; i++)
			repetition->plan->sources[i]->read(opened.states[i], &writer->sink);
		write_reports(writer, crew.shared);
	}
	*outcome = atomic_load(&crew.shared->outcome);
	snprintf(reason, size, "%s", crew.shared->reason);
	close_sources(repetition->plan, &opened);
	crew_close(&crew);
}

int repetition_run(const struct repetition *repetition, enum outcome *outcome, bool *restored)
{
	struct writer writer = { .sink.add = write_sample, .repetition = repetition };
	uint64_t started_ns = clock_ns(CLOCK_REALTIME), from_ns = clock_ns(CLOCK_MONOTONIC);
	char reason[512] = "";

	if (needs_unmet("", repetition->point, reason, sizeof(reason))) {
		*outcome = OUTCOME_SKIP;
	} else {
		attempt(repetition, &writer, outcome, reason, sizeof(reason));
		*restored = environment_undo(repetition->environment) == 0;
	}
	write_outcome(&writer, *outcome, *outcome == OUTCOME_PASS ? "" : reason, started_ns,
		      (clock_ns(CLOCK_MONOTONIC) - from_ns) / 1e9);
	if (writer.rc)
		log_error(repetition->log, "cannot write the samples: %s", strerror(-writer.rc));
	return writer.rc;
}
