// SPDX-License-Identifier: GPL-2.0-only
/* The comparison as a table: which lines, which columns, which words. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "compare.h"
#include "format.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void add_machine(struct table *table, const struct comparison *comparison)
{
	const json_t *machine = comparison->machine;
	const json_t *guest = json_object_get(machine, "guest");
	const char *model = text_of(machine, "cpu_model");
	const char *accel = text_of(guest, "accel");

	table_head(table, "machine", "%s%s%s%s%s, %u CPUs%s%s, %lld-byte pages",
		   comparison->guest ? "guest (" : "", comparison->guest ? accel : "",
		   comparison->emulated_time ? ": times are emulated, not those of hardware" : "",
		   comparison->guest ? "), " : "", text_of(machine, "arch"), comparison->cpus,
		   *model ? ", " : "", model,
		   (long long)json_integer_value(json_object_get(machine, "page_size")));
}

static void add_arm(struct table *table, const struct compared_arm *arm)
{
	char repetitions[48] = "";

	if (arm->repetitions)
		snprintf(repetitions, sizeof(repetitions), " of %u run%s", arm->repetitions,
			 arm->repetitions == 1 ? "" : "s");
	if (!arm->kernel)
		table_head(table, arm->name, "no results, %u boots", arm->boots);
	else
		table_head(table, arm->name, "kernel %s %s, %u boot%s%s", arm->kernel,
			   arm->kernel_version, arm->boots, arm->boots == 1 ? "" : "s",
			   repetitions);
}

static void add_seeds(struct table *table, const struct comparison *comparison)
{
	char *list = strdup("");

	for (size_t i = 0; list && i < comparison->seed_count; i++) {
		char *longer = format_string("%s%s%llu", list, i ? ", " : "",
					     (unsigned long long)comparison->seeds[i]);

		free(list);
		list = longer;
	}
	if (list)
		table_head(table, comparison->seed_count > 1 ? "seeds" : "seed", "%s", list);
	else
		table->error = -ENOMEM;
	free(list);
}

/* Has the parameter the same value in all points of its stressor? */
static bool is_common(const struct comparison *comparison, const char *stressor, const char *key,
		      const json_t *value)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		if (!strcmp(point->stressor, stressor) &&
		    !json_equal(json_object_get(point->parameters, key), value))
			return false;
	}
	return true;
}

/* "pageout pages=4096 ...": those parameters that all points of the stressor share, or the others.
 */
static char *point_text(const struct comparison *comparison, const struct compared_point *point,
			bool common)
{
	char *text = strdup(point->stressor);
	const char *key;
	json_t *value;

	json_object_foreach(point->parameters, key, value) {
		char *number = NULL, *longer;

		if (is_common(comparison, point->stressor, key, value) != common)
			continue;
		if (!json_is_string(value))
			number = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		longer = text ? format_string("%s %s=%s", text, key,
					      number ? number : json_string_value(value))
			      : NULL;
		free(number);
		free(text);
		text = longer;
	}
	return text;
}

static void add_stressors(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];
		bool seen = false;
		char *text;

		for (size_t j = 0; j < i; j++)
			seen |= !strcmp(comparison->points[j].stressor, point->stressor);
		if (seen)
			continue;
		text = point_text(comparison, point, true);
		if (text)
			table_head(table, "stressor", "%s", text);
		else
			table->error = -ENOMEM;
		free(text);
	}
}

/* A point with none of the primary metrics shows what it has. */
static bool is_shown(const struct compared_point *point, const struct compared_metric *metric,
		     bool all)
{
	return all || metric->primary || !point->metrics[0].primary;
}

static bool has_predictions(const struct comparison *comparison, bool all)
{
	for (size_t i = 0; i < comparison->point_count; i++)
		for (size_t j = 0; j < comparison->points[i].metric_count; j++) {
			const struct compared_metric *metric = &comparison->points[i].metrics[j];

			if (is_shown(&comparison->points[i], metric, all) &&
			    !isnan(metric->predicted))
				return true;
		}
	return false;
}

static void add_value(struct table *table, const struct compared_value *value, const char *unit)
{
	if (value->status < 0)
		table_cell(table, "-");
	else if (!value->statistics.n)
		table_cell(table, "%s", value_status_name((enum value_status)value->status));
	else
		table_take(table,
			   format_spread(value->statistics.mean, value->statistics.stddev, unit));
}

static void add_metric(struct table *table, const struct comparison *comparison,
		       const struct compared_metric *metric, bool predictions)
{
	table_cell(table, "%s%s", metric->name,
		   comparison->emulated_time && unit_depends_on_time(metric->unit) ? " (emulated)"
										   : "");
	if (predictions)
		table_take(table, format_value(metric->predicted, metric->unit));
	for (size_t i = 0; i < comparison->arm_count; i++) {
		add_value(table, &metric->values[i], metric->unit);
		if (i)
			table_take(table, format_change(metric->values[i].change));
	}
}

static void add_columns(struct table *table, const struct comparison *comparison, bool predictions)
{
	char *change;

	if (comparison->point_count > 1)
		table_column(table, TABLE_LEFT, "point");
	table_column(table, TABLE_LEFT, "metric");
	if (predictions)
		table_column(table, TABLE_RIGHT, "predicted");
	for (size_t i = 0; i < comparison->arm_count; i++) {
		table_column(table, TABLE_RIGHT, comparison->arms[i].name);
		if (!i)
			continue;
		change = comparison->arm_count > 2
				 ? format_string("change %s", comparison->arms[i].name)
				 : strdup("change");
		if (change)
			table_column(table, TABLE_RIGHT, change);
		else
			table->error = -ENOMEM;
		free(change);
	}
}

static void add_rows(struct table *table, const struct comparison *comparison, bool all,
		     bool predictions)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		for (size_t j = 0; j < point->metric_count; j++) {
			if (!is_shown(point, &point->metrics[j], all))
				continue;
			if (comparison->point_count > 1)
				table_take(table, point_text(comparison, point, false));
			add_metric(table, comparison, &point->metrics[j], predictions);
		}
	}
}

/* "baseline 10 pass; patched 9 pass, 1 broken" over all points. */
static void add_totals(struct table *table, const struct comparison *comparison)
{
	char *text = strdup("outcomes:");

	for (size_t i = 0; text && i < comparison->arm_count; i++) {
		const char *mark = i ? "; " : " ";
		bool any = false;
		char *longer = format_string("%s%s%s", text, mark, comparison->arms[i].name);

		free(text);
		text = longer;
		for (int j = 0; text && j < OUTCOME_COUNT; j++) {
			unsigned int total = 0;

			for (size_t k = 0; k < comparison->point_count; k++)
				total += comparison->points[k].outcomes[i].counts[j];
			if (!total)
				continue;
			longer = format_string("%s%s %u %s", text, any ? "," : "", total,
					       outcome_name((enum outcome)j));
			free(text);
			text = longer;
			any = true;
		}
		if (text && !any) {
			longer = format_string("%s none", text);
			free(text);
			text = longer;
		}
	}
	if (text)
		table_note(table, "%s", text);
	else
		table->error = -ENOMEM;
	free(text);
}

/* Each point's repetitions that gave no numbers, with the first reason. */
static void add_failures(struct table *table, const struct comparison *comparison,
			 const struct compared_point *point)
{
	char *name = point_text(comparison, point, false);

	for (size_t i = 0; name && i < comparison->arm_count; i++)
		for (int j = OUTCOME_PASS + 1; j < OUTCOME_COUNT; j++) {
			const struct compared_outcomes *outcomes = &point->outcomes[i];
			const char *reason = outcomes->reasons[j];

			if (outcomes->counts[j])
				table_note(table, "%s, %s: %u %s, not in the numbers%s%s",
					   comparison->arms[i].name, name, outcomes->counts[j],
					   outcome_name((enum outcome)j), reason ? ": " : "",
					   reason ? reason : "");
		}
	if (!name)
		table->error = -ENOMEM;
	free(name);
}

/* Why a value that is shown is missing or less sure than it looks. */
static void add_reasons(struct table *table, const struct comparison *comparison,
			const struct compared_point *point, bool all)
{
	for (size_t i = 0; i < point->metric_count; i++) {
		const struct compared_metric *metric = &point->metrics[i];

		for (size_t j = 0; is_shown(point, metric, all) && j < comparison->arm_count; j++) {
			const struct compared_value *value = &metric->values[j];

			if (value->status > VALUE_OK)
				table_note(table, "%s, %s: %s%s%s", comparison->arms[j].name,
					   metric->name,
					   value_status_name((enum value_status)value->status),
					   value->reason ? ": " : "",
					   value->reason ? value->reason : "");
		}
	}
}

static void add_notes(struct table *table, const struct comparison *comparison, bool all)
{
	add_totals(table, comparison);
	for (size_t i = 0; i < comparison->point_count; i++) {
		add_failures(table, comparison, &comparison->points[i]);
		add_reasons(table, comparison, &comparison->points[i], all);
	}
	for (size_t i = 0; i < comparison->arm_count; i++)
		for (size_t j = 0; j < comparison->arms[i].note_count; j++)
			table_note(table, "%s: %s", comparison->arms[i].name,
				   comparison->arms[i].notes[j]);
	for (size_t i = 0; i < comparison->note_count; i++)
		table_note(table, "%s", comparison->notes[i]);
}

struct table *comparison_table(const struct comparison *comparison, bool all)
{
	bool predictions = has_predictions(comparison, all);
	struct table *table = table_new();

	if (!table)
		return NULL;
	add_machine(table, comparison);
	for (size_t i = 0; i < comparison->arm_count; i++)
		add_arm(table, &comparison->arms[i]);
	add_stressors(table, comparison);
	add_seeds(table, comparison);
	table_head(table, "values", "mean +/- standard deviation of the repetitions that passed");
	add_columns(table, comparison, predictions);
	add_rows(table, comparison, all, predictions);
	add_notes(table, comparison, all);
	return table_finish(table);
}

int comparison_render(const struct comparison *comparison, const char *format, bool all, FILE *out)
{
	bool json = !strcmp(format, "json");

	return render(json ? NULL : comparison_table(comparison, all),
		      json ? comparison_json(comparison) : NULL, format, out);
}

int summarize_run(const char *folder, const char *format, bool all, FILE *out, struct log *log)
{
	struct comparison *comparison;
	int ret = compare_single(folder, log, &comparison);

	if (ret)
		return ret;
	ret = comparison_render(comparison, format, all, out);
	comparison_free(comparison);
	return ret;
}
