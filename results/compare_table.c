// SPDX-License-Identifier: GPL-2.0-only
/* The comparison as a table: which lines, which columns, which words. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/features.h"
#include "../lib/fs.h"
#include "compare_private.h"
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
	bool emulated = comparison->emulated_time;

	table_head(table, "machine", "%s%s%s%s%s, %u CPUs%s%s, %lld-byte pages%s",
		   comparison->guest ? "guest (" : "", comparison->guest ? accel : "",
		   comparison->guest && emulated ? ": times are emulated, not those of hardware"
						 : "",
		   comparison->guest ? "), " : "", text_of(machine, "arch"), comparison->cpus,
		   *model ? ", " : "", model,
		   (long long)json_integer_value(json_object_get(machine, "page_size")),
		   !comparison->guest && emulated ? "; other arms are guests with emulated times"
						  : "");
}

static void add_arm(struct table *table, const struct comparison *comparison,
		    const struct compared_arm *arm)
{
	char *made = compared_arm_text(comparison, arm);

	if (!made)
		table->error = -ENOMEM;
	else if (!arm->kernel)
		table_head(table, arm->name, "no results, %s", made);
	else
		table_head(table, arm->name, "kernel %s %s, %s", arm->kernel, arm->kernel_version,
			   made);
	free(made);
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
char *compare_point_text(const struct comparison *comparison, const struct compared_point *point,
			 bool common)
{
	char *text = strdup(point->stressor);
	const char *key;
	json_t *value;

	json_object_foreach(point->parameters, key, value) {
		char *shown, *longer;

		if (is_common(comparison, point->stressor, key, value) != common)
			continue;
		shown = compared_parameter(point, key);
		longer = text && shown ? format_string("%s %s=%s", text, key, shown) : NULL;
		free(shown);
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
		text = compare_point_text(comparison, point, true);
		if (text)
			table_head(table, "stressor", "%s", text);
		else
			table->error = -ENOMEM;
		free(text);
	}
}

/* A point with none of the primary metrics shows what it has. */
bool compare_is_shown(const struct compared_point *point, const struct compared_metric *metric,
		      bool all)
{
	return all || metric->primary || !point->metrics[0].primary;
}

static bool has_predictions(const struct comparison *comparison, bool all)
{
	for (size_t i = 0; i < comparison->point_count; i++)
		for (size_t j = 0; j < comparison->points[i].metric_count; j++) {
			const struct compared_metric *metric = &comparison->points[i].metrics[j];

			if (compare_is_shown(&comparison->points[i], metric, all) &&
			    !isnan(metric->predicted))
				return true;
		}
	return false;
}

/* What is no difference is not shown as one. */
static bool is_no_difference(const struct compared_value *value)
{
	return value->test.verdict == COMPARED_UNDECIDED || value->test.verdict == COMPARED_NOISE;
}

/* Boots where there are some, else the repetitions of the one. */
static const struct statistics *shown_statistics(const struct compared_value *value)
{
	return value->boot_count > 1 ? &value->by_boot : &value->statistics;
}

static void add_value(struct table *table, const struct comparison *comparison,
		      const struct compared_metric *metric, size_t arm)
{
	const struct compared_value *value = &metric->values[arm];
	const struct statistics *statistics = shown_statistics(value);
	char *text, *factor;

	if (value->status < 0) {
		table_cell(table, "-");
		return;
	}
	if (!value->statistics.n) {
		table_cell(table, "%s", value_status_name((enum value_status)value->status));
		return;
	}
	text = format_spread(statistics->mean, statistics->stddev, metric->unit);
	if (!comparison->factors) {
		table_take(table, text);
		return;
	}
	if (is_no_difference(value))
		factor = strdup("~");
	else
		factor = arm ? format_factor(value->test.ratio) : strdup("1.00x");
	table_take(table, text && factor ? format_string("%s (%s)", text, factor) : NULL);
	free(factor);
	free(text);
}

static void add_change(struct table *table, const struct compared_value *value)
{
	if (is_no_difference(value))
		table_cell(table, "~");
	else
		table_take(table, format_change(value->change));
}

static void add_interval(struct table *table, const struct comparison *comparison,
			 const struct compared_value *value)
{
	const struct compared_interval *interval = &value->test.interval;

	if (interval->method == INTERVAL_NONE)
		table_cell(table, "-");
	else if (comparison->factors)
		table_take(table, format_factors(interval->low, interval->high));
	else
		table_take(table, format_changes(interval->low - 1, interval->high - 1));
}

static void add_verdict(struct table *table, const struct comparison *comparison,
			const struct compared_metric *metric, size_t arm)
{
	const char *const words[] = {
		[COMPARED_NONE] = "-",
		[COMPARED_OFF] = "off",
		[COMPARED_TOO_FEW] = comparison->rebooted ? "few boots" : "few runs",
		[COMPARED_UNDECIDED] = "~",
		[COMPARED_NOISE] = "noise",
		[COMPARED_SAME] = "same count",
		[COMPARED_CHANGED] = "differs",
		[COMPARED_BETTER] = "better",
		[COMPARED_WORSE] = "worse",
	};
	const struct compared_test *test = &metric->values[arm].test;
	const char *whose = metric->shared && compared_differs(test->verdict) ? "mix " : "";

	if (test->basis == BASIS_MANN_WHITNEY || test->basis == BASIS_SIGNED_RANK)
		table_cell(table, "%s%s, p %.2g", whose, words[test->verdict], test->p_holm);
	else if (test->basis == BASIS_COUNT && compared_differs(test->verdict))
		table_cell(table, "%s%s, count", whose, words[test->verdict]);
	else
		table_cell(table, "%s%s", whose, words[test->verdict]);
}

/* How the intervals were made: all in one way, or in both. */
static const char *interval_method(const struct comparison *comparison)
{
	bool order = false, bca = false;

	for (size_t i = 0; i < comparison->point_count; i++)
		for (size_t j = 0; j < comparison->points[i].metric_count; j++)
			for (size_t k = 1; k < comparison->arm_count; k++) {
				const struct compared_metric *metric =
					&comparison->points[i].metrics[j];

				order |= metric->values[k].test.interval.method == INTERVAL_ORDER;
				bca |= metric->values[k].test.interval.method == INTERVAL_BCA;
			}
	if (order && bca)
		return ", and its 95% interval for that metric alone (order statistics; bootstrap BCa)";
	if (bca)
		return ", and its 95% interval for that metric alone (bootstrap BCa)";
	return order ? ", and its 95% interval for that metric alone (order statistics)" : "";
}

static bool has_intervals(const struct comparison *comparison)
{
	return *interval_method(comparison);
}

static void add_metric(struct table *table, const struct comparison *comparison,
		       const struct compared_metric *metric, bool all, bool predictions)
{
	bool intervals = has_intervals(comparison);

	table_take(table, compared_label(comparison, metric));
	if (predictions)
		table_take(table, format_value(metric->predicted, metric->unit));
	for (size_t i = 0; i < comparison->arm_count; i++) {
		add_value(table, comparison, metric, i);
		if (all)
			table_take(table, format_value(shown_statistics(&metric->values[i])->median,
						       metric->unit));
		if (!i)
			continue;
		if (!comparison->factors)
			add_change(table, &metric->values[i]);
		if (intervals)
			add_interval(table, comparison, &metric->values[i]);
		add_verdict(table, comparison, metric, i);
	}
}

/* Columns of one of many arms have its name. */
static void add_arm_column(struct table *table, const struct comparison *comparison, size_t arm,
			   enum table_align align, const char *name)
{
	char *text = comparison->arm_count > 2
			     ? format_string("%s %s", name, comparison->arms[arm].name)
			     : strdup(name);

	if (text)
		table_column(table, align, text);
	else
		table->error = -ENOMEM;
	free(text);
}

static void add_columns(struct table *table, const struct comparison *comparison, bool all,
			bool predictions)
{
	bool intervals = has_intervals(comparison);

	if (comparison->point_count > 1)
		table_column(table, TABLE_LEFT, "point");
	table_column(table, TABLE_LEFT, "metric");
	if (predictions)
		table_column(table, TABLE_RIGHT, "predicted");
	for (size_t i = 0; i < comparison->arm_count; i++) {
		table_column(table, TABLE_RIGHT, comparison->arms[i].name);
		if (all)
			add_arm_column(table, comparison, i, TABLE_RIGHT, "median");
		if (!i)
			continue;
		if (!comparison->factors)
			add_arm_column(table, comparison, i, TABLE_RIGHT, "change");
		if (intervals)
			add_arm_column(table, comparison, i, TABLE_RIGHT, "95%");
		add_arm_column(table, comparison, i, TABLE_LEFT, "verdict");
	}
}

static bool has_many_boots(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->arm_count; i++)
		if (comparison->arms[i].boots > 1)
			return true;
	return false;
}

/* How the numbers came to be. */
static void add_methods(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->allowed_count; i++)
		table_head(table, "allowed", "%s", comparison->allowed[i]);
	if (comparison->noise_source)
		table_head(table, "noise floor", "%s", comparison->noise_source);
	if (has_many_boots(comparison))
		table_head(table, "values",
			   "mean +/- standard deviation of the %ss, each the median of its "
			   "repetitions that passed",
			   comparison_unit(comparison));
	else
		table_head(table, "values", "%s",
			   "mean +/- standard deviation of the repetitions that passed");
	if (comparison->arm_count < 2)
		return;
	table_head(table, "change", "median of the ratios of %ss to those of %s%s",
		   comparison_unit(comparison), comparison->arms[0].name,
		   interval_method(comparison));
	if (FEATURE_RMATH)
		table_head(table, "verdict",
			   "exact %s test of %ss, Holm's correction; ~: not significant",
			   comparison->paired ? "signed-rank" : "Mann-Whitney",
			   comparison_unit(comparison));
	else
		table_head(table, "verdict", "counts only, this build has no libRmath");
}

static void add_rows(struct table *table, const struct comparison *comparison, bool all,
		     bool predictions)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		for (size_t j = 0; j < point->metric_count; j++) {
			if (!compare_is_shown(point, &point->metrics[j], all))
				continue;
			if (comparison->point_count > 1)
				table_take(table, compare_point_text(comparison, point, false));
			add_metric(table, comparison, &point->metrics[j], all, predictions);
		}
	}
}

struct table *comparison_table(const struct comparison *comparison, bool all)
{
	bool predictions = has_predictions(comparison, all);
	struct table *table = table_new();

	if (!table)
		return NULL;
	add_machine(table, comparison);
	for (size_t i = 0; i < comparison->arm_count; i++)
		add_arm(table, comparison, &comparison->arms[i]);
	add_stressors(table, comparison);
	add_seeds(table, comparison);
	add_methods(table, comparison);
	add_columns(table, comparison, all, predictions);
	add_rows(table, comparison, all, predictions);
	compare_add_notes(table, comparison, all);
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
