// SPDX-License-Identifier: GPL-2.0-only
/* The tables of a report that are its own: verdicts, and what was measured where. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/fs.h"
#include "format.h"
#include "report.h"

/* Does the parameter tell points of the stressor apart? */
static bool varies(const struct comparison *comparison, const struct compared_point *point,
		   const char *key)
{
	const json_t *value = json_object_get(point->parameters, key);

	for (size_t i = 0; i < comparison->point_count; i++)
		if (!strcmp(comparison->points[i].stressor, point->stressor) &&
		    !json_equal(json_object_get(comparison->points[i].parameters, key), value))
			return true;
	return false;
}

enum which {
	PARAMETERS_ALL,
	PARAMETERS_VARYING,
	PARAMETERS_COMMON,
};

/* Is the stressor named elsewhere: all points have it, and differ in something? */
static bool goes_without_saying(const struct comparison *comparison, enum which which)
{
	for (size_t i = 1; i < comparison->point_count; i++)
		if (strcmp(comparison->points[i].stressor, comparison->points[0].stressor))
			return false;
	return which == PARAMETERS_VARYING && comparison->point_count > 1;
}

static char *point_text(const struct comparison *comparison, size_t index, enum which which)
{
	const struct compared_point *point = &comparison->points[index];
	char *text = strdup(goes_without_saying(comparison, which) ? "" : point->stressor);
	const char *key;
	const json_t *value;

	json_object_foreach(point->parameters, key, value) {
		char *shown, *longer;

		if (which != PARAMETERS_ALL &&
		    varies(comparison, point, key) != (which == PARAMETERS_VARYING))
			continue;
		shown = compared_parameter(point, key);
		longer = text && shown
				 ? format_string("%s%s%s=%s", text, *text ? " " : "", key, shown)
				 : NULL;
		free(shown);
		free(text);
		text = longer;
	}
	return text;
}

char *report_point_name(const struct comparison *comparison, size_t point, bool all)
{
	return point_text(comparison, point, all ? PARAMETERS_ALL : PARAMETERS_VARYING);
}

char *report_point_common(const struct comparison *comparison, size_t point)
{
	return point_text(comparison, point, PARAMETERS_COMMON);
}

static char *verdict_text(const struct compared_metric *metric, size_t arm)
{
	const struct compared_test *test = &metric->values[arm].test;
	static const char *const words[] = {
		[COMPARED_NONE] = "-",
		[COMPARED_OFF] = "not tested: built without libRmath",
		[COMPARED_TOO_FEW] = "too few to tell",
		[COMPARED_UNDECIDED] = "~ not significant",
		[COMPARED_NOISE] = "inside the noise floor",
		[COMPARED_SAME] = "same",
		[COMPARED_CHANGED] = "changed",
		[COMPARED_BETTER] = "better",
		[COMPARED_WORSE] = "worse",
	};

	return format_string("%s%s",
			     metric->shared && compared_differs(test->verdict) ? "mix " : "",
			     words[test->verdict]);
}

static enum report_tone tone_of(enum compared_verdict verdict)
{
	switch (verdict) {
	case COMPARED_BETTER:
		return TONE_BETTER;
	case COMPARED_WORSE:
		return TONE_WORSE;
	case COMPARED_TOO_FEW:
	case COMPARED_UNDECIDED:
	case COMPARED_NOISE:
		return TONE_OPEN;
	default:
		return TONE_NONE;
	}
}

static char *interval_text(const struct compared_interval *interval)
{
	if (interval->method == INTERVAL_NONE || isnan(interval->low))
		return strdup("-");
	return format_changes(interval->low - 1, interval->high - 1);
}

static char *p_text(double p)
{
	if (isnan(p))
		return strdup("-");
	return format_string("%.2g", p);
}

static bool is_shown(const struct compared_point *point, const struct compared_metric *metric)
{
	return metric->primary || !point->metrics[0].primary;
}

static void verdict_row(struct table *table, const struct comparison *comparison,
			const struct compared_metric *metric, size_t arm)
{
	const struct compared_value *value = &metric->values[arm], *base = &metric->values[0];

	table_take(table, compared_label(comparison, metric));
	if (comparison->arm_count > 2)
		table_cell(table, "%s", comparison->arms[arm].name);
	table_take(table, verdict_text(metric, arm));
	table_take(table, format_change(value->change));
	table_take(table, interval_text(&value->test.interval));
	table_take(table, format_value(base->by_boot.median, metric->unit));
	table_take(table, format_value(value->by_boot.median, metric->unit));
	table_take(table, format_value(metric->predicted, metric->unit));
	table_take(table, p_text(isnan(value->test.p_holm) ? value->test.p : value->test.p_holm));
	if (value->test.boots_needed)
		table_cell(table, "%zu, %zu (%u would do)", base->boot_count, value->boot_count,
			   value->test.boots_needed);
	else
		table_cell(table, "%zu, %zu", base->boot_count, value->boot_count);
}

static int add_tone(enum report_tone **tones, size_t *count, enum report_tone tone)
{
	enum report_tone *list = reallocarray(*tones, *count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	*tones = list;
	list[(*count)++] = tone;
	return 0;
}

struct table *report_verdicts(const struct comparison *comparison, enum report_tone **tones)
{
	struct table *table = table_new();
	bool three = comparison->arm_count > 2;
	size_t count = 0;

	*tones = NULL;
	if (!table)
		return NULL;
	if (comparison->point_count > 1)
		table_column(table, TABLE_LEFT, "point");
	table_column(table, TABLE_LEFT, "metric");
	if (three)
		table_column(table, TABLE_LEFT, "arm");
	table_column(table, TABLE_LEFT, "verdict");
	table_column(table, TABLE_RIGHT, "change");
	table_column(table, TABLE_RIGHT, "95% interval");
	table_column(table, TABLE_RIGHT, comparison->arms[0].name);
	table_column(table, TABLE_RIGHT, three ? "arm's median" : comparison->arms[1].name);
	table_column(table, TABLE_RIGHT, "predicted");
	table_column(table, TABLE_RIGHT, "p");
	table_column(table, TABLE_RIGHT, comparison->rebooted ? "boots" : "runs");
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		for (size_t j = 0; j < point->metric_count; j++)
			for (size_t arm = 1;
			     is_shown(point, &point->metrics[j]) && arm < comparison->arm_count;
			     arm++) {
				if (comparison->point_count > 1)
					table_take(table, report_point_name(comparison, i, false));
				verdict_row(table, comparison, &point->metrics[j], arm);
				if (add_tone(tones, &count,
					     tone_of(point->metrics[j].values[arm].test.verdict)))
					table->error = -ENOMEM;
			}
	}
	table_note(
		table,
		"Values are medians of %ss (a %s is the median of its repetitions), a change is the "
		"median of the ratios of all %ss, not the ratio of the medians; p is corrected over "
		"the metrics of a point (Holm).",
		comparison_unit(comparison), comparison_unit(comparison),
		comparison_unit(comparison));
	comparison_note_mixes(table, comparison);
	return table_finish(table);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static char *when_text(const struct loaded_run *run)
{
	time_t started = run->outcome_count ? (time_t)(run->outcomes[0].started_ns / 1000000000ULL)
					    : 0;
	char when[32] = "-";
	struct tm utc;

	if (started && gmtime_r(&started, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &utc);
	return strdup(when);
}

static char *whole_number(const json_t *value)
{
	return json_is_integer(value) ? format_string("%lld", (long long)json_integer_value(value))
				      : strdup("-");
}

/* What is said of a run. The order is that of machine_columns. */
enum machine_column {
	MACHINE_ARM,
	MACHINE_BOOT,
	MACHINE_STARTED,
	MACHINE_KERNEL,
	MACHINE_FOLDER,
	MACHINE_MODEL,
	MACHINE_CPUS,
	MACHINE_MEMORY,
	MACHINE_SEED,
	MACHINE_ARGUMENTS,
	MACHINE_COLUMNS,
};

static const struct {
	const char *name;
	enum table_align align;
} machine_columns[MACHINE_COLUMNS] = {
	[MACHINE_ARM] = { "arm", TABLE_LEFT },
	[MACHINE_BOOT] = { "boot", TABLE_RIGHT },
	[MACHINE_STARTED] = { "started", TABLE_LEFT },
	[MACHINE_KERNEL] = { "kernel", TABLE_LEFT },
	[MACHINE_FOLDER] = { "folder", TABLE_LEFT },
	[MACHINE_MODEL] = { "CPU model", TABLE_LEFT },
	[MACHINE_CPUS] = { "CPUs", TABLE_RIGHT },
	[MACHINE_MEMORY] = { "memory, bytes", TABLE_RIGHT },
	[MACHINE_SEED] = { "seed", TABLE_RIGHT },
	[MACHINE_ARGUMENTS] = { "kernel arguments", TABLE_LEFT },
};

static char *machine_text(const struct comparison *comparison, const struct report_run *from,
			  enum machine_column column)
{
	const json_t *machine = from->run->machine;
	const json_t *kernel = json_object_get(machine, "kernel");

	switch (column) {
	case MACHINE_ARM:
		return strdup(comparison->arms[from->arm].name);
	case MACHINE_BOOT:
		return whole_number(json_object_get(machine, "boot"));
	case MACHINE_STARTED:
		return when_text(from->run);
	case MACHINE_KERNEL:
		return format_string("%s %s", text_of(kernel, "release"),
				     text_of(kernel, "version"));
	case MACHINE_FOLDER:
		return strdup(from->run->folder);
	case MACHINE_MODEL:
		return strdup(text_of(machine, "cpu_model"));
	case MACHINE_CPUS:
		return whole_number(json_object_get(json_object_get(machine, "cpus"), "used"));
	case MACHINE_MEMORY:
		return whole_number(json_object_get(machine, "memory_bytes"));
	case MACHINE_SEED:
		return whole_number(json_object_get(from->run->plan, "seed"));
	default:
		return strdup(text_of(machine, "cmdline"));
	}
}

/* The text that all runs have in this column, else NULL. The caller frees it. */
static char *common_text(const struct comparison *comparison, const struct report_runs *runs,
			 enum machine_column column)
{
	char *first = runs->count ? machine_text(comparison, &runs->list[0], column) : NULL;

	for (size_t i = 1; first && i < runs->count; i++) {
		char *other = machine_text(comparison, &runs->list[i], column);

		if (!other || strcmp(first, other)) {
			free(first);
			first = NULL;
		}
		free(other);
	}
	return first;
}

struct table *report_machines(const struct comparison *comparison, const struct report_runs *runs)
{
	struct table *table = table_new();
	bool shown[MACHINE_COLUMNS];

	if (!table)
		return NULL;
	/* What is the same everywhere is said once, above. */
	for (int i = 0; i < MACHINE_COLUMNS; i++) {
		char *common = i < MACHINE_STARTED
				       ? NULL
				       : common_text(comparison, runs, (enum machine_column)i);

		shown[i] = !common;
		if (common)
			table_head(table, machine_columns[i].name, "%s", common);
		else
			table_column(table, machine_columns[i].align, machine_columns[i].name);
		free(common);
	}
	for (size_t i = 0; i < runs->count; i++)
		for (int j = 0; j < MACHINE_COLUMNS; j++)
			if (shown[j])
				table_take(table, machine_text(comparison, &runs->list[i],
							       (enum machine_column)j));
	return table_finish(table);
}
