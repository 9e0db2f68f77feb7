// SPDX-License-Identifier: GPL-2.0-only
/* A reproduction as a table and as JSON. Judges nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "cost_model.h"
#include "format.h"
#include "reproduction_private.h"

/* "191, -99.99%": a number and its change against the baseline. */
static char *with_change(char *number, double change)
{
	char *percent, *text = NULL;

	if (!number || isnan(change))
		return number;
	percent = format_change(change);
	if (percent)
		text = format_string("%s, %s", number, percent);
	free(percent);
	free(number);
	return text;
}

/* "threads=4"; NULL for a test that sweeps nothing, or without memory. A fresh string. */
static char *step_name(const struct reference_test *test, size_t step)
{
	const json_t *value;
	char *text, *name;

	if (!test->sweep)
		return NULL;
	value = json_array_get(json_object_get(test->parameters, test->sweep), step);
	text = json_dumps(value, JSON_ENCODE_ANY);
	name = text ? format_string("%s=%s", test->sweep, text) : NULL;
	free(text);
	return name;
}

/* Was this step of a sweep not run, since the machine has too few CPUs for it? */
static bool was_left_out(const struct entry *entry, size_t step)
{
	const struct reference_test *test = entry->test;
	const json_t *values = json_object_get(test->parameters, test->sweep ? test->sweep : "");

	return !entry->skipped && test->sweep_within_cpus &&
	       json_integer_value(json_array_get(values, step)) > entry->cpus &&
	       !reproduction_point(entry, step);
}

/* A prediction, or what a rule asks of the arm. */
static char *format_prediction(const struct row *row)
{
	char *number, *text;

	if (!isnan(row->predicted) || isnan(row->bound))
		return format_value(row->predicted, row->unit);
	number = format_value(row->bound, row->unit);
	text = number ? format_string("%s %s", isnan(row->rule->at_least) ? "at most" : "at least",
				      number)
		      : NULL;
	free(number);
	return text;
}

static void add_row(struct table *table, const struct entry *entry, const struct row *row)
{
	const char *verdict = reproduction_verdicts[row->verdict];
	char *step = step_name(entry->test, row->step);

	table_take(table, format_string("%s %s%s%s", entry->test->test, entry->test->stressor,
					step ? " " : "", step ? step : ""));
	free(step);
	table_cell(table, "%u", entry->cpus);
	table_cell(table, "%s", row->metric);
	table_cell(table, "%s", row->arm);
	if (row->change_only)
		table_cell(table, "%s", row->change_only);
	else
		table_take(table, with_change(format_value(row->published, row->unit),
					      row->published_change));
	table_take(table, format_prediction(row));
	table_take(table, with_change(format_spread(row->measured, row->stddev, row->unit),
				      row->measured_change));
	table_cell(table, "%s", verdict ? verdict : "-");
}

static void add_kernels(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->arm_count; i++) {
		const struct compared_arm *arm = &comparison->arms[i];

		table_head(table, arm->name, "kernel %s %s",
			   arm->kernel ? arm->kernel : "(no results)",
			   arm->kernel_version ? arm->kernel_version : "");
	}
}

static void add_heads(struct table *table, const struct reproduction *reproduction)
{
	const struct reference *reference = reproduction->reference;

	table_head(table, "series", "%s", reference->series);
	if (reference->runs)
		table_head(table, "published", "%s; %s of %u runs on hardware", reference->source,
			   reference->statistic, reference->runs);
	else
		table_head(table, "published", "%s; %s on hardware", reference->source,
			   reference->statistic);
	for (size_t i = 0; i < reproduction->entry_count; i++) {
		const struct comparison *comparison = reproduction->entries[i].comparison;
		const char *accel;

		if (!comparison)
			continue;
		accel = json_string_value(
			json_object_get(json_object_get(comparison->machine, "guest"), "accel"));
		table_head(
			table, "measured", "%s%s%s", comparison->guest ? "in a guest, " : "here",
			comparison->guest && accel ? accel : "",
			comparison->emulated_time
				? "; its times are emulated and not compared with the published ones"
				: "");
		add_kernels(table, comparison);
		break;
	}
	if (reproduction->scale != 1)
		table_head(table, "scale",
			   "%g: predicted and measured are at this part of the published size",
			   reproduction->scale);
}

/* What went wrong on the way, from the comparison of each test. */
static void add_notes(struct table *table, const struct entry *entry)
{
	const struct comparison *comparison = entry->comparison;

	for (size_t i = 0; i < comparison->arm_count; i++)
		for (size_t j = 0; j < comparison->arms[i].note_count; j++)
			table_note(table, "test %s, %u CPUs, %s: %s", entry->test->test,
				   entry->cpus, comparison->arms[i].name,
				   comparison->arms[i].notes[j]);
	for (size_t i = 0; i < comparison->point_count; i++)
		for (size_t j = 0; j < comparison->arm_count; j++)
			for (int k = OUTCOME_PASS + 1; k < OUTCOME_COUNT; k++) {
				const struct compared_outcomes *outcomes =
					&comparison->points[i].outcomes[j];

				if (outcomes->counts[k])
					table_note(table, "test %s, %u CPUs, %s: %u %s%s%s",
						   entry->test->test, entry->cpus,
						   comparison->arms[j].name, outcomes->counts[k],
						   outcome_name((enum outcome)k),
						   outcomes->reasons[k] ? ": " : "",
						   outcomes->reasons[k] ? outcomes->reasons[k]
									: "");
			}
}

static void add_left_out(struct table *table, const struct entry *entry)
{
	for (size_t step = 0; step < entry->test->step_count; step++) {
		char *name = was_left_out(entry, step) ? step_name(entry->test, step) : NULL;

		if (name)
			table_note(table, "test %s: %s needs more than %u CPUs and was left out",
				   entry->test->test, name, entry->cpus);
		free(name);
	}
}

static bool was_measured(const struct reproduction *reproduction, const struct reference_test *test)
{
	for (size_t i = 0; i < reproduction->entry_count; i++)
		if (reproduction->entries[i].test == test && reproduction->entries[i].comparison)
			return true;
	return false;
}

static void add_tolerances(struct table *table, const struct reproduction *reproduction)
{
	const struct reference *reference = reproduction->reference;

	for (size_t i = 0; i < reference->test_count; i++)
		if (was_measured(reproduction, &reference->tests[i]))
			table_note(table,
				   "test %s: a count agrees within %g%% of the prediction for a "
				   "kernel that does not filter, or within one flush of all CPUs",
				   reference->tests[i].test, reference->tests[i].tolerance * 100);
}

/* What the tests that were measured ask of the arms, and what a reader of their rows must know. */
static void add_rules(struct table *table, const struct reproduction *reproduction)
{
	for (size_t i = 0; i < reproduction->reference->test_count; i++) {
		const struct reference_test *test = &reproduction->reference->tests[i];

		if (!was_measured(reproduction, test))
			continue;
		if (test->note)
			table_note(table, "test %s: %s", test->test, test->note);
		for (size_t j = 0; j < test->rule_count; j++)
			table_note(table, "test %s, %s of %s: %s", test->test,
				   test->rules[j].metric, test->rules[j].arm, test->rules[j].why);
	}
}

/* The size that was run, as a part of the published one. */
static double part_of_size(const struct reference_test *test, const struct compared_point *point)
{
	return json_number_value(json_object_get(point->parameters, test->scaled)) /
	       json_number_value(json_object_get(test->parameters, test->scaled));
}

/* What the IPIs that were measured would mean on the published platform. */
static void add_modelled_times(struct table *table, const struct entry *entry,
			       const struct cost_model *model)
{
	const struct compared_point *point = entry->comparison->points;
	const struct compared_metric *ipis;
	double flushes;

	if (!entry->comparison->point_count)
		return;
	ipis = comparison_metric(point, "remote_ipis");
	flushes = cost_model_flushes(model, entry->test, part_of_size(entry->test, point));
	/* both arms make the flushes of the baseline: the filter drops only CPUs */
	for (size_t i = 0; ipis && i < entry->comparison->arm_count; i++) {
		double time_ms = cost_model_time_ms(model, entry->test, flushes,
						    ipis->values[i].statistics.mean);

		if (isfinite(time_ms))
			table_note(table, "model: test %s, %s: these IPIs would take %.1f ms on %s",
				   entry->test->test, entry->comparison->arms[i].name, time_ms,
				   model->platform);
	}
}

static void add_models(struct table *table, const struct reproduction *reproduction)
{
	unsigned int last = 0;

	for (size_t i = 0; i < reproduction->entry_count; i++) {
		const struct entry *entry = &reproduction->entries[i];
		struct cost_model model;

		if (!entry->comparison ||
		    cost_model_fit(reproduction->reference, entry->cpus, &model))
			continue;
		if (entry->cpus != last)
			table_note(
				table,
				"model of %s, fitted to its %zu published times alone: %.1f ns an "
				"IPI and a cost a flush for each test; largest error on them %.1f%%",
				model.platform, model.rows, model.ipi_ns, model.worst_error * 100);
		add_modelled_times(table, entry, &model);
		last = entry->cpus;
		cost_model_release(&model);
	}
}

struct table *reproduction_table(const struct reproduction *reproduction)
{
	static const struct table_column columns[] = {
		{ "test", TABLE_LEFT },	      { "CPUs", TABLE_RIGHT },
		{ "metric", TABLE_LEFT },     { "arm", TABLE_LEFT },
		{ "published", TABLE_RIGHT }, { "predicted", TABLE_RIGHT },
		{ "measured", TABLE_RIGHT },  { "verdict", TABLE_LEFT },
	};
	struct table *table = table_new();

	if (!table)
		return NULL;
	add_heads(table, reproduction);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_column(table, columns[i].align, columns[i].name);
	for (size_t i = 0; i < reproduction->entry_count; i++) {
		const struct entry *entry = &reproduction->entries[i];

		for (size_t j = 0; j < entry->row_count; j++)
			add_row(table, entry, &entry->rows[j]);
		if (entry->skipped && entry->cpus)
			table_note(table, "test %s (%s) on %u CPUs was skipped: %s",
				   entry->test->test, entry->test->title, entry->cpus,
				   entry->skipped);
		else if (entry->skipped)
			table_note(table, "test %s (%s) was skipped: %s", entry->test->test,
				   entry->test->title, entry->skipped);
		else
			add_notes(table, entry);
		add_left_out(table, entry);
	}
	add_tolerances(table, reproduction);
	add_rules(table, reproduction);
	add_models(table, reproduction);
	return table_finish(table);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *entry_json(const struct entry *entry)
{
	json_t *rows = json_array(), *left_out = json_array();

	for (size_t step = 0; step < entry->test->step_count; step++) {
		char *name = was_left_out(entry, step) ? step_name(entry->test, step) : NULL;

		if (name)
			json_array_append_new(left_out, json_string(name));
		free(name);
	}
	for (size_t i = 0; i < entry->row_count; i++) {
		const struct row *row = &entry->rows[i];
		char *step = step_name(entry->test, row->step);

		json_array_append_new(
			rows,
			json_pack("{s:s?, s:s, s:s, s:s, s:o, s:s?, s:o, s:o, s:o, s:s?}", "step",
				  step, "metric", row->metric, "unit", row->unit, "arm", row->arm,
				  "published", number(row->published), "published_change",
				  row->change_only, "predicted", number(row->predicted), "bound",
				  number(row->bound), "measured", number(row->measured), "verdict",
				  reproduction_verdicts[row->verdict]));
		free(step);
	}
	if (json_array_size(rows) != entry->row_count) {
		json_decref(rows);
		rows = NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:s?, s:o, s:o, s:o}", "test", entry->test->test,
			 "title", entry->test->title, "stressor", entry->test->stressor, "cpus",
			 entry->cpus ? json_integer(entry->cpus) : json_null(), "skipped",
			 entry->skipped, "left_out", left_out, "comparison",
			 entry->comparison ? comparison_json(entry->comparison) : json_null(),
			 "rows", rows);
}

json_t *reproduction_json(const struct reproduction *reproduction)
{
	json_t *tests = json_array();

	for (size_t i = 0; tests && i < reproduction->entry_count; i++)
		if (json_array_append_new(tests, entry_json(&reproduction->entries[i]))) {
			json_decref(tests);
			return NULL;
		}
	return json_pack("{s:s, s:i, s:s, s:s, s:f, s:o}", "schema", "shootdown-reproduction",
			 "version", REPRODUCTION_VERSION, "series", reproduction->reference->series,
			 "source", reproduction->reference->source, "scale", reproduction->scale,
			 "tests", tests);
}
