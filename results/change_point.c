// SPDX-License-Identifier: GPL-2.0-only
/* Change points by the energy statistic and permutation. */
#include "change_point.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Differences that rounding makes between permutations of the same values. */
#define ROUNDING 1e-9
/* Of the permutations; any will do. */
#define SEED 2014

struct search {
	const double *values;
	double alpha;
	double *shuffled; /* room for all values */
	struct change_point *points;
	size_t count;
};

/* splitmix64 (S. Vigna, public domain algorithm) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Fisher-Yates; the bias of the modulus is below 2^-40 for any series that fits a file. */
static void shuffle(double *values, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = next_random(state) % i;
		double kept = values[i - 1];

		values[i - 1] = values[j];
		values[j] = kept;
	}
}

static double sum_to(const double *values, size_t from, size_t to, double value)
{
	double sum = 0.0;

	for (size_t i = from; i < to; i++)
		sum += fabs(values[i] - value);
	return sum;
}

/*
 * The largest statistic of all splits and its place. With m values before and n
 * after: mn/(m+n) * (2/(mn) * between - within_m/C(m,2) - within_n/C(n,2)), where the
 * sums are of absolute differences of pairs. Moving one value over the split changes
 * each sum by that value's differences alone, so all splits take count^2 steps.
 */
static double best_split(const double *values, size_t count, size_t *at)
{
	double before = 0.0, between = 0.0, after = 0.0, best = -INFINITY;

	for (size_t i = 0; i < count; i++)
		after += sum_to(values, i + 1, count, values[i]);
	for (size_t m = 1; m < count; m++) {
		size_t n = count - m;
		double mm = (double)m, nn = (double)n;
		double to_before = sum_to(values, 0, m - 1, values[m - 1]);
		double to_after = sum_to(values, m, count, values[m - 1]);
		double q;

		before += to_before;
		after -= to_after;
		between += to_after - to_before;
		if (m < CHANGE_POINT_LEAST || n < CHANGE_POINT_LEAST)
			continue;
		q = mm * nn / (mm + nn) *
		    (2.0 / (mm * nn) * between - before / (mm * (mm - 1.0) / 2.0) -
		     after / (nn * (nn - 1.0) / 2.0));
		if (q > best) {
			best = q;
			*at = m;
		}
	}
	return best;
}

/* How often chance splits the same values as well as this. */
static double permutation_p(struct search *search, const double *values, size_t count, double seen)
{
	uint64_t state = SEED;
	unsigned int as_good = 0;
	size_t at;

	memcpy(search->shuffled, values, count * sizeof(*values));
	for (unsigned int i = 0; i < CHANGE_POINT_PERMUTATIONS; i++) {
		shuffle(search->shuffled, count, &state);
		if (best_split(search->shuffled, count, &at) >= seen - ROUNDING * fabs(seen))
			as_good++;
	}
	return (1.0 + as_good) / (1.0 + CHANGE_POINT_PERMUTATIONS);
}

static int add_point(struct search *search, size_t at, double p)
{
	struct change_point *points = reallocarray(search->points, search->count + 1,
						   sizeof(*points));

	if (!points)
		return -ENOMEM;
	search->points = points;
	points[search->count++] = (struct change_point){ .at = at, .p = p };
	return 0;
}

/* In time order: what is before a change is looked at first. */
static int search_segment(struct search *search, size_t from, size_t to)
{
	size_t count = to - from, at = 0;
	double seen, p;
	int ret;

	if (count < 2 * CHANGE_POINT_LEAST)
		return 0;
	seen = best_split(search->values + from, count, &at);
	if (!(seen > 0.0))
		return 0;
	p = permutation_p(search, search->values + from, count, seen);
	if (p > search->alpha)
		return 0;
	ret = search_segment(search, from, from + at);
	if (!ret)
		ret = add_point(search, from + at, p);
	return ret ? ret : search_segment(search, from + at, to);
}

static int by_value(const void *one, const void *other)
{
	const double *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

static double median(struct search *search, size_t from, size_t to)
{
	size_t count = to - from;

	memcpy(search->shuffled, search->values + from, count * sizeof(double));
	qsort(search->shuffled, count, sizeof(double), by_value);
	return count % 2 ? search->shuffled[count / 2]
			 : (search->shuffled[count / 2 - 1] + search->shuffled[count / 2]) / 2.0;
}

static void describe_points(struct search *search, size_t count)
{
	for (size_t i = 0; i < search->count; i++) {
		struct change_point *point = &search->points[i];
		size_t from = i ? point[-1].at : 0;
		size_t to = i + 1 < search->count ? point[1].at : count;

		point->n_before = point->at - from;
		point->n_after = to - point->at;
		point->before = median(search, from, point->at);
		point->after = median(search, point->at, to);
	}
}

int change_points(const double *values, size_t count, double alpha, struct change_point **points,
		  size_t *point_count)
{
	struct search search = { .values = values, .alpha = alpha };
	int ret;

	search.shuffled = calloc(count + 1, sizeof(*search.shuffled));
	if (!search.shuffled)
		return -ENOMEM;
	ret = search_segment(&search, 0, count);
	if (!ret) {
		describe_points(&search, count);
		*points = search.points;
		*point_count = search.count;
	} else {
		free(search.points);
	}
	free(search.shuffled);
	return ret;
}

size_t change_point_least(double alpha)
{
	size_t n = 2 * CHANGE_POINT_LEAST;
	double ways = 6.0; /* C(4, 2) */

	/* C(n+1, (n+1)/2) = C(n, n/2) * (n+1) / ((n+1) - (n+1)/2) */
	while (2.0 / ways > alpha && n < 1000) {
		n++;
		ways *= (double)n / (double)(n - n / 2);
	}
	return n;
}
