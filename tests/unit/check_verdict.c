// SPDX-License-Identifier: GPL-2.0-only
/* Verdicts on labs that are written here: what is said of a difference, and what is not. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/features.h"
#include "../../lib/fs.h"
#include "../../results/compare.h"
#include "../../results/format.h"

#define BOOTS_MAX   8
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Boots of one arm: each has three repetitions of value, value + jitter, value - jitter. */
struct arm_data {
	const char *name;
	unsigned int boots;
	double ipis[BOOTS_MAX], time_ms[BOOTS_MAX], jitter;
	double predicted;
	unsigned int cpus;  /* 0: 16 */
	const char *kernel; /* NULL: the name */
};

static char *messages, *output, folder[64];
static size_t messages_length, output_length;
static FILE *stream, *out;
static struct log logger;

static void setup(void)
{
	stream = open_memstream(&messages, &messages_length);
	out = open_memstream(&output, &output_length);
	log_open(&logger, stream, LOG_LEVEL_WARN);
	strcpy(folder, "/tmp/shootdown-verdict-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
	fclose(stream);
	fclose(out);
	free(messages);
	free(output);
	fs_remove_tree(folder);
}

static void ck_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static void write_samples(FILE *file, const struct arm_data *arm, unsigned int boot)
{
	fputs("{\"schema\":\"shootdown-samples\",\"version\":1}\n", file);
	for (int repetition = 1; repetition <= 3; repetition++) {
		double off = (repetition % 3 - 1) * arm->jitter;

		fprintf(file,
			"{\"point\":0,\"repetition\":%d,\"metric\":\"remote_ipis\",\"unit\":\"interrupts\","
			"\"value\":%.17g,\"status\":\"ok\"}\n"
			"{\"point\":0,\"repetition\":%d,\"metric\":\"time_ms\",\"unit\":\"ms\","
			"\"value\":%.17g,\"status\":\"ok\"}\n"
			"{\"point\":0,\"repetition\":%d,\"outcome\":\"pass\",\"started_ns\":%u,"
			"\"seconds\":1.0}\n",
			repetition, arm->ipis[boot] + off, repetition, arm->time_ms[boot] + off,
			repetition, 1000 * (boot + 1) + (unsigned int)repetition);
	}
	fputs("{\"end\":\"pass\",\"restored\":true}\n", file);
}

static FILE *create(const char *path, const char *name)
{
	char *full = format_string("%s/%s", path, name);
	FILE *file = fopen(full, "w");

	ck_assert_ptr_nonnull(file);
	free(full);
	return file;
}

static void write_boot(const char *path, const struct arm_data *arm, unsigned int boot)
{
	FILE *file;

	ck_assert_int_eq(fs_make_folders(path, 0755), 0);
	file = create(path, "machine.json");
	fprintf(file,
		"{\"schema\":\"shootdown-machine\",\"version\":1,\"arch\":\"x86_64\",\"page_size\":4096,"
		"\"kernel\":{\"release\":\"7.3\",\"version\":\"#%s\"},\"cpus\":{\"online\":16,\"used\":%u},"
		"\"guest\":null,\"arm\":\"%s\",\"boot\":%u}\n",
		arm->kernel ? arm->kernel : arm->name, arm->cpus ? arm->cpus : 16, arm->name,
		boot + 1);
	fclose(file);
	file = create(path, "plan.json");
	fprintf(file,
		"{\"schema\":\"shootdown-plan\",\"version\":1,\"seed\":1,\"repetitions\":3,\"duration_s\":0,"
		"\"points\":[{\"stressor\":\"pageout\",\"stressor_version\":1,\"parameters\":{\"pages\":64},"
		"\"metrics\":{\"remote_ipis\":{\"unit\":\"interrupts\",\"better\":\"less\",\"predicted\":%s%.0f},"
		"\"time_ms\":{\"unit\":\"ms\",\"better\":\"less\",\"predicted\":null}}}],\"order\":[]}\n",
		arm->predicted > 0 ? "" : "-", fmax(arm->predicted, 1));
	fclose(file);
	file = create(path, "samples.jsonl");
	write_samples(file, arm, boot);
	fclose(file);
}

/* The arm's folder, for the caller to free. */
static char *write_arm(const struct arm_data *arm)
{
	char *path = format_string("%s/%s", folder, arm->name);

	for (unsigned int i = 0; i < arm->boots; i++) {
		char *boot = format_string("%s/boot-%u", path, i + 1);

		write_boot(boot, arm, i);
		free(boot);
	}
	return path;
}

static struct comparison *compare_list(const struct arm_data *arms, size_t count,
				       struct compare_request request)
{
	char *folders[4] = { NULL };
	struct comparison *comparison = NULL;
	int ret;

	for (size_t i = 0; i < count; i++)
		folders[i] = write_arm(&arms[i]);
	request.folders = (const char *const *)folders;
	ret = compare_with(&request, &logger, &comparison);
	fflush(stream);
	ck_assert_msg(!ret, "%s", messages);
	for (size_t i = 0; i < count; i++)
		free(folders[i]);
	ck_assert_int_eq(comparison_render(comparison, "text", false, out), 0);
	fflush(out);
	return comparison;
}

static const struct compared_test *tested(const struct comparison *comparison, const char *metric,
					  size_t arm)
{
	return &comparison_metric(&comparison->points[0], metric)->values[arm].test;
}

static const struct arm_data six_slow = { "baseline",
					  6,
					  { 61440, 61500, 61390, 61460, 61410, 61480 },
					  { 100, 104, 98, 101, 99, 103 },
					  .jitter = 2,
					  .predicted = 61440 };
static const struct arm_data six_fast = {
	"patched",	   6, { 5, 9, 3, 12, 6, 4 }, { 90, 92, 88, 91, 89, 93 }, .jitter = 2,
	.predicted = 61440
};

/* Both p are 2 / 924; Holm: twice the smaller, and the other no smaller. */
START_TEST(significant)
{
	const struct arm_data arms[] = { six_slow, six_fast };
	struct comparison *comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	const struct compared_test *ipis = tested(comparison, "remote_ipis", 1);
	const struct compared_metric *time = comparison_metric(&comparison->points[0], "time_ms");

	ck_assert_uint_eq(time->values[0].boot_count, 6);
	ck_assert_uint_eq(time->values[0].statistics.n, 18);
	ck_assert_double_eq(time->values[0].boots[1].value, 104);
	ck_assert_uint_eq(time->values[0].boots[1].n, 3);
	ck_assert_int_eq(ipis->verdict, COMPARED_BETTER);
	ck_assert_int_eq(ipis->basis, BASIS_MANN_WHITNEY);
	ck_assert_double_eq_tol(ipis->p, 2.0 / 924, 1e-12);
	ck_assert_double_eq_tol(ipis->p_holm, 4.0 / 924, 1e-12);
	ck_assert_uint_eq(ipis->family, 2);
	ck_assert_double_lt(ipis->interval.high, 0.001);
	ck_assert_int_eq(time->values[1].test.verdict, COMPARED_BETTER);
	ck_assert_double_eq_tol(time->values[1].test.p_holm, 4.0 / 924, 1e-12);
	ck_contains(output, "better, p 0.0043");
	ck_contains(output, "median of the ratios of boots to those of baseline");
	comparison_free(comparison);
}
END_TEST

/* The other way round the same numbers are worse, and never better. */
START_TEST(worse)
{
	const struct arm_data arms[] = { six_fast, six_slow };
	struct comparison *comparison = compare_list(arms, 2, (struct compare_request){ 0 });

	ck_assert_int_eq(tested(comparison, "time_ms", 1)->verdict, COMPARED_WORSE);
	ck_assert_ptr_null(strstr(output, "better"));
	comparison_free(comparison);
}
END_TEST

/* Three boots: the counts can be told, the times cannot; 2 tests need p <= 0.025: 5 boots. */
START_TEST(too_few)
{
	struct arm_data arms[] = { six_slow, six_fast };
	struct comparison *comparison;
	const struct compared_test *time;

	arms[0].boots = arms[1].boots = 3;
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	time = tested(comparison, "time_ms", 1);
	ck_assert_int_eq(time->verdict, COMPARED_TOO_FEW);
	ck_assert_int_eq(time->basis, BASIS_NONE);
	ck_assert_uint_eq(time->boots_needed, 5);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->verdict, COMPARED_BETTER);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->basis, BASIS_COUNT);
	ck_contains(output, "few boots");
	ck_contains(output, "better, count");
	ck_contains(output, "too few boots for a verdict on 1 of 2 values");
	ck_contains(output, "5 boots of each arm would do");
	comparison_free(comparison);
}
END_TEST

/* A difference that is small beside the spread: logs differ by 0.01 with variances near 0.0005. */
START_TEST(too_few_for_the_variance)
{
	struct arm_data arms[] = { six_slow, six_slow };
	struct comparison *comparison;

	arms[0].boots = arms[1].boots = 3;
	arms[1].name = "patched";
	for (int i = 0; i < 3; i++)
		arms[1].time_ms[i] = arms[0].time_ms[i] * 0.99;
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	ck_assert_uint_gt(tested(comparison, "time_ms", 1)->boots_needed, 100);
	comparison_free(comparison);
}
END_TEST

START_TEST(not_significant)
{
	struct arm_data arms[] = { six_slow, six_slow };
	struct comparison *comparison;

	arms[1].name = "patched";
	arms[1].time_ms[0] = 102;
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	ck_assert_int_eq(tested(comparison, "time_ms", 1)->verdict, COMPARED_UNDECIDED);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->verdict, COMPARED_SAME);
	ck_assert_ptr_null(strstr(output, "better"));
	ck_assert_ptr_null(strstr(output, "worse"));
	ck_contains(output, "~");
	ck_contains(output, "same count");
	comparison_free(comparison);
}
END_TEST

/* 100 and 101 in all of three boots are two counts; in two boots it could be chance. */
START_TEST(constant_counts)
{
	struct arm_data arms[] = { { "a", 3, { 100, 100, 100 }, { 1, 2, 3 } },
				   { "b", 3, { 101, 101, 101 }, { 2, 3, 4 } } };
	struct comparison *comparison = compare_list(arms, 2, (struct compare_request){ 0 });

	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->verdict, COMPARED_WORSE);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->basis, BASIS_COUNT);
	comparison_free(comparison);
	fs_remove_tree(folder);
	arms[0].boots = arms[1].boots = 2;
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	ck_assert_int_ne(tested(comparison, "remote_ipis", 1)->basis, BASIS_COUNT);
	ck_assert(!compared_differs(tested(comparison, "remote_ipis", 1)->verdict));
	comparison_free(comparison);
}
END_TEST

/* Two filtering kernels: their prediction is the baseline's, and its tolerance is not theirs. */
START_TEST(no_tolerance_far_from_the_prediction)
{
	struct arm_data arms[] = { six_fast, six_fast };
	struct comparison *comparison;

	arms[0].name = "one";
	for (int i = 0; i < 6; i++)
		arms[1].ipis[i] += 300;
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->verdict, COMPARED_WORSE);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->basis, BASIS_MANN_WHITNEY);
	comparison_free(comparison);
}
END_TEST

/* The A/A differs by up to 6 ms; the A/B's 10 ms are more, 5 ms are not. */
START_TEST(noise_floor)
{
	struct arm_data noise[] = { { "one", 2, { 0 }, { 100, 103 }, .kernel = "same" },
				    { "two", 2, { 0 }, { 97, 101 }, .kernel = "same" } };
	struct arm_data arms[] = { six_slow, six_fast };
	char *one = write_arm(&noise[0]), *two = write_arm(&noise[1]);
	const char *const floors[] = { one, two, NULL };
	struct compare_request request = { .noise_floor = floors };
	struct comparison *comparison = compare_list(arms, 2, request);

	ck_assert_double_eq(tested(comparison, "time_ms", 1)->noise, 6);
	ck_assert_int_eq(tested(comparison, "time_ms", 1)->verdict, COMPARED_BETTER);
	comparison_free(comparison);
	for (int i = 0; i < 6; i++)
		arms[1].time_ms[i] = arms[0].time_ms[i] * 0.01 + 95;
	comparison = compare_list(arms, 2, request);
	ck_assert_double_eq_tol(tested(comparison, "time_ms", 1)->difference, -4.5, 1);
	ck_assert_int_eq(tested(comparison, "time_ms", 1)->verdict, COMPARED_NOISE);
	ck_contains(output, "noise floor");
	comparison_free(comparison);
	free(one);
	free(two);
}
END_TEST

START_TEST(noise_floor_of_two_kernels)
{
	char *one = write_arm(&six_slow), *two = write_arm(&six_fast);
	const char *const folders[] = { one, two, NULL };
	struct compare_request request = { .folders = folders, .noise_floor = folders };
	struct comparison *comparison;

	ck_assert_int_eq(compare_with(&request, &logger, &comparison), -EINVAL);
	fflush(stream);
	ck_contains(messages, "did not run the same kernel");
	free(one);
	free(two);
}
END_TEST

/* Six pairs reach 2 / 64 only: 0.0625 after Holm for two. */
START_TEST(paired)
{
	const struct arm_data arms[] = { six_slow, six_fast };
	struct compare_request request = { .paired = true };
	struct comparison *comparison = compare_list(arms, 2, request);
	const struct compared_test *time = tested(comparison, "time_ms", 1);

	ck_assert_double_eq_tol(time->p, 0.03125, 1e-12);
	ck_assert_int_eq(time->verdict, COMPARED_TOO_FEW);
	ck_assert_uint_eq(time->boots_needed, 7);
	comparison_free(comparison);
}
END_TEST

/* The table of the deferred flush: 950.966, 25073.169 and 1372.874 s. */
START_TEST(factors)
{
	struct arm_data arms[] = { { "4.20", 1, { 0 }, { 950.966 } },
				   { "xpfo", 1, { 0 }, { 25073.169 } },
				   { "deferred", 1, { 0 }, { 1372.874 } } };
	struct compare_request request = { .factors = true };
	struct comparison *comparison = compare_list(arms, 3, request);

	ck_contains(output, "(1.00x)");
	ck_contains(output, "(26.37x)");
	ck_contains(output, "(1.44x)");
	ck_assert_ptr_null(strstr(output, "change xpfo"));
	ck_contains(output, "verdict deferred");
	comparison_free(comparison);
}
END_TEST

START_TEST(outlier_and_drift)
{
	struct arm_data arms[] = { six_slow, six_fast };
	const double rising[] = { 80, 81, 82, 83, 84, 99 };
	struct comparison *comparison;

	memcpy(arms[1].time_ms, rising, sizeof(rising));
	comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	ck_contains(output, "patched, pageout, time_ms: boot 6 (99.00) is an outlier; it is in");
	ck_contains(output, "time_ms: rises from boot to boot (Mann-Kendall: tau 1.00, p 0.0028)");
	ck_assert_double_eq(
		comparison_metric(&comparison->points[0], "time_ms")->values[1].by_boot.mean,
		509.0 / 6);
	comparison_free(comparison);
}
END_TEST

START_TEST(allowed_by_name)
{
	struct arm_data arms[] = { six_slow, six_fast };
	const char *const cpus[] = { "cpus", NULL }, *const unknown[] = { "cpu", NULL };
	struct compare_request request = { .allow = cpus };
	struct comparison *comparison;
	char *one = write_arm(&arms[0]), *two;

	arms[1].cpus = 32;
	two = write_arm(&arms[1]);
	ck_assert_int_eq(compare_folders((const char *const[]){ one, two, NULL }, &logger,
					 &comparison),
			 -EINVAL);
	fflush(stream);
	ck_contains(messages, "or --allow cpus");
	comparison = compare_list(arms, 2, request);
	ck_assert_uint_eq(comparison->allowed_count, 1);
	ck_contains(output, "allowed: number of CPUs used: 16 and 32");
	comparison_free(comparison);
	request.allow = unknown;
	request.folders = (const char *const[]){ one, two, NULL };
	ck_assert_int_eq(compare_with(&request, &logger, &comparison), -EINVAL);
	fflush(stream);
	ck_contains(messages, "did you mean \"cpus\"?");
	free(one);
	free(two);
}
END_TEST

START_TEST(json_of_boots)
{
	const struct arm_data arms[] = { six_slow, six_fast };
	struct comparison *comparison = compare_list(arms, 2, (struct compare_request){ 0 });
	json_t *json = comparison_json(comparison), *value, *interval;

	value = json_array_get(json_object_get(json, "points"), 0);
	value = json_array_get(json_object_get(value, "metrics"), 1);
	value = json_array_get(json_object_get(value, "arms"), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(value, "n")), 18);
	ck_assert_uint_eq(json_array_size(json_object_get(value, "samples")), 18);
	ck_assert_uint_eq(json_array_size(json_object_get(value, "boots")), 6);
	interval = json_object_get(value, "interval");
	ck_assert_str_eq(json_string_value(json_object_get(interval, "method")), "order");
	ck_assert_str_eq(json_string_value(json_object_get(value, "verdict")), "better");
	ck_assert_str_eq(json_string_value(json_object_get(value, "basis")), "mann-whitney");
	ck_assert(json_is_null(json_object_get(json, "verdicts_off")));
	json_decref(json);
	comparison_free(comparison);
}
END_TEST

/* Without libRmath counts are judged, and the table says why nothing else is. */
START_TEST(off)
{
	const struct arm_data arms[] = { six_slow, six_fast };
	struct comparison *comparison = compare_list(arms, 2, (struct compare_request){ 0 });

	ck_assert_int_eq(tested(comparison, "time_ms", 1)->verdict, COMPARED_OFF);
	ck_assert_int_eq(tested(comparison, "remote_ipis", 1)->basis, BASIS_COUNT);
	ck_contains(output, "this build has no libRmath");
	comparison_free(comparison);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdict");
	TCase *tests = tcase_create("verdict");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tests, setup, teardown);
	if (FEATURE_RMATH) {
		tcase_add_test(tests, significant);
		tcase_add_test(tests, worse);
		tcase_add_test(tests, too_few);
		tcase_add_test(tests, too_few_for_the_variance);
		tcase_add_test(tests, not_significant);
		tcase_add_test(tests, no_tolerance_far_from_the_prediction);
		tcase_add_test(tests, noise_floor);
		tcase_add_test(tests, paired);
		tcase_add_test(tests, json_of_boots);
	} else {
		tcase_add_test(tests, off);
	}
	tcase_add_test(tests, constant_counts);
	tcase_add_test(tests, noise_floor_of_two_kernels);
	tcase_add_test(tests, factors);
	tcase_add_test(tests, outlier_and_drift);
	tcase_add_test(tests, allowed_by_name);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
