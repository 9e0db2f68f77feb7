// SPDX-License-Identifier: GPL-2.0-only
/* One repetition: who starts when, and what lies in the window. */
#include "point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/clock.h"
#include "environment.h"
#include "needs.h"
#include "samples.h"
#include "undo.h"
#include "worker.h"

#define NEXT_TURN_NS (10 * NS_PER_S) /* an emulator has long been round all CPUs */

/* A participant while it runs. rc: what ended it early; then the later steps leave it out. */
struct member {
	const struct round *round;
	struct participant *participant;
	struct environment environment;
	struct crew crew;
	struct worker *runner; /* who makes the call under test */
	void **sources;
	unsigned int source_count; /* of the plan's sources, opened in order */
	pid_t *pids;
	uint64_t *turns; /* of the neighbours, when the window began */
	uint64_t deadline_ns;
	int rc;
	/* what became of it before there was shared memory */
	enum outcome outcome;
	char reason[512];
};

static bool runs_in_target(const struct point *point)
{
	return point->stressor->run_in_target && point->stressor->run_in_target(point);
}

static bool has_neighbours(const struct member *member)
{
	const struct point *point = member->participant->point;

	return !member->participant->without_neighbours &&
	       (!point->stressor->neighbours || point->stressor->neighbours(point));
}

/* ---- steps, each for one member; 0 or a negative errno ---- */

static int check_needs(struct member *member)
{
	if (!needs_unmet("", member->participant->point, member->reason, sizeof(member->reason)))
		return 0;
	member->outcome = OUTCOME_SKIP;
	return -ECANCELED;
}

static int prepare_environment(struct member *member)
{
	return environment_apply(&member->environment, member->participant->point, member->reason,
				 sizeof(member->reason));
}

static void forget_supervisor(void *context)
{
	const struct member *member = context;

	journal_forget(member->round->journal);
}

static int open_crew(struct member *member)
{
	int rc = crew_open(&member->crew, member->participant->point,
			   member->environment.cgroup_folder, forget_supervisor, member);

	if (rc)
		snprintf(member->reason, sizeof(member->reason),
			 "cannot share memory with workers: %s", strerror(-rc));
	member->crew.folder = member->environment.folder;
	if (member->participant->reserved_cpus)
		member->crew.first_neighbour = member->participant->reserved_cpus;
	return rc;
}

static int start_target(struct member *member)
{
	int rc = crew_start_target(&member->crew);

	return rc ? rc
		  : crew_command(&member->crew, &member->crew.target, WORKER_SETUP,
				 member->deadline_ns);
}

static int start_others(struct member *member)
{
	bool in_target = runs_in_target(member->participant->point);
	int rc = has_neighbours(member) ? crew_start_neighbours(&member->crew, member->deadline_ns)
					: 0;

	member->runner = in_target ? &member->crew.target : &member->crew.driver;
	return rc || in_target ? rc : crew_start_driver(&member->crew);
}

static int open_sources(struct member *member)
{
	const struct source *const *sources =
		(const struct source *const *)member->round->plan->sources;
	struct source_setup setup = {
		.root = "",
		.cpus = member->participant->point->cpus,
		.cpu_count = member->participant->point->cpu_count,
		.events = (const char *const *)member->round->plan->events,
	};
	unsigned int wanted = 0;
	int rc = 0;

	while (sources[wanted])
		wanted++;
	member->sources = calloc(wanted + 1, sizeof(*member->sources));
	member->turns = calloc(setup.cpu_count, sizeof(*member->turns));
	member->pids = crew_pids(&member->crew, &setup.task_count);
	if (!member->sources || !member->turns || !member->pids)
		return -ENOMEM;
	setup.tasks = member->pids;
	while (!rc && member->source_count < wanted) {
		unsigned int i = member->source_count;

		rc = sources[i]->open(&setup, member->round->log, &member->sources[i]);
		if (rc)
			shared_say(member->crew.shared, OUTCOME_BROKEN, "cannot open source %s: %s",
				   sources[i]->name, strerror(-rc));
		else
			member->source_count++;
	}
	return rc;
}

static int arm(struct member *member)
{
	return crew_command(&member->crew, member->runner, WORKER_ARM, member->deadline_ns);
}

static int note_turns(struct member *member)
{
	for (unsigned int i = 0; i < member->crew.neighbour_count; i++)
		member->turns[i] = crew_turns(&member->crew, i);
	return 0;
}

static int send_run(struct member *member)
{
	return crew_send(&member->crew, member->runner, WORKER_RUN);
}

static int await_run(struct member *member)
{
	return crew_await(&member->crew, member->runner, member->deadline_ns);
}

/*
 * A neighbour that did not run was not there to be interrupted. A sleeping one
 * (neighbours=idle) is not expected to. Where an emulator has one thread for all CPUs, a short
 * window can be over before it comes round to each of them: the neighbour is on its CPU all the
 * same, and the kernel interrupts it. There its next turn shows that.
 */
static int judge_neighbours(struct member *member)
{
	struct crew *crew = &member->crew;
	uint64_t deadline_ns = crew->point->emulated ? monotonic_ns() + NEXT_TURN_NS : 0;
	int rc;

	if (!crew->neighbour_count ||
	    !strcmp(option_string(crew->point->parameters, "neighbours"), "idle"))
		return 0;
	for (unsigned int i = 0; i < crew->neighbour_count; i++) {
		rc = crew_await_turn(crew, i, member->turns[i], deadline_ns);
		if (rc == -EINTR)
			return rc;
		if (rc)
			shared_say(crew->shared, OUTCOME_BROKEN,
				   "the neighbour on CPU %u did not run in the measured window%s",
				   crew->point->cpus[crew->first_neighbour + i],
				   deadline_ns ? ", nor after it" : "");
	}
	return 0;
}

static int verify(struct member *member)
{
	int rc = crew_command(&member->crew, &member->crew.target, WORKER_VERIFY,
			      member->deadline_ns);

	return rc ? rc
		  : crew_command(&member->crew, &member->crew.target, WORKER_TEARDOWN,
				 member->deadline_ns);
}

/* ---- the round ---- */

static void each(struct member *members, unsigned int count, int (*step)(struct member *member))
{
	for (unsigned int i = 0; i < count; i++)
		if (!members[i].rc)
			members[i].rc = step(&members[i]);
}

static unsigned int plan_sources(const struct plan *plan)
{
	unsigned int count = 0;

	while (plan->sources[count])
		count++;
	return count;
}

/* Nothing here but the calls under test and the readings around them. */
static void measure(const struct plan *plan, struct member *members, unsigned int count)
{
	unsigned int sources = plan_sources(plan), s, m;
	int stopped;

	for (s = 0; s < sources; s++)
		for (m = 0; m < count; m++)
			if (!members[m].rc)
				members[m].rc = plan->sources[s]->start(members[m].sources[s]);
	each(members, count, send_run);
	each(members, count, await_run);
	while (s--)
		for (m = count; m--;) {
			if (s >= members[m].source_count)
				continue;
			stopped = plan->sources[s]->stop(members[m].sources[s]);
			if (!members[m].rc)
				members[m].rc = stopped;
		}
}

/* An errno that nobody put into words yet; -ECANCELED is task_say()'s. Without workers the step
 * did. */
static void say_errno(struct member *member)
{
	struct shared *shared = member->crew.shared;
	int rc = member->rc;

	if (!shared)
		return;
	if (rc == -ECANCELED && atomic_load(&shared->outcome) != OUTCOME_PASS)
		return;
	if (rc == -EINTR)
		shared_say(shared, OUTCOME_INTERRUPTED, "stopped by a signal");
	else if (rc == -ETIMEDOUT)
		shared_say(shared, OUTCOME_BROKEN, "not done after %.0f s; give a longer --timeout",
			   member->round->plan->timeout_ns / 1e9);
	else if (rc)
		shared_say(shared, OUTCOME_BROKEN, "set-up failed: %s", strerror(-rc));
}

static enum outcome outcome_of(const struct member *member)
{
	const struct shared *shared = member->crew.shared;

	return shared ? atomic_load(&shared->outcome) : member->outcome;
}

/* Nothing is measured of a member that could have been: why is another one, which cannot be. */
static void drop(struct member *member, const struct member *why)
{
	enum outcome outcome = outcome_of(why) == OUTCOME_INTERRUPTED ? OUTCOME_INTERRUPTED
								      : OUTCOME_BROKEN;
	const char *name = why->participant->point->stressor->name;
	const char *reason = why->crew.shared ? why->crew.shared->reason : why->reason;

	member->rc = -ECANCELED;
	if (member->participant->held)
		return;
	member->outcome = outcome;
	snprintf(member->reason, sizeof(member->reason),
		 "not measured, since the mix was not complete: %s, %s: %.300s", name,
		 outcome_name(outcome_of(why)), reason);
	if (member->crew.shared)
		shared_say(member->crew.shared, outcome, "%s", member->reason);
}

/* Are all ready for the window? If not, none is measured. */
static bool are_complete(struct member *members, unsigned int count)
{
	const struct member *out = NULL;
	bool again = !members->round->settled;

	for (unsigned int i = 0; i < count; i++) {
		if (!members[i].rc)
			continue;
		say_errno(&members[i]);
		again &= outcome_of(&members[i]) == OUTCOME_SKIP;
		out = out ? out : &members[i];
	}
	for (unsigned int i = 0; out && i < count; i++) {
		if (members[i].rc)
			continue;
		members[i].participant->held = again;
		drop(&members[i], out);
	}
	return !out;
}

static void perform(const struct plan *plan, struct member *members, unsigned int count)
{
	static int (*const before[])(
		struct member *) = { check_needs,  prepare_environment, open_crew, start_target,
				     start_others, open_sources,	arm,	   note_turns };
	static int (*const after[])(struct member *) = { judge_neighbours, verify };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		each(members, count, before[i]);
		if (!are_complete(members, count))
			return;
	}
	measure(plan, members, count);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		each(members, count, after[i]);
}

/* Samples before anything is closed, then the end of all that the member started. */
static void conclude(struct member *member, struct samples *samples)
{
	const struct plan *plan = member->round->plan;
	struct shared *shared = member->crew.shared;

	if (!shared) {
		member->participant->outcome = member->outcome;
		return;
	}
	say_errno(member);
	for (unsigned int i = 0; shared->window_end_ns && i < member->source_count; i++)
		plan->sources[i]->read(member->sources[i], &samples->sink);
	if (shared->window_end_ns)
		samples_write_reports(samples, member->participant->point->stressor, shared);
	member->participant->outcome = atomic_load(&shared->outcome);
	snprintf(member->reason, sizeof(member->reason), "%s", shared->reason);
	while (member->source_count--)
		plan->sources[member->source_count]->close(member->sources[member->source_count]);
	crew_close(&member->crew);
	free(member->sources);
	free(member->turns);
	free(member->pids);
}

static void say_unwritten(const struct round *round, int rc)
{
	log_error(round->log, "cannot write the samples: %s", strerror(-rc));
}

int round_check(const struct round *round, struct participant *participants, unsigned int count)
{
	char reason[512];
	int rc = 0;

	for (unsigned int i = 0; !rc && i < count; i++) {
		struct samples samples;

		if (!needs_unmet("", participants[i].point, reason, sizeof(reason)))
			continue;
		participants[i].outcome = OUTCOME_SKIP;
		samples_open(&samples, round->record, participants[i].index, round->number, false);
		samples_write_outcome(&samples, OUTCOME_SKIP, reason, clock_ns(CLOCK_REALTIME), 0);
		rc = samples.rc;
	}
	if (rc)
		say_unwritten(round, rc);
	return rc;
}

int round_run(const struct round *round, struct participant *participants, unsigned int count,
	      bool *restored)
{
	uint64_t started_ns = clock_ns(CLOCK_REALTIME), from_ns = monotonic_ns();
	struct samples *samples = calloc(count, sizeof(*samples));
	struct member *members = calloc(count, sizeof(*members));
	int rc = samples && members ? 0 : -ENOMEM;

	for (unsigned int i = 0; !rc && i < count; i++) {
		members[i] = (struct member){
			.round = round,
			.participant = &participants[i],
			.environment = { round->journal, round->log, i, -1, -1 },
			.deadline_ns = from_ns + round->plan->timeout_ns,
			.outcome = OUTCOME_BROKEN,
		};
		participants[i].held = false;
		samples_open(&samples[i], round->record, participants[i].index, round->number,
			     count > 1);
	}
	if (!rc)
		perform(round->plan, members, count);
	for (unsigned int i = 0; !rc && i < count; i++)
		conclude(&members[i], &samples[i]);
	for (unsigned int i = 0; !rc && i < count; i++)
		environment_release(&members[i].environment);
	if (!rc)
		*restored = undo_journal(round->journal, round->log) == 0;
	for (unsigned int i = 0; !rc && i < count; i++) {
		bool passed = participants[i].outcome == OUTCOME_PASS;

		if (participants[i].held)
			continue;
		samples_write_outcome(&samples[i], participants[i].outcome,
				      passed ? "" : members[i].reason, started_ns,
				      (monotonic_ns() - from_ns) / 1e9);
		rc = samples[i].rc;
	}
	if (rc)
		say_unwritten(round, rc);
	free(members);
	free(samples);
	return rc;
}
