/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Change points of a series of values in time order: where its distribution
 * changed, without an assumption on its form.
 *
 * The statistic is that of E-divisive (D. S. Matteson and N. A. James, "A
 * Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data",
 * Journal of the American Statistical Association 109 (2014), with exponent 1):
 * the scaled energy distance between the values before and after a split. The best
 * split of a segment is tested by permutation of that segment; a significant one
 * divides it, and both parts are looked at in turn. D. Daly et al., "The Use of
 * Change Point Detection to Identify Software Performance Regressions in a
 * Continuous Integration System" (ICPE 2020) use it for nightly benchmarks. Unlike
 * the paper's, a split here always divides the whole segment.
 *
 * The permutations come from a fixed seed: the same series has the same result. The
 * test takes the nights as exchangeable; a slow drift shows as one or more changes.
 */
#ifndef SHOOTDOWN_CHANGE_POINT_H
#define SHOOTDOWN_CHANGE_POINT_H

#include <stddef.h>

#define CHANGE_POINT_PERMUTATIONS 1999
/* Values on each side of a split: one alone has no spread. */
#define CHANGE_POINT_LEAST 2

struct change_point {
	size_t at;		  /* the first value after the change */
	double p;		  /* (1 + permutations that split as well) / (1 + permutations) */
	double before, after;	  /* medians of the segments on both sides */
	size_t n_before, n_after; /* their lengths */
};

/*
 * The changes in time order; *points is the caller's to free, NULL when there are
 * none. A split is a change when p <= alpha. Negative errno.
 */
int change_points(const double *values, size_t count, double alpha, struct change_point **points,
		  size_t *point_count);

/*
 * The least number of values among which a change can be found at alpha at all: the
 * best split is met by two of the n!/(k!(n-k)!) ways to place k = n/2 values.
 */
size_t change_point_least(double alpha);

#endif
