// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verdicts: each arm against the baseline, boot by boot.
 *
 * Test. Mann-Whitney, although the lab runs boot K of every arm in one block: blocks that
 * are better or worse for all arms make it err on the side of caution only, and it reaches p =
 * 0.0022 with 6 boots an arm where the signed-rank test of 6 pairs ends at 0.031. Pairs are for
 * those who ask (compare --paired), have many boots and a host that drifts.
 *
 * Holm (Scandinavian Journal of Statistics 6, 1979, 65): the family is all primary metrics that
 * one point has on both arms, also those that are then compared as counts, so that its size
 * does not depend on what was measured; the other metrics are a family of their own.
 *
 * Counts. Where every boot gives the same number there is no variance to test. A count's tolerance
 * is COMPARED_TOLERANCE of its prediction when the median of one of the arms agrees with the
 * prediction, else 0. An arm is steady when all its samples are within the tolerance of
 * its median. From COMPARED_COUNT_LEAST boots on, two steady arms whose medians are within the
 * tolerance are the same; they differ without a test when they have no variance at all, or when no
 * test can say it with so few boots and the medians are more than two tolerances apart. Two arms of
 * the same kernel, each boot of which falls on one of two values, are told apart by this in at most
 * 2 / 4^3 = 3.1% of cases.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/features.h"
#include "compare_estimate.h"
#include "compare_private.h"
#include "format.h"
#include "statistics_rank.h"

static double count_tolerance(const struct compared_metric *metric, size_t arm)
{
	double tolerance = COMPARED_TOLERANCE * metric->predicted;
	const size_t arms[] = { 0, arm };

	for (size_t i = 0; i < 2; i++)
		if (fabs(metric->values[arms[i]].by_boot.median - metric->predicted) <= tolerance)
			return tolerance;
	return 0;
}

static bool is_steady(const struct compared_value *value, double tolerance)
{
	for (size_t i = 0; i < value->statistics.n; i++)
		if (fabs(value->samples[i] - value->by_boot.median) > tolerance)
			return false;
	return value->boot_count >= COMPARED_COUNT_LEAST;
}

static enum compared_verdict direction(const struct compared_metric *metric, size_t arm)
{
	double change = metric->values[arm].test.difference;
	const char *better = metric->better ? metric->better : "";

	if (change == 0)
		change = metric->values[arm].by_boot.mean - metric->values[0].by_boot.mean;
	if (strcmp(better, "less") && strcmp(better, "more"))
		return COMPARED_CHANGED;
	return (change < 0) == !strcmp(better, "less") ? COMPARED_BETTER : COMPARED_WORSE;
}

/* The verdict on deterministic counts; COMPARED_NONE: they are to be tested. */
static enum compared_verdict judge_counts(const struct compared_metric *metric, size_t arm,
					  bool testable)
{
	const struct compared_value *base = &metric->values[0], *value = &metric->values[arm];
	double tolerance, distance;

	if (unit_depends_on_time(metric->unit))
		return COMPARED_NONE;
	tolerance = count_tolerance(metric, arm);
	distance = fabs(value->by_boot.median - base->by_boot.median);
	if (!is_steady(base, tolerance) || !is_steady(value, tolerance))
		return COMPARED_NONE;
	if (distance <= tolerance)
		return COMPARED_SAME;
	if ((is_steady(base, 0) && is_steady(value, 0)) || (!testable && distance > 2 * tolerance))
		return direction(metric, arm);
	return COMPARED_NONE;
}

/* What one point's metrics say of one arm, primary or other ones. */
struct family {
	const struct comparison *comparison;
	struct compared_point *point;
	size_t arm;
	bool primary;
	struct compared_test **tests; /* those that are tested */
	unsigned int count, size;     /* of tests; of the family */
};

static bool has_both(const struct compared_metric *metric, size_t arm)
{
	return metric->values[0].boot_count && metric->values[arm].boot_count;
}

static int estimate_family(struct family *family)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < family->point->metric_count; i++) {
		struct compared_metric *metric = &family->point->metrics[i];
		struct compared_value *value = &metric->values[family->arm];

		if (metric->primary != family->primary || !has_both(metric, family->arm))
			continue;
		family->size++;
		ret = compare_estimate(&metric->values[0], value, family->comparison->paired);
		value->change = value->test.ratio - 1;
		value->test.verdict = judge_counts(metric, family->arm, true);
		if (value->test.verdict)
			value->test.basis = BASIS_COUNT;
		else
			family->tests[family->count++] = &value->test;
	}
	return ret;
}

static int by_p(const void *one, const void *other)
{
	const struct compared_test *const *a = one, *const *b = other;

	return ((*a)->p > (*b)->p) - ((*a)->p < (*b)->p);
}

static void correct(struct family *family)
{
	double least = 0;

	qsort(family->tests, family->count, sizeof(struct compared_test *), by_p);
	for (unsigned int i = 0; i < family->count; i++) {
		struct compared_test *test = family->tests[i];

		test->family = family->size;
		least = fmax(least, fmin(1, test->p * (family->size - i)));
		test->p_holm = isnan(test->p) ? NAN : least;
	}
}

static void conclude(const struct family *family, const struct compared_metric *metric,
		     struct compared_value *value)
{
	struct compared_test *test = &value->test;
	bool testable = test->smallest_p * family->size <= COMPARED_ALPHA;
	enum compared_verdict counted = testable ? COMPARED_NONE
						 : judge_counts(metric, family->arm, false);

	test->basis = BASIS_NONE;
	if (counted) {
		test->verdict = counted;
		test->basis = BASIS_COUNT;
		return;
	}
	if (!FEATURE_RMATH) {
		test->verdict = COMPARED_OFF;
		return;
	}
	if (!testable) {
		test->verdict = COMPARED_TOO_FEW;
	} else {
		test->basis = family->comparison->paired ? BASIS_SIGNED_RANK : BASIS_MANN_WHITNEY;
		test->verdict = test->p_holm <= COMPARED_ALPHA ? direction(metric, family->arm)
							       : COMPARED_UNDECIDED;
	}
	if (!compared_differs(test->verdict))
		test->boots_needed = compare_boots_needed(&metric->values[0], value,
							  COMPARED_ALPHA / family->size,
							  family->comparison->paired);
}

static int judge_family(struct family *family)
{
	int ret = estimate_family(family);

	if (ret)
		return ret;
	correct(family);
	for (size_t i = 0; i < family->point->metric_count; i++) {
		struct compared_metric *metric = &family->point->metrics[i];
		struct compared_value *value = &metric->values[family->arm];

		if (metric->primary == family->primary && has_both(metric, family->arm) &&
		    value->test.basis != BASIS_COUNT)
			conclude(family, metric, value);
	}
	return 0;
}

static int find_drift(struct compared_metric *metric, size_t arm_count)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < arm_count; i++)
		ret = compare_find_drift(&metric->values[i]);
	return ret;
}

static int judge_point(const struct comparison *comparison, struct compared_point *point)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < point->metric_count; i++) {
		for (size_t j = 0; j < comparison->arm_count; j++)
			compare_no_estimate(&point->metrics[i].values[j]);
		ret = find_drift(&point->metrics[i], comparison->arm_count);
	}
	for (size_t i = 2; !ret && i < 2 * comparison->arm_count; i++) {
		struct family family = { comparison, point, i / 2, i % 2, NULL, 0, 0 };

		/* other neighbours at work make other numbers, whatever the kernel */
		if (!compare_ran_same_mix(comparison, family.arm))
			continue;
		family.tests = calloc(point->metric_count + 1, sizeof(*family.tests));
		ret = family.tests ? judge_family(&family) : -ENOMEM;
		free(family.tests);
	}
	return ret;
}

int compare_judge(struct comparison *comparison)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->point_count; i++)
		ret = judge_point(comparison, &comparison->points[i]);
	return ret;
}

bool compared_differs(enum compared_verdict verdict)
{
	return verdict >= COMPARED_CHANGED;
}

const char *compared_verdict_name(enum compared_verdict verdict)
{
	static const char *const names[] = {
		[COMPARED_OFF] = "off",
		[COMPARED_TOO_FEW] = "too-few",
		[COMPARED_UNDECIDED] = "undecided",
		[COMPARED_NOISE] = "noise",
		[COMPARED_SAME] = "same",
		[COMPARED_CHANGED] = "changed",
		[COMPARED_BETTER] = "better",
		[COMPARED_WORSE] = "worse",
	};

	return names[verdict];
}

const char *compared_basis_name(enum compared_basis basis)
{
	static const char *const names[] = {
		[BASIS_COUNT] = "count",
		[BASIS_MANN_WHITNEY] = "mann-whitney",
		[BASIS_SIGNED_RANK] = "signed-rank",
	};

	return names[basis];
}

const char *compared_method_name(enum compared_method method)
{
	static const char *const names[] = {
		[INTERVAL_ORDER] = "order",
		[INTERVAL_BCA] = "bca",
	};

	return names[method];
}
