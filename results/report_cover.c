// SPDX-License-Identifier: GPL-2.0-only
/* What a cover letter says of a comparison: set-up, one table, what the numbers are. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"
#include "report.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* "112-CPU guest" */
static char *platform_text(const struct comparison *comparison)
{
	return format_string("%u-CPU %s", comparison->cpus,
			     comparison->guest ? "guest" : "machine");
}

static void add_setup(struct table *table, const struct comparison *comparison)
{
	const json_t *machine = comparison->machine, *guest = json_object_get(machine, "guest");
	const char *model = text_of(machine, "cpu_model");
	double memory = json_number_value(json_object_get(machine, "memory_bytes"));

	table_head(table, "Machine", "%s%s%s%s%s, %u CPUs%s%s, %.1f GiB",
		   comparison->guest ? "guest of " : "",
		   comparison->guest ? text_of(guest, "emulator") : "",
		   comparison->guest ? " (" : "", comparison->guest ? text_of(guest, "accel") : "",
		   comparison->guest ? ")" : text_of(machine, "arch"), comparison->cpus,
		   *model ? ", " : "", model, memory / 1073741824.0);
	if (comparison->emulated_time)
		table_head(table, "Time",
			   "emulated; it says nothing about hardware. Counts follow "
			   "from the kernel's code.");
}

/* A kernel of the lab has the build date 0, which says nothing. */
static int version_length(const char *version)
{
	const char *date = version ? strstr(version, " Thu Jan  1 00:00:00 UTC 1970") : NULL;

	if (!version)
		return 0;
	return (int)(date ? (size_t)(date - version) : strlen(version));
}

static void add_kernels(struct table *table, const struct comparison *comparison, json_t *lab)
{
	const char *series = text_of(lab, "series"), *source = text_of(lab, "source");

	if (*series || *source)
		table_head(table, "Kernels", "%s%s%s", series, *series && *source ? " on " : "",
			   source);
	for (size_t i = 0; i < comparison->arm_count; i++) {
		const struct compared_arm *arm = &comparison->arms[i];
		char *made = compared_arm_text(comparison, arm);

		if (made)
			table_head(table, arm->name, "%s %.*s, %s",
				   arm->kernel ? arm->kernel : "no results",
				   version_length(arm->kernel_version),
				   arm->kernel_version ? arm->kernel_version : "", made);
		else
			table->error = -ENOMEM;
		free(made);
	}
}

static bool same_stressor_before(const struct comparison *comparison, size_t point)
{
	for (size_t i = 0; i < point; i++)
		if (!strcmp(comparison->points[i].stressor, comparison->points[point].stressor))
			return true;
	return false;
}

/* A stressor's parameters; those that its points differ in are in the table. */
static void add_tests(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		char *text;

		if (same_stressor_before(comparison, i))
			continue;
		text = report_point_common(comparison, i);
		if (text)
			table_head(table, "Test", "%s", text);
		else
			table->error = -ENOMEM;
		free(text);
	}
}

/* remote_ipis -> "remote IPIs", time_ms -> "time, ms": as published tables name them. */
static char *metric_text(const struct comparison *comparison, const struct compared_metric *metric)
{
	bool emulated = comparison->emulated_time && unit_depends_on_time(metric->unit);
	size_t length = strlen(metric->name), unit = strlen(metric->unit);
	bool has_unit = unit_depends_on_time(metric->unit);
	char *text, *at;

	if (has_unit && length > unit + 1 && metric->name[length - unit - 1] == '_' &&
	    !strcmp(metric->name + length - unit, metric->unit))
		length -= unit + 1;
	text = format_string("%s%.*s%s%s", emulated ? "emulated " : "", (int)length, metric->name,
			     has_unit ? ", " : "", has_unit ? metric->unit : "");
	for (at = text; at && (at = strchr(at, '_'));)
		*at = ' ';
	at = text ? strstr(text, "ipis") : NULL;
	if (at && (at == text || at[-1] == ' ') && (!at[4] || at[4] == ' '))
		memcpy(at, "IPIs", 4);
	return text;
}

/* Marks for what may not be called a difference; cover_notes() explains those that were used. */
static const struct {
	enum compared_verdict verdict;
	const char *mark, *meaning;
} marks[] = {
	{ COMPARED_UNDECIDED, " ~", "~: not significant" },
	{ COMPARED_NOISE, " ~~", "~~: inside the noise floor of the same kernel against itself" },
	{ COMPARED_TOO_FEW, " ?", "?: too few for a verdict" },
	{ COMPARED_OFF, " ?", "?: not tested" },
};
#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))

static char *change_text(const struct compared_value *value)
{
	const char *mark = "";
	char *change = format_change(value->change), *text;

	for (size_t i = 0; i < MARK_COUNT; i++)
		if (marks[i].verdict == value->test.verdict)
			mark = marks[i].mark;
	text = change ? format_string("%s%s", change, mark) : NULL;
	free(change);
	return text;
}

static void add_value(struct table *table, const struct compared_value *value, const char *unit)
{
	if (!value->boot_count && value->status > VALUE_OK)
		table_cell(table, "%s", value_status_name((enum value_status)value->status));
	else
		table_take(table, format_value(value->by_boot.median, unit));
}

static bool is_shown(const struct compared_point *point, const struct compared_metric *metric)
{
	return metric->primary || !point->metrics[0].primary;
}

/* Two arms stand side by side; of more each has a row, so that the table stays narrow. */
static void add_metric(struct table *table, const struct comparison *comparison, const char *label,
		       const struct compared_metric *metric)
{
	bool rows = comparison->arm_count > 2;

	for (size_t arm = rows ? 0 : comparison->arm_count - 1; arm < comparison->arm_count;
	     arm++) {
		table_cell(table, "%s", label && (!rows || !arm) ? label : "");
		if (rows && arm)
			table_cell(table, "%s", "");
		else
			table_take(table, metric_text(comparison, metric));
		if (rows)
			table_cell(table, "%s", comparison->arms[arm].name);
		else if (arm)
			add_value(table, &metric->values[0], metric->unit);
		add_value(table, &metric->values[arm], metric->unit);
		if (arm)
			table_take(table, change_text(&metric->values[arm]));
		else if (rows)
			table_cell(table, "%s", "");
	}
}

static void add_rows(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];
		bool first = true;
		char *label = comparison->point_count > 1 ? report_point_name(comparison, i, false)
							  : platform_text(comparison);

		if (!label)
			table->error = -ENOMEM;
		for (size_t j = 0; label && j < point->metric_count; j++) {
			if (!is_shown(point, &point->metrics[j]))
				continue;
			add_metric(table, comparison, first ? label : NULL, &point->metrics[j]);
			first = false;
		}
		free(label);
	}
}

static void add_columns(struct table *table, const struct comparison *comparison)
{
	table_column(table, TABLE_LEFT, comparison->point_count > 1 ? "test" : "platform");
	table_column(table, TABLE_LEFT, "metric");
	if (comparison->arm_count > 2) {
		table_column(table, TABLE_LEFT, "kernel");
		table_column(table, TABLE_RIGHT, "value");
	} else {
		for (size_t i = 0; i < comparison->arm_count; i++)
			table_column(table, TABLE_RIGHT, comparison->arms[i].name);
	}
	if (comparison->arm_count > 1)
		table_column(table, TABLE_RIGHT, "change");
}

static void note_marks(struct table *table, const struct comparison *comparison)
{
	for (size_t m = 0; m < MARK_COUNT; m++) {
		unsigned int boots = 0;
		bool used = false;

		for (size_t i = 0; i < comparison->point_count; i++)
			for (size_t j = 0; j < comparison->points[i].metric_count; j++)
				for (size_t arm = 1; arm < comparison->arm_count; arm++) {
					const struct compared_metric *metric =
						&comparison->points[i].metrics[j];
					const struct compared_test *test =
						&metric->values[arm].test;

					if (!is_shown(&comparison->points[i], metric) ||
					    test->verdict != marks[m].verdict)
						continue;
					used = true;
					if (test->boots_needed > boots)
						boots = test->boots_needed;
				}
		if (used && boots)
			table_note(table, "%s; %u boots an arm could tell", marks[m].meaning,
				   boots);
		else if (used)
			table_note(table, "%s", marks[m].meaning);
	}
}

/* How sure the changes are that are called one. */
static void note_intervals(struct table *table, const struct comparison *comparison,
			   const struct compared_point *point, const char *label)
{
	for (size_t j = 0; j < point->metric_count; j++)
		for (size_t arm = 1; arm < comparison->arm_count; arm++) {
			const struct compared_test *test = &point->metrics[j].values[arm].test;
			char *name, *range;

			if (!is_shown(point, &point->metrics[j]) ||
			    !compared_differs(test->verdict) ||
			    test->interval.method == INTERVAL_NONE ||
			    !isfinite(test->interval.high) ||
			    test->interval.low == test->interval.high)
				continue;
			name = metric_text(comparison, &point->metrics[j]);
			range = format_changes(test->interval.low - 1, test->interval.high - 1);
			if (name && range)
				table_note(table, "%s%s%s%s%s: %s (%.0f%% interval)",
					   label ? label : "", label ? ", " : "",
					   comparison->arm_count > 2 ? comparison->arms[arm].name
								     : "",
					   comparison->arm_count > 2 ? ", " : "", name, range,
					   test->interval.level * 100);
			else
				table->error = -ENOMEM;
			free(range);
			free(name);
		}
}

static const char *const outcome_words[OUTCOME_COUNT] = {
	[OUTCOME_FAIL] = "failed",
	[OUTCOME_SKIP] = "skipped",
	[OUTCOME_BROKEN] = "broken",
	[OUTCOME_INTERRUPTED] = "interrupted",
};

/* What became of repetitions that are not in the values, with the first reason. */
static void note_outcomes(struct table *table, const struct comparison *comparison,
			  const struct compared_point *point, const char *label)
{
	for (size_t arm = 0; arm < comparison->arm_count; arm++) {
		const struct compared_outcomes *outcomes = &point->outcomes[arm];
		unsigned int total = 0;

		for (int i = 0; i < OUTCOME_COUNT; i++)
			total += outcomes->counts[i];
		for (int i = OUTCOME_PASS + 1; i < OUTCOME_COUNT; i++)
			if (outcomes->counts[i])
				table_note(table, "%s%s%s: %u of %u repetition%s %s%s%s",
					   comparison->arms[arm].name, label ? ", " : "",
					   label ? label : "", outcomes->counts[i], total,
					   total == 1 ? "" : "s", outcome_words[i],
					   outcomes->reasons[i] ? ": " : "",
					   outcomes->reasons[i] ? outcomes->reasons[i] : "");
	}
}

static void note_point(struct table *table, const struct comparison *comparison, size_t index,
		       void (*note)(struct table *, const struct comparison *,
				    const struct compared_point *, const char *))
{
	char *label = comparison->point_count > 1 ? report_point_name(comparison, index, false)
						  : NULL;

	if (label || comparison->point_count == 1)
		note(table, comparison, &comparison->points[index], label);
	else
		table->error = -ENOMEM;
	free(label);
}

static void add_notes(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->point_count; i++)
		note_point(table, comparison, i, note_outcomes);
	table_note(table, "Values are medians of the %ss, a %s is the median of its %ss.",
		   comparison_unit(comparison), comparison_unit(comparison),
		   comparison->rebooted ? "run" : "repetition");
	note_marks(table, comparison);
	for (size_t i = 0; i < comparison->point_count; i++)
		note_point(table, comparison, i, note_intervals);
	for (size_t i = 0; i < comparison->allowed_count; i++)
		table_note(table, "Note: %s", comparison->allowed[i]);
	for (size_t i = 0; i < comparison->arm_count; i++)
		for (size_t j = 0; j < comparison->arms[i].note_count; j++)
			table_note(table, "%s: %s", comparison->arms[i].name,
				   comparison->arms[i].notes[j]);
	for (size_t i = 0; i < comparison->note_count; i++)
		table_note(table, "Note: %s", comparison->notes[i]);
}

struct table *cover_table(const struct comparison *comparison)
{
	struct table *table = table_new();
	char *path = format_string("%s/../lab.json", comparison->arms[0].folder);
	json_t *lab = path ? json_load_file(path, 0, NULL) : NULL;

	if (table) {
		add_setup(table, comparison);
		add_kernels(table, comparison, lab);
		add_tests(table, comparison);
		add_columns(table, comparison);
		add_rows(table, comparison);
		add_notes(table, comparison);
	}
	json_decref(lab);
	free(path);
	return table_finish(table);
}
