// SPDX-License-Identifier: GPL-2.0-only
/* Cover letters of runs that are written here: nothing that a reader must know is left out. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/features.h"
#include "../../lib/fs.h"
#include "../../results/report.h"

#define RUNS_MAX 6

/* One arm of the A/B: its runs, each with as many repetitions as it made. */
struct arm_data {
	unsigned int runs;
	double time_ms[RUNS_MAX];
	double oddities[RUNS_MAX];     /* not primary; 0: none */
	double flushes[RUNS_MAX];      /* 0: this kernel cannot count them */
	unsigned int made[RUNS_MAX];   /* 0: all three that were planned */
	unsigned int failed[RUNS_MAX]; /* of them, the first ones */
};

/* What both arms have in common. */
static const char *machine, *status, *plan, *points;
static bool rebooted;

static char *messages, *output, folder[64];
static size_t messages_length, output_length;
static FILE *stream, *out;
static struct log logger;

static void setup(void)
{
	stream = open_memstream(&messages, &messages_length);
	out = open_memstream(&output, &output_length);
	log_open(&logger, stream, LOG_LEVEL_WARN);
	strcpy(folder, "/tmp/shootdown-cover-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	machine = "\"guest\":null";
	status = "ok";
	plan = "\"interleave\":false";
	points = "{\"stressor\":\"null\",\"stressor_version\":1,\"parameters\":{\"pages\":64},"
		 "\"metrics\":{}}";
	rebooted = true;
}

static void teardown(void)
{
	fclose(stream);
	fclose(out);
	free(messages);
	free(output);
	fs_remove_tree(folder);
}

static FILE *create(const char *path, const char *name)
{
	char *full = format_string("%s/%s", path, name);
	FILE *file = fopen(full, "w");

	ck_assert_ptr_nonnull(file);
	free(full);
	return file;
}

static void write_sample(FILE *file, unsigned int repetition, const char *metric, double value,
			 const char *value_status)
{
	bool has_value = strcmp(value_status, "unsupported") != 0;

	fprintf(file,
		"{\"point\":0,\"repetition\":%u,\"metric\":\"%s\",\"unit\":\"%s\",\"status\":\"%s\"",
		repetition, metric, !strcmp(metric, "time_ms") ? "ms" : metric, value_status);
	if (has_value)
		fprintf(file, ",\"value\":%.17g", value);
	fputs("}\n", file);
}

static void write_samples(FILE *file, const struct arm_data *arm, unsigned int run)
{
	unsigned int made = arm->made[run] ? arm->made[run] : 3;

	fputs("{\"schema\":\"shootdown-samples\",\"version\":1}\n", file);
	for (unsigned int i = 1; i <= made; i++) {
		write_sample(file, i, "time_ms", arm->time_ms[run], status);
		write_sample(file, i, "flushes", arm->flushes[run],
			     arm->flushes[run] > 0 ? "ok" : "unsupported");
		if (arm->oddities[run] > 0)
			write_sample(file, i, "oddities", arm->oddities[run], "ok");
		fprintf(file,
			"{\"point\":0,\"repetition\":%u,\"outcome\":\"%s\",\"started_ns\":%u,"
			"\"seconds\":1.0}\n",
			i, i <= arm->failed[run] ? "fail\",\"reason\":\"10 stale reads" : "pass",
			i);
	}
	fputs("{\"end\":\"pass\",\"restored\":true}\n", file);
}

static void write_run(const char *name, const struct arm_data *arm, unsigned int run)
{
	char *path = format_string("%s/%s/boot-%u", folder, name, run + 1);
	FILE *file;

	ck_assert_int_eq(fs_make_folders(path, 0755), 0);
	file = create(path, "machine.json");
	fprintf(file,
		"{\"schema\":\"shootdown-machine\",\"version\":1,\"arch\":\"x86_64\",\"page_size\":4096,"
		"\"kernel\":{\"release\":\"7.3\",\"version\":\"#%s\"},\"cpus\":{\"online\":2,\"used\":2},"
		"%s,\"arm\":\"%s\",\"boot\":%u}\n",
		name, machine, name, rebooted ? run + 1 : 0);
	fclose(file);
	file = create(path, "plan.json");
	fprintf(file,
		"{\"schema\":\"shootdown-plan\",\"version\":1,\"seed\":1,\"repetitions\":3,"
		"\"duration_s\":0,%s,\"points\":[%s],\"order\":[]}\n",
		plan, points);
	fclose(file);
	file = create(path, "samples.jsonl");
	write_samples(file, arm, run);
	fclose(file);
	free(path);
}

/* The arms "before" and "after", compared. */
static struct comparison *compare_arms(const struct arm_data *before, const struct arm_data *after)
{
	char *one = format_string("%s/before", folder), *other = format_string("%s/after", folder);
	struct comparison *comparison = NULL;
	int ret;

	for (unsigned int i = 0; i < before->runs; i++)
		write_run("before", before, i);
	for (unsigned int i = 0; i < after->runs; i++)
		write_run("after", after, i);
	ret = compare_folders((const char *const[]){ one, other, NULL }, &logger, &comparison);
	fflush(stream);
	ck_assert_msg(!ret, "%s", messages);
	free(other);
	free(one);
	return comparison;
}

/* Prints their cover letter to output. */
static void write_letter_of(const struct arm_data *before, const struct arm_data *after, bool all,
			    bool factors)
{
	struct comparison *comparison = compare_arms(before, after);

	comparison->factors = factors;
	ck_assert_int_eq(report_print(comparison, "cover-letter", all, NULL, &logger, out), 0);
	fflush(out);
	comparison_free(comparison);
}

static void write_letter(const struct arm_data *before, const struct arm_data *after)
{
	write_letter_of(before, after, false, false);
}

static void ck_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

START_TEST(failures_are_said)
{
	const struct arm_data before = { 2, { 10, 12 }, .failed = { 1, 0 } };
	const struct arm_data after = { 2, { 10, 12 }, .failed = { 3, 3 } };

	write_letter(&before, &after);
	ck_contains(output, "before: 1 of 6 repetitions failed: 10 stale reads\n");
	ck_contains(output, "after: 6 of 6 repetitions failed: 10 stale reads\n");
}
END_TEST

START_TEST(skips_are_said)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES");
	char *path = format_string("%s/runs/skipped", fixtures ? fixtures : "tests/fixtures");
	struct comparison *comparison = NULL;

	ck_assert_int_eq(compare_single(path, &logger, &comparison), 0);
	ck_assert_int_eq(report_print(comparison, "cover-letter", false, NULL, &logger, out), 0);
	fflush(out);
	ck_contains(output, ": 1 of 1 repetition skipped: zram cannot be added: load the zram");
	comparison_free(comparison);
	free(path);
}
END_TEST

/* What was made, not what was planned; a run is no boot unless a lab has booted. */
START_TEST(boots_and_runs_as_made)
{
	const struct arm_data before = { 2, { 10, 12 }, .made = { 0, 1 } };
	const struct arm_data after = { 2, { 10, 12 } };

	write_letter(&before, &after);
	ck_contains(output, "before: 7.3 #before, 2 boots of 1 to 3 runs\n");
	ck_contains(output, "after: 7.3 #after, 2 boots of 3 runs\n");
	ck_contains(output, "Values are medians of the boots, a boot is the median of its runs.");
}
END_TEST

START_TEST(runs_without_a_reboot)
{
	const struct arm_data before = { 2, { 10, 12 }, .made = { 1, 1 } };
	const struct arm_data after = { 1, { 10 } };
	struct comparison *comparison;

	rebooted = false;
	comparison = compare_arms(&before, &after);
	ck_assert_int_eq(report_print(comparison, "cover-letter", false, NULL, &logger, out), 0);
	ck_assert_int_eq(report_print(comparison, "text", false, NULL, &logger, out), 0);
	fflush(out);
	ck_contains(output, "before: 7.3 #before, 2 runs of 1 repetition\n");
	ck_contains(output, "after: kernel 7.3 #after, 1 run of 3 repetitions\n");
	ck_contains(output, "Values are medians of the runs");
	ck_contains(output, "standard deviation of the runs");
	ck_assert_ptr_null(strstr(output, "boots of 3"));
	comparison_free(comparison);
}
END_TEST

/* Whoever divides the values finds the change, or is told why not. */
START_TEST(change_of_the_values)
{
	/* of the nine ratios 1.2 is the median */
	const struct arm_data before = { 3, { 100, 400, 410 } }, after = { 3, { 120, 300, 1000 } };

	write_letter(&before, &after);
	ck_contains(output, " -25.0% ?\n");
	ck_assert_ptr_null(strstr(output, "median of the ratios"));
}
END_TEST

START_TEST(change_of_the_ratios)
{
	/* of the 36 ratios 0.1 and 0.1048 are in the middle, 16 / 150 is 0.1067 */
	const struct arm_data before = { 6, { 100, 100, 100, 200, 210, 220 } };
	const struct arm_data after = { 6, { 10, 11, 12, 20, 21, 22 } };

	write_letter(&before, &after);
	if (FEATURE_RMATH) {
		ck_contains(output, " -89.8% (9.8x)\n");
		ck_contains(output, "A change without a mark is the median of the ratios");
	} else {
		ck_contains(output, " -89.3% (9.4x) ?\n");
	}
}
END_TEST

START_TEST(rows_that_need_boots)
{
	const struct arm_data before = { 2, { 10, 12 }, .oddities = { 100, 101 } };
	const struct arm_data after = { 2, { 10.1, 12 }, .oddities = { 200, 203 } };

	if (!FEATURE_RMATH)
		return;
	write_letter_of(&before, &after, true, false);
	ck_contains(output, "?: too few boots for a verdict; ");
	ck_contains(output, " boots an arm could tell (oddities),");
	ck_contains(output, " (time, ms)\n");
}
END_TEST

START_TEST(every_metric_and_factors)
{
	const struct arm_data before = { 2, { 10, 12 }, .oddities = { 100, 101 } };
	const struct arm_data after = { 2, { 20, 24 }, .oddities = { 200, 203 } };

	write_letter(&before, &after);
	ck_assert_ptr_null(strstr(output, "oddities"));
	ck_contains(output, "+100% (2.0x) ?\n");
	write_letter_of(&before, &after, true, true);
	ck_contains(output, "oddities");
	ck_contains(output, "factor\n");
	ck_contains(output, " 2.00x ?\n");
}
END_TEST

START_TEST(a_mixed_load)
{
	const struct arm_data before = { 1, { 10 } }, after = { 1, { 20 } };

	status = "shared";
	plan = "\"interleave\":true";
	points = "{\"stressor\":\"null\",\"stressor_version\":1,\"parameters\":{\"pages\":64},"
		 "\"metrics\":{}},"
		 "{\"stressor\":\"pageout\",\"stressor_version\":1,\"parameters\":{},"
		 "\"metrics\":{}}";
	write_letter(&before, &after);
	ck_contains(output, "Test: null pages=64, interleaved with the others\n");
	ck_contains(output, "Test: pageout, interleaved with the others\n");
	ck_contains(output, "time, ms (shared) ");
	ck_contains(output, "(shared): of all points that ran at once");
}
END_TEST

START_TEST(guest_as_it_was_given)
{
	const struct arm_data before = { 1, { 10 } }, after = { 1, { 20 } };
	FILE *lab = create(folder, "lab.json");

	fputs("{\"series\":\"-\",\"source\":\"-\",\"arms\":[{\"name\":\"before\"},"
	      "{\"name\":\"after\",\"arguments\":\"mitigations=off\"}]}",
	      lab);
	fclose(lab);
	machine = "\"guest\":{\"emulator\":\"QEMU 10\",\"accel\":\"kvm\",\"emulated_time\":false,"
		  "\"memory\":\"--numa cpus=0-1\",\"arguments\":\"nosmt quiet\"}";
	write_letter(&before, &after);
	ck_contains(output, "Memory: --numa cpus=0-1\n");
	ck_contains(output, "Kernel arguments: nosmt quiet\n");
	ck_contains(output, "of 3 runs, with mitigations=off\n");
	ck_assert_ptr_null(strstr(output, "Kernels:"));
}
END_TEST

START_TEST(no_row_for_what_none_can_have)
{
	const struct arm_data before = { 1, { 10 } }, after = { 1, { 20 } };
	const struct arm_data counted = { 1, { 10 }, .flushes = { 5 } };

	write_letter(&before, &after);
	ck_assert_ptr_null(strstr(output, "flushes"));
	write_letter_of(&before, &after, true, false);
	ck_contains(output, "flushes ");
	write_letter(&before, &counted);
	ck_contains(output, " unsupported ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cover");
	TCase *tcase = tcase_create("cover");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, failures_are_said);
	tcase_add_test(tcase, skips_are_said);
	tcase_add_test(tcase, boots_and_runs_as_made);
	tcase_add_test(tcase, runs_without_a_reboot);
	tcase_add_test(tcase, change_of_the_values);
	tcase_add_test(tcase, change_of_the_ratios);
	tcase_add_test(tcase, rows_that_need_boots);
	tcase_add_test(tcase, every_metric_and_factors);
	tcase_add_test(tcase, a_mixed_load);
	tcase_add_test(tcase, guest_as_it_was_given);
	tcase_add_test(tcase, no_row_for_what_none_can_have);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
