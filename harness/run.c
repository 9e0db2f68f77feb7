// SPDX-License-Identifier: GPL-2.0-only
/* A plan's steps one after the other, on one set of CPUs. */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/cpus.h"
#include "../lib/spawn.h"
#include "environment.h"
#include "point.h"

#define BROKEN_MAX 20

struct runner {
	const struct plan *plan;
	struct record *record;
	struct log *log;
	struct environment environment;
	struct run_result *result;
	unsigned int *cpus;
	unsigned int cpu_count;
	unsigned int broken_in_a_row;
	bool *skipped; /* by point: its needs are unmet, which is said once */
	uint64_t started_ns;
};

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The CPUs of the plan; says what is wrong with its list. */
static int choose_cpus(struct runner *runner, hwloc_bitmap_t *usable)
{
	hwloc_bitmap_t wanted;
	char *have;
	int rc = cpus_usable(usable);

	if (rc || !runner->plan->cpu_list)
		return rc;
	rc = cpus_parse(runner->plan->cpu_list, &wanted);
	if (rc)
		goto free_usable;
	if (!hwloc_bitmap_isincluded(wanted, *usable)) {
		have = cpus_format(*usable);
		log_error(runner->log,
			  "--cpus %s names CPUs that are offline or not allowed here; "
			  "usable are %s",
			  runner->plan->cpu_list, have ? have : "others");
		free(have);
		rc = -EINVAL;
	}
	hwloc_bitmap_copy(*usable, wanted);
	hwloc_bitmap_free(wanted);
	if (!rc)
		return 0;
free_usable:
	hwloc_bitmap_free(*usable);
	return rc;
}

/* The whole affinity of this process, to be put back; size_t bytes of mask. */
static cpu_set_t *save_affinity(size_t *size)
{
	for (int count = 1024; count <= 1 << 20; count *= 2) {
		cpu_set_t *set = CPU_ALLOC(count);

		*size = CPU_ALLOC_SIZE(count);
		if (set && !sched_getaffinity(0, *size, set))
			return set;
		CPU_FREE(set);
	}
	return NULL;
}

/* Lets a pending stop signal in, then tells. */
static bool stop_requested(void)
{
	struct timespec none = { 0 };
	sigset_t empty;

	sigemptyset(&empty);
	ppoll(NULL, 0, &none, &empty);
	return spawn_interrupted();
}

static void show_progress(struct runner *runner, unsigned int done, const struct point *point)
{
	const struct plan *plan = runner->plan;

	if (plan->duration_ns)
		log_progress(runner->log, "running, seconds",
			     (monotonic_ns() - runner->started_ns) / 1000000000ULL,
			     plan->duration_ns / 1000000000ULL);
	else
		log_progress(runner->log, "running", done, plan->step_count);
	log_debug(runner->log, "%s", point->stressor->name);
}

static int run_step(struct runner *runner, unsigned int index, unsigned int number,
		    unsigned int done)
{
	const struct plan_point *from = &runner->plan->points[index];
	struct point point = {
		.stressor = from->stressor,
		.parameters = from->parameters,
		.cpus = runner->cpus,
		.cpu_count = runner->cpu_count,
		.page_bytes = sysconf(_SC_PAGESIZE),
		.seed = runner->plan->seed * 1000003 + index * 10007 + number,
	};
	struct repetition repetition = {
		.plan = runner->plan,
		.point = &point,
		.point_index = index,
		.number = number,
		.environment = &runner->environment,
		.record = runner->record,
		.log = runner->log,
	};
	enum outcome outcome;
	int rc;

	if (runner->skipped[index])
		return 0;
	show_progress(runner, done, &point);
	rc = repetition_run(&repetition, &outcome, &runner->result->restored);
	runner->result->counts[outcome]++;
	runner->broken_in_a_row = outcome == OUTCOME_BROKEN ? runner->broken_in_a_row + 1 : 0;
	runner->skipped[index] = outcome == OUTCOME_SKIP;
	return rc;
}

static bool all_skipped(const struct runner *runner)
{
	for (unsigned int i = 0; i < runner->plan->point_count; i++)
		if (!runner->skipped[i])
			return false;
	return true;
}

/*
 * A machine that was not put back is no place for another measurement, and what
 * was broken twenty times in a row will be broken again.
 */
static bool must_end(const struct runner *runner)
{
	if (runner->broken_in_a_row == BROKEN_MAX) {
		log_error(runner->log, "the last %d repetitions were broken: giving up",
			  BROKEN_MAX);
		return true;
	}
	return stop_requested() || !runner->result->restored || all_skipped(runner);
}

/* Rounds until the time is up: the plan's order is the order of each round. */
static int run_for_duration(struct runner *runner)
{
	const struct plan *plan = runner->plan;
	int rc = 0;

	for (unsigned int round = 0; !rc; round++) {
		for (unsigned int i = 0; !rc && i < plan->point_count; i++) {
			if (must_end(runner) ||
			    monotonic_ns() - runner->started_ns >= plan->duration_ns)
				return 0;
			rc = run_step(runner, plan->order[i].point, round + 1, 0);
		}
	}
	return rc;
}

static int run_repetitions(struct runner *runner)
{
	const struct plan *plan = runner->plan;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < plan->step_count && !must_end(runner); i++)
		rc = run_step(runner, plan->order[i].point, plan->order[i].repetition, i);
	return rc;
}

/* The outcome of the whole: the worst of its repetitions. */
static enum outcome worst(const struct run_result *result)
{
	static const enum outcome order[] = { OUTCOME_FAIL, OUTCOME_BROKEN, OUTCOME_INTERRUPTED,
					      OUTCOME_PASS };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (result->counts[order[i]])
			return order[i];
	return OUTCOME_SKIP;
}

static int write_end(struct runner *runner)
{
	struct run_result *result = runner->result;
	enum outcome outcome = spawn_interrupted() ? OUTCOME_INTERRUPTED : worst(result);
	json_t *line = json_pack("{s:s, s:b}", "end", outcome_name(outcome), "restored",
				 (int)result->restored);
	int rc = line ? record_sample(runner->record, line) : -ENOMEM;

	json_decref(line);
	return rc;
}

static int write_head(struct runner *runner, json_t *machine)
{
	json_t *plan = plan_json(runner->plan, runner->cpu_count, sysconf(_SC_PAGESIZE));
	json_t *cpus = json_object_get(machine, "cpus");
	int rc = plan ? 0 : -ENOMEM;

	json_object_set_new(cpus, "used", json_integer(runner->cpu_count));
	if (!rc)
		rc = record_machine(runner->record, machine);
	if (!rc)
		rc = record_plan(runner->record, plan);
	json_decref(plan);
	return rc;
}

static int run_pinned(struct runner *runner)
{
	size_t mask_size;
	cpu_set_t *mask = save_affinity(&mask_size);
	sigset_t stops, kept;
	int rc;

	if (!mask)
		return -ENOMEM;
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &kept);
	rc = task_pin(runner->cpus[0]);
	if (!rc)
		rc = runner->plan->duration_ns ? run_for_duration(runner) : run_repetitions(runner);
	if (sched_setaffinity(0, mask_size, mask))
		log_warn(runner->log, "the affinity of this process stays on CPU %u: %s",
			 runner->cpus[0], strerror(errno));
	sigprocmask(SIG_SETMASK, &kept, NULL);
	CPU_FREE(mask);
	return rc;
}

int run_plan(const struct plan *plan, json_t *machine, struct record *record, struct log *log,
	     struct run_result *result)
{
	struct runner runner = { .plan = plan, .record = record, .log = log, .result = result };
	hwloc_bitmap_t usable;
	int rc;

	*result = (struct run_result){ .restored = true };
	rc = environment_restore(log);
	if (rc > 0)
		log_info(log, "undid what %d killed run%s left", rc, rc == 1 ? "" : "s");
	rc = choose_cpus(&runner, &usable);
	if (rc)
		return rc;
	runner.cpus = cpus_numbers(usable, &runner.cpu_count);
	runner.skipped = calloc(plan->point_count, sizeof(*runner.skipped));
	rc = runner.cpus && runner.skipped ? 0 : -ENOMEM;
	if (!rc)
		rc = write_head(&runner, machine);
	if (!rc)
		rc = journal_open(log, &runner.environment.journal);
	if (rc)
		goto free_cpus;
	runner.environment.log = log;
	runner.environment.cgroup_folder = -1;
	runner.started_ns = monotonic_ns();
	rc = run_pinned(&runner);
	log_progress_end(log);
	if (!rc)
		rc = write_end(&runner);
	journal_close(runner.environment.journal);
free_cpus:
	if (rc)
		log_error(log, "the run ended early: %s", strerror(-rc));
	free(runner.skipped);
	free(runner.cpus);
	hwloc_bitmap_free(usable);
	return rc;
}

enum exit_code run_exit_code(const struct run_result *result)
{
	static const enum exit_code codes[OUTCOME_COUNT] = {
		[OUTCOME_PASS] = EXIT_DONE,	     [OUTCOME_FAIL] = EXIT_FAILED,
		[OUTCOME_BROKEN] = EXIT_BROKEN,	     [OUTCOME_SKIP] = EXIT_SKIPPED,
		[OUTCOME_INTERRUPTED] = EXIT_BROKEN,
	};

	if (!result->restored && !result->counts[OUTCOME_FAIL])
		return EXIT_BROKEN;
	return codes[worst(result)];
}
