// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events by name and their counters on the running kernel, and the sources perf,
 * tlb_flush, ipi and clocks. What this machine or user cannot count must be said
 * with a status and a reason; what it can is checked against work of known size.
 */
#include "machines.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../lib/cpus.h"
#include "../../lib/event_names.h"
#include "../../lib/features.h"
#include "../../lib/perf.h"
#include "../../lib/tlb_row.h"

#define PAGES 500

/* What was said while f() ran. */
static char *said(int (*call)(const char *text, struct log *log), const char *text, int expected)
{
	size_t length;
	char *message;
	struct log log;
	FILE *stream = open_memstream(&message, &length);

	log_open(&log, stream, LOG_LEVEL_WARN);
	ck_assert_int_eq(call(text, &log), expected);
	fclose(stream);
	return message;
}

START_TEST(names_that_are_known)
{
	static const char *const texts[] = {
		"page-faults",
		"page-faults@task",
		"cycles:u",
		"dTLB-load-misses@cpu",
		"r01c2",
		/* of processors that this machine is not */
		"INST_RETIRED:ANY_P",
		"skx::DTLB_LOAD_MISSES:WALK_COMPLETED",
	};
	size_t i;

	for (i = 0; FEATURE_LIBPFM && i < sizeof(texts) / sizeof(texts[0]); i++)
		free(said(perf_event_check, texts[i], 0));
	free(said(perf_event_check, "tlb:tlb_flush", 0));
	free(said(perf_event_check, "tlb:tlb_flush/reason==4 && pages > 1/@task", 0));
}
END_TEST

static const struct {
	const char *text, *message;
} wrong[] = {
	{ "page-fualts", "page-faults" },
	{ "cycels", "did you mean" },
	{ "zzzzzzzzzzzzzzz", "no such event" },
	{ "page-faults@cgroup", "must be \"cpu\" or \"task\"" },
	{ "page-faults/x/", "only a tracepoint" },
	{ "tlb:tlb_flush/reason==4", "a filter is written" },
	{ "tlb:tlb_flush/", "a filter is written" },
	{ "@task", "name is empty" },
	{ "", "name is empty" },
	{ "cycles:nonsense:u", "in what follows" },
};

START_TEST(names_that_are_wrong)
{
	char *message = said(perf_event_check, wrong[_i].text, -EINVAL);

	if (FEATURE_LIBPFM)
		ck_assert_msg(strstr(message, wrong[_i].message), "\"%s\" gives: %s",
			      wrong[_i].text, message);
	free(message);
}
END_TEST

START_TEST(parts_of_a_tracepoint)
{
	struct perf_event event;

	ck_assert_int_eq(perf_event_parse("tlb:tlb_flush/reason==4/@task", NULL, &event), 0);
	ck_assert_str_eq(event.system, "tlb");
	ck_assert_str_eq(event.name, "tlb_flush");
	ck_assert_str_eq(event.filter, "reason==4");
	ck_assert(event.by_task);
	ck_assert_uint_eq(event.attr.type, PERF_TYPE_TRACEPOINT);
	ck_assert(event.status == VALUE_OK ? !event.reason : !!event.reason);
	perf_event_release(&event);
	ck_assert_int_eq(perf_event_parse("tlb:no_such_tracepoint", NULL, &event), 0);
	ck_assert_int_ne(event.status, VALUE_OK);
	perf_event_release(&event);
}
END_TEST

START_TEST(paranoid_level)
{
	int level;

	machine_write(machines_folder, "/proc/sys/kernel/perf_event_paranoid", "-1\n");
	ck_assert_int_eq(perf_paranoid(machines_folder, &level), 0);
	ck_assert_int_eq(level, -1);
	ck_assert_int_eq(perf_paranoid("/nonexistent", &level), -ENOENT);
}
END_TEST

/* A counter that reads from pipes what a kernel would say. */
static enum value_status read_made(const struct perf_reading *readings, unsigned int count,
				   double *value, double *by_cpu, char *reason)
{
	int files[2], counted[2], cpus[2] = { 0, 3 };
	struct perf_reading before[2] = { { 0 } };
	struct perf_counter counter = {
		.files = counted, .cpus = cpus, .before = before, .count = count
	};
	enum value_status status;
	const char *why;
	unsigned int i;

	for (i = 0; i < count; i++) {
		ck_assert_int_eq(pipe(files), 0);
		ck_assert_int_eq(write(files[1], &readings[i], sizeof(readings[i])),
				 sizeof(readings[i]));
		close(files[1]);
		counted[i] = files[0];
	}
	status = perf_counter_read(&counter, value, by_cpu, 4, &why);
	snprintf(reason, 256, "%s", why ? why : "");
	for (i = 0; i < count; i++)
		close(counted[i]);
	free(counter.reason);
	return status;
}

START_TEST(multiplexed_counts_are_scaled)
{
	/* all of the time, a quarter of the time, never while enabled, never enabled */
	static const struct perf_reading full = { 100, 1000, 1000 }, quarter = { 100, 1000, 250 };
	static const struct perf_reading never = { 0, 1000, 0 }, idle = { 0, 0, 0 };
	struct perf_reading two[2] = { full, quarter };
	double value, by_cpu[4];
	char reason[256];

	ck_assert_int_eq(read_made(&full, 1, &value, NULL, reason), VALUE_OK);
	ck_assert_double_eq(value, 100);
	ck_assert_str_eq(reason, "");
	ck_assert_int_eq(read_made(two, 2, &value, by_cpu, reason), VALUE_MULTIPLEXED);
	ck_assert_double_eq(value, 100 + 400);
	ck_assert_double_eq(by_cpu[3], 400);
	ck_assert(isnan(by_cpu[1]));
	ck_assert_ptr_nonnull(strstr(reason, "25%"));
	two[1] = never;
	ck_assert_int_eq(read_made(two, 2, &value, by_cpu, reason), VALUE_FAILED);
	ck_assert_ptr_nonnull(strstr(reason, "fewer events"));
	ck_assert_int_eq(read_made(&idle, 1, &value, NULL, reason), VALUE_OK);
	ck_assert_double_eq(value, 0);
}
END_TEST

/* The CPUs and tasks of a small run: this process is the target, without driver. */
struct small_run {
	unsigned int *cpus;
	pid_t tasks[3];
	struct source_setup setup;
	struct keeping_sink keeper;
	struct log log;
};

static void begin_run(struct small_run *run, const char *const *events)
{
	hwloc_bitmap_t usable;

	memset(run, 0, sizeof(*run));
	ck_assert_int_eq(cpus_usable(&usable), 0);
	run->cpus = cpus_numbers(usable, &run->setup.cpu_count);
	hwloc_bitmap_free(usable);
	run->tasks[0] = getpid();
	run->setup.root = "";
	run->setup.cpus = run->cpus;
	run->setup.tasks = run->tasks;
	run->setup.task_count = 3;
	run->setup.events = events;
	log_open(&run->log, stderr, LOG_LEVEL_ERROR);
	forget_samples(&run->keeper);
}

static void do_run(struct small_run *run, const struct source *source, void (*work)(void))
{
	void *state;

	ck_assert_int_eq(source->open(&run->setup, &run->log, &state), 0);
	ck_assert_int_eq(source->start(state), 0);
	if (work)
		work();
	ck_assert_int_eq(source->stop(state), 0);
	source->read(state, &run->keeper.sink);
	source->close(state);
}

static void end_run(struct small_run *run)
{
	forget_samples(&run->keeper);
	free(run->cpus);
}

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *memory;

	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_ne((void *)memory, MAP_FAILED);
	madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	munmap((void *)memory, PAGES * page);
}

START_TEST(page_faults_are_counted)
{
	static const char *const events[] = { "page-faults:u@task", "page-faults", "cycles", NULL };
	struct small_run run;
	const struct kept_sample *task, *cpu;
	double sum = 0;
	unsigned int i;

	if (!FEATURE_LIBPFM)
		return;
	begin_run(&run, events);
	do_run(&run, &perf_source, touch_pages);
	task = kept(&run.keeper, "page-faults:u@task");
	cpu = kept(&run.keeper, "page-faults");
	if (task->value.status == VALUE_OK) {
		ck_assert_double_ge(task->value.value, PAGES);
		ck_assert_ptr_null(task->by_cpu);
	}
	if (cpu->value.status == VALUE_OK) {
		ck_assert_double_ge(cpu->value.value, PAGES);
		for (i = 0; i < cpu->cpu_count; i++)
			sum += isnan(cpu->by_cpu[i]) ? 0 : cpu->by_cpu[i];
		ck_assert_double_eq(sum, cpu->value.value);
	} else {
		ck_assert_int_eq(cpu->value.status, VALUE_NOT_PERMITTED);
		ck_assert_ptr_nonnull(strstr(cpu->reason, "perf_event_paranoid"));
	}
	/* either counted or explained: never zero */
	if (kept(&run.keeper, "cycles")->value.status == VALUE_OK)
		ck_assert_double_gt(kept(&run.keeper, "cycles")->value.value, 0);
	end_run(&run);
}
END_TEST

/* A child that was there before opening, and ended before it: its counter says so. */
START_TEST(a_task_that_is_gone)
{
	static const char *const events[] = { "page-faults:u@task", NULL };
	struct small_run run;

	if (!FEATURE_LIBPFM)
		return;
	begin_run(&run, events);
	run.tasks[0] = fork();
	if (!run.tasks[0])
		_exit(0);
	waitpid(run.tasks[0], NULL, 0);
	do_run(&run, &perf_source, NULL);
	ck_assert_int_eq(kept(&run.keeper, events[0])->value.status, VALUE_FAILED);
	end_run(&run);
}
END_TEST

/* One file a CPU: many events need more files than the soft limit that the test sets. */
START_TEST(limit_of_files_is_raised)
{
	static const char *events[33];
	struct rlimit limit;
	struct small_run run;
	unsigned int i;

	if (!FEATURE_LIBPFM)
		return;
	for (i = 0; i < 32; i++)
		events[i] = "page-faults:u@task";
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 20;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	begin_run(&run, events);
	do_run(&run, &perf_source, touch_pages);
	ck_assert_uint_eq(run.keeper.count, 32);
	if (run.keeper.list[31].value.status == VALUE_OK)
		ck_assert_double_ge(run.keeper.list[31].value.value, PAGES);
	end_run(&run);
}
END_TEST

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static volatile int storm_over;
static volatile unsigned long busy_turns;

static void pin(unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);

	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	sched_setaffinity(0, size, set);
	CPU_FREE(set);
}

/* Runs on another CPU in the same mm, so that each flush has someone to interrupt. */
static void *keep_running(void *context)
{
	pin(*(const unsigned int *)context);
	while (!storm_over)
		busy_turns++;
	return NULL;
}

static unsigned int own_cpu, busy_cpu;

static void flush_storm(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory;
	unsigned long turns, overlaps = 0;
	double end_ns;
	pthread_t thread;

	pin(own_cpu);
	storm_over = 0;
	memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, keep_running, &busy_cpu), 0);
	/* until the thread was seen to run while flushes were made, however busy the machine is */
	for (end_ns = cpu_ns() + 5e9; overlaps < 200 && cpu_ns() < end_ns;) {
		turns = busy_turns;
		memory[0] = 1;
		madvise((void *)memory, page, MADV_DONTNEED);
		overlaps += busy_turns != turns;
	}
	storm_over = 1;
	pthread_join(thread, NULL);
	munmap((void *)memory, page);
}

START_TEST(flushes_are_counted_by_reason)
{
	const struct kept_sample *sent, *remote;
	struct small_run run;

	begin_run(&run, NULL);
	if (run.setup.cpu_count < 2) {
		end_run(&run);
		return;
	}
	own_cpu = run.cpus[0];
	busy_cpu = run.cpus[run.setup.cpu_count - 1];
	do_run(&run, &tlb_flush_source, flush_storm);
	sent = kept(&run.keeper, "tlb_flush_ipi_sent");
	remote = kept(&run.keeper, "tlb_flush_remote");
	if (sent->value.status == VALUE_OK && sent->value.value > 0) {
		/* where a hypervisor flushes, the other CPU's kernel never hears of it */
		if (!tlb_row_is_dead("", (unsigned int[]){ own_cpu, busy_cpu }, tlb_row_provoke))
			ck_assert_double_ge(remote->value.value, 1);
		ck_assert_str_eq(sent->unit, "flushes");
	}
	end_run(&run);
	begin_run(&run, NULL);
	do_run(&run, &vmstat_source, flush_storm);
	ck_assert_str_ne(kept(&run.keeper, "flushes")->unit, "");
	end_run(&run);
}
END_TEST

START_TEST(ipis_have_a_value_or_a_reason)
{
	struct small_run run;
	unsigned int count = 0;

	begin_run(&run, NULL);
	do_run(&run, &ipi_source, touch_pages);
	while (ipi_source.metrics[count].name)
		kept(&run.keeper, ipi_source.metrics[count++].name);
	ck_assert_uint_eq(run.keeper.count, count);
	end_run(&run);
}
END_TEST

static void spend_time(void)
{
	double start_ns = cpu_ns();

	while (cpu_ns() < start_ns + 150e6)
		;
}

static pid_t child_that(bool spins)
{
	pid_t child = fork();

	while (!child)
		if (!spins)
			pause();
	return child;
}

START_TEST(clocks_of_tasks)
{
	const struct kept_sample *target, *wall;
	struct small_run run;

	begin_run(&run, NULL);
	run.tasks[2] = child_that(false);
	do_run(&run, &clocks_source, spend_time);
	target = kept(&run.keeper, "target_cpu_ns");
	wall = kept(&run.keeper, "wall_ms");
	ck_assert_double_ge(target->value.value, 150e6);
	ck_assert_double_ge(wall->value.value * 1e6 + 1e6, target->value.value);
	ck_assert_int_eq(kept(&run.keeper, "driver_cpu_ns")->value.status, VALUE_UNSUPPORTED);
	ck_assert_double_lt(kept(&run.keeper, "neighbour_share")->value.value, 0.5);
	kill(run.tasks[2], SIGKILL);
	waitpid(run.tasks[2], NULL, 0);

	forget_samples(&run.keeper);
	run.tasks[2] = child_that(true);
	do_run(&run, &clocks_source, spend_time);
	ck_assert_double_gt(kept(&run.keeper, "neighbour_share")->value.value, 0);
	kill(run.tasks[2], SIGKILL);
	waitpid(run.tasks[2], NULL, 0);

	forget_samples(&run.keeper);
	do_run(&run, &clocks_source, NULL);
	ck_assert_int_eq(kept(&run.keeper, "neighbour_share")->value.status, VALUE_FAILED);
	run.setup.task_count = 0;
	forget_samples(&run.keeper);
	do_run(&run, &clocks_source, NULL);
	ck_assert_int_eq(kept(&run.keeper, "neighbour_share")->value.status, VALUE_UNSUPPORTED);
	end_run(&run);
}
END_TEST

START_TEST(recorded_machines_count_nothing)
{
	static const char *const events[] = { "page-faults", NULL };
	struct small_run run;

	begin_run(&run, events);
	run.setup.root = "/nonexistent";
	do_run(&run, &perf_source, NULL);
	do_run(&run, &tlb_flush_source, NULL);
	ck_assert_int_eq(kept(&run.keeper, "page-faults")->value.status, VALUE_UNSUPPORTED);
	ck_assert_int_eq(kept(&run.keeper, "tlb_flush_remote")->value.status, VALUE_UNSUPPORTED);
	end_run(&run);
}
END_TEST

START_TEST(every_source_is_listed_once)
{
	int i, j;

	for (i = 0; all_sources[i]; i++)
		for (j = 0; j < i; j++)
			ck_assert_str_ne(all_sources[i]->name, all_sources[j]->name);
	ck_assert_int_eq(i, 6);
	ck_assert_ptr_eq(all_sources[i - 1], &interrupts_source);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf");
	TCase *group = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(group, machines_begin, machines_end);
	tcase_set_timeout(group, 60);
	tcase_add_test(group, names_that_are_known);
	tcase_add_loop_test(group, names_that_are_wrong, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(group, parts_of_a_tracepoint);
	tcase_add_test(group, paranoid_level);
	tcase_add_test(group, multiplexed_counts_are_scaled);
	tcase_add_test(group, page_faults_are_counted);
	tcase_add_test(group, a_task_that_is_gone);
	tcase_add_test(group, limit_of_files_is_raised);
	tcase_add_test(group, flushes_are_counted_by_reason);
	tcase_add_test(group, ipis_have_a_value_or_a_reason);
	tcase_add_test(group, clocks_of_tasks);
	tcase_add_test(group, recorded_machines_count_nothing);
	tcase_add_test(group, every_source_is_listed_once);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
