// SPDX-License-Identifier: GPL-2.0-only
/* Published, predicted and measured side by side: the rows and their verdicts. */
#include "reproduction.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "cost_model.h"
#include "format.h"

enum verdict {
	VERDICT_NONE, /* nothing to judge by */
	VERDICT_AGREES,
	VERDICT_DIFFERS,
	VERDICT_EMULATED, /* a time that an emulator kept */
};
static const char *const verdict_names[] = { NULL, "agrees", "differs", "emulated" };

/* One metric of one test on one arm. NAN: there is no such number. */
struct row {
	char *metric, *unit, *arm;
	double published, published_change;
	double predicted;
	double measured, stddev, measured_change;
	enum verdict verdict;
};

struct entry {
	const struct reference_test *test;
	unsigned int cpus;
	char *skipped;		       /* the reason; NULL: it was measured */
	struct comparison *comparison; /* NULL when skipped */
	struct row *rows;
	size_t row_count;
};

struct reproduction {
	const struct reference *reference;
	double scale;
	struct entry *entries;
	size_t entry_count;
};

struct reproduction *reproduction_new(const struct reference *reference, double scale)
{
	struct reproduction *reproduction = calloc(1, sizeof(*reproduction));

	if (!reproduction)
		return NULL;
	reproduction->reference = reference;
	reproduction->scale = scale;
	return reproduction;
}

static void free_entry(struct entry *entry)
{
	for (size_t i = 0; i < entry->row_count; i++) {
		free(entry->rows[i].metric);
		free(entry->rows[i].unit);
		free(entry->rows[i].arm);
	}
	free(entry->rows);
	free(entry->skipped);
}

void reproduction_free(struct reproduction *reproduction)
{
	if (!reproduction)
		return;
	for (size_t i = 0; i < reproduction->entry_count; i++) {
		free_entry(&reproduction->entries[i]);
		comparison_free(reproduction->entries[i].comparison);
	}
	free(reproduction->entries);
	free(reproduction);
}

static struct entry *new_entry(struct reproduction *reproduction)
{
	struct entry *entries = reallocarray(reproduction->entries, reproduction->entry_count + 1,
					     sizeof(*entries));

	if (!entries)
		return NULL;
	reproduction->entries = entries;
	entries[reproduction->entry_count] = (struct entry){ 0 };
	return &entries[reproduction->entry_count];
}

static const struct reference_metric *published_metric(const struct reference_platform *platform,
						       const char *name)
{
	for (size_t i = 0; platform && i < platform->metric_count; i++)
		if (!strcmp(platform->metrics[i].name, name))
			return &platform->metrics[i];
	return NULL;
}

/* The published arm of this name; -1: the posting has none. */
static int published_arm(const struct reference *reference, const char *name)
{
	for (size_t i = 0; i < reference->arm_count; i++)
		if (!strcmp(reference->arms[i], name))
			return (int)i;
	return -1;
}

/* Predictions hold for a kernel that does not filter: the baseline. */
static enum verdict judge(const struct row *row, bool emulated, double tolerance)
{
	if (unit_depends_on_time(row->unit))
		return emulated && !isnan(row->measured) ? VERDICT_EMULATED : VERDICT_NONE;
	if (isnan(row->predicted) || isnan(row->measured))
		return VERDICT_NONE;
	return fabs(row->measured - row->predicted) <= tolerance * row->predicted ? VERDICT_AGREES
										  : VERDICT_DIFFERS;
}

static int make_row(const struct reproduction *reproduction, const struct entry *entry,
		    const struct reference_metric *published, const char *name, const char *unit,
		    const struct compared_metric *metric, size_t arm, struct row *row)
{
	const char *arm_name = entry->comparison->arms[arm].name;
	int at = published_arm(reproduction->reference, arm_name);

	*row = (struct row){
		.metric = strdup(name),
		.unit = strdup(unit),
		.arm = strdup(arm_name),
		.published = published && at >= 0 ? published->values[at] : NAN,
		.published_change = published && at > 0 ? change_ratio(published->values[0],
								       published->values[at])
							: NAN,
		.predicted = metric && !arm ? metric->predicted : NAN,
		.measured = metric ? metric->values[arm].statistics.mean : NAN,
		.stddev = metric ? metric->values[arm].statistics.stddev : NAN,
		.measured_change = metric ? metric->values[arm].change : NAN,
	};
	if (!row->metric || !row->unit || !row->arm)
		return -ENOMEM;
	row->verdict = judge(row, entry->comparison->emulated_time, entry->test->tolerance);
	return 0;
}

static int add_rows(const struct reproduction *reproduction, struct entry *entry,
		    const struct reference_metric *published, const char *name, const char *unit)
{
	const struct compared_metric *metric = NULL;
	size_t arms = entry->comparison->arm_count;
	struct row *rows;
	int ret = 0;

	if (entry->comparison->point_count)
		metric = comparison_metric(&entry->comparison->points[0], name);
	rows = reallocarray(entry->rows, entry->row_count + arms, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	entry->rows = rows;
	for (size_t i = 0; !ret && i < arms; i++)
		ret = make_row(reproduction, entry, published, name, unit, metric, i,
			       &rows[entry->row_count++]);
	return ret;
}

/*
 * Rows: the metrics that were published for this test on any platform, so that
 * an unpublished number of CPUs has them too.
 */
static int make_rows(const struct reproduction *reproduction, struct entry *entry)
{
	const struct reference_platform *same = reference_find_platform(entry->test, entry->cpus);
	const struct reference_platform *any = same ? same : &entry->test->platforms[0];
	int ret = 0;

	for (size_t i = 0; !ret && i < any->metric_count; i++)
		ret = add_rows(reproduction, entry, published_metric(same, any->metrics[i].name),
			       any->metrics[i].name, any->metrics[i].unit);
	return ret;
}

int reproduction_add(struct reproduction *reproduction, const struct reference_test *test,
		     unsigned int cpus, struct comparison *comparison)
{
	struct entry *entry = new_entry(reproduction);
	int ret;

	if (!entry)
		return -ENOMEM;
	entry->test = test;
	entry->cpus = cpus;
	entry->comparison = comparison;
	ret = make_rows(reproduction, entry);
	if (ret)
		free_entry(entry);
	else
		reproduction->entry_count++;
	return ret;
}

int reproduction_skip(struct reproduction *reproduction, const struct reference_test *test,
		      unsigned int cpus, const char *reason)
{
	struct entry *entry = new_entry(reproduction);

	if (!entry)
		return -ENOMEM;
	entry->test = test;
	entry->cpus = cpus;
	entry->skipped = strdup(reason);
	if (!entry->skipped)
		return -ENOMEM;
	reproduction->entry_count++;
	return 0;
}

size_t reproduction_measured(const struct reproduction *reproduction)
{
	size_t count = 0;

	for (size_t i = 0; i < reproduction->entry_count; i++)
		count += !reproduction->entries[i].skipped;
	return count;
}

size_t reproduction_differing(const struct reproduction *reproduction)
{
	size_t count = 0;

	for (size_t i = 0; i < reproduction->entry_count; i++)
		for (size_t j = 0; j < reproduction->entries[i].row_count; j++)
			count += reproduction->entries[i].rows[j].verdict == VERDICT_DIFFERS;
	return count;
}

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

static void add_row(struct table *table, const struct entry *entry, const struct row *row)
{
	const char *verdict = verdict_names[row->verdict];

	table_cell(table, "%s %s", entry->test->test, entry->test->stressor);
	table_cell(table, "%u", entry->cpus);
	table_cell(table, "%s", row->metric);
	table_cell(table, "%s", row->arm);
	table_take(table,
		   with_change(format_value(row->published, row->unit), row->published_change));
	table_take(table, format_value(row->predicted, row->unit));
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
	table_head(table, "published", "%s; %s of %u runs on hardware", reference->source,
		   reference->statistic, reference->runs);
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
				   "kernel that does not filter",
				   reference->tests[i].test, reference->tests[i].tolerance * 100);
}

/* What the counts that were measured would mean on the published platform. */
static void add_modelled_times(struct table *table, const struct entry *entry,
			       const struct cost_model *model)
{
	const struct compared_metric *ipis, *flushes;

	if (!entry->comparison->point_count)
		return;
	ipis = comparison_metric(&entry->comparison->points[0], "remote_ipis");
	flushes = comparison_metric(&entry->comparison->points[0], "flushes");
	/* both arms make the flushes of the baseline: the filter drops only CPUs */
	for (size_t i = 0; ipis && flushes && i < entry->comparison->arm_count; i++) {
		double time_ms = cost_model_time_ms(model, entry->test,
						    flushes->values[0].statistics.mean,
						    ipis->values[i].statistics.mean);

		if (isfinite(time_ms))
			table_note(table,
				   "model: test %s, %s: these counts would take %.1f ms on %s",
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
	}
	add_tolerances(table, reproduction);
	add_models(table, reproduction);
	return table_finish(table);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *entry_json(const struct entry *entry)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < entry->row_count; i++) {
		const struct row *row = &entry->rows[i];

		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s?}", "metric",
					row->metric, "unit", row->unit, "arm", row->arm,
					"published", number(row->published), "predicted",
					number(row->predicted), "measured", number(row->measured),
					"verdict", verdict_names[row->verdict]));
	}
	if (json_array_size(rows) != entry->row_count) {
		json_decref(rows);
		rows = NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:s?, s:o, s:o}", "test", entry->test->test, "title",
			 entry->test->title, "stressor", entry->test->stressor, "cpus",
			 entry->cpus ? json_integer(entry->cpus) : json_null(), "skipped",
			 entry->skipped, "comparison",
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
