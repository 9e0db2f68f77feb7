// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stale-TLB check for kernels that invalidate on one CPU when they know that no
 * other CPU can have the translation: a task loads translations on one CPU, they
 * are invalidated on another, the task looks again on the first. stale-read has
 * many mms to a page and CPUs that are busy all the time; here it is one mm and the
 * CPUs that it ran on, ran on before, or never ran on.
 *
 * How it catches: a stale entry still reads the old frame. That holds the old word,
 * or the filling of the spare pages, which are made of freed frames at once; an
 * access that must fault goes through. Each subject is a fresh process that begins
 * its life on CPU a, so that its mm has run there alone.
 *
 * What it cannot catch: an entry that something else dropped before the look. Under
 * emulation that is each switch to another process on CPU a, so the subject has that
 * CPU to itself: in between it is idle. A pass is no proof.
 *
 * Reclaim (try_to_unmap() of many mms in a batch) is stale-read's.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stale_hop.h"

const struct hop_case hop_cases[] = {
	{ .name = "dontneed", .metric = "stale_dontneed", .live = hop_live, .make = hop_discard },
	{ .name = "mprotect",
	  .metric = "stale_mprotect",
	  .live = hop_live,
	  .make = hop_protect,
	  .settle = hop_unprotect },
	{ .name = "remap", .metric = "stale_remap", .live = hop_live, .make = hop_remap },
	{ .name = "mremap",
	  .metric = "stale_mremap",
	  .live = hop_live,
	  .make = hop_take_away,
	  .settle = hop_bring_back },
	{ .name = "cow",
	  .metric = "stale_cow",
	  .live = hop_live,
	  .make = hop_break_cow,
	  .settle = hop_end_child },
	{ .name = "fork",
	  .metric = "stale_fork",
	  .live = hop_live,
	  .make = hop_fork,
	  .after = hop_write_after_fork,
	  .settle = hop_ask_child },
	{ .name = "threads", .metric = "stale_threads", .live = hop_live_threads },
	{ .name = "late-thread", .metric = "stale_late_thread", .live = hop_live_late_thread },
	{ .name = "late-child",
	  .metric = "stale_late_child",
	  .live = hop_live,
	  .make = hop_late_child,
	  .stay = true },
	{ .name = "access",
	  .metric = "stale_access",
	  .possible = hop_access_possible,
	  .live = hop_live_conducted,
	  .conduct = hop_conduct_access,
	  .zero_pages = true },
	{ .name = "io-uring",
	  .metric = "stale_io_uring",
	  .possible = hop_uring_possible,
	  .release = hop_file_release,
	  .live = hop_live,
	  .make = hop_uring,
	  .settle = hop_uring_end,
	  .stay = true,
	  .zero_pages = true },
	{ .name = "truncate",
	  .metric = "stale_truncate",
	  .possible = hop_file_possible,
	  .release = hop_file_release,
	  .live = hop_live_conducted,
	  .conduct = hop_conduct_truncate,
	  .file = true },
	{ .name = "migrate",
	  .metric = "stale_migrate",
	  .possible = hop_migrate_possible,
	  .live = hop_live_conducted,
	  .conduct = hop_conduct_migrate },
	{ .name = "collapse",
	  .metric = "stale_collapse",
	  .possible = hop_collapse_possible,
	  .live = hop_live_conducted,
	  .conduct = hop_conduct_collapse,
	  .ready = hop_make_small },
	{ .name = "compact",
	  .metric = "stale_compact",
	  .possible = hop_compact_possible,
	  .live = hop_live_conducted,
	  .conduct = hop_conduct_compact,
	  .chance = true,
	  .ready = hop_scatter },
	{ .name = "rollover",
	  .metric = "stale_rollover",
	  .live = hop_live_rollover,
	  .conduct = hop_conduct_rollover },
	{ NULL },
};

_Static_assert(sizeof(hop_cases) / sizeof(hop_cases[0]) - 1 <= HOP_CASES_MAX, "a tally for each");

#define ALL_CASES "all"

static const char *const case_names[] = {
	ALL_CASES,  "dontneed", "mprotect",    "remap",	     "mremap",	 "cow",
	"fork",	    "threads",	"late-thread", "late-child", "access",	 "io-uring",
	"truncate", "migrate",	"collapse",    "compact",    "rollover", NULL,
};

static const struct option_row options[] = {
	{ .name = "case",
	  .type = OPTION_CHOICE,
	  .fallback = ALL_CASES,
	  .choices = case_names,
	  .metavar = "CASE",
	  .help = "play this case only; all plays those that can be played here" },
	{ .name = "pages",
	  .type = OPTION_UINT,
	  .fallback = "64",
	  .min = 1,
	  .max = 1 << 20,
	  .metavar = "P",
	  .help = "pages that are looked at; a part of them, chosen anew, is invalidated at a time" },
	{ .name = "subjects",
	  .type = OPTION_UINT,
	  .fallback = "4",
	  .min = 1,
	  .max = 1 << 20,
	  .metavar = "N",
	  .help = "processes for each case, one after the other, each with a mm of its own" },
	{ .name = "hops",
	  .type = OPTION_UINT,
	  .fallback = "8",
	  .min = 1,
	  .max = 1 << 20,
	  .metavar = "H",
	  .help = "times that a subject's pages are invalidated" },
	{ .name = "processes",
	  .type = OPTION_UINT,
	  .fallback = "256",
	  .min = 1,
	  .max = 1 << 24,
	  .metavar = "N",
	  .help = "short-lived processes a subject of case=rollover; 66000 use up the address "
		  "space numbers (ASIDs) of an arm64 CPU, so that they are given out anew" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_CPUS, .number = 2 },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct metric_row metrics[] = {
	{ "stale_accesses", "accesses", "less",
	  "accesses that saw what an invalidation should have made unreachable" },
	{ "checks", "accesses", "more", "accesses that were checked" },
	{ "pages_invalidated", "pages", "more",
	  "pages that were discarded, replaced, moved or changed from elsewhere" },
	{ "cases", "cases", "same", "cases that were played" },
	{ "stale_dontneed", "accesses", "less", "of these: MADV_DONTNEED on another CPU" },
	{ "stale_mprotect", "accesses", "less", "mprotect() on another CPU" },
	{ "stale_remap", "accesses", "less", "munmap() and mmap() in its place on another CPU" },
	{ "stale_mremap", "accesses", "less", "mremap() on another CPU" },
	{ "stale_cow", "accesses", "less", "copy-on-write on another CPU, after a fork" },
	{ "stale_fork", "accesses", "less",
	  "writes that reached a child, and reads after the write" },
	{ "stale_threads", "accesses", "less", "a thread on the other CPU replaces the pages" },
	{ "stale_late_thread", "accesses", "less",
	  "the same, after the mm had one thread for long" },
	{ "stale_late_child", "accesses", "less", "a child in the same mm (vfork) on another CPU" },
	{ "stale_access", "accesses", "less", "another process writes to the memory" },
	{ "stale_io_uring", "accesses", "less", "an io_uring worker reads a file into the memory" },
	{ "stale_truncate", "accesses", "less", "another process cuts the mapped file" },
	{ "stale_migrate", "accesses", "less", "another process moves the pages between nodes" },
	{ "stale_collapse", "accesses", "less",
	  "another process has the pages collapsed into a huge one" },
	{ "stale_compact", "accesses", "less", "compaction moves the pages" },
	{ "stale_rollover", "accesses", "less",
	  "two threads while short-lived processes use up ASIDs" },
	{ NULL },
};

/* CPU a, and CPU b where that is not the control CPU. */
static unsigned int own_cpus(const struct point *point)
{
	return point->cpu_count > 2 ? 2 : 1;
}

static uint64_t memory_bytes(const struct point *point)
{
	return option_uint(point->parameters, "pages") * 6 * point->page_bytes + (48UL << 20);
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	(void)point;
	list[0] = (struct prediction){ "stale_accesses", 0 };
	return 1;
}

/* ---- one subject ---- */

/*
 * The subject's other memory is made its own here, on CPU a, so that a kernel that
 * forgets to invalidate is caught by the look rather than by a crash. Where memory
 * may not be locked that is left out.
 */
static void live_as_subject(struct hop *hop, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	mlockall(MCL_CURRENT);
	atomic_store(&hop->common->subject, getpid());
	_exit(hop->what->live(hop) ? 1 : 0);
}

/*
 * The subject's parent is on CPU a, so that the subject begins there, and sleeps
 * until it has ended. It never goes back: the conductor, which has to survive a
 * broken kernel, is on one CPU all its life.
 */
static void live_as_parent(struct hop *hop, pid_t conductor)
{
	pid_t self = getpid(), subject;
	int status = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != conductor || hop_go(hop, hop->a))
		_exit(1);
	subject = fork();
	if (!subject)
		live_as_subject(hop, self);
	if (subject < 0 || waitpid(subject, &status, 0) != subject) {
		hop_broken(hop, "cannot start a subject: %s", strerror(errno));
		_exit(1);
	}
	atomic_store(&hop->common->status, status);
	_exit(0);
}

static int judge_end(struct hop *hop, int rc)
{
	int status = 0;

	if (waitpid(hop->parent, &status, 0) != hop->parent || status)
		return hop_broken(hop, "the subject's parent ended with status %#x", status);
	if (rc && rc != -ESRCH)
		return rc;
	return hop_judge_end(hop, "subject", atomic_load(&hop->common->status));
}

static int play_subject(struct hop *hop)
{
	struct hop_common *common = hop->common;
	pid_t self = getpid();
	int rc = 0;

	atomic_store(&common->step, 0);
	atomic_store(&common->subject, 0);
	hop->parent = fork();
	if (!hop->parent)
		live_as_parent(hop, self);
	if (hop->parent < 0)
		return hop_broken(hop, "cannot fork: %s", strerror(errno));
	if (hop->what->conduct)
		rc = hop->what->conduct(hop);
	if (rc && atomic_load(&common->subject))
		kill(atomic_load(&common->subject), SIGKILL);
	return judge_end(hop, rc);
}

/* ---- target ---- */

static int setup(struct task *task)
{
	const struct point *point = task->point;
	struct hop *hop = calloc(1, sizeof(*hop));

	if (!hop)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = hop;
	*hop = (struct hop){
		.task = task,
		.common = task->common,
		.home = point->cpus[0],
		.a = point->cpus[1],
		.b = point->cpus[point->cpu_count > 2 ? 2 : 0],
		.seed = point->seed,
		.hops = task_uint(task, "hops"),
		.pages = task_uint(task, "pages"),
		.page_bytes = point->page_bytes,
		.what = hop_cases,
	};
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) && errno != EINVAL)
		return task_say(task, OUTCOME_BROKEN, "cannot turn huge pages off: %s",
				strerror(errno));
	return hop_map(hop);
}

/* 0, or 1 and it is left out; a case that was asked for by name is then a skip. */
static int is_left_out(struct hop *hop, const char *wanted)
{
	char reason[256];

	if (strcmp(wanted, ALL_CASES) && strcmp(wanted, hop->what->name))
		return 1;
	if (!hop->what->possible || !hop->what->possible(hop, reason, sizeof(reason)))
		return 0;
	if (strcmp(wanted, ALL_CASES))
		task_say(hop->task, OUTCOME_SKIP, "case %s %s", wanted, reason);
	return 1;
}

static int say_stale(struct task *task, const struct hop_common *common)
{
	const struct hop_finding *first = &common->first;

	return task_say(task, OUTCOME_FAIL,
			"stale access, the first: case %s, CPU %u %s at address %#llx, expected "
			"%#llx, found %#llx",
			hop_cases[first->index].name, first->cpu, first->what,
			(unsigned long long)first->address, (unsigned long long)first->expected,
			(unsigned long long)first->found);
}

/* A finding is said at once: what is left of a broken kernel may not get to verify(). */
static void play_case(struct hop *hop)
{
	unsigned int subjects = task_uint(hop->task, "subjects");
	int rc = 0;

	hop->common->ran[hop->index] = true;
	for (unsigned int i = 0; !rc && i < subjects; i++) {
		rand_r(&hop->seed);
		rc = play_subject(hop);
		if (atomic_load(&hop_tally(hop)->stale))
			rc = say_stale(hop->task, hop->common);
	}
}

/* What is wrong has been said; the other cases are played all the same, and verify() judges. */
static int run(struct task *task)
{
	const char *wanted = task_string(task, "case");
	struct hop *hop = task->state;

	for (hop->index = 0; hop_cases[hop->index].name; hop->index++) {
		hop->what = &hop_cases[hop->index];
		if (is_left_out(hop, wanted))
			continue;
		play_case(hop);
		if (hop->what->release)
			hop->what->release(hop);
	}
	return 0;
}

/* Whether it has one does not lie with us, and nobody asked for it by name. */
static bool is_without_effect(const struct task *task, const struct hop_case *what,
			      const struct hop_tally *tally)
{
	return what->chance && !atomic_load(&tally->effects) && !atomic_load(&tally->stale) &&
	       !strcmp(task_string(task, "case"), ALL_CASES);
}

static int verify(struct task *task)
{
	struct hop_common *common = task->common;
	uint64_t stale = 0, checks = 0, effects = 0, cases = 0;

	for (unsigned int i = 0; hop_cases[i].name; i++) {
		const struct hop_tally *tally = &common->tallies[i];

		if (!common->ran[i] || is_without_effect(task, &hop_cases[i], tally))
			continue;
		if (!atomic_load(&tally->effects) || !atomic_load(&tally->checks))
			task_say(task, OUTCOME_BROKEN,
				 "%s: no page was invalidated, so that nothing was tested",
				 hop_cases[i].name);
		task_report(task, hop_cases[i].metric, atomic_load(&tally->stale));
		stale += atomic_load(&tally->stale);
		checks += atomic_load(&tally->checks);
		effects += atomic_load(&tally->effects);
		cases++;
	}
	if (!cases)
		return 0;
	task_report(task, "stale_accesses", stale);
	task_report(task, "checks", checks);
	task_report(task, "pages_invalidated", effects);
	task_report(task, "cases", cases);
	return stale ? -ECANCELED : 0;
}

static void teardown(struct task *task)
{
	struct hop *hop = task->state;
	size_t bytes = hop->pages * hop->page_bytes;

	munmap(hop->base, bytes);
	munmap(hop->spare, bytes);
	munmap(hop->away, bytes);
	free(hop);
}

const struct stressor stale_hop_stressor = {
	.name = "stale-hop",
	.version = 1,
	.summary = "a task's translations are invalidated from other CPUs than they were loaded on",
	.description =
		"A check for kernels that leave the invalidation to one CPU when they believe that "
		"no other one can hold the translation. For each case some processes are made, one "
		"after the other; each begins its life on one CPU and loads translations there. "
		"Then its pages are invalidated on another CPU: by itself after it moved there (dontneed, "
		"mprotect, remap, mremap, cow, fork), by a second thread or a child in the same mm "
		"(threads, late-thread, late-child), or by somebody whose CPU never ran the mm: "
		"another process (access, truncate, migrate, collapse, compact) or a worker (io-uring). "
		"rollover is threads while short-lived processes use up address space numbers. Back "
		"on its first CPU it looks at every page. What it sees that should be out of reach "
		"is a stale access, and the run fails.\n\n"
		"A pass is no proof: an entry may have been dropped for another reason before it "
		"could be used. migrate needs two NUMA nodes, collapse and compact need root, "
		"collapse huge pages, io-uring a kernel that lets it; whether compaction moves a page "
		"depends on what else is in memory. case=all leaves out what cannot be played or had "
		"no effect, and reports no number for it.",
	.example = "stale-hop --runs 1 --set subjects=1 --set hops=2",
	.needs = needs,
	.options = options,
	.metrics = metrics,
	.primary = "stale_accesses",
	.run_in_target = point_always,
	.neighbours = point_never,
	.own_cpus = own_cpus,
	.common_bytes = sizeof(struct hop_common),
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
