// SPDX-License-Identifier: GPL-2.0-only
/* What a cover letter says of a comparison: set-up, one table, what the numbers are. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"
#include "report.h"
#include "report_cover.h"

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
	if (*text_of(guest, "memory"))
		table_head(table, "Memory", "%s", text_of(guest, "memory"));
	if (*text_of(guest, "arguments"))
		table_head(table, "Kernel arguments", "%s", text_of(guest, "arguments"));
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

/* The lab writes "-" for a series or a source that there is none of. */
static const char *lab_text(const json_t *lab, const char *key)
{
	const char *text = text_of(lab, key);

	return strcmp(text, "-") ? text : "";
}

/* What an arm's kernel was given on its command line besides what all were. */
static const char *arm_arguments(const json_t *lab, const char *name)
{
	const json_t *arm;
	size_t i;

	json_array_foreach(json_object_get(lab, "arms"), i, arm)
		if (!strcmp(text_of(arm, "name"), name))
			return text_of(arm, "arguments");
	return "";
}

static void add_kernels(struct table *table, const struct comparison *comparison, json_t *lab)
{
	const char *series = lab_text(lab, "series"), *source = lab_text(lab, "source");

	if (*series || *source)
		table_head(table, "Kernels", "%s%s%s", series, *series && *source ? " on " : "",
			   source);
	for (size_t i = 0; i < comparison->arm_count; i++) {
		const struct compared_arm *arm = &comparison->arms[i];
		const char *arguments = arm_arguments(lab, arm->name);
		char *made = compared_arm_text(comparison, arm);

		if (made)
			table_head(table, arm->name, "%s %.*s, %s%s%s",
				   arm->kernel ? arm->kernel : "no results",
				   version_length(arm->kernel_version),
				   arm->kernel_version ? arm->kernel_version : "", made,
				   *arguments ? ", with " : "", arguments);
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
			table_head(table, "Test", "%s%s", text,
				   comparison->interleaved ? ", interleaved with the others" : "");
		else
			table->error = -ENOMEM;
		free(text);
	}
}

/* remote_ipis -> "remote IPIs", time_ms -> "time, ms": as published tables name them. */
char *cover_metric(const struct letter *letter, const struct compared_metric *metric)
{
	bool emulated = letter->comparison->emulated_time && unit_depends_on_time(metric->unit);
	size_t length = strlen(metric->name), unit = strlen(metric->unit);
	bool has_unit = unit_depends_on_time(metric->unit);
	char *text, *at;

	if (has_unit && length > unit + 1 && metric->name[length - unit - 1] == '_' &&
	    !strcmp(metric->name + length - unit, metric->unit))
		length -= unit + 1;
	text = format_string("%s%.*s%s%s%s", emulated ? "emulated " : "", (int)length, metric->name,
			     has_unit ? ", " : "", has_unit ? metric->unit : "",
			     metric->shared ? " (shared)" : "");
	for (at = text; at && (at = strchr(at, '_'));)
		*at = ' ';
	at = text ? strstr(text, "ipis") : NULL;
	if (at && (at == text || at[-1] == ' ') && (!at[4] || at[4] == ' '))
		memcpy(at, "IPIs", 4);
	return text;
}

double cover_ratio_of_values(const struct compared_metric *metric, size_t arm)
{
	double base = metric->values[0].by_boot.median, value = metric->values[arm].by_boot.median;

	if (base < 0 || value < 0)
		return NAN;
	if (base == value)
		return 1;
	return base > 0 ? value / base : NAN;
}

double cover_ratio(const struct compared_metric *metric, size_t arm)
{
	const struct compared_test *test = &metric->values[arm].test;

	return *cover_mark(test->verdict) ? cover_ratio_of_values(metric, arm) : test->ratio;
}

char *cover_change(const struct letter *letter, double ratio)
{
	return letter->comparison->factors ? format_factor(ratio) : format_change(ratio - 1);
}

static char *change_text(const struct letter *letter, const struct compared_metric *metric,
			 size_t arm)
{
	char *change = cover_change(letter, cover_ratio(metric, arm)), *text = NULL;

	if (change)
		text = format_string("%s%s", change, cover_mark(metric->values[arm].test.verdict));
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

bool cover_shows(const struct letter *letter, const struct compared_point *point,
		 const struct compared_metric *metric)
{
	return letter->all || metric->primary || !point->metrics[0].primary;
}

/* Two arms stand side by side; of more each has a row, so that the table stays narrow. */
static void add_metric(struct letter *letter, const char *label,
		       const struct compared_metric *metric)
{
	const struct comparison *comparison = letter->comparison;
	struct table *table = letter->table;
	bool rows = comparison->arm_count > 2;

	for (size_t arm = rows ? 0 : comparison->arm_count - 1; arm < comparison->arm_count;
	     arm++) {
		table_cell(table, "%s", label && (!rows || !arm) ? label : "");
		if (rows && arm)
			table_cell(table, "%s", "");
		else
			table_take(table, cover_metric(letter, metric));
		if (rows)
			table_cell(table, "%s", comparison->arms[arm].name);
		else if (arm)
			add_value(table, &metric->values[0], metric->unit);
		add_value(table, &metric->values[arm], metric->unit);
		if (arm)
			table_take(table, change_text(letter, metric, arm));
		else if (rows)
			table_cell(table, "%s", "");
	}
}

static void add_rows(struct letter *letter)
{
	const struct comparison *comparison = letter->comparison;

	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];
		bool first = true;
		char *label = comparison->point_count > 1 ? report_point_name(comparison, i, false)
							  : platform_text(comparison);

		if (!label)
			letter->table->error = -ENOMEM;
		for (size_t j = 0; label && j < point->metric_count; j++) {
			if (!cover_shows(letter, point, &point->metrics[j]))
				continue;
			add_metric(letter, first ? label : NULL, &point->metrics[j]);
			first = false;
		}
		free(label);
	}
}

static void add_columns(struct letter *letter)
{
	const struct comparison *comparison = letter->comparison;
	struct table *table = letter->table;

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
		table_column(table, TABLE_RIGHT, comparison->factors ? "factor" : "change");
}

struct table *cover_table(const struct comparison *comparison, bool all)
{
	struct letter letter = { table_new(), comparison, all };
	char *path = format_string("%s/../lab.json", comparison->arms[0].folder);
	json_t *lab = path ? json_load_file(path, 0, NULL) : NULL;

	if (letter.table) {
		add_setup(letter.table, comparison);
		add_kernels(letter.table, comparison, lab);
		add_tests(letter.table, comparison);
		add_columns(&letter);
		add_rows(&letter);
		cover_add_notes(&letter);
	}
	json_decref(lab);
	free(path);
	return table_finish(letter.table);
}
