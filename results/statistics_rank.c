// SPDX-License-Identifier: GPL-2.0-only
/* Rank tests with libRmath's distributions. */
#include "statistics_rank.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "statistics.h"

/* Beyond these the exact distributions take long, and the normal one is as good. */
#define EXACT_MAX 50
#define BOOTS_MAX 1000000.0

struct ranked {
	double value;
	size_t index;
	unsigned int twice; /* the rank's double: a whole number with ties too */
};

static int by_value(const void *one, const void *other)
{
	const struct ranked *a = one, *b = other;

	return (a->value > b->value) - (a->value < b->value);
}

/* Ranks from 1, equal values share their mean. Returns the sum of t^3 - t over the ties. */
static double give_ranks(struct ranked *list, size_t n)
{
	double ties = 0;

	qsort(list, n, sizeof(*list), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].value == list[i].value; end++)
			;
		for (size_t j = i; j < end; j++)
			list[j].twice = (unsigned int)(i + 1 + end);
		ties += pow((double)(end - i), 3) - (double)(end - i);
	}
	return ties;
}

static double two_sided(double below, double above)
{
	double p = 2 * (below < above ? below : above);

	return p < 1 ? p : 1;
}

/*
 * The two tails of the sum of m of the n ranks at sum: chance[k][s] is that of k ranks with the sum
 * s, the ranks taken in one after the other.
 */
static int tied_tails(const struct ranked *list, size_t n, size_t m, size_t sum, double *p)
{
	size_t width = n * (n + 1) + 1;
	double *ways = calloc((m + 1) * width, sizeof(*ways)), all = 0, below = 0, above = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1 < m ? i + 1 : m; k; k--)
			for (size_t s = width; s-- > list[i].twice;)
				ways[k * width + s] += ways[(k - 1) * width + s - list[i].twice];
	for (size_t s = 0; s < width; s++) {
		double here = ways[m * width + s];

		all += here;
		below += s <= sum ? here : 0;
		above += s >= sum ? here : 0;
	}
	free(ways);
	*p = two_sided(below / all, above / all);
	return 0;
}

static double normal_p(double distance, double variance)
{
	distance = fabs(distance) - 0.5;
	if (distance < 0 || variance <= 0)
		return 1;
	return 2 * pnorm(-distance / sqrt(variance), 0, 1, true, false);
}

static double plain_rank_sum(double w, size_t m, size_t n)
{
	double p = two_sided(pwilcox(w, (double)m, (double)n, true, false),
			     pwilcox(w - 1, (double)m, (double)n, false, false));

	wilcox_free();
	return p;
}

int rank_sum_test(const double *x, size_t m, const double *y, size_t n, double *p)
{
	struct ranked *list = calloc(m + n + 1, sizeof(*list));
	double ties, all = (double)(m + n), variance;
	size_t sum = 0;
	int ret = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < m + n; i++)
		list[i] = (struct ranked){ i < m ? x[i] : y[i - m], i, 0 };
	ties = give_ranks(list, m + n);
	for (size_t i = 0; i < m + n; i++)
		sum += list[i].index < m ? list[i].twice : 0;
	if (!m || !n) {
		*p = NAN;
	} else if (m > EXACT_MAX || n > EXACT_MAX) {
		variance = (double)m * (double)n / 12 * (all + 1 - ties / (all * (all - 1)));
		*p = normal_p((double)sum / 2 - (double)m * (all + 1) / 2, variance);
	} else if (ties > 0) {
		ret = tied_tails(list, m + n, m, sum, p);
	} else {
		*p = plain_rank_sum((double)sum / 2 - (double)m * (double)(m + 1) / 2, m, n);
	}
	free(list);
	return ret;
}

/* As tied_tails(): each rank is in the sum of the positive ones or not. */
static int tied_signs(const struct ranked *list, size_t n, size_t sum, double *p)
{
	size_t width = n * (n + 1) + 1;
	double *chance = calloc(width, sizeof(*chance)), below = 0, above = 0;

	if (!chance)
		return -ENOMEM;
	chance[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t s = width; s--;)
			chance[s] =
				(chance[s] + (s >= list[i].twice ? chance[s - list[i].twice] : 0)) /
				2;
	for (size_t s = 0; s < width; s++) {
		below += s <= sum ? chance[s] : 0;
		above += s >= sum ? chance[s] : 0;
	}
	free(chance);
	*p = two_sided(below, above);
	return 0;
}

static double plain_signed_rank(double v, size_t n)
{
	double p = two_sided(psignrank(v, (double)n, true, false),
			     psignrank(v - 1, (double)n, false, false));

	signrank_free();
	return p;
}

int signed_rank_test(const double *differences, size_t n, double *p)
{
	struct ranked *list = calloc(n + 1, sizeof(*list));
	double ties, count, variance;
	size_t used = 0, sum = 0;
	int ret = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (differences[i] != 0)
			list[used++] = (struct ranked){ fabs(differences[i]), i, 0 };
	ties = give_ranks(list, used);
	for (size_t i = 0; i < used; i++)
		sum += differences[list[i].index] > 0 ? list[i].twice : 0;
	count = (double)used;
	if (!used) {
		*p = n ? 1 : NAN;
	} else if (used > EXACT_MAX) {
		variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
		*p = normal_p((double)sum / 2 - count * (count + 1) / 4, variance);
	} else if (ties > 0) {
		ret = tied_signs(list, used, sum, p);
	} else {
		*p = plain_signed_rank((double)sum / 2, used);
	}
	free(list);
	return ret;
}

double rank_sum_smallest_p(size_t m, size_t n)
{
	return m && n ? 2 / choose((double)(m + n), (double)m) : NAN;
}

double signed_rank_smallest_p(size_t n)
{
	return n ? pow(2, 1 - (double)n) : NAN;
}

size_t rank_sum_least(double p)
{
	size_t n = 1;

	while (rank_sum_smallest_p(n, n) > p && n < EXACT_MAX)
		n++;
	return n;
}

size_t signed_rank_least(double p)
{
	size_t n = 1;

	while (signed_rank_smallest_p(n) > p && n < EXACT_MAX)
		n++;
	return n;
}

static size_t normal_depth(double mean, double variance, double alpha, double *level)
{
	double depth = floor(mean + qnorm(alpha / 2, 0, 1, true, false) * sqrt(variance));

	*level = 1 - alpha;
	return depth > 0 ? (size_t)depth : 0;
}

size_t rank_sum_depth(size_t m, size_t n, double alpha, double *level)
{
	double a = (double)m, b = (double)n, depth;

	*level = NAN;
	if (!m || !n)
		return 0;
	if (m > EXACT_MAX || n > EXACT_MAX)
		return normal_depth(a * b / 2, a * b * (a + b + 1) / 12, alpha, level);
	depth = qwilcox(alpha / 2, a, b, true, false);
	if (depth > 0)
		*level = 1 - 2 * pwilcox(depth - 1, a, b, true, false);
	wilcox_free();
	return (size_t)depth;
}

size_t signed_rank_depth(size_t n, double alpha, double *level)
{
	double count = (double)n, depth;

	*level = NAN;
	if (!n)
		return 0;
	if (n > EXACT_MAX)
		return normal_depth(count * (count + 1) / 4,
				    count * (count + 1) * (2 * count + 1) / 24, alpha, level);
	depth = qsignrank(alpha / 2, count, true, false);
	if (depth > 0)
		*level = 1 - 2 * psignrank(depth - 1, count, true, false);
	signrank_free();
	return (size_t)depth;
}

size_t rank_needed(double difference, double variance, double alpha)
{
	const double power = 0.8, efficiency = 0.955;
	double z = qnorm(1 - alpha / 2, 0, 1, true, false) + qnorm(power, 0, 1, true, false);
	double n = ceil(z * z * variance / (difference * difference) / efficiency);

	return isfinite(n) && n >= 1 && n <= BOOTS_MAX ? (size_t)n : 0;
}

double normal_quantile(double p)
{
	return qnorm(p, 0, 1, true, false);
}

double normal_below(double z)
{
	return pnorm(z, 0, 1, true, false);
}
