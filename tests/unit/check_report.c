// SPDX-License-Identifier: GPL-2.0-only
/* The plot model by hand, the command that makes records again, and cover letters. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../lib/options.h"
#include "../../results/report.h"
#include "../../stressors/stressor.h"

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

static struct comparison *compared(const char *one, const char *other)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES");
	struct comparison *comparison = NULL;
	char *first, *second;

	fixtures = fixtures ? fixtures : "tests/fixtures";
	first = format_string("%s/runs/%s", fixtures, one);
	second = format_string("%s/runs/%s", fixtures, other);
	ck_assert_int_eq(compare_folders((const char *const[]){ first, second, NULL }, &logger,
					 &comparison),
			 0);
	free(first);
	free(second);
	return comparison;
}

static void free_axis(struct plot_axis *axis)
{
	for (size_t i = 0; i < axis->tick_count; i++)
		free(axis->ticks[i].label);
	free(axis->ticks);
	free(axis->label);
}

START_TEST(scales)
{
	ck_assert_int_eq(plot_scale_for(100, 200, false), SCALE_LINEAR);
	ck_assert_int_eq(plot_scale_for(100, 200, true), SCALE_LOG);
	ck_assert_int_eq(plot_scale_for(1, 1000, false), SCALE_LOG);
	ck_assert_int_eq(plot_scale_for(0, 61440, false), SCALE_LOG_ZERO);
	ck_assert_int_eq(plot_scale_for(-5, 61440, true), SCALE_LINEAR);
	ck_assert_double_eq_tol(plot_position(SCALE_LOG, 1000), 3, 1e-12);
	ck_assert_double_eq(plot_position(SCALE_LOG_ZERO, 0), 0);
	/* asinh(x) is log(2 x) when x is large: a power of ten is one further. */
	ck_assert_double_eq_tol(
		plot_position(SCALE_LOG_ZERO, 1e6) - plot_position(SCALE_LOG_ZERO, 1e5), 1, 1e-9);
}
END_TEST

START_TEST(linear_ticks)
{
	struct plot_axis axis = { 0 };

	/* A range of 1,500 in at least four steps: steps of 200, from 0. */
	ck_assert_int_eq(plot_axis_set(&axis, SCALE_LINEAR, 100, 1600, "time_ms", "ms"), 0);
	ck_assert_str_eq(axis.label, "time_ms");
	ck_assert_double_eq(axis.low, 0);
	ck_assert_str_eq(axis.ticks[0].label, "0");
	for (size_t i = 0; i < axis.tick_count; i++)
		ck_assert(axis.ticks[i].at >= axis.low && axis.ticks[i].at <= axis.high);
	ck_assert(axis.high >= 1600);
	free_axis(&axis);
}
END_TEST

START_TEST(log_ticks_with_zero)
{
	struct plot_axis axis = { 0 };

	ck_assert_int_eq(
		plot_axis_set(&axis, SCALE_LOG_ZERO, 0, 61440, "remote_ipis", "interrupts"), 0);
	ck_assert_str_eq(axis.label, "remote_ipis, interrupts");
	ck_assert_str_eq(axis.ticks[0].label, "0");
	ck_assert_str_eq(axis.ticks[1].label, "10");
	ck_assert_str_eq(axis.ticks[axis.tick_count - 1].label, "100k");
	free_axis(&axis);
}
END_TEST

/* One value alone must not make an axis without height. */
START_TEST(one_value)
{
	static const double values[] = { 0, 1, 4096, 1e-9, 1e15 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (int scale = SCALE_LINEAR; scale <= SCALE_LOG_ZERO; scale++) {
			struct plot_axis axis = { 0 };

			if (scale == SCALE_LOG && values[i] == 0)
				continue;
			ck_assert_int_eq(plot_axis_set(&axis, scale, values[i], values[i], "x", ""),
					 0);
			ck_assert_msg(isfinite(axis.low) && axis.high > axis.low, "%g on scale %d",
				      values[i], scale);
			ck_assert_uint_lt(axis.tick_count, 40);
			free_axis(&axis);
		}
}
END_TEST

START_TEST(a_report)
{
	struct comparison *comparison = compared("baseline", "patched");
	struct report *report;

	ck_assert_int_eq(report_make(comparison, &logger, &report), 0);
	ck_assert_ptr_nonnull(strstr(report->title, "against"));
	ck_assert_str_eq(report->sections[0].heading, "Verdicts");
	ck_assert_ptr_nonnull(report->sections[0].table);
	ck_assert_ptr_nonnull(strstr(report->data, "\"runs\":["));
	report_free(report);
	comparison_free(comparison);
}
END_TEST

/* Which CPU makes the calls differs from stressor to stressor. */
START_TEST(heat_maps_say_what_is_true_of_all)
{
	struct comparison *comparison = compared("baseline", "patched");
	struct report_runs runs;
	struct plot_list plots = { 0 };
	const struct compared_metric *ipis = comparison_metric(&comparison->points[0],
							       "remote_ipis");

	ck_assert_int_eq(report_runs_load(comparison, &logger, &runs), 0);
	ck_assert_int_eq(plots_add_heat(comparison, &runs, 0, ipis, &plots), 0);
	ck_assert_uint_eq(plots.count, 1);
	ck_assert_str_eq(plots.list[0].caption,
			 "Mean of the repetitions on each CPU, a row a run.");
	plots_free(&plots);
	report_runs_free(&runs);
	comparison_free(comparison);
}
END_TEST

START_TEST(the_command)
{
	struct comparison *comparison = compared("baseline", "patched");
	struct report_runs runs;
	char *command;

	/* A name that a shell would take apart. */
	free(comparison->arms[1].folder);
	comparison->arms[1].folder = strdup("it's; rm -r x");
	ck_assert_int_ne(report_runs_load(comparison, &logger, &runs), 0);
	runs = (struct report_runs){ 0 };
	command = report_command(comparison, &runs);
	ck_assert_ptr_nonnull(strstr(command, "--out 'it'\\''s; rm -r x'"));
	ck_assert_ptr_nonnull(strstr(command, "--set pages="));
	free(command);
	comparison_free(comparison);
}
END_TEST

/* Whoever types it again has the same guests, arms and nodes. */
START_TEST(the_lab_s_command)
{
	static const char *const words[] = {
		"shootdown lab ab ./mine pageout ",
		" --cpus 8 --boots 3 ",
		" --arch x86_64",
		" --accel tcg",
		" --source debian:7.3 ",
		" --numa 'cpus=0-3;cpus=4-7'",
		" --cxl 512M",
		" --aa \\",
		" --config 'my options'",
		" --arm a=one.patch,two.patch",
		" --arm 'b='\\''s'",
		" --set pages=",
	};
	struct comparison *comparison = compared("baseline", "patched");
	struct report_runs runs = {
		.lab = json_pack("{s:i,s:i,s:s,s:s,s:s,s:{s:s,s:s,s:s,s:b,s:[s],s:[s,s]}}", "cpus",
				 8, "boots_each", 3, "arch", "x86_64", "accel", "tcg", "source",
				 "debian linux-source-7.3 7.3.4-1", "given", "series", "./mine",
				 "numa", "cpus=0-3;cpus=4-7", "cxl", "512M", "aa", 1, "config",
				 "my options", "arm", "a=one.patch,two.patch", "b='s"),
	};
	char *command;

	command = report_command(comparison, &runs);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_msg(strstr(command, words[i]), "\"%s\" is not in: %s", words[i], command);
	free(command);
	json_object_set_new(json_object_get(runs.lab, "given"), "source", json_string("/a/tree"));
	command = report_command(comparison, &runs);
	ck_assert_ptr_nonnull(strstr(command, " --source /a/tree "));
	ck_assert_ptr_null(strstr(command, "debian:"));
	free(command);
	json_decref(runs.lab);
	comparison_free(comparison);
}
END_TEST

/* A value that no default has, or the most that the row allows. */
static json_t *odd_value(const struct option_row *row, bool small)
{
	uint64_t number = small ? 50000000 : 1234567891;

	if (row->max && number > row->max)
		number = row->max;
	if (number < row->min)
		number = row->min;
	return json_integer((json_int_t)number);
}

static bool has_number(const struct option_row *row)
{
	return row->type == OPTION_UINT || row->type == OPTION_SIZE || row->type == OPTION_DURATION;
}

/* Every "--set NAME=VALUE" of the command; none needs what a shell or a plan takes apart. */
static void set_all(struct option_values *values, const char *command)
{
	while ((command = strstr(command, " --set "))) {
		const char *word = command + strlen(" --set "), *equals = strchr(word, '=');
		char *name = strndup(word, equals - word);
		char *value = strndup(equals + 1, strcspn(equals + 1, " \n"));

		ck_assert_ptr_null(strpbrk(value, "',"));
		ck_assert_msg(!options_set(values, "test", name, value, &logger), "%s=%s", name,
			      value);
		free(value);
		free(name);
		command = word;
	}
}

static void check_read_back(const struct stressor *stressor, bool small)
{
	struct option_values *values = options_new(stressor->options);
	struct option_values *again = options_new(stressor->options);
	struct compared_arm arm = { .folder = "x" };
	struct compared_point point = { .stressor = (char *)stressor->name };
	struct comparison comparison = {
		.arms = &arm, .arm_count = 1, .points = &point, .point_count = 1
	};
	json_t *odd = json_object(), *read;
	char *command;

	for (const struct option_row *row = stressor->options; row->name; row++)
		if (has_number(row))
			json_object_set_new(odd, row->name, odd_value(row, small));
	ck_assert_int_eq(options_from_json(values, "test", odd, &logger), 0);
	point.parameters = options_json(values);
	point.units = options_units(values);
	command = report_command(&comparison, &(struct report_runs){ 0 });
	set_all(again, command);
	read = options_json(again);
	ck_assert_msg(json_equal(read, point.parameters), "%s", command);
	free(command);
	json_decref(read);
	json_decref(point.units);
	json_decref(point.parameters);
	json_decref(odd);
	options_free(again);
	options_free(values);
}

/* What the report says can be given: the same parameters come of it. */
START_TEST(the_command_reads_back)
{
	for (size_t i = 0; all_stressors[i]; i++) {
		check_read_back(all_stressors[i], true);
		check_read_back(all_stressors[i], false);
	}
}
END_TEST

START_TEST(the_command_s_plan)
{
	struct comparison *comparison = compared("baseline", "patched");
	json_t *plan = json_pack("{s:f,s:f,s:i,s:[s,s],s:[s]}", "duration_s", 0.0015, "timeout_s",
				 1800.0, "seed", 7, "counters", "softirqs", "all", "events",
				 "a:b/c==1/");
	struct loaded_run run = { .plan = plan };
	struct report_run list[] = { { .run = &run } };
	struct report_runs runs = { .list = list, .count = 1 };
	char *command = report_command(comparison, &runs);

	ck_assert_msg(strstr(command,
			     " --duration 1500us --timeout 30m --seed 7 --counter softirqs "
			     "--counter all --event a:b/c==1/"),
		      "%s", command);
	free(command);
	json_decref(plan);
	comparison_free(comparison);
}
END_TEST

static void check_width(const char *text)
{
	for (; *text; text += strcspn(text, "\n") + 1)
		ck_assert_uint_le(strcspn(text, "\n"), 72);
}

START_TEST(any_table_is_narrow)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (size_t columns = 1; columns <= 16; columns++) {
		struct table *table = table_new();

		table_head(table, word, "%s%s%s and %s", word, word, word, word);
		for (size_t i = 0; i < columns; i++)
			table_column(table, i % 2 ? TABLE_RIGHT : TABLE_LEFT, word);
		for (size_t i = 0; i < columns * 2; i++)
			table_cell(table, "%s", word + i % 30);
		table_note(table, "%s \xc3\xbc\n %s%s%s", word, word, word, word);
		ck_assert_ptr_nonnull(table);
		ck_assert_int_eq(render_cover(table, out), 0);
		table_free(table);
	}
	check_width(output);
	ck_assert_ptr_null(strchr(output, '\xc3'));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, scales);
	tcase_add_test(tcase, linear_ticks);
	tcase_add_test(tcase, log_ticks_with_zero);
	tcase_add_test(tcase, one_value);
	tcase_add_test(tcase, a_report);
	tcase_add_test(tcase, heat_maps_say_what_is_true_of_all);
	tcase_add_test(tcase, the_command);
	tcase_add_test(tcase, the_lab_s_command);
	tcase_add_test(tcase, the_command_reads_back);
	tcase_add_test(tcase, the_command_s_plan);
	tcase_add_test(tcase, any_table_is_narrow);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
