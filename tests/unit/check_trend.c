// SPDX-License-Identifier: GPL-2.0-only
/* Change points: cases worked by hand, the false-positive rate on noise, and the power. */
#include <math.h>

#include "../../results/trend.h"
#include "quiet.h"

static uint64_t state;

/* Uniform in 0..1 from splitmix64, so that the test is the same everywhere. */
static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = uniform();

	return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * uniform());
}

START_TEST(least_numbers)
{
	/* 2/C(9,4) = 2/126 > 0.01 >= 2/C(10,5) = 2/252; 2/C(7,3) = 2/35 > 0.05 >= 2/C(8,4) = 2/70
	 */
	ck_assert_uint_eq(change_point_least(0.01), 10);
	ck_assert_uint_eq(change_point_least(0.05), 8);
	ck_assert_uint_eq(change_point_least(0.5), 4);
}
END_TEST

START_TEST(constant_and_short)
{
	static const double same[12] = { 61440, 61440, 61440, 61440, 61440, 61440,
					 61440, 61440, 61440, 61440, 61440, 61440 };
	struct change_point *points;
	size_t count = 9;

	ck_assert_int_eq(change_points(same, 12, 0.01, &points, &count), 0);
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_null(points);
	ck_assert_int_eq(change_points(same, 0, 0.01, &points, &count), 0);
	ck_assert_int_eq(change_points(same, 3, 0.01, &points, &count), 0);
	ck_assert_uint_eq(count, 0);
}
END_TEST

/* Five of one count, five of another: of the 252 orders 2 split as well, so p is near 2/252. */
START_TEST(step_of_counts)
{
	static const double step[10] = {
		191, 191, 191, 191, 191, 61440, 61440, 61440, 61440, 61440
	};
	struct change_point *points;
	size_t count;

	ck_assert_int_eq(change_points(step, 10, 0.05, &points, &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(points[0].at, 5);
	ck_assert_uint_eq(points[0].n_before, 5);
	ck_assert_uint_eq(points[0].n_after, 5);
	ck_assert_double_eq(points[0].before, 191);
	ck_assert_double_eq(points[0].after, 61440);
	/* 1999 draws: the standard deviation is 0.002 */
	ck_assert(fabs(points[0].p - 2.0 / 252.0) < 0.006);
	free(points);
}
END_TEST

/* Down after 20, up again after 40: both are found where they are. */
START_TEST(two_steps)
{
	double values[60];
	struct change_point *points, *again;
	size_t count, count_again;

	state = 5;
	for (int i = 0; i < 60; i++)
		values[i] = (i < 20 || i >= 40 ? 100.0 : 80.0) + 2.0 * normal();
	ck_assert_int_eq(change_points(values, 60, 0.01, &points, &count), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(points[0].at, 20);
	ck_assert_uint_eq(points[1].at, 40);
	ck_assert(fabs(points[0].after - 80.0) < 2.0);
	ck_assert(fabs(points[1].before - 80.0) < 2.0);
	ck_assert_int_eq(change_points(values, 60, 0.01, &again, &count_again), 0);
	ck_assert_uint_eq(count, count_again);
	ck_assert_mem_eq(points, again, count * sizeof(*points));
	free(again);
	free(points);
}
END_TEST

/* One wild night among thirty is no change. */
START_TEST(single_outlier)
{
	double values[30];
	struct change_point *points;
	size_t count;

	state = 7;
	for (int i = 0; i < 30; i++)
		values[i] = 100.0 + normal() + (i == 12 ? 500.0 : 0.0);
	ck_assert_int_eq(change_points(values, 30, 0.01, &points, &count), 0);
	ck_assert_uint_eq(count, 0);
}
END_TEST

/* A change of the last three nights of sixty is told. */
START_TEST(late_change)
{
	double values[60];
	struct change_point *points;
	size_t count;

	state = 11;
	for (int i = 0; i < 60; i++)
		values[i] = 100.0 + normal() + (i >= 57 ? 20.0 : 0.0);
	ck_assert_int_eq(change_points(values, 60, 0.01, &points, &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(points[0].at, 57);
	free(points);
}
END_TEST

/*
 * Noise alone: of 200 series at 0.05 ten are expected to show a change, and more than
 * 20 with a probability below 0.002 (binomial).
 */
START_TEST(false_positives)
{
	struct change_point *points;
	double values[20];
	unsigned int found = 0;
	size_t count;

	state = 3;
	for (int series = 0; series < 200; series++) {
		for (int i = 0; i < 20; i++)
			values[i] = 100.0 + normal();
		ck_assert_int_eq(change_points(values, 20, 0.05, &points, &count), 0);
		found += count > 0;
		free(points);
	}
	ck_assert_uint_le(found, 20);
	ck_assert_uint_ge(found, 2);
}
END_TEST

static const struct {
	const char *better;
	double before, after;
	double change;
	const char *word;
} words[] = {
	{ "less", 100, 50, -0.5, "better" }, { "less", 100, 150, 0.5, "worse" },
	{ "more", 100, 150, 0.5, "better" }, { "more", 100, 50, -0.5, "worse" },
	{ "same", 100, 150, 0.5, "moved" },  { NULL, 100, 150, 0.5, "moved" },
	{ "less", 0, 5, INFINITY, "worse" }, { "less", 5, 5, 0.0, "moved" },
	{ "less", -10, -5, 0.5, "worse" },
};

START_TEST(worded_change)
{
	struct trend_series series = { .better = (char *)words[_i].better };
	struct change_point point = { .before = words[_i].before, .after = words[_i].after };

	ck_assert(trend_change(&point) == words[_i].change);
	ck_assert_str_eq(trend_word(&series, &point), words[_i].word);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("trend");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, least_numbers);
	tcase_add_test(tests, constant_and_short);
	tcase_add_test(tests, step_of_counts);
	tcase_add_test(tests, two_steps);
	tcase_add_test(tests, single_outlier);
	tcase_add_test(tests, late_change);
	tcase_add_test(tests, false_positives);
	tcase_add_loop_test(tests, worded_change, 0, sizeof(words) / sizeof(words[0]));
	return run_suite("trend", tests);
}
