// SPDX-License-Identifier: GPL-2.0-only
/* Published, predicted and measured side by side: the rows and their verdicts. */
#include "reproduction_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"

const char *const reproduction_verdicts[] = { NULL, "agrees", "differs", "emulated" };

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

static bool rule_is_for(const struct reference_rule *rule, const struct row *row,
			const json_t *step)
{
	bool here = !rule->steps;

	for (size_t i = 0; i < json_array_size(rule->steps); i++)
		here |= json_equal(json_array_get(rule->steps, i), step);
	return here && !strcmp(rule->metric, row->metric) && !strcmp(rule->arm, row->arm);
}

/* What every rule for the row comes to; the first that can be applied is shown. */
static void judge_by_rules(const struct reproduction *reproduction, const struct entry *entry,
			   const struct compared_metric *metric, const json_t *step,
			   struct row *row)
{
	double baseline = metric ? metric->values[0].statistics.mean : NAN;

	for (size_t i = 0; i < entry->test->rule_count; i++) {
		const struct reference_rule *rule = &entry->test->rules[i];
		bool least = !isnan(rule->at_least);
		double of = rule->of_published ? row->published * reproduction->scale : baseline;
		double bound = (least ? rule->at_least : rule->at_most) * of;
		/* one flush by somebody else: what was published is of a larger test */
		double slack = rule->of_published ? entry->cpus : 0;

		if (!rule_is_for(rule, row, step))
			continue;
		if (!row->rule || isnan(row->bound)) {
			row->rule = rule;
			row->bound = bound;
		}
		if (isnan(row->measured) || isnan(bound))
			continue;
		if (least ? row->measured < bound - slack : row->measured > bound + slack)
			row->verdict = VERDICT_DIFFERS;
		else if (row->verdict == VERDICT_NONE)
			row->verdict = VERDICT_AGREES;
	}
}

/*
 * Predictions hold for a kernel that does not filter, the baseline. However small the test,
 * one flush by somebody else, which interrupts each CPU once at most, is no difference; and
 * of several CPUs that run the task a flush may find one more or one less.
 */
static double slack_of(const struct row *row, const struct entry *entry)
{
	double active = entry->test->active_cpus, others = entry->cpus - active;
	double one_more = others > 0 ? row->predicted * (active - 1) / others : 0;

	return fmax(fmax(entry->test->tolerance * row->predicted, one_more), entry->cpus);
}

static enum verdict judge(const struct row *row, const struct entry *entry)
{
	if (unit_depends_on_time(row->unit))
		return entry->comparison->emulated_time && !isnan(row->measured) ? VERDICT_EMULATED
										 : VERDICT_NONE;
	if (isnan(row->predicted) || isnan(row->measured))
		return VERDICT_NONE;
	return fabs(row->measured - row->predicted) <= slack_of(row, entry) ? VERDICT_AGREES
									    : VERDICT_DIFFERS;
}

static void publish(const struct reproduction *reproduction, const struct reference_test *test,
		    const struct reference_metric *published, struct row *row)
{
	int at = published_arm(reproduction->reference, row->arm);

	row->published = row->published_change = NAN;
	if (!published || at < 0)
		return;
	row->published = published->values[at * test->step_count + row->step];
	if (at > 0)
		row->published_change = change_ratio(published->values[row->step], row->published);
	if (at > 0 && isnan(row->published))
		row->change_only = published->change;
}

/* A metric of one point of the comparison, on every arm. */
struct source_of_rows {
	const struct compared_metric *metric;	  /* NULL: it was not measured */
	const struct reference_metric *published; /* NULL: not on a platform of this size */
	const char *name, *unit;
	size_t step;
};

static int make_row(const struct reproduction *reproduction, const struct entry *entry,
		    const struct source_of_rows *source, size_t arm, struct row *row)
{
	const struct reference_test *test = entry->test;
	const struct compared_metric *metric = source->metric;
	const char *arm_name = entry->comparison->arms[arm].name;
	const json_t *steps = test->sweep ? json_object_get(test->parameters, test->sweep) : NULL;

	*row = (struct row){
		.metric = strdup(source->name),
		.unit = strdup(source->unit),
		.arm = strdup(arm_name),
		.step = source->step,
		.predicted = metric && !arm ? metric->predicted : NAN,
		.measured = metric ? metric->values[arm].statistics.mean : NAN,
		.stddev = metric ? metric->values[arm].statistics.stddev : NAN,
		.measured_change = metric ? metric->values[arm].change : NAN,
		.bound = NAN,
	};
	if (!row->metric || !row->unit || !row->arm)
		return -ENOMEM;
	publish(reproduction, test, source->published, row);
	row->verdict = judge(row, entry);
	judge_by_rules(reproduction, entry, metric, json_array_get(steps, source->step), row);
	return 0;
}

static int add_rows(const struct reproduction *reproduction, struct entry *entry,
		    const struct source_of_rows *source)
{
	size_t arms = entry->comparison->arm_count;
	struct row *rows = reallocarray(entry->rows, entry->row_count + arms, sizeof(*rows));
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	entry->rows = rows;
	for (size_t i = 0; !ret && i < arms; i++)
		ret = make_row(reproduction, entry, source, i, &rows[entry->row_count++]);
	return ret;
}

const struct compared_point *reproduction_point(const struct entry *entry, size_t step)
{
	for (size_t i = 0; i < entry->comparison->point_count; i++)
		if (reference_step(entry->test, entry->comparison->points[i].parameters) ==
		    (int)step)
			return &entry->comparison->points[i];
	return NULL;
}

/*
 * Rows: the metrics that were published for this test on any platform, so that
 * an unpublished number of CPUs has them too; for each step of a sweep that was run.
 */
static int make_rows(const struct reproduction *reproduction, struct entry *entry)
{
	const struct reference_platform *same = reference_find_platform(entry->test, entry->cpus);
	const struct reference_platform *any = same ? same : &entry->test->platforms[0];
	int ret = 0;

	for (size_t step = 0; step < entry->test->step_count; step++) {
		const struct compared_point *point = reproduction_point(entry, step);

		if (!point && entry->test->sweep)
			continue;
		for (size_t i = 0; !ret && i < any->metric_count; i++) {
			const char *name = any->metrics[i].name;

			ret = add_rows(reproduction, entry,
				       &(struct source_of_rows){
					       .metric = point ? comparison_metric(point, name)
							       : NULL,
					       .published = published_metric(same, name),
					       .name = name,
					       .unit = any->metrics[i].unit,
					       .step = step,
				       });
		}
	}
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

size_t reproduction_unjudged(const struct reproduction *reproduction)
{
	size_t count = 0;

	for (size_t i = 0; i < reproduction->entry_count; i++)
		for (size_t j = 0; j < reproduction->entries[i].row_count; j++)
			count += reproduction->entries[i].rows[j].rule &&
				 isnan(reproduction->entries[i].rows[j].measured);
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
