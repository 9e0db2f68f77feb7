// SPDX-License-Identifier: GPL-2.0-only
/*
 * A compile: many short processes, each with an mm of its own that lives for
 * milliseconds and mostly on one CPU. What a change to TLB invalidation does to it is
 * told by the CPU time of its processes. load=kernel builds a part of
 * a kernel; load=jobs is no compile, but processes that fork, use memory and become
 * another program, for guests that hold no compiler. The two are never comparable.
 *
 * CPU time is the sum of getrusage()'s two times: that is sum_exec_runtime, which the scheduler
 * counts to the nanosecond. How it is divided into kernel and user space is exact only where
 * each entry to the kernel is accounted; elsewhere by the ticks that found a process here or
 * there, and a process without a tick in the kernel is all user time (cputime_adjust() of
 * kernel/sched/cputime.c).
 */
#include "kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/cpus.h"

static const char *const load_choices[] = { "kernel", "jobs", NULL };

static const struct option_row options[] = {
	{ .name = "load",
	  .type = OPTION_CHOICE,
	  .fallback = "kernel",
	  .choices = load_choices,
	  .metavar = "LOAD",
	  .help = "kernel: make in a kernel's tree; jobs: what stands for it without a compiler, "
		  "processes that fork, use memory and become another program" },
	{ .name = "parallel",
	  .type = OPTION_UINT,
	  .fallback = "0",
	  .max = 4096,
	  .metavar = "N",
	  .help = "jobs at a time, make's -j; 0: as many as there are CPUs" },
	{ .name = "tree",
	  .type = OPTION_STRING,
	  .fallback = "auto",
	  .metavar = "FOLDER",
	  .help = "kernel source in which nothing was built (load=kernel); auto: the newest that "
		  "the lab has unpacked in its cache, if all there are of one version" },
	{ .name = "target",
	  .type = OPTION_STRING,
	  .fallback = "lib/",
	  .metavar = "TARGET",
	  .help = "what is built of it, with the smallest configuration (load=kernel)" },
	{ .name = "jobs",
	  .type = OPTION_UINT,
	  .fallback = "400",
	  .min = 1,
	  .max = 1ULL << 40,
	  .metavar = "J",
	  .help = "jobs in all (load=jobs)" },
	{ .name = "job-memory",
	  .type = OPTION_SIZE,
	  .fallback = "8M",
	  .min = 4096,
	  .max = 1ULL << 40,
	  .metavar = "BYTES",
	  .help = "memory that a job touches and gives back (load=jobs)" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_PROGRAM,
	  .path = "make",
	  .words = "make",
	  .option = "load",
	  .value = "kernel" },
	{ .kind = NEED_PROGRAM,
	  .path = "gcc",
	  .words = "gcc",
	  .option = "load",
	  .value = "kernel" },
	{ .kind = NEED_PROGRAM,
	  .path = "flex",
	  .words = "flex",
	  .option = "load",
	  .value = "kernel" },
	{ .kind = NEED_PROGRAM,
	  .path = "bison",
	  .words = "bison",
	  .option = "load",
	  .value = "kernel" },
	{ .kind = NEED_PROGRAM, .path = "bc", .words = "bc", .option = "load", .value = "kernel" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_FOLDER, .option = "load", .value = "kernel" },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "cpu_ms", "ms", "less", "CPU time of the build's processes, as the scheduler counts it" },
	{ "system_ms", "ms", "less",
	  "what of it was in the kernel: exact with CONFIG_VIRT_CPU_ACCOUNTING_NATIVE, and on "
	  "nohz_full CPUs; where ticks are counted a guess, for processes of few ticks" },
	{ "user_ms", "ms", "less", "what of it was in user space: the rest, no more exact" },
	{ "build_ms", "ms", "less", "time from the build's start to its end" },
	{ "build_faults", "faults", "same", "minor page faults of the build's processes" },
	{ "objects", "files", "fixed", "object files that were built (load=kernel)" },
	{ "source_version", "version", "fixed",
	  "kernel that was built, 7003004 is 7.3.4 (load=kernel)" },
	{ "compiler_version", "version", "fixed",
	  "GCC that built it, 120200 is 12.2.0 (CONFIG_GCC_VERSION; load=kernel)" },
	{ "jobs_per_s", "jobs/s", "more", "jobs that came to their end (load=jobs)" },
	{ NULL },
};

static const struct build_load loads[] = {
	{ "kernel", build_make_setup, build_make_verify },
	{ "jobs", build_jobs_setup, build_jobs_verify },
	{ NULL },
};

static unsigned int parallel(const struct point *point)
{
	uint64_t given = option_uint(point->parameters, "parallel");

	return given ? given : point->cpu_count;
}

/* A compiler takes some 100 MiB at most; objects of a small configuration are few. */
static uint64_t memory_bytes(const struct point *point)
{
	bool jobs = !strcmp(option_string(point->parameters, "load"), "jobs");

	return jobs ? parallel(point) * (option_uint(point->parameters, "job-memory") + (4 << 20))
		    : parallel(point) * (100ULL << 20) + (256 << 20);
}

static int setup(struct task *task)
{
	struct build *build = calloc(1, sizeof(*build));
	int rc;

	if (!build)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = build;
	build->lock = -1;
	build->load = loads;
	while (strcmp(build->load->name, task_string(task, "load")))
		build->load++;
	build->parallel = parallel(task->point);
	build->cpus = helper_cpus(task->point->cpus, task->point->cpu_count);
	build->pids = calloc(build->parallel, sizeof(*build->pids));
	if (!build->cpus || !build->pids || pipe2(build->gate, O_CLOEXEC))
		return task_say(task, OUTCOME_BROKEN, "no memory or no pipe");
	rc = cpus_set_affinity(build->cpus);
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot run on the point's CPUs: %s",
				strerror(-rc));
	return build->load->setup(task, build);
}

static int run(struct task *task)
{
	struct build *build = task->state;
	uint64_t start_ns = monotonic_ns();
	int status = 0;

	getrusage(RUSAGE_CHILDREN, &build->before);
	close(build->gate[1]);
	for (unsigned int i = 0; i < build->started; i++) {
		while (waitpid(build->pids[i], &status, 0) < 0 && errno == EINTR)
			;
		build->pids[i] = 0;
		if (status && !build->status)
			build->status = status;
	}
	getrusage(RUSAGE_CHILDREN, &build->after);
	build->elapsed_ns = monotonic_ns() - start_ns;
	return 0;
}

static double timeval_ms(const struct timeval *from, const struct timeval *to)
{
	return (to->tv_sec - from->tv_sec) * 1e3 + (to->tv_usec - from->tv_usec) / 1e3;
}

static int verify(struct task *task)
{
	struct build *build = task->state;
	double system_ms = timeval_ms(&build->before.ru_stime, &build->after.ru_stime);
	double user_ms = timeval_ms(&build->before.ru_utime, &build->after.ru_utime);
	int rc = build->load->verify(task, build);

	if (rc)
		return rc;
	task_report(task, "cpu_ms", system_ms + user_ms);
	task_report(task, "system_ms", system_ms);
	task_report(task, "user_ms", user_ms);
	task_report(task, "build_ms", build->elapsed_ns / 1e6);
	task_report(task, "build_faults", build->after.ru_minflt - build->before.ru_minflt);
	return 0;
}

static void teardown(struct task *task)
{
	struct build *build = task->state;

	for (unsigned int i = 0; i < build->started; i++)
		helper_end(build->pids[i]);
	if (build->lock >= 0)
		close(build->lock);
	close(build->gate[0]);
	hwloc_bitmap_free(build->cpus);
	free(build->pids);
	free(build->tree);
	free(build->log);
	free(build->program);
	free(build);
}

const struct stressor kernel_build_stressor = {
	.name = "kernel-build",
	.version = 2,
	.summary = "part of a kernel is compiled in memory, or processes that stand for it",
	.description =
		"load=kernel configures a kernel as small as it can be, in a folder in memory and "
		"outside the window, and builds one target of it with make in the window. The "
		"source is what the lab has unpacked (\"shootdown lab build\"), with the patches "
		"that it left in it, or option tree. Runs are compared only when source_version, "
		"compiler_version and objects are the same in both.\n\n"
		"load=jobs needs neither compiler nor source: each job forks, touches memory and "
		"gives it back, and becomes another program (shootdown, which tells its version). "
		"It has the short-lived processes of a compile and none of its computing, so its "
		"share of system time is larger.\n\n"
		"Times are those of the processes that were waited for. cpu_ms is exact. The "
		"kernel's part of it, system_ms, is exact where each entry to the kernel is "
		"accounted: CONFIG_VIRT_CPU_ACCOUNTING_NATIVE, or CONFIG_VIRT_CPU_ACCOUNTING_GEN on "
		"CPUs that nohz_full names. Other kernels divide by ticks, and a process that no "
		"tick found in the kernel counts as all user time, so that jobs of a few "
		"milliseconds may be wrong by half.\n\n"
		"Verified: that make was content and left new object files, or that every "
		"job came to its end.",
	.example = "kernel-build --runs 2 --set load=jobs --set jobs=50",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "cpu_ms",
	.run_in_target = point_always,
	.neighbours = point_never,
	.common_bytes = sizeof(struct build_common),
	.memory_bytes = memory_bytes,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
