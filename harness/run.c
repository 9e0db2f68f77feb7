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

#include "../lib/clock.h"
#include "../lib/cpus.h"
#include "../lib/fs.h"
#include "../lib/spawn.h"
#include "mix.h"
#include "point.h"
#include "undo.h"

#define AFTER_SKIP_NS 250000000
#define BROKEN_MAX    20
#define GAVE_UP	      "gave up: too many repetitions in a row were broken or skipped"

struct runner {
	const struct plan *plan;
	struct record *record;
	struct log *log;
	struct journal *journal;
	struct run_result *result;
	unsigned int *cpus;
	unsigned int cpu_count;
	unsigned int broken_in_a_row;
	bool emulated;	/* as the machine's record has it */
	bool *skipped;	/* by point: its needs are unmet, which is said once */
	bool *measured; /* by point: a repetition was, so that a later skip is of that one only */
	int others;	/* runs of this user that were seen going on beside this one */
	bool settled;	/* a mix ran: from now on its members are the same */
	uint64_t started_ns;
};

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

/* Lets a stop signal in, for so long, then tells. */
static bool stop_requested(struct timespec within)
{
	sigset_t empty;

	sigemptyset(&empty);
	ppoll(NULL, 0, &within, &empty);
	return spawn_interrupted();
}

static void show_progress(struct runner *runner, unsigned int done)
{
	const struct plan *plan = runner->plan;

	if (plan->duration_ns)
		log_progress(runner->log, "running, seconds",
			     (monotonic_ns() - runner->started_ns) / NS_PER_S,
			     plan->duration_ns / NS_PER_S);
	else
		log_progress(runner->log, "running", done, plan->step_count);
}

static void make_point(const struct runner *runner, unsigned int index, unsigned int number,
		       struct point *point)
{
	*point = (struct point){
		.stressor = runner->plan->points[index].stressor,
		.parameters = runner->plan->points[index].parameters,
		.cpus = runner->cpus,
		.cpu_count = runner->cpu_count,
		.page_bytes = sysconf(_SC_PAGESIZE),
		.seed = runner->plan->seed * 1000003 + index * 10007 + number,
		.emulated = runner->emulated,
	};
}

/*
 * A skip of what was measured before (free memory dipped), or in a settled mix, is as good as
 * broken: the point can be measured here, and in a mix the others are not measured without it. It
 * takes no time, so the next repetition waits a moment, and a dip does not use up all of them.
 */
static void count_outcome(struct runner *runner, const struct participant *participant)
{
	enum outcome outcome = participant->outcome;
	unsigned int index = participant->index;
	bool skip = outcome == OUTCOME_SKIP, late = runner->settled || runner->measured[index];

	runner->result->counts[outcome]++;
	if (outcome == OUTCOME_BROKEN || (skip && late))
		runner->broken_in_a_row++;
	else
		runner->broken_in_a_row = 0;
	runner->skipped[index] = skip && !late;
	runner->measured[index] |= outcome == OUTCOME_PASS || outcome == OUTCOME_FAIL;
	if (skip && late)
		stop_requested((struct timespec){ .tv_nsec = AFTER_SKIP_NS });
}

static struct round make_round(const struct runner *runner, unsigned int number)
{
	return (struct round){
		.plan = runner->plan,
		.journal = runner->journal,
		.record = runner->record,
		.log = runner->log,
		.number = number,
		.settled = runner->settled,
	};
}

/*
 * Said once, and noted in the record. At the start and after each repetition: one that came and
 * went within is not seen.
 */
static void look_for_others(struct runner *runner)
{
	int others = journal_count_live(runner->log) - 1; /* our own is one */

	if (others > 0 && !runner->others)
		log_warn(
			runner->log,
			"%d other run%s going on here: what is counted for the whole machine is that of "
			"all, and what one changes on the machine another may undo",
			others, others == 1 ? " is" : "s are");
	if (others > runner->others)
		runner->others = others;
}

static int run_together(struct runner *runner, struct participant *participants, unsigned int count,
			unsigned int number)
{
	struct round round = make_round(runner, number);
	int rc = round_run(&round, participants, count, &runner->result->restored);

	look_for_others(runner);
	for (unsigned int i = 0; i < count; i++)
		runner->settled |= count > 1 && !participants[i].held &&
				   participants[i].outcome == OUTCOME_PASS;
	for (unsigned int i = 0; i < count; i++)
		if (!participants[i].held)
			count_outcome(runner, &participants[i]);
	return rc;
}

static int run_step(struct runner *runner, unsigned int index, unsigned int number,
		    unsigned int done)
{
	struct participant participant = { .index = index };
	struct point point;

	if (runner->skipped[index])
		return 0;
	show_progress(runner, done);
	make_point(runner, index, number, &point);
	participant.point = &point;
	return run_together(runner, &participant, 1, number);
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
	if (runner->result->gave_up)
		return true;
	if (runner->broken_in_a_row == BROKEN_MAX) {
		runner->result->gave_up = true;
		log_error(runner->log, GAVE_UP);
		return true;
	}
	return stop_requested((struct timespec){ 0 }) || !runner->result->restored ||
	       all_skipped(runner);
}

/* Before a mix runs for the first time: points whose needs are unmet are no members of it. */
static int leave_out_unmet(struct runner *runner, struct mix *mix, unsigned int *count,
			   unsigned int number)
{
	struct round round = make_round(runner, number);
	int rc = round_check(&round, mix->participants, *count);

	for (unsigned int i = 0; i < *count; i++)
		if (mix->participants[i].outcome == OUTCOME_SKIP)
			count_outcome(runner, &mix->participants[i]);
	*count = mix_leave_out_skipped(mix, *count);
	return rc;
}

/* What a set-up skips after all leaves CPUs to the others, which are placed and run again. */
static int run_members(struct runner *runner, struct mix *mix, unsigned int count,
		       unsigned int number)
{
	int rc = runner->settled ? 0 : leave_out_unmet(runner, mix, &count, number);
	bool again = count;

	while (!rc && again) {
		rc = mix_place(mix, count, runner->log);
		if (!rc)
			rc = run_together(runner, mix->participants, count, number);
		count = mix_leave_out_skipped(mix, count);
		again = count && mix->participants[0].held;
	}
	return rc;
}

/*
 * All points of the plan at once, each with a control CPU (and CPUs of its own) at the
 * head of the set; the CPUs behind have the neighbours that one of them asks for.
 */
static int run_mix(struct runner *runner, unsigned int number, unsigned int done)
{
	unsigned int count = 0, wanted = runner->plan->point_count;
	struct mix *mix = NULL;
	int rc = mix_new(wanted, runner->cpus, runner->cpu_count, &mix);

	show_progress(runner, done);
	for (unsigned int i = 0; !rc && i < wanted; i++) {
		if (runner->skipped[i])
			continue;
		make_point(runner, i, number, &mix->points[count]);
		mix->participants[count] = (struct participant){ .index = i,
								 .point = &mix->points[count] };
		count++;
	}
	if (!rc)
		rc = run_members(runner, mix, count, number);
	mix_free(mix);
	return rc;
}

/* One round of the plan; done counts the steps before it. */
static int run_round(struct runner *runner, unsigned int round)
{
	const struct plan *plan = runner->plan;
	unsigned int first = (round - 1) % plan->repetitions * plan->point_count;
	unsigned int done = (round - 1) * plan->point_count;
	int rc = 0;

	if (plan->interleave)
		return must_end(runner) ? 0 : run_mix(runner, round, done);
	for (unsigned int i = 0; !rc && i < plan->point_count && !must_end(runner); i++)
		rc = run_step(runner, plan->order[first + i].point, round, done + i);
	return rc;
}

/* Rounds until the time is up; the order of the plan's rounds comes again and again. */
static int run_for_duration(struct runner *runner)
{
	int rc = 0;

	for (unsigned int round = 1; !rc && !must_end(runner); round++) {
		if (monotonic_ns() - runner->started_ns >= runner->plan->duration_ns)
			break;
		rc = run_round(runner, round);
	}
	return rc;
}

static int run_repetitions(struct runner *runner)
{
	int rc = 0;

	for (unsigned int round = 1; !rc && round <= runner->plan->repetitions; round++)
		rc = run_round(runner, round);
	return rc;
}

/* The outcome of the whole: the worst of its repetitions. */
static enum outcome worst(const struct run_result *result)
{
	static const enum outcome order[] = { OUTCOME_FAIL, OUTCOME_BROKEN, OUTCOME_INTERRUPTED,
					      OUTCOME_PASS };

	if (result->gave_up && !result->counts[OUTCOME_FAIL])
		return OUTCOME_BROKEN;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (result->counts[order[i]])
			return order[i];
	return OUTCOME_SKIP;
}

/* What else a reader of the record must know; caller frees. */
static char *end_reason(const struct runner *runner)
{
	bool gave_up = runner->result->gave_up;
	char *others = !runner->others ? strdup("")
				       : format_string("%s%d other run%s beside it",
						       gave_up ? "; " : "", runner->others,
						       runner->others == 1 ? " was" : "s were");
	char *text = others ? format_string("%s%s", gave_up ? GAVE_UP : "", others) : NULL;

	free(others);
	return text;
}

static int write_end(struct runner *runner)
{
	struct run_result *result = runner->result;
	enum outcome outcome = spawn_interrupted() ? OUTCOME_INTERRUPTED : worst(result);
	json_t *line = json_pack("{s:s, s:b}", "end", outcome_name(outcome), "restored",
				 (int)result->restored);
	char *reason = end_reason(runner);
	int rc;

	if (reason && *reason)
		json_object_set_new(line, "reason", json_string(reason));
	free(reason);
	rc = line ? record_sample(runner->record, line) : -ENOMEM;

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
	runner.emulated =
		json_is_true(json_object_get(json_object_get(machine, "guest"), "emulated_time"));
	rc = undo_dead_journals(log);
	if (rc > 0)
		log_info(log, "undid what %d killed run%s left", rc, rc == 1 ? "" : "s");
	rc = choose_cpus(&runner, &usable);
	if (rc)
		return rc;
	runner.cpus = cpus_numbers(usable, &runner.cpu_count);
	runner.skipped = calloc(plan->point_count, sizeof(*runner.skipped));
	runner.measured = calloc(plan->point_count, sizeof(*runner.measured));
	rc = runner.cpus && runner.skipped && runner.measured ? 0 : -ENOMEM;
	if (!rc)
		rc = write_head(&runner, machine);
	if (!rc)
		rc = journal_open(log, &runner.journal);
	if (rc)
		goto free_cpus;
	look_for_others(&runner);
	runner.started_ns = monotonic_ns();
	rc = run_pinned(&runner);
	log_progress_end(log);
	if (!rc)
		rc = write_end(&runner);
	journal_close(runner.journal);
free_cpus:
	if (rc)
		log_error(log, "the run ended early: %s", strerror(-rc));
	free(runner.measured);
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
