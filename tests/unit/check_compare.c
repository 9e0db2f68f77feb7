// SPDX-License-Identifier: GPL-2.0-only
/* Statistics by hand, comparability, the comparison, its tables, and the published ones. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../results/compare.h"
#include "../../results/format.h"
#include "../../results/reference.h"
#include "../../results/reproduction.h"

static char *messages, *output;
static size_t messages_length, output_length;
static FILE *stream, *out;
static struct log logger;

static void setup(void)
{
	stream = open_memstream(&messages, &messages_length);
	out = open_memstream(&output, &output_length);
	log_open(&logger, stream, LOG_LEVEL_WARN);
}

static void teardown(void)
{
	fclose(stream);
	fclose(out);
	free(messages);
	free(output);
}

static void ck_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static void ck_said(const char *part)
{
	fflush(stream);
	ck_contains(messages, part);
}

static const char *printed(void)
{
	fflush(out);
	return output;
}

/* allow: what may differ, NULL: nothing. */
static int compare(const char *one, const char *other, const char *const *allow,
		   struct comparison **comparison)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES");
	char *folders[3] = { NULL };
	struct compare_request request = { .folders = (const char *const *)folders,
					   .allow = allow };
	int ret;

	fixtures = fixtures ? fixtures : "tests/fixtures";
	folders[0] = format_string("%s/runs/%s", fixtures, one);
	folders[1] = other ? format_string("%s/runs/%s", fixtures, other) : NULL;
	ret = compare_with(&request, &logger, comparison);
	free(folders[0]);
	free(folders[1]);
	return ret;
}

static struct comparison *compared_allowing(const char *one, const char *other,
					    const char *const *allow)
{
	struct comparison *comparison;
	int ret = compare(one, other, allow, &comparison);

	fflush(stream);
	ck_assert_msg(!ret, "%s", messages);
	return comparison;
}

static struct comparison *compared(const char *one, const char *other)
{
	return compared_allowing(one, other, NULL);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: sum 40, squares of the distances from 5: 9+1+1+1+0+0+4+16 = 32. */
START_TEST(statistics_by_hand)
{
	const double eight[] = { 9, 2, 4, 4, 7, 5, 4, 5 }, three[] = { 3, 1, 10 };
	struct statistics statistics;

	ck_assert_int_eq(statistics_of(eight, 8, &statistics), 0);
	ck_assert_double_eq(statistics.mean, 5);
	ck_assert_double_eq(statistics.median, 4.5);
	ck_assert_double_eq_tol(statistics.stddev, sqrt(32.0 / 7), 1e-12);
	ck_assert_double_eq(eight[0], 9);
	ck_assert_int_eq(statistics_of(three, 3, &statistics), 0);
	ck_assert_double_eq(statistics.median, 3);
	ck_assert_double_eq_tol(statistics.mean, 14.0 / 3, 1e-12);
	ck_assert_int_eq(statistics_of(three, 1, &statistics), 0);
	ck_assert_double_eq(statistics.mean, 3);
	ck_assert_double_nan(statistics.stddev);
	ck_assert_int_eq(statistics_of(NULL, 0, &statistics), 0);
	ck_assert_double_nan(statistics.mean);
	ck_assert_double_nan(statistics.median);
}
END_TEST

/* The one-pass formula gives 0 or the root of a negative number here. */
START_TEST(spread_of_large_numbers)
{
	const double samples[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };
	struct statistics statistics;

	ck_assert_int_eq(statistics_of(samples, 4, &statistics), 0);
	ck_assert_double_eq_tol(statistics.stddev, sqrt(30), 1e-9);
}
END_TEST

START_TEST(changes_by_hand)
{
	ck_assert_double_eq(change_ratio(100, 75), -0.25);
	ck_assert_double_eq(change_ratio(100, 0), -1);
	ck_assert_double_nan(change_ratio(0, 5));
	ck_assert_double_nan(change_ratio(NAN, 5));
	ck_assert_double_nan(change_ratio(5, NAN));
}
END_TEST

static const struct {
	double change;
	const char *text;
} changes[] = {
	{ -1, "-100%" },
	{ 191.0 / 9092156 - 1, "-99.99% (47,603x)" },
	{ 763.0 / 2974.6 - 1, "-74.3% (3.9x)" },
	{ 699.7 / 702.4 - 1, "-0.4%" },
	{ 391050.0 / 386385 - 1, "+1.2%" },
	{ -0.9995, "-99.95% (2,000x)" },
	{ -0.5, "-50.0% (2.0x)" },
	{ 8.622, "+862.2% (9.6x)" },
	{ 20, "+2,000% (21x)" },
	{ 0, "0.0%" },
	{ -0.0001, "0.0%" },
	{ NAN, "-" },
};

START_TEST(change_text)
{
	char *text = format_change(changes[_i].change);

	ck_assert_str_eq(text, changes[_i].text);
	free(text);
}
END_TEST

static const struct {
	double value;
	const char *unit, *text;
} values[] = {
	{ 9092156, "interrupts", "9,092,156" },
	{ 61439.6, "interrupts", "61,440" },
	{ 191, "interrupts", "191" },
	{ 190.25, "interrupts", "190.3" },
	{ 0.4, "interrupts", "0.40" },
	{ 0, "interrupts", "0" },
	{ 2974.6, "ms", "2,974.6" },
	{ 763, "ms", "763.0" },
	{ 12.345, "ms", "12.35" },
	{ 1.2346, "s", "1.235" },
	{ 0.01234, "ms", "0.01234" },
	{ NAN, "ms", "-" },
	{ -1234567, "bytes", "-1,234,567" },
	{ 1e18, "bytes", "1.000e+18" },
};

START_TEST(value_text)
{
	char *text = format_value(values[_i].value, values[_i].unit);

	ck_assert_str_eq(text, values[_i].text);
	free(text);
}
END_TEST

/* The failed repetition's 999,999 IPIs are not in the numbers, and are not hidden either. */
START_TEST(two_arms)
{
	struct comparison *comparison = compared("baseline", "patched");
	const struct compared_point *point = &comparison->points[0];
	const struct compared_metric *ipis = comparison_metric(point, "remote_ipis");

	ck_assert_uint_eq(comparison->arm_count, 2);
	ck_assert_str_eq(comparison->arms[1].name, "patched");
	ck_assert_uint_eq(comparison->cpus, 16);
	ck_assert(comparison->guest && comparison->emulated_time);
	ck_assert_str_eq(point->metrics[0].name, "remote_ipis");
	ck_assert_str_eq(point->metrics[1].name, "time_ms");
	ck_assert_double_eq(ipis->predicted, 61440);
	ck_assert_str_eq(ipis->better, "less");
	ck_assert_uint_eq(ipis->values[0].statistics.n, 3);
	ck_assert_double_eq(ipis->values[0].statistics.mean, 61440);
	ck_assert_double_eq(ipis->values[0].statistics.stddev, 10);
	ck_assert_double_nan(ipis->values[0].change);
	ck_assert_uint_eq(ipis->values[1].statistics.n, 2);
	ck_assert_double_eq(ipis->values[1].statistics.mean, 10);
	ck_assert_double_eq(ipis->values[1].change, 10.0 / 61440 - 1);
	ck_assert_int_eq(comparison_metric(point, "flushes")->values[0].status, VALUE_UNSUPPORTED);
	ck_assert_uint_eq(point->outcomes[1].counts[OUTCOME_PASS], 2);
	ck_assert_uint_eq(point->outcomes[1].counts[OUTCOME_FAIL], 1);
	ck_assert_int_eq(comparison_render(comparison, "text", false, out), 0);
	ck_contains(printed(), "61,440 +/- 10");
	ck_contains(printed(), "-99.98% (6,144x)");
	ck_contains(printed(), "time_ms (emulated)");
	ck_contains(printed(), "1 fail, not in the numbers: page 7 came back with other contents");
	/* nothing was booted anew */
	ck_contains(printed(), "few runs");
	ck_assert_ptr_null(strstr(printed(), "few boots"));
	/* no arm can have it: no row, as for what is not primary */
	ck_assert_ptr_null(strstr(printed(), "flushes"));
	ck_assert_ptr_null(strstr(output, "wall_ms"));
	ck_assert_int_eq(comparison_render(comparison, "text", true, out), 0);
	ck_contains(printed(), "flushes: unsupported: needs a kernel with CONFIG_DEBUG_TLBFLUSH");
	comparison_free(comparison);
}
END_TEST

START_TEST(markdown_of_all)
{
	struct comparison *comparison = compared("baseline", "patched");

	ck_assert_int_eq(comparison_render(comparison, "markdown", true, out), 0);
	ck_contains(
		printed(),
		"| metric | predicted | baseline | median | patched | median | change | verdict |\n"
		"|---|---:|---:|---:|---:|---:|---:|---|\n"
		"| remote_ipis | 61,440 | 61,440 +/- 10 | 61,440 |");
	ck_contains(printed(), "| wall_ms (emulated) | - | 601.0 +/- 10.0 | 601.0 |");
	ck_contains(printed(), "- machine: guest (tcg: times are emulated");
	comparison_free(comparison);
}
END_TEST

static json_t *at(json_t *json, const char *key, size_t index)
{
	return json_array_get(json_object_get(json, key), index);
}

START_TEST(json_has_what_was_promised)
{
	struct comparison *comparison = compared("baseline", "patched");
	json_t *json, *point, *metric, *value;

	ck_assert_int_eq(comparison_render(comparison, "json", false, out), 0);
	json = json_loads(printed(), 0, NULL);
	point = at(json, "points", 0);
	metric = at(point, "metrics", 0);
	value = at(metric, "arms", 1);
	ck_assert_str_eq(json_string_value(at(json, "arms", 1)), "patched");
	ck_assert_str_eq(json_string_value(json_object_get(point, "stressor")), "pageout");
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(point, "parameters"), "pages")),
		4096);
	ck_assert(json_is_object(json_object_get(json_object_get(point, "machine"), "guest")));
	ck_assert_str_eq(json_string_value(json_object_get(metric, "name")), "remote_ipis");
	ck_assert_double_eq(json_number_value(json_object_get(metric, "predicted")), 61440);
	ck_assert_str_eq(json_string_value(json_object_get(value, "arm")), "patched");
	ck_assert_str_eq(json_string_value(json_object_get(value, "status")), "ok");
	ck_assert_int_eq(json_integer_value(json_object_get(value, "n")), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(value, "samples")), 2);
	ck_assert_double_eq(json_number_value(json_object_get(value, "median")), 10);
	ck_assert(json_is_real(json_object_get(value, "change")));
	ck_assert(json_is_null(json_object_get(at(metric, "arms", 0), "change")));
	ck_assert(json_is_null(json_object_get(at(at(point, "metrics", 4), "arms", 0), "mean")));
	json_decref(json);
	comparison_free(comparison);
}
END_TEST

START_TEST(boots_and_failed_boots)
{
	struct comparison *comparison = compared("lab", NULL);
	const struct compared_metric *ipis = comparison_metric(&comparison->points[0],
							       "remote_ipis");

	ck_assert_str_eq(comparison->arms[0].name, "patched-first");
	ck_assert_str_eq(comparison->arms[1].name, "other");
	ck_assert_uint_eq(comparison->arms[0].boots, 2);
	ck_assert_uint_eq(comparison->arms[1].failed_boots, 1);
	ck_assert_uint_eq(ipis->values[0].statistics.n, 4);
	ck_assert_double_eq(ipis->values[0].statistics.mean, 11.5);
	ck_assert_double_eq(ipis->values[0].samples[2], 12);
	ck_assert_uint_eq(ipis->values[1].statistics.n, 2);
	ck_assert_uint_eq(comparison->seed_count, 2);
	ck_assert_int_eq(comparison_render(comparison, "text", false, out), 0);
	ck_contains(printed(), "boot-2 failed (panic: not syncing: VFS)");
	ck_contains(printed(), "seeds: 1, 2");
	comparison_free(comparison);
}
END_TEST

START_TEST(single_skipped_run)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES");
	char *path = format_string("%s/runs/skipped", fixtures ? fixtures : "tests/fixtures");

	ck_assert_int_eq(summarize_run(path, "text", false, out, &logger), 0);
	ck_contains(printed(), "1 skip, not in the numbers: zram cannot be added");
	free(path);
}
END_TEST

START_TEST(cut_short_is_noted)
{
	struct comparison *comparison = compared("baseline", "truncated");

	ck_assert_uint_eq(
		comparison_metric(&comparison->points[0], "remote_ipis")->values[1].statistics.n,
		2);
	ck_assert_uint_eq(comparison->arms[1].note_count, 1);
	ck_contains(comparison->arms[1].notes[0], "cut short");
	comparison_free(comparison);
}
END_TEST

static const struct {
	const char *one, *other;
	int ret;
	const char *parts[3];
} refused[] = {
	{ "baseline",
	  "different-pages",
	  -EINVAL,
	  { "parameter pages of pageout", "2048 in", "4096 in" } },
	{ "baseline", "different-cpus", -EINVAL, { "number of CPUs used", "16 in", "112 in" } },
	{ "baseline", "hardware", -EINVAL, { "accelerator", "none in" } },
	{ "baseline", "other-arch", -EINVAL, { "architecture", "x86_64", "aarch64" } },
	{ "baseline", "more-points", -EINVAL, { "plans differ", "point 1 (null)" } },
	{ "more-points", "baseline", -EINVAL, { "plans differ", "point 1 (null)" } },
	{ "no-arguments",
	  "with-arguments",
	  -EINVAL,
	  { "kernel arguments is empty in", "quiet in", "--allow arguments" } },
	{ "baseline", "two-kernels", -EINVAL, { "did not run one kernel" } },
	{ "built",
	  "built-by-another",
	  -EINVAL,
	  { "compiler_version of kernel-build is 120200 in", "140200 in", "--allow workload" } },
	{ "built", "built-of-two-trees", -EINVAL, { "objects of kernel-build", "212", "213" } },
	{ "built-of-two-trees", "built", -EINVAL, { "objects of kernel-build", "213 in" } },
	{ "built", "built-by-clang", -EINVAL, { "compiler_version", "120200 in", "not known in" } },
	{ "built-by-clang", "built", -EINVAL, { "compiler_version", "not known in", "120200 in" } },
	/* the record of a shootdown that did not know that this matters */
	{ "built-by-another", "built-before", -EINVAL, { "compiler_version", "140200", "120200" } },
	{ "built-before", "built-by-another", -EINVAL, { "compiler_version", "120200", "140200" } },
	{ "baseline", "foreign", -EBADMSG, { "another-tool" } },
	{ "baseline", NULL, -EINVAL, { "give two or more" } },
	{ "baseline", "nowhere", -ENOENT, { "nowhere" } },
};

START_TEST(refusal)
{
	struct comparison *comparison;

	ck_assert_int_eq(compare(refused[_i].one, refused[_i].other, NULL, &comparison),
			 refused[_i].ret);
	for (size_t i = 0; i < 3 && refused[_i].parts[i]; i++)
		ck_said(refused[_i].parts[i]);
}
END_TEST

/* The second plan's point is left out and said; emulated times stay labelled beside those of
 * hardware. */
START_TEST(allowed_differences)
{
	const char *const names[] = { "plan", "emulation", "accel", NULL };
	struct comparison *comparison = compared_allowing("hardware", "more-points", names);

	ck_assert_uint_eq(comparison->point_count, 1);
	ck_assert_uint_eq(comparison->allowed_count, 3);
	ck_assert(!comparison->guest);
	ck_assert_int_eq(comparison_render(comparison, "text", false, out), 0);
	ck_contains(printed(), "allowed: plan: point 1 (null) of ");
	ck_contains(printed(), "allowed: emulated time: none and true");
	ck_contains(printed(), "time_ms (emulated)");
	ck_contains(printed(), "; other arms are guests with emulated times");
	comparison_free(comparison);
}
END_TEST

/* What a build that failed left behind says nothing. */
START_TEST(a_failed_workload_is_none)
{
	comparison_free(compared("built", "built-and-failed"));
}
END_TEST

/* A tree of its own for each arm may be what somebody wants to measure. */
START_TEST(another_workload_is_said)
{
	const char *const names[] = { "workload", NULL };
	struct comparison *comparison = compared_allowing("built", "built-by-another", names);

	ck_assert_uint_eq(comparison->allowed_count, 1);
	ck_assert_str_eq(comparison->allowed[0],
			 "compiler_version of kernel-build: 120200 and 140200");
	comparison_free(comparison);
}
END_TEST

static struct reference *published(void)
{
	struct reference *reference;
	int ret = reference_load("batched-stale-cpus", &logger, &reference);

	fflush(stream);
	ck_assert_msg(!ret, "%s", messages);
	return reference;
}

/*
 * Each published change follows from the two published numbers, so a slip of the pen shows.
 * They were rounded, and so was the change: 0.05 for its own digit, 0.03 for those of the times.
 */
START_TEST(published_numbers_agree)
{
	struct reference *reference = published();
	size_t count = 0;

	ck_assert_uint_eq(reference->test_count, 4);
	for (size_t i = 0; i < reference->test_count; i++)
		for (size_t j = 0; j < reference->tests[i].platform_count; j++)
			for (size_t k = 0; k < 2; k++, count++) {
				const struct reference_metric *metric =
					&reference->tests[i].platforms[j].metrics[k];
				double change = change_ratio(metric->values[0], metric->values[1]);

				ck_assert_double_eq_tol(strtod(metric->change, NULL), change * 100,
							0.08);
			}
	ck_assert_uint_eq(count, 20);
	ck_assert_ptr_eq(reference_find_test(reference, "3"),
			 reference_find_test(reference, "move-pages"));
	ck_assert_ptr_null(reference_find_test(reference, "5"));
	reference_free(reference);
}
END_TEST

START_TEST(unknown_reference)
{
	struct reference *reference;

	ck_assert_int_eq(reference_load("xpfo", &logger, &reference), -ENOENT);
	ck_said("batched-stale-cpus");
	ck_said("local-tlbi");
}
END_TEST

START_TEST(side_by_side)
{
	struct reference *reference = published();
	struct reproduction *reproduction = reproduction_new(reference, 0.05);
	struct comparison *comparison = compared("baseline", "patched");

	ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], 112, comparison), 0);
	ck_assert_int_eq(reproduction_skip(reproduction, &reference->tests[1], 0, "no stressor"),
			 0);
	ck_assert_uint_eq(reproduction_measured(reproduction), 1);
	ck_assert_uint_eq(reproduction_differing(reproduction), 0);
	ck_assert_int_eq(render(reproduction_table(reproduction), NULL, "markdown", out), 0);
	ck_contains(printed(), "| 1 pageout | 112 | remote_ipis | baseline | 9,092,156 | 61,440 | "
			       "61,440 +/- 10 | agrees |");
	ck_contains(printed(), "| 1 pageout | 112 | time_ms | patched | 763.0, -74.3% (3.9x) | - | "
			       "155.0 +/- 7.1, -74.2% (3.9x) | emulated |");
	ck_contains(printed(),
		    "(demotion from the top tier to CXL memory) was skipped: no stressor");
	ck_contains(printed(), "scale: 0.05");
	reproduction_free(reproduction);
	reference_free(reference);
}
END_TEST

/* What was published is a rule where the size was published; 10 IPIs are few, 61,440 would not be.
 */
START_TEST(rules_of_what_was_published)
{
	static const struct {
		unsigned int cpus;
		double at_most;
		size_t differing;
	} cases[] = {
		{ 112, 2, 0 },	 /* 2 x 191 x 0.05 and one flush */
		{ 112, -12, 1 }, /* below 0 even with one flush */
		{ 16, -12, 0 },	 /* nothing was published */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reference *reference = published();
		struct reproduction *reproduction = reproduction_new(reference, 0.05);

		reference->tests[0].rules[0].at_most = cases[i].at_most;
		ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], cases[i].cpus,
						  compared("baseline", "patched")),
				 0);
		ck_assert_uint_eq(reproduction_differing(reproduction), cases[i].differing);
		ck_assert_uint_eq(reproduction_unjudged(reproduction), 0);
		reproduction_free(reproduction);
		reference_free(reference);
	}
}
END_TEST

/* 16 CPUs were not published; and the published number is never the measure of agreement. */
START_TEST(unpublished_size)
{
	struct reference *reference = published();
	struct reproduction *reproduction = reproduction_new(reference, 1);
	struct comparison *comparison = compared("patched", "baseline");
	json_t *json, *row;

	ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], 16, comparison), 0);
	ck_assert_uint_eq(reproduction_differing(reproduction), 1);
	ck_assert_int_eq(render(NULL, reproduction_json(reproduction), "json", out), 0);
	json = json_loads(printed(), 0, NULL);
	row = at(at(json, "tests", 0), "rows", 0);
	ck_assert(json_is_null(json_object_get(row, "published")));
	ck_assert_double_eq(json_number_value(json_object_get(row, "predicted")), 61440);
	ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "differs");
	json_decref(json);
	reproduction_free(reproduction);
	reference_free(reference);
}
END_TEST

/* The patched arm's 10 IPIs where 61,440 are predicted: no number of CPUs but 61,430 excuses that.
 */
START_TEST(one_flush_is_no_difference)
{
	static const unsigned int cpus[] = { 61429, 61430 };
	struct reference *reference = published();

	for (size_t i = 0; i < 2; i++) {
		struct reproduction *reproduction = reproduction_new(reference, 1);

		ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], cpus[i],
						  compared("patched", "baseline")),
				 0);
		ck_assert_uint_eq(reproduction_differing(reproduction), i ? 0 : 1);
		reproduction_free(reproduction);
	}
	reference_free(reference);
}
END_TEST

/* A table of the tests' own, with a sweep and rules. */
static struct reference *swept(void)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES"),
		   *before = getenv("SHOOTDOWN_REFERENCE");
	char *folder = format_string("%s/reference", fixtures ? fixtures : "tests/fixtures");
	char *kept = before ? strdup(before) : NULL;
	struct reference *reference;
	int ret;

	setenv("SHOOTDOWN_REFERENCE", folder, 1);
	ret = reference_load("sweep", &logger, &reference);
	if (kept)
		setenv("SHOOTDOWN_REFERENCE", kept, 1);
	else
		unsetenv("SHOOTDOWN_REFERENCE");
	free(folder);
	free(kept);
	fflush(stream);
	ck_assert_msg(!ret, "%s", messages);
	return reference;
}

/* Each step that was run has its published number beside it. */
START_TEST(sweep_side_by_side)
{
	struct reference *reference = swept();
	struct reproduction *reproduction = reproduction_new(reference, 1);
	struct comparison *comparison = compared("baseline", "patched");

	ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], 16, comparison), 0);
	ck_assert_uint_eq(reproduction_differing(reproduction), 0);
	ck_assert_int_eq(render(reproduction_table(reproduction), NULL, "markdown", out), 0);
	ck_assert_uint_eq(reproduction_unjudged(reproduction), 0);
	ck_assert_ptr_null(strstr(printed(), "pages=1024"));
	ck_contains(printed(),
		    "| 1 pageout pages=4096 | 16 | remote_ipis | baseline | 400 | 61,440 | "
		    "61,440 +/- 10 | agrees |");
	ck_contains(printed(), "| 1 pageout pages=4096 | 16 | remote_ipis | patched | -90%, gone | "
			       "at most 614.4 |");
	ck_contains(printed(),
		    "| 1 pageout pages=4096 | 16 | pages_reclaimed | patched | unchanged | "
		    "at least 4,055 | 4,096 +/- 0, 0.0% | agrees |");
	ck_contains(printed(), "read this first");
	ck_contains(printed(), "remote_ipis of patched: nearly none");
	reproduction_free(reproduction);
	reference_free(reference);
}
END_TEST

/* A step that the guest is too small for is named, and so is a rule without a number. */
START_TEST(what_was_not_measured)
{
	struct reference *reference = swept();
	struct reproduction *reproduction = reproduction_new(reference, 1);
	json_t *json;

	reference->tests[0].sweep_within_cpus = true;
	reference->tests[0].platforms[0].metrics[1].name = "no_such_metric";
	reference->tests[0].rules[1].metric = "no_such_metric";
	ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], 16,
					  compared("baseline", "patched")),
			 0);
	ck_assert_uint_eq(reproduction_unjudged(reproduction), 1);
	ck_assert_uint_eq(reproduction_differing(reproduction), 0);
	ck_assert_int_eq(render(reproduction_table(reproduction), NULL, "markdown", out), 0);
	ck_contains(printed(), "test 1: pages=1024 needs more than 16 CPUs and was left out");
	json = reproduction_json(reproduction);
	ck_assert_str_eq(json_string_value(json_array_get(
				 json_object_get(at(json, "tests", 0), "left_out"), 0)),
			 "pages=1024");
	json_decref(json);
	reproduction_free(reproduction);
	reference_free(reference);
}
END_TEST

/* The patched arm as baseline: what must be nearly none of 10 is 61,440. */
START_TEST(broken_rule_differs)
{
	struct reference *reference = swept();
	struct reproduction *reproduction;

	reference->arms[0] = "patched";
	reference->arms[1] = "baseline";
	reference->tests[0].rules[0].arm = "baseline";
	reproduction = reproduction_new(reference, 1);
	ck_assert_int_eq(reproduction_add(reproduction, &reference->tests[0], 16,
					  compared("patched", "baseline")),
			 0);
	/* and the patched kernel does not do what is predicted for a baseline */
	ck_assert_uint_eq(reproduction_differing(reproduction), 2);
	reproduction_free(reproduction);
	reference_free(reference);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tests = tcase_create("compare");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, statistics_by_hand);
	tcase_add_test(tests, spread_of_large_numbers);
	tcase_add_test(tests, changes_by_hand);
	tcase_add_loop_test(tests, change_text, 0, COUNT(changes));
	tcase_add_loop_test(tests, value_text, 0, COUNT(values));
	tcase_add_test(tests, two_arms);
	tcase_add_test(tests, markdown_of_all);
	tcase_add_test(tests, json_has_what_was_promised);
	tcase_add_test(tests, boots_and_failed_boots);
	tcase_add_test(tests, single_skipped_run);
	tcase_add_test(tests, cut_short_is_noted);
	tcase_add_test(tests, allowed_differences);
	tcase_add_test(tests, another_workload_is_said);
	tcase_add_test(tests, a_failed_workload_is_none);
	tcase_add_loop_test(tests, refusal, 0, COUNT(refused));
	tcase_add_test(tests, published_numbers_agree);
	tcase_add_test(tests, unknown_reference);
	tcase_add_test(tests, side_by_side);
	tcase_add_test(tests, unpublished_size);
	tcase_add_test(tests, one_flush_is_no_difference);
	tcase_add_test(tests, rules_of_what_was_published);
	tcase_add_test(tests, sweep_side_by_side);
	tcase_add_test(tests, what_was_not_measured);
	tcase_add_test(tests, broken_rule_differs);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
