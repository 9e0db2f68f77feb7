// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a handful of samples. This file has the estimates; intervals
 * and tests of significance belong beside them, as functions of the same
 * sample arrays.
 */
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *one, const void *other)
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

int statistics_of(const double *samples, size_t n, struct statistics *statistics)
{
	struct statistics made = { .n = n, .mean = NAN, .median = NAN, .stddev = NAN };
	double *sorted;

	if (n) {
		sorted = malloc(n * sizeof(*sorted));
		if (!sorted)
			return -ENOMEM;
		memcpy(sorted, samples, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), ascending);
		made.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
		free(sorted);
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
