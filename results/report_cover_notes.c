// SPDX-License-Identifier: GPL-2.0-only
/* What a cover letter says below its table: what is not in it, and how sure it is. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"
#include "report.h"
#include "report_cover.h"

/* Marks for what may not be called a difference; note_marks() explains those that were used. */
static const struct {
	enum compared_verdict verdict;
	const char *mark;
	const char *meaning, *more; /* with more the unit of observation is between them */
} marks[] = {
	{ COMPARED_UNDECIDED, " ~", "~: not significant", NULL },
	{ COMPARED_NOISE, " ~~", "~~: inside the noise floor of the same kernel against itself",
	  NULL },
	{ COMPARED_TOO_FEW, " ?", "?: too few ", "s for a verdict" },
	{ COMPARED_OFF, " ?", "?: not tested", NULL },
};
#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))

const char *cover_mark(enum compared_verdict verdict)
{
	for (size_t i = 0; i < MARK_COUNT; i++)
		if (marks[i].verdict == verdict)
			return marks[i].mark;
	return "";
}

/* A change in the table: an arm's row of a point. */
struct place {
	const struct letter *letter;
	size_t point, metric, arm; /* all 0 to begin with */
};

/* Goes on to the next change; false: there is none. */
static bool next_place(struct place *at)
{
	const struct comparison *comparison = at->letter->comparison;

	at->arm++;
	for (; at->point < comparison->point_count; at->point++, at->metric = 0, at->arm = 1) {
		const struct compared_point *point = &comparison->points[at->point];

		for (; at->metric < point->metric_count; at->metric++, at->arm = 1)
			if (at->arm < comparison->arm_count &&
			    cover_shows(at->letter, point, &point->metrics[at->metric]))
				return true;
	}
	return false;
}

static const struct compared_metric *metric_at(const struct place *at)
{
	return &at->letter->comparison->points[at->point].metrics[at->metric];
}

static const struct compared_test *test_at(const struct place *at)
{
	return &metric_at(at)->values[at->arm].test;
}

/* "pages=64, patched": the point where there are several, and the arm where there are. NULL: no
 * memory. */
static char *where_text(const struct letter *letter, size_t point, const char *arm)
{
	const struct comparison *comparison = letter->comparison;
	char *label = comparison->point_count > 1 ? report_point_name(comparison, point, false)
						  : strdup("");
	char *text = label ? format_string("%s%s%s", label, *label && *arm ? ", " : "", arm) : NULL;

	free(label);
	return text;
}

/* Which row of the table it is. NULL: no memory. */
static char *row_name(const struct place *at)
{
	const struct comparison *comparison = at->letter->comparison;
	char *where = where_text(at->letter, at->point,
				 comparison->arm_count > 2 ? comparison->arms[at->arm].name : "");
	char *metric = cover_metric(at->letter, metric_at(at)), *text = NULL;

	if (where && metric)
		text = format_string("%s%s%s", where, *where ? ", " : "", metric);
	free(metric);
	free(where);
	return text;
}

static const char *const outcome_words[OUTCOME_COUNT] = {
	[OUTCOME_FAIL] = "failed",
	[OUTCOME_SKIP] = "skipped",
	[OUTCOME_BROKEN] = "broken",
	[OUTCOME_INTERRUPTED] = "interrupted",
};

/* What became of repetitions that are not in the values, with the first reason. */
static void note_outcomes(struct letter *letter, size_t point, size_t arm)
{
	const struct compared_outcomes *outcomes = &letter->comparison->points[point].outcomes[arm];
	char *where = where_text(letter, point, letter->comparison->arms[arm].name);
	unsigned int total = 0;

	for (int i = 0; i < OUTCOME_COUNT; i++)
		total += outcomes->counts[i];
	for (int i = OUTCOME_PASS + 1; where && i < OUTCOME_COUNT; i++)
		if (outcomes->counts[i])
			table_note(letter->table, "%s: %u of %u repetition%s %s%s%s", where,
				   outcomes->counts[i], total, total == 1 ? "" : "s",
				   outcome_words[i], outcomes->reasons[i] ? ": " : "",
				   outcomes->reasons[i] ? outcomes->reasons[i] : "");
	if (!where)
		letter->table->error = -ENOMEM;
	free(where);
}

/* "; 5 boots an arm could tell (flushes), 27,804 (time, ms)", of the rows that need the least and
 * the most; all: it is known of every marked row; "" when none is known. NULL: no memory. */
static char *needed_text(const struct letter *letter, const struct place *least,
			 const struct place *most, bool all)
{
	const char *unit = comparison_unit(letter->comparison);
	unsigned int few = least->letter ? test_at(least)->boots_needed : 0;
	unsigned int many = most->letter ? test_at(most)->boots_needed : 0;
	char *first = few ? row_name(least) : NULL, *last = few ? row_name(most) : NULL;
	char *few_text = format_value(few, ""), *many_text = format_value(many, ""), *text = NULL;

	if (!few)
		text = strdup("");
	else if (all && few_text && few == many)
		text = format_string("; %s %ss an arm could tell", few_text, unit);
	else if (first && few_text && few == many)
		text = format_string("; %s %ss an arm could tell (%s)", few_text, unit, first);
	else if (first && last && few_text && many_text)
		text = format_string("; %s %ss an arm could tell (%s), %s (%s)", few_text, unit,
				     first, many_text, last);
	free(many_text);
	free(few_text);
	free(last);
	free(first);
	return text;
}

static void note_mark(struct letter *letter, size_t mark)
{
	struct place at = { letter, 0, 0, 0 }, least = { 0 }, most = { 0 };
	bool used = false, all = true;
	char *needed;

	while (next_place(&at)) {
		unsigned int boots = test_at(&at)->boots_needed;

		if (test_at(&at)->verdict != marks[mark].verdict)
			continue;
		used = true;
		if (boots && (!least.letter || boots < test_at(&least)->boots_needed))
			least = at;
		if (boots && (!most.letter || boots > test_at(&most)->boots_needed))
			most = at;
		all &= boots > 0;
	}
	if (!used)
		return;
	needed = needed_text(letter, &least, &most, all);
	if (needed)
		table_note(letter->table, "%s%s%s%s", marks[mark].meaning,
			   marks[mark].more ? comparison_unit(letter->comparison) : "",
			   marks[mark].more ? marks[mark].more : "", needed);
	else
		letter->table->error = -ENOMEM;
	free(needed);
}

/* A reader divides the two values; is the change in some row another? */
static bool changes_need_words(const struct letter *letter)
{
	struct place at = { letter, 0, 0, 0 };
	bool differ = false;

	while (!differ && next_place(&at)) {
		const struct compared_metric *metric = metric_at(&at);
		char *change = cover_change(letter, cover_ratio(metric, at.arm));
		char *values = cover_change(letter, cover_ratio_of_values(metric, at.arm));

		if (!change || !values)
			letter->table->error = -ENOMEM;
		else
			differ = strcmp(change, values) != 0;
		free(values);
		free(change);
	}
	return differ;
}

/* How sure the changes are that are called one. */
static void note_intervals(struct letter *letter)
{
	struct place at = { letter, 0, 0, 0 };

	while (next_place(&at)) {
		const struct compared_interval *interval = &test_at(&at)->interval;
		char *name, *range;

		if (!compared_differs(test_at(&at)->verdict) || interval->method == INTERVAL_NONE ||
		    !isfinite(interval->high) || interval->low == interval->high)
			continue;
		name = row_name(&at);
		range = letter->comparison->factors
				? format_factors(interval->low, interval->high)
				: format_changes(interval->low - 1, interval->high - 1);
		if (name && range)
			table_note(letter->table, "%s: %s (%.0f%% interval)", name, range,
				   interval->level * 100);
		else
			letter->table->error = -ENOMEM;
		free(range);
		free(name);
	}
}

static void note_what_runs_said(struct letter *letter)
{
	const struct comparison *comparison = letter->comparison;

	for (size_t i = 0; i < comparison->allowed_count; i++)
		table_note(letter->table, "Note: %s", comparison->allowed[i]);
	for (size_t i = 0; i < comparison->arm_count; i++)
		for (size_t j = 0; j < comparison->arms[i].note_count; j++)
			table_note(letter->table, "%s: %s", comparison->arms[i].name,
				   comparison->arms[i].notes[j]);
	for (size_t i = 0; i < comparison->note_count; i++)
		table_note(letter->table, "Note: %s", comparison->notes[i]);
}

void cover_add_notes(struct letter *letter)
{
	const struct comparison *comparison = letter->comparison;
	const char *unit = comparison_unit(comparison);

	for (size_t i = 0; i < comparison->point_count; i++)
		for (size_t j = 0; j < comparison->arm_count; j++)
			note_outcomes(letter, i, j);
	table_note(letter->table, "Values are medians of the %ss, a %s is the median of its %ss.",
		   unit, unit, comparison->rebooted ? "run" : "repetition");
	if (changes_need_words(letter))
		table_note(
			letter->table,
			"A change without a mark is the median of the ratios of all %ss, not the "
			"ratio of the values.",
			unit);
	comparison_note_mixes(letter->table, comparison);
	for (size_t i = 0; i < MARK_COUNT; i++)
		note_mark(letter, i);
	note_intervals(letter);
	note_what_runs_said(letter);
}
