// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests, intervals and trends against numbers that were worked out another way: by hand, or by
 * counting every arrangement (the R call that gives the same stands beside each); then
 * simulations with a known effect. SHOOTDOWN_DRAWS sets their size (bench/statistics: 10,000).
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/features.h"
#include "../../results/compare_estimate.h"
#include "../../results/statistics.h"
#include "../../results/statistics_bootstrap.h"
#include "../../results/statistics_rank.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static double rank_sum(const double *x, size_t m, const double *y, size_t n)
{
	double p;

	ck_assert_int_eq(rank_sum_test(x, m, y, n, &p), 0);
	return p;
}

/* R: example(wilcox.test), permeability: wilcox.test(x, y)$p.value is 0.2544 */
START_TEST(mann_whitney)
{
	const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };

	ck_assert_double_eq_tol(rank_sum(x, 10, y, 5), 0.2544122544, 1e-9);
	ck_assert_double_eq_tol(rank_sum(y, 5, x, 10), 0.2544122544, 1e-9);
}
END_TEST

/*
 * Sums of midranks over all choices, twice the smaller tail. R: with(perm, pperm(...)) of
 * exactRankTests; by hand for the last: the ranks of 1 1 1 2 2 2 are 2 2 2 5 5 5, the smallest sum
 * of three, 6, comes in 1 of 20 choices.
 */
START_TEST(mann_whitney_with_ties)
{
	const double x[] = { 1, 2, 2, 3 }, y[] = { 2, 3, 4, 4, 5 };
	const double same[] = { 1, 1, 2 }, other[] = { 1, 2, 2 };
	const double ones[] = { 1, 1, 1 }, twos[] = { 2, 2, 2 };

	ck_assert_double_eq_tol(rank_sum(x, 4, y, 5), 1.0 / 9, 1e-12);
	ck_assert_double_eq(rank_sum(same, 3, other, 3), 1);
	ck_assert_double_eq_tol(rank_sum(ones, 3, twos, 3), 0.1, 1e-12);
	ck_assert_double_eq(rank_sum(ones, 3, ones, 3), 1);
}
END_TEST

/* Beyond 50 a side: R: wilcox.test(1:60, 31:90, exact = FALSE)$p.value */
START_TEST(mann_whitney_of_many)
{
	double x[60], y[60], ties = 30 * 6.0, all = 120, w = 0, z;

	for (int i = 0; i < 60; i++) {
		x[i] = i + 1;
		y[i] = i + 31;
	}
	/* U: 30 of x lie below all of y; of the 30 others, the i-th exceeds i - 1 and equals one */
	for (int i = 0; i < 30; i++)
		w += i + 0.5;
	z = (60 * 60 / 2.0 - w - 0.5) / sqrt(60 * 60 / 12.0 * (all + 1 - ties / (all * (all - 1))));
	ck_assert_double_eq_tol(rank_sum(x, 60, y, 60), erfc(z / sqrt(2)), 1e-12);
}
END_TEST

/* R: example(wilcox.test), depression: wilcox.test(x, y, paired = TRUE)$p.value is 0.03906 */
START_TEST(signed_rank)
{
	const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	const double y[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	const double ties[] = { 1, -1, 2, 2, 3, 0, 4 }, zeros[] = { 0, 0 };
	double differences[9], p;

	for (int i = 0; i < 9; i++)
		differences[i] = y[i] - x[i];
	ck_assert_int_eq(signed_rank_test(differences, 9, &p), 0);
	ck_assert_double_eq_tol(p, 0.0390625, 1e-12);
	/* R: exactRankTests::wilcox.exact(c(1, -1, 2, 2, 3, 0, 4)) */
	ck_assert_int_eq(signed_rank_test(ties, 7, &p), 0);
	ck_assert_double_eq_tol(p, 0.09375, 1e-12);
	ck_assert_int_eq(signed_rank_test(zeros, 2, &p), 0);
	ck_assert_double_eq(p, 1);
}
END_TEST

/* R: qwilcox(0.025, m, n), 1 - 2 * pwilcox(k - 1, m, n); qsignrank(), psignrank() */
START_TEST(depths_and_levels)
{
	double level;

	ck_assert_uint_eq(rank_sum_depth(3, 3, 0.05, &level), 0);
	ck_assert_double_nan(level);
	ck_assert_uint_eq(rank_sum_depth(4, 4, 0.05, &level), 1);
	ck_assert_double_eq_tol(level, 0.9714285714, 1e-9);
	ck_assert_uint_eq(rank_sum_depth(6, 6, 0.05, &level), 6);
	ck_assert_double_eq_tol(level, 0.9588744589, 1e-9);
	ck_assert_uint_eq(rank_sum_depth(6, 5, 0.05, &level), 4);
	ck_assert_double_eq_tol(level, 0.9696969697, 1e-9);
	ck_assert_uint_eq(rank_sum_depth(8, 8, 0.05, &level), 14);
	ck_assert_uint_eq(signed_rank_depth(5, 0.05, &level), 0);
	ck_assert_uint_eq(signed_rank_depth(6, 0.05, &level), 1);
	ck_assert_double_eq_tol(level, 0.96875, 1e-12);
	ck_assert_uint_eq(signed_rank_depth(10, 0.05, &level), 9);
	ck_assert_double_eq_tol(level, 0.951171875, 1e-12);
}
END_TEST

/* 2 / choose(2n, n): 1/3, 1/10, 1/35, 1/126, 1/462; 2^(1 - n) */
START_TEST(smallest_p_and_boots)
{
	ck_assert_double_eq_tol(rank_sum_smallest_p(3, 3), 0.1, 1e-12);
	ck_assert_double_eq_tol(rank_sum_smallest_p(6, 6), 1.0 / 462, 1e-12);
	ck_assert_double_eq(signed_rank_smallest_p(6), 0.03125);
	ck_assert_uint_eq(rank_sum_least(0.05), 4);
	ck_assert_uint_eq(rank_sum_least(0.0125), 5);
	ck_assert_uint_eq(signed_rank_least(0.0125), 8);
	/* (1.959964 + 0.841621)^2 * 8 / 4 / 0.955 = 16.44 */
	ck_assert_uint_eq(rank_needed(2, 8, 0.05), 17);
	ck_assert_uint_eq(rank_needed(0, 8, 0.05), 0);
	ck_assert_uint_eq(rank_needed(2, 0, 0.05), 0);
}
END_TEST

/* A value of which only the boots matter. */
static struct compared_value value_of(const double *list, size_t n)
{
	struct compared_value value = { .boots = calloc(n, sizeof(*value.boots)), .boot_count = n };

	for (size_t i = 0; i < n; i++)
		value.boots[i] = (struct compared_boot){ .value = list[i],
							 .number = (unsigned int)i + 1 };
	return value;
}

static struct compared_test test_of(const double *x, size_t m, const double *y, size_t n,
				    bool paired)
{
	struct compared_value base = value_of(x, m), value = value_of(y, n);

	compare_no_estimate(&value);
	ck_assert_int_eq(compare_estimate(&base, &value, paired), 0);
	free(base.boots);
	free(value.boots);
	return value.test;
}

/*
 * All 36 ratios sorted, the 18th and 19th and the 6th and 31st.
 * R: wilcox.test(log(y), log(x), conf.int = TRUE), then exp()
 */
START_TEST(ratio_and_interval)
{
	const double x[] = { 100, 102, 98, 101, 99, 103 }, y[] = { 90, 92, 88, 91, 89.5, 93 };
	struct compared_test test = test_of(x, 6, y, 6, false);

	ck_assert_double_eq_tol(test.ratio, 0.9014753110, 1e-9);
	ck_assert_double_eq_tol(test.difference, -10, 1e-12);
	if (!FEATURE_RMATH)
		return;
	ck_assert_int_eq(test.interval.method, INTERVAL_ORDER);
	ck_assert_double_eq_tol(test.interval.low, 0.8774509804, 1e-9);
	ck_assert_double_eq_tol(test.interval.high, 0.9285714286, 1e-9);
	ck_assert_double_eq_tol(test.difference_low, -12.5, 1e-12);
	ck_assert_double_eq_tol(test.difference_high, -7, 1e-12);
	ck_assert_double_eq_tol(test.p, 1.0 / 462, 1e-12);
}
END_TEST

/* All six pairs halve: every Walsh average is a half, and p is 2 / 2^6. */
START_TEST(pairs)
{
	const double x[] = { 10, 20, 40, 80, 160, 320 }, y[] = { 5, 10, 20, 40, 80, 160 };
	struct compared_test test = test_of(x, 6, y, 6, true);

	ck_assert_double_eq(test.ratio, 0.5);
	if (!FEATURE_RMATH)
		return;
	ck_assert_double_eq(test.interval.low, 0.5);
	ck_assert_double_eq(test.interval.high, 0.5);
	ck_assert_double_eq_tol(test.p, 0.03125, 1e-12);
}
END_TEST

START_TEST(zeros)
{
	const double none[] = { 0, 0, 0, 0 }, some[] = { 3, 4, 5, 6 };
	struct compared_test test = test_of(none, 4, some, 4, false);

	ck_assert_double_nan(test.ratio);
	ck_assert_double_eq(test.difference, 4.5);
	test = test_of(some, 4, none, 4, false);
	ck_assert_double_eq(test.ratio, 0);
	test = test_of(none, 4, none, 4, false);
	ck_assert_double_eq(test.ratio, 1);
}
END_TEST

/*
 * Another implementation (another generator, 20,000 draws) found -0.2615 and -0.1150 around
 * -0.1825. R: boot::boot.ci(type = "bca") with strata
 */
START_TEST(bca)
{
	static const double x[] = { 4.574, 4.651, 4.577, 4.568, 4.507, 4.579, 4.711,
				    4.642, 4.704, 4.625, 4.639, 4.619, 4.433, 4.686,
				    4.651, 4.65,  4.431, 4.426, 4.511, 4.553 };
	static const double y[] = { 4.461, 4.391, 4.504, 4.272, 4.462, 4.479, 4.268, 4.744,
				    4.511, 4.639, 4.276, 4.252, 4.331, 4.379, 4.526, 4.45,
				    4.311, 4.209, 4.296, 4.644, 4.238, 4.449 };
	double low, high, again, last, sorted[2][22];

	for (size_t i = 0; i < 22; i++) {
		sorted[0][i] = i < 20 ? x[i] : 9;
		sorted[1][i] = y[i];
	}
	qsort(sorted[0], 20, sizeof(double), statistics_ascending);
	qsort(sorted[1], 22, sizeof(double), statistics_ascending);
	ck_assert_double_eq_tol(shift_of(sorted[0], 20, sorted[1], 22), -0.1825, 1e-12);
	ck_assert_int_eq(shift_bootstrap(x, 20, y, 22, 0.05, 20000, 1, &low, &high), 0);
	ck_assert_double_eq_tol(low, -0.2615, 0.003);
	ck_assert_double_eq_tol(high, -0.1150, 0.003);
	ck_assert_int_eq(shift_bootstrap(x, 20, y, 22, 0.05, 20000, 1, &again, &last), 0);
	ck_assert_double_eq(again, low);
	ck_assert_double_eq(last, high);
}
END_TEST

static struct trend trend_of(const double *values, const size_t *counts, size_t groups)
{
	struct trend trend;

	ck_assert_int_eq(statistics_trend(values, counts, groups, &trend), 0);
	return trend;
}

/* All orders of 6 (7) values counted. R: cor.test(1:6, v, method = "kendall") */
START_TEST(trends)
{
	const double up[] = { 1, 3, 2, 4, 5, 7 }, down[] = { 6, 5, 4, 3, 2, 1 };
	const double swaps[] = { 2, 1, 4, 3, 6, 5, 7 };
	const double ties[] = { 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8 };
	const double seasons[] = { 1, 2, 3, 4, 10, 12, 11, 13, 5, 7, 6, 8 };
	struct trend trend = trend_of(up, (size_t[]){ 6 }, 1);

	ck_assert_double_eq_tol(trend.tau, 13.0 / 15, 1e-12);
	ck_assert_double_eq_tol(trend.p, 1.0 / 60, 1e-12);
	trend = trend_of(down, (size_t[]){ 6 }, 1);
	ck_assert_double_eq(trend.tau, -1);
	ck_assert_double_eq_tol(trend.p, 2.0 / 720, 1e-12);
	trend = trend_of(swaps, (size_t[]){ 7 }, 1);
	ck_assert_double_eq_tol(trend.p, 0.0301587302, 1e-9);
	/* S = 62, variance (12 * 11 * 29 - 4 * 18) / 18; R: Kendall::MannKendall() */
	trend = trend_of(ties, (size_t[]){ 12 }, 1);
	ck_assert_double_eq_tol(trend.p, 2.41256939e-05, 1e-12);
	/* three series, S = 6 + 4 + 4 of 18 pairs; R: Kendall::SeasonalMannKendall() */
	trend = trend_of(seasons, (size_t[]){ 4, 4, 4 }, 3);
	ck_assert_double_eq_tol(trend.tau, 14.0 / 18, 1e-12);
	ck_assert_double_eq_tol(trend.p, 0.01078744925, 1e-9);
	ck_assert_double_nan(trend_of(up, (size_t[]){ 3, 3 }, 2).p);
}
END_TEST

/* The median of each first part of a series that repeats, rises and falls, against sorting. */
START_TEST(medians)
{
	double list[200], sorted[200];
	uint64_t state = 3;

	for (size_t n = 1; n <= COUNT(list); n++) {
		struct statistics of;

		for (size_t i = 0; i < n; i++)
			list[i] = n % 3 ? (double)(random_next(&state) % (n % 7 ? 1000 : 5))
					: (double)(n % 2 ? i : n - i);
		memcpy(sorted, list, n * sizeof(*list));
		qsort(sorted, n, sizeof(*sorted), statistics_ascending);
		ck_assert_int_eq(statistics_of(list, n, &of), 0);
		ck_assert_double_eq(of.median, (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
	}
}
END_TEST

/* Median 10; distances 0.2 0.1 0 0.1 0.2 5, MAD 0.15: 0.6745 * 5 / 0.15 = 22, 0.9 for the others */
START_TEST(outliers)
{
	const double spread[] = { 9.8, 9.9, 10, 10.1, 10.2, 15 };
	const double flat[] = { 100, 100, 100, 100, 100, 100, 100, 101 };
	const double almost[] = { 61440, 61440, 61440, 61440, 61440, 61440, 61440, 61445 };
	bool outlier[8];

	ck_assert_int_eq(statistics_outliers(spread, 6, outlier), 0);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(outlier[i], i == 5);
	ck_assert_int_eq(statistics_outliers(flat, 8, outlier), 0);
	ck_assert(outlier[7] && !outlier[0]);
	ck_assert_int_eq(statistics_outliers(almost, 8, outlier), 0);
	ck_assert(!outlier[7]);
	ck_assert_int_eq(statistics_outliers(spread + 2, 4, outlier), 0);
	ck_assert(!outlier[3]);
}
END_TEST

static double normal(uint64_t *state)
{
	double u = 1 - random_unit(state), v = random_unit(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Boots of a metric: a level, times a spread of 5% or an exponential one. */
static double draw(uint64_t *state, bool skewed)
{
	return skewed ? 100 * (1 - 0.2 * log(1 - random_unit(state)))
		      : 100 * exp(0.05 * normal(state));
}

static const struct {
	const char *name;
	size_t boots;
	bool skewed;
	double factor;
	/* what is right, and by how much the rates may be off besides chance */
	double coverage, positives, slack;
	unsigned int part; /* of the draws: the bootstrap takes long */
} simulated[] = {
	{ "6 boots, normal", 6, false, 0.9, 0.9589, 0.0411, 0, 1 },
	{ "6 boots, exponential", 6, true, 0.9, 0.9589, 0.0411, 0, 1 },
	{ "12 boots, exponential", 12, true, 3, 0.9550, 0.0450, 0, 1 },
	{ "20 boots, normal, BCa", 20, false, 0.9, 0.95, 0.0483, 0.025, 4 },
	{ "20 boots, exponential, BCa", 20, true, 0.9, 0.95, 0.0483, 0.025, 4 },
};

/*
 * Coverage of the interval when the factor is known, and how often two arms of one kernel
 * differ with p <= 0.05. The rank interval's rates are exact numbers; the bootstrap's may be off.
 */
START_TEST(simulation)
{
	const char *wanted = getenv("SHOOTDOWN_DRAWS");
	int draws = (wanted ? atoi(wanted) : 800) / (wanted ? 1 : (int)simulated[_i].part);
	int covered = 0, positives = 0;
	uint64_t state = 20240501;
	size_t n = simulated[_i].boots;
	double x[20], y[20], chance;

	if (!FEATURE_RMATH)
		return;
	for (int i = 0; i < draws; i++) {
		struct compared_test test;

		for (size_t j = 0; j < n; j++) {
			x[j] = draw(&state, simulated[_i].skewed);
			y[j] = draw(&state, simulated[_i].skewed);
		}
		positives += rank_sum(x, n, y, n) <= 0.05;
		for (size_t j = 0; j < n; j++)
			y[j] *= simulated[_i].factor;
		test = test_of(x, n, y, n, false);
		ck_assert_int_eq(test.interval.method,
				 n < COMPARED_BCA_LEAST ? INTERVAL_ORDER : INTERVAL_BCA);
		covered += test.interval.low <= simulated[_i].factor &&
			   simulated[_i].factor <= test.interval.high;
	}
	printf("%s: %d draws, the interval covers the truth in %.2f%%, false positives %.2f%%\n",
	       simulated[_i].name, draws, 100.0 * covered / draws, 100.0 * positives / draws);
	/* three and a half standard deviations of a rate of 5% */
	chance = 3.5 * sqrt(0.05 * 0.95 / draws);
	ck_assert_double_eq_tol((double)covered / draws, simulated[_i].coverage,
				chance + simulated[_i].slack);
	ck_assert_double_eq_tol((double)positives / draws, simulated[_i].positives, chance);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("statistics");
	TCase *tests = tcase_create("statistics"), *simulations = tcase_create("simulation");
	SRunner *runner;
	int failed;

	if (FEATURE_RMATH) {
		tcase_add_test(tests, mann_whitney);
		tcase_add_test(tests, mann_whitney_with_ties);
		tcase_add_test(tests, mann_whitney_of_many);
		tcase_add_test(tests, signed_rank);
		tcase_add_test(tests, depths_and_levels);
		tcase_add_test(tests, smallest_p_and_boots);
		tcase_add_test(tests, bca);
	}
	tcase_add_test(tests, ratio_and_interval);
	tcase_add_test(tests, pairs);
	tcase_add_test(tests, zeros);
	tcase_add_test(tests, trends);
	tcase_add_test(tests, medians);
	tcase_add_test(tests, outliers);
	tcase_set_timeout(simulations, 3600);
	tcase_add_loop_test(simulations, simulation, 0, COUNT(simulated));
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, simulations);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
