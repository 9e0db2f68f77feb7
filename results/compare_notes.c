// SPDX-License-Identifier: GPL-2.0-only
/* The notes below a comparison's table: what a reader must know besides its cells. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/features.h"
#include "../lib/fs.h"
#include "compare_private.h"
#include "format.h"

/* A drift is noted when chance alone gives it in one of a hundred arms. */
#define DRIFT_ALPHA 0.01

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
	char *name = compare_point_text(comparison, point, false);

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

		for (size_t j = 0;
		     compare_is_shown(point, metric, all) && j < comparison->arm_count; j++) {
			const struct compared_value *value = &metric->values[j];

			/* comparison_note_mixes() explains what is shared */
			if (value->status > VALUE_OK && value->status != VALUE_SHARED)
				table_note(table, "%s, %s: %s%s%s", comparison->arms[j].name,
					   metric->name,
					   value_status_name((enum value_status)value->status),
					   value->reason ? ": " : "",
					   value->reason ? value->reason : "");
		}
	}
}

/* Each boot that is far from the others, by its number or place. */
static void add_outliers(struct table *table, const char *arm, const char *point,
			 const struct compared_metric *metric, const struct compared_value *value)
{
	unsigned int strange = 0;

	for (size_t i = 0; i < value->boot_count; i++) {
		const struct compared_boot *boot = &value->boots[i];
		char *text = boot->outlier ? format_value(boot->value, metric->unit) : NULL;

		strange += boot->strange;
		if (text)
			table_note(table,
				   "%s, %s, %s: %s %zu (%s) is an outlier; it is in the numbers",
				   arm, point, metric->name, boot->number ? "boot" : "run",
				   boot->number ? boot->number : i + 1, text);
		free(text);
	}
	if (strange)
		table_note(
			table,
			"%s, %s, %s: %u of %zu repetitions are outliers of their boot; they are in "
			"the numbers",
			arm, point, metric->name, strange, value->statistics.n);
}

static void add_drift(struct table *table, const char *arm, const char *point,
		      const struct compared_metric *metric, const struct compared_value *value)
{
	const struct compared_drift *drift = &value->drift;
	const struct {
		const char *over;
		double tau, p;
	} kinds[] = {
		{ "from boot to boot", drift->tau_boots, drift->p_boots },
		{ "from repetition to repetition", drift->tau_repetitions, drift->p_repetitions },
	};

	for (size_t i = 0; i < 2; i++)
		if (kinds[i].p < DRIFT_ALPHA)
			table_note(table, "%s, %s, %s: %s %s (Mann-Kendall: tau %.2f, p %.2g)", arm,
				   point, metric->name, kinds[i].tau > 0 ? "rises" : "falls",
				   kinds[i].over, kinds[i].tau, kinds[i].p);
}

static void add_peculiarities(struct table *table, const struct comparison *comparison,
			      const struct compared_point *point, bool all)
{
	char *name = compare_point_text(comparison, point, false);

	for (size_t i = 0; name && i < point->metric_count; i++)
		for (size_t j = 0; j < comparison->arm_count; j++) {
			const struct compared_metric *metric = &point->metrics[i];
			const char *arm = comparison->arms[j].name;

			if (!compare_is_shown(point, metric, all))
				continue;
			add_outliers(table, arm, name, metric, &metric->values[j]);
			add_drift(table, arm, name, metric, &metric->values[j]);
		}
	if (!name)
		table->error = -ENOMEM;
	free(name);
}

/* What the values of one arm that have no verdict need. */
struct lack {
	unsigned int values, few, off;
	unsigned int least, most; /* boots needed */
};

static void add_lack(struct lack *lack, const struct compared_test *test)
{
	lack->values += test->verdict != COMPARED_NONE;
	lack->off += test->verdict == COMPARED_OFF;
	if (test->verdict != COMPARED_TOO_FEW)
		return;
	if (!lack->few++ || test->boots_needed < lack->least)
		lack->least = test->boots_needed;
	if (test->boots_needed > lack->most)
		lack->most = test->boots_needed;
}

static void note_lack(struct table *table, const char *arm, const char *unit,
		      const struct lack *lack)
{
	if (lack->off)
		table_note(table,
			   "%s: verdicts are off for %u of %u values: this build has no libRmath; "
			   "install r-mathlib and configure again",
			   arm, lack->off, lack->values);
	if (!lack->few)
		return;
	if (lack->least == lack->most)
		table_note(
			table,
			"%s: too few %ss for a verdict on %u of %u values; by the smallest p that "
			"the test can reach and the variance seen, %u %ss of each arm would do",
			arm, unit, lack->few, lack->values, lack->most, unit);
	else
		table_note(
			table,
			"%s: too few %ss for a verdict on %u of %u values; by the smallest p that "
			"the test can reach and the variance seen, %u to %u %ss of each arm would do",
			arm, unit, lack->few, lack->values, lack->least, lack->most, unit);
}

static void add_lacks(struct table *table, const struct comparison *comparison, bool all)
{
	for (size_t i = 1; i < comparison->arm_count; i++) {
		struct lack lack = { 0 };

		for (size_t j = 0; j < comparison->point_count; j++)
			for (size_t k = 0; k < comparison->points[j].metric_count; k++) {
				const struct compared_point *point = &comparison->points[j];

				if (compare_is_shown(point, &point->metrics[k], all))
					add_lack(&lack, &point->metrics[k].values[i].test);
			}
		note_lack(table, comparison->arms[i].name, comparison_unit(comparison), &lack);
	}
}

void compare_add_notes(struct table *table, const struct comparison *comparison, bool all)
{
	add_totals(table, comparison);
	comparison_note_mixes(table, comparison);
	add_lacks(table, comparison, all);
	for (size_t i = 0; i < comparison->point_count; i++) {
		add_failures(table, comparison, &comparison->points[i]);
		add_reasons(table, comparison, &comparison->points[i], all);
		add_peculiarities(table, comparison, &comparison->points[i], all);
	}
	for (size_t i = 0; i < comparison->arm_count; i++)
		for (size_t j = 0; j < comparison->arms[i].note_count; j++)
			table_note(table, "%s: %s", comparison->arms[i].name,
				   comparison->arms[i].notes[j]);
	for (size_t i = 0; i < comparison->note_count; i++)
		table_note(table, "%s", comparison->notes[i]);
}
