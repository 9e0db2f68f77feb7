// SPDX-License-Identifier: GPL-2.0-only
/* The Mann-Kendall test, by merge sort: a series may have a hundred thousand values. */
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX    50
#define NORMAL_LEAST 10

/* Of one or more series: pairs that rise less those that fall. */
struct score {
	double s, variance;
	double pairs; /* that could count: those with two different values */
	bool ties;
};

/* Sorts list and returns how many pairs were the wrong way round. */
static double sort_and_count(double *list, double *scratch, size_t n)
{
	size_t half = n / 2, i = 0, j = half, k = 0;
	double falling;

	if (n < 2)
		return 0;
	falling = sort_and_count(list, scratch, half) +
		  sort_and_count(list + half, scratch, n - half);
	while (i < half && j < n) {
		if (list[j] < list[i]) {
			falling += (double)(half - i);
			scratch[k++] = list[j++];
		} else {
			scratch[k++] = list[i++];
		}
	}
	memcpy(scratch + k, list + i, (half - i) * sizeof(*list));
	memcpy(list, scratch, (k + half - i) * sizeof(*list));
	return falling;
}

static double times(double n)
{
	return n * (n - 1) * (2 * n + 5);
}

static int add_score(struct score *score, const double *values, size_t n)
{
	double *list = malloc((2 * n + 1) * sizeof(*list));
	double falling, pairs = (double)n * (double)(n - 1) / 2, variance = times((double)n);

	if (!list)
		return -ENOMEM;
	memcpy(list, values, n * sizeof(*list));
	falling = sort_and_count(list, list + n, n);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end] == list[i]; end++)
			;
		pairs -= (double)(end - i) * (double)(end - i - 1) / 2;
		variance -= times((double)(end - i));
		score->ties |= end > i + 1;
	}
	free(list);
	score->s += pairs - 2 * falling;
	score->pairs += pairs;
	score->variance += variance / 18;
	return 0;
}

/*
 * P(at most fallen of n's pairs fall) when every order is as likely: the number of orders of i + 1
 * values with k such pairs is the sum of those of i values with k - i to k.
 */
static double at_most_falling(size_t n, size_t fallen)
{
	double ways[EXACT_MAX * (EXACT_MAX - 1) / 2 + 1] = { 1 }, sum = 0;
	size_t most = 0;

	for (size_t i = 1; i < n; i++) {
		most += i;
		for (size_t k = most + 1; k--;) {
			double all = 0;

			for (size_t l = 0; l <= i && l <= k; l++)
				all += k - l <= most - i ? ways[k - l] : 0;
			ways[k] = all / (double)(i + 1);
		}
	}
	for (size_t k = 0; k <= fallen && k <= most; k++)
		sum += ways[k];
	return sum;
}

static double exact_p(const struct score *score, size_t n)
{
	/* The distribution is symmetric. */
	size_t fewer = (size_t)llround((score->pairs - fabs(score->s)) / 2);
	double p = 2 * at_most_falling(n, fewer);

	return p < 1 ? p : 1;
}

static double normal_p(const struct score *score)
{
	double distance = fabs(score->s) - 1;

	if (distance < 0 || score->variance <= 0)
		return 1;
	return erfc(distance / sqrt(2 * score->variance));
}

int statistics_trend(const double *values, const size_t *counts, size_t groups, struct trend *trend)
{
	struct score score = { 0 };
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < groups; n += counts[i++])
		ret = add_score(&score, values + n, counts[i]);
	if (ret)
		return ret;
	*trend = (struct trend){ score.pairs > 0 ? score.s / score.pairs : NAN, NAN };
	if (groups == 1 && !score.ties && n <= EXACT_MAX && n > 1)
		trend->p = exact_p(&score, n);
	else if (n >= NORMAL_LEAST && score.pairs > 0)
		trend->p = normal_p(&score);
	return 0;
}
