// SPDX-License-Identifier: GPL-2.0-only
/* What storms predict, which CPUs they take, and whether their areas tell wrong contents. */
#include "quiet.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../harness/worker.h"
#include "../../lib/fs.h"
#include "../../results/format.h"
#include "../../stressors/storm.h"

/*
 * Worked out by hand. A flush a call, on each other CPU that runs the mm: 4 threads with
 * 1,000 calls are 4,000 flushes and 12,000 interrupts. A read after the call adds one a
 * page. mprotect() twice is two.
 */
static const struct {
	const char *stressor, *settings;
	unsigned int cpus;
	const char *metric;
	double value; /* NAN: not predicted */
} predicted[] = {
	{ "dontneed-storm", "threads=1 ops=1000", 4, "flushes", 0 },
	{ "dontneed-storm", "threads=1 ops=1000", 4, "tlbi_broadcast", 1000 },
	{ "dontneed-storm", "threads=4 ops=1000", 4, "flushes", 4000 },
	{ "dontneed-storm", "threads=4 ops=1000", 4, "remote_ipis", 12000 },
	{ "dontneed-storm", "threads=4 ops=1000", 4, "tlbi_broadcast", NAN },
	{ "dontneed-storm", "threads=0 ops=1000", 128, "remote_ipis", 16256000 },
	{ "dontneed-storm", "threads=5 ops=1000", 4, "remote_ipis", NAN },
	{ "dontneed-storm", "threads=5 ops=1000", 4, "tlbi_broadcast", NAN },
	{ "dontneed-storm", "threads=0 readers=1 ops=1000", 4, "flushes", 3000 },
	{ "dontneed-storm", "threads=0 readers=1 ops=1000", 4, "remote_ipis", 9000 },
	{ "dontneed-storm", "threads=1 readers=3 ops=10", 4, "remote_ipis", 30 },
	{ "dontneed-storm", "readers=4 ops=10", 4, "flushes", NAN },
	{ "dontneed-storm", "mode=processes ops=1000", 16, "remote_ipis", 0 },
	{ "dontneed-storm", "mode=processes ops=1000", 16, "flushes", 0 },
	{ "dontneed-storm", "mode=processes ops=1000", 16, "tlbi_broadcast", 16000 },
	{ "dontneed-storm", "threads=2 ops=10 pages=64", 4, "flushes", 20 },
	{ "dontneed-storm", "threads=2 ops=10 pages=64", 4, "tlbi_broadcast", NAN },
	{ "dontneed-storm", "threads=2 ops=10 pages=100000", 4, "flushes", NAN },
	{ "dontneed-storm", "threads=2 ops=10 check=reread", 4, "flushes", 40 },
	{ "dontneed-storm", "threads=2 ops=10 check=reread pages=3", 4, "flushes", 80 },
	{ "dontneed-storm", "threads=2 ops=10 check=reread sharing=shared", 4, "flushes", NAN },
	{ "dontneed-storm", "threads=2 ops=10 check=reread huge=pmd pages=512", 4, "flushes", NAN },
	{ "dontneed-storm", "threads=2 ops=10 sharing=shared", 4, "flushes", NAN },
	{ "dontneed-storm", "threads=1 readers=1 ops=10 sharing=shared", 4, "flushes", 10 },
	{ "dontneed-storm", "threads=1 readers=1 ops=10 sharing=shared folder=/", 4, "flushes",
	  NAN },
	{ "dontneed-storm", "threads=2 ops=10 huge=64k pages=16", 4, "flushes", 20 },
	{ "dontneed-one", "threads=1 ops=1000", 4, "remote_ipis", 0 },
	{ "dontneed-one", "threads=4 ops=1000", 4, "flushes", 1000 },
	{ "dontneed-one", "threads=4 ops=1000", 4, "remote_ipis", 3000 },
	{ "dontneed-one", "threads=4 ops=1000", 4, "tlbi_broadcast", 1000 },
	{ "munmap-storm", "threads=1 readers=2 ops=10", 4, "remote_ipis", 20 },
	{ "munmap-storm", "threads=2 ops=10", 4, "remote_ipis", NAN },
	{ "munmap-storm", "threads=2 ops=10", 4, "flushes", NAN },
	{ "munmap-storm", "threads=2 ops=10", 4, "tlbi_broadcast", 20 },
	{ "munmap-storm", "threads=2 ops=10 mode=processes", 4, "flushes", 0 },
	{ "mprotect-storm", "threads=1 readers=2 ops=10", 4, "flushes", 20 },
	{ "mprotect-storm", "threads=1 readers=2 ops=10", 4, "remote_ipis", 40 },
	{ "mprotect-storm", "threads=2 ops=10", 4, "remote_ipis", NAN },
	{ "mprotect-storm", "threads=1 readers=1 ops=10 sharing=shared", 4, "flushes", NAN },
};

static struct option_values *set_words(const struct stressor *stressor, const char *words)
{
	struct option_values *values = options_new(stressor->options);
	char *text = strdup(words), *rest = text, *word, *equals;

	while ((word = strsep(&rest, " "))) {
		equals = strchr(word, '=');
		*equals = '\0';
		ck_assert_int_eq(options_set(values, "test", word, equals + 1, quiet_log()), 0);
	}
	free(text);
	return values;
}

START_TEST(counts_are_predicted)
{
	const struct stressor *stressor = stressor_find(predicted[_i].stressor);
	struct option_values *values = set_words(stressor, predicted[_i].settings);
	struct point point = {
		.stressor = stressor,
		.parameters = values,
		.cpu_count = predicted[_i].cpus,
		.page_bytes = 4096,
	};
	struct prediction list[PREDICTION_MAX];
	unsigned int count = stressor->predict(&point, list);
	double found = NAN;

	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(list[i].metric, predicted[_i].metric))
			found = list[i].value;
	if (isnan(predicted[_i].value))
		ck_assert(isnan(found));
	else
		ck_assert_double_eq(found, predicted[_i].value);
	options_free(values);
}
END_TEST

static const struct {
	const char *stressor, *settings;
	unsigned int cpus, own;
} taken[] = {
	{ "dontneed-storm", "threads=0", 8, 7 },
	{ "dontneed-storm", "threads=3", 8, 2 },
	{ "dontneed-storm", "threads=3 readers=2", 8, 4 },
	{ "dontneed-storm", "readers=2", 8, 7 },
	{ "dontneed-storm", "threads=16", 8, 15 },
	{ "dontneed-storm", "readers=9", 8, 9 },
	{ "dontneed-one", "threads=1", 8, 0 },
	{ "dontneed-one", "threads=0", 8, 7 },
	{ "munmap-storm", "threads=2 mode=processes", 8, 1 },
};

START_TEST(own_cpus_are_those_behind_the_first)
{
	const struct stressor *stressor = stressor_find(taken[_i].stressor);
	struct option_values *values = set_words(stressor, taken[_i].settings);
	struct point point = {
		.stressor = stressor,
		.parameters = values,
		.cpu_count = taken[_i].cpus,
	};

	ck_assert_uint_eq(stressor->own_cpus(&point), taken[_i].own);
	options_free(values);
}
END_TEST

/* A CPU that this process may use. */
static unsigned int first_cpu(void)
{
	cpu_set_t set;
	unsigned int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

/*
 * A repetition of a point in this process: the stressor's callbacks one after the other, all
 * who take part on one CPU.
 */
struct played {
	unsigned int cpus[2];
	struct point point;
	struct shared shared;
	struct task task;
};

static void prepare(struct played *played, const char *stressor, const char *words)
{
	*played = (struct played){
		.cpus = { first_cpu(), first_cpu() },
		.point = {
			.stressor = stressor_find(stressor),
			.parameters = set_words(stressor_find(stressor), words),
			.cpus = played->cpus,
			.cpu_count = 2,
			.page_bytes = sysconf(_SC_PAGESIZE),
		},
		.task = { .point = &played->point, .shared = &played->shared, .cgroup_folder = -1 },
	};
}

static void play(struct played *played, const char *stressor, const char *words)
{
	prepare(played, stressor, words);
	ck_assert_int_eq(played->point.stressor->setup(&played->task), 0);
}

/* An area of 8 pages, two of them a call. */
static struct storm_memory memory_of_calls(bool shared)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE);

	return (struct storm_memory){
		.page_bytes = page_bytes,
		.unit_bytes = page_bytes,
		.call_bytes = 2 * page_bytes,
		.area_bytes = 8 * page_bytes,
		.shared = shared,
		.file = -1,
	};
}

START_TEST(a_page_that_was_not_discarded_is_found)
{
	struct storm_memory memory = memory_of_calls(false);
	struct storm_area area;

	ck_assert_int_eq(storm_area_make(&memory, 0, &area), 0);
	ck_assert_int_ge(storm_area_fill(&area), 8);
	ck_assert_int_eq(madvise(area.base, memory.area_bytes, MADV_DONTNEED), 0);
	for (uint64_t visit = 1; visit < 4; visit++) {
		uint64_t expected = storm_expected(&memory, visit, false);

		ck_assert_uint_eq(storm_area_write(&memory, area.base, visit, expected), 0);
		ck_assert_int_eq(madvise(area.base, memory.call_bytes, MADV_DONTNEED), 0);
	}
	/* one of the call's two pages stays */
	ck_assert_uint_eq(storm_area_write(&memory, area.base, 4, 0), 0);
	ck_assert_int_eq(madvise(area.base, memory.page_bytes, MADV_DONTNEED), 0);
	ck_assert_uint_eq(storm_area_write(&memory, area.base, 5, 0), 1);
}
END_TEST

START_TEST(a_shared_page_that_lost_a_write_is_found)
{
	struct storm_memory memory = memory_of_calls(true);
	struct storm_area area;

	ck_assert_int_eq(storm_area_make(&memory, 0, &area), 0);
	ck_assert_int_ge(storm_area_fill(&area), 8);
	for (uint64_t visit = 1; visit < 4; visit++) {
		uint64_t expected = storm_expected(&memory, visit, true);

		ck_assert_uint_eq(storm_area_write(&memory, area.base, visit, expected), 0);
		ck_assert_int_eq(madvise(area.base, memory.call_bytes, MADV_DONTNEED), 0);
	}
	/* the last write to the first page undone */
	((volatile uint64_t *)area.base)[1] = 1;
	ck_assert_uint_eq(storm_area_write(&memory, area.base, 4, storm_expected(&memory, 4, true)),
			  1);
}
END_TEST

START_TEST(an_area_is_between_guards_and_comes_back_to_its_place)
{
	struct storm_memory memory = memory_of_calls(false);
	struct storm_area area;
	unsigned char seen;

	ck_assert_int_eq(storm_area_make(&memory, 0, &area), 0);
	/* a page that is only reserved is there, and not in memory */
	ck_assert_int_eq(mincore(area.base - memory.page_bytes, memory.page_bytes, &seen), 0);
	ck_assert_int_eq(seen & 1, 0);
	ck_assert_int_eq(mincore(area.base + memory.area_bytes, memory.page_bytes, &seen), 0);
	storm_area_fill(&area);
	ck_assert_int_eq(storm_area_map(&area), -EEXIST);
	ck_assert_int_eq(munmap(area.base, memory.area_bytes), 0);
	ck_assert_int_eq(storm_area_map(&area), 0);
	ck_assert_uint_eq(storm_area_write(&memory, area.base, 1, 0), 0);
}
END_TEST

static void answer(struct storm_reader *reader, enum storm_mark mark, uint64_t reads, uint64_t had)
{
	reader->at[mark] = (struct storm_reading){ reads, 1000 + had };
}

/*
 * 10 reads a ns before the storm and 6 after it, 8 in all, 2 in it. What was read between
 * the parts does not count, nor does a reader that has no number of the storm's beginning.
 */
START_TEST(readers_are_judged_by_the_time_that_they_had_their_cpus)
{
	struct storm_slot slots[3] = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		struct storm_reader *reader = &slots[i].reader;
		unsigned int length = (i + 1) * 100;

		answer(reader, STORM_MARK_BEFORE, 50, 10);
		answer(reader, STORM_MARK_BEFORE_END, 1050, 110);
		answer(reader, STORM_MARK_WITHIN, 9000, 200);
		answer(reader, STORM_MARK_WITHIN_END, 9000 + 2 * length, 200 + length);
		answer(reader, STORM_MARK_AFTER, 20000, 900);
		answer(reader, STORM_MARK_AFTER_END, 20600, 1000);
	}
	ck_assert_double_eq_tol(storm_readers_ratio(&slots[0].reader, 2, sizeof(slots[0])), 0.25,
				1e-9);
	slots[2].reader.at[STORM_MARK_WITHIN] = (struct storm_reading){ 0 };
	ck_assert_double_eq_tol(storm_readers_ratio(&slots[0].reader, 3, sizeof(slots[0])), 0.25,
				1e-9);
	ck_assert(isnan(storm_readers_ratio(&slots[2].reader, 1, sizeof(slots[0]))));
	ck_assert_uint_eq(storm_delay_ns("9615232 41547643 5\n"), 41547643);
	ck_assert_uint_eq(storm_delay_ns(""), 0);
}
END_TEST

/* Of 64 sets of lines of 64 bytes; all in one set would measure conflicts in the cache. */
START_TEST(a_readers_words_are_in_all_sets_of_the_cache)
{
	static const size_t page_bytes[] = { 4096, 16384, 65536 };
	bool sets[64] = { false };

	for (unsigned int i = 0; i < 64; i++) {
		size_t at = storm_reader_offset(i, page_bytes[_i]);

		ck_assert_uint_eq(at / page_bytes[_i], i);
		ck_assert_uint_lt(at, storm_reader_bytes(page_bytes[_i]));
		ck_assert(!sets[at / 64 % 64]);
		sets[at / 64 % 64] = true;
	}
}
END_TEST

START_TEST(no_ratio_is_reported_from_an_emulator)
{
	struct played played;
	const struct stressor *stressor;

	play(&played, "dontneed-storm", "threads=1 readers=1 ops=50");
	stressor = played.point.stressor;
	ck_assert_str_eq(stressor->metrics[2].name, "reader_ratio");
	played.point.emulated = true;
	ck_assert_int_eq(stressor->arm(&played.task), 0);
	ck_assert_int_eq(stressor->run(&played.task), 0);
	ck_assert_int_eq(stressor->verify(&played.task), 0);
	ck_assert(atomic_load(&played.shared.reports[0].set));
	ck_assert(!atomic_load(&played.shared.reports[2].set));
}
END_TEST

/* Else an emulator's number would be shown without its mark, and be judged as a count. */
START_TEST(what_storms_report_depends_on_time)
{
	for (const struct stressor *const *stressor = all_stressors; *stressor; stressor++)
		for (const struct metric_row *row = (*stressor)->metrics;
		     (*stressor)->arm == storm_arm && row->name; row++)
			ck_assert_msg(unit_depends_on_time(row->unit), "%s", row->name);
}
END_TEST

/* Of all threads but this one, or of all: mprotect() that takes rights away does nothing. */
static enum { HONEST, OTHERS_LIE, ALL_LIE } mprotects;

/* In place of the C library's, for the stressor as well. */
int mprotect(void *address, size_t bytes, int rights)
{
	bool lies = mprotects == ALL_LIE || (mprotects == OTHERS_LIE && gettid() != getpid());

	return lies && rights == PROT_READ ? 0 : syscall(SYS_mprotect, address, bytes, rights);
}

/* In the window. */
static const struct {
	int mprotects;
	enum outcome outcome;
} protections[] = {
	{ HONEST, OUTCOME_PASS },
	{ ALL_LIE, OUTCOME_FAIL },
	{ OTHERS_LIE, OUTCOME_FAIL },
};

START_TEST(a_protection_that_is_not_in_force_after_the_window_is_found)
{
	struct played played;

	mprotects = HONEST;
	play(&played, "mprotect-storm", "threads=2 ops=20 pages=2");
	mprotects = protections[_i].mprotects;
	ck_assert_int_eq(played.point.stressor->run(&played.task), 0);
	played.point.stressor->verify(&played.task);
	ck_assert_msg(played.shared.outcome == (int)protections[_i].outcome, "%s",
		      played.shared.reason);
}
END_TEST

START_TEST(a_protection_that_is_not_in_force_before_the_window_is_found)
{
	struct played played;

	mprotects = ALL_LIE;
	prepare(&played, "mprotect-storm", "threads=1 ops=20");
	ck_assert_int_ne(played.point.stressor->setup(&played.task), 0);
	ck_assert_msg(played.shared.outcome == OUTCOME_FAIL, "%s", played.shared.reason);
}
END_TEST

/* The only one. */
static pid_t child_of(pid_t parent)
{
	char *path = format_string("/proc/%d/task/%d/children", parent, parent);
	unsigned long long child;

	ck_assert_int_eq(fs_read_u64("", path, &child), 0);
	free(path);
	return child;
}

/* Which signals end a worker, its parent, and what that is called. */
static const struct {
	int number;
	bool parent; /* that one is killed */
	enum outcome outcome;
	const char *words;
} ends[] = {
	{ SIGKILL, false, OUTCOME_BROKEN, "was killed by signal 9" },
	{ SIGKILL, true, OUTCOME_BROKEN, "was killed by signal 9" },
	{ SIGHUP, false, OUTCOME_BROKEN, "was killed by signal 1 " },
	{ SIGSEGV, false, OUTCOME_FAIL, "was killed by signal 11" },
	{ SIGBUS, false, OUTCOME_FAIL, "was killed by signal 7" },
	{ SIGILL, false, OUTCOME_FAIL, "was killed by signal 4" },
};

/* A reader beside one worker, killed before the window. */
START_TEST(a_process_that_crashed_is_the_kernels_failure_and_another_end_is_not)
{
	struct played played;
	struct storm *storm;
	siginfo_t ended;
	pid_t parent;

	signal(ends[_i].number, SIG_DFL); /* nohup's children ignore SIGHUP */
	play(&played, "dontneed-storm", "threads=1 readers=1 ops=1 mode=processes");
	storm = played.task.state;
	parent = storm->all[1].pid;
	kill(ends[_i].parent ? parent : child_of(parent), ends[_i].number);
	ck_assert_int_eq(waitid(P_PID, parent, &ended, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(played.point.stressor->run(&played.task), 0);
	ck_assert_int_ne(played.point.stressor->verify(&played.task), 0);
	ck_assert_msg(played.shared.outcome == (int)ends[_i].outcome, "%s", played.shared.reason);
	ck_assert_msg(strstr(played.shared.reason, ends[_i].words), "%s", played.shared.reason);
}
END_TEST

/* By a page of 64 KiB, as on some arm64 kernels: a table maps 512 MiB there, of 16 KiB 32. */
START_TEST(areas_share_no_page_table)
{
	static const size_t page_bytes[] = { 4096, 16384, 65536 }, tables[] = { 2, 32, 512 };
	struct storm_memory memory = memory_of_calls(false);
	struct storm_area first, second;
	size_t table = tables[_i] << 20;

	ck_assert_uint_eq(storm_table_bytes(page_bytes[_i]), table);
	memory.page_bytes = memory.unit_bytes = page_bytes[_i];
	memory.call_bytes = memory.area_bytes = page_bytes[_i];
	ck_assert_int_eq(storm_area_make(&memory, 0, &first), 0);
	ck_assert_int_eq(storm_area_make(&memory, 1, &second), 0);
	ck_assert_uint_eq((uintptr_t)first.base % table, 0);
	ck_assert_uint_ne((uintptr_t)first.base / table, (uintptr_t)second.base / table);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("storm");

	tcase_add_loop_test(tests, counts_are_predicted, 0,
			    sizeof(predicted) / sizeof(predicted[0]));
	tcase_add_loop_test(tests, own_cpus_are_those_behind_the_first, 0,
			    sizeof(taken) / sizeof(taken[0]));
	tcase_add_test(tests, a_page_that_was_not_discarded_is_found);
	tcase_add_test(tests, a_shared_page_that_lost_a_write_is_found);
	tcase_add_test(tests, an_area_is_between_guards_and_comes_back_to_its_place);
	tcase_add_loop_test(tests,
			    a_process_that_crashed_is_the_kernels_failure_and_another_end_is_not, 0,
			    sizeof(ends) / sizeof(ends[0]));
	tcase_add_loop_test(tests, a_protection_that_is_not_in_force_after_the_window_is_found, 0,
			    sizeof(protections) / sizeof(protections[0]));
	tcase_add_test(tests, a_protection_that_is_not_in_force_before_the_window_is_found);
	tcase_add_test(tests, readers_are_judged_by_the_time_that_they_had_their_cpus);
	tcase_add_loop_test(tests, a_readers_words_are_in_all_sets_of_the_cache, 0, 3);
	tcase_add_test(tests, no_ratio_is_reported_from_an_emulator);
	tcase_add_test(tests, what_storms_report_depends_on_time);
	tcase_add_loop_test(tests, areas_share_no_page_table, 0, 3);
	return run_suite("storm", tests);
}
