// SPDX-License-Identifier: GPL-2.0-only
/* Estimates, and which samples are outliers. */
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int statistics_ascending(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double mean_of(const double *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	return sum / (double)n;
}

/* In two passes: the one-pass form loses all digits when the mean is much larger than the spread.
 */
static double stddev_of(const double *samples, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (samples[i] - mean) * (samples[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

/*
 * Moves the k-th smallest (from 0) to its place, smaller ones before and larger ones behind it:
 * Hoare's FIND, Communications of the ACM 4 (1961), 321. A million samples need no order.
 */
static double select_kth(double *list, ptrdiff_t n, ptrdiff_t k)
{
	ptrdiff_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = list[k], kept;
		ptrdiff_t i = low, j = high;

		do {
			while (list[i] < pivot)
				i++;
			while (pivot < list[j])
				j--;
			if (i <= j) {
				kept = list[i];
				list[i++] = list[j];
				list[j--] = kept;
			}
		} while (i <= j);
		if (j < k)
			low = i;
		if (k < i)
			high = j;
	}
	return list[k];
}

static double median_of(double *list, size_t n)
{
	double upper = select_kth(list, (ptrdiff_t)n, (ptrdiff_t)n / 2), lower;

	if (n % 2)
		return upper;
	/* the other one is the largest of those before it */
	lower = list[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = list[i] > lower ? list[i] : lower;
	return (lower + upper) / 2;
}

int statistics_of(const double *samples, size_t n, struct statistics *statistics)
{
	struct statistics made = { .n = n, .mean = NAN, .median = NAN, .stddev = NAN };
	double *copy;

	if (n) {
		copy = malloc(n * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, samples, n * sizeof(*copy));
		made.median = median_of(copy, n);
		free(copy);
		made.mean = mean_of(samples, n);
	}
	if (n > 1)
		made.stddev = stddev_of(samples, n, made.mean);
	*statistics = made;
	return 0;
}

double change_ratio(double baseline, double value)
{
	if (!isfinite(baseline) || !isfinite(value) || baseline == 0)
		return NAN;
	return value / baseline - 1;
}

int statistics_outliers(const double *samples, size_t n, bool *outlier)
{
	/* 1 / the 75th percentile of the normal distribution, and the root of pi / 2 */
	const double mad_scale = 1.4826, mean_scale = 1.253314, limit = 3.5;
	struct statistics of, distances;
	double scale;
	double *list;
	int ret;

	memset(outlier, 0, n * sizeof(*outlier));
	if (n < OUTLIERS_LEAST)
		return 0;
	list = malloc(n * sizeof(*list));
	ret = list ? statistics_of(samples, n, &of) : -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < n; i++)
		list[i] = fabs(samples[i] - of.median);
	ret = statistics_of(list, n, &distances);
	if (ret)
		goto out;
	scale = distances.median * mad_scale;
	if (scale == 0)
		scale = distances.mean * mean_scale;
	for (size_t i = 0; i < n; i++)
		outlier[i] = list[i] > limit * scale && list[i] > fabs(of.median) / 1000;
out:
	free(list);
	return ret;
}
