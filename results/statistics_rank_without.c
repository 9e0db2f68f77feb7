// SPDX-License-Identifier: GPL-2.0-only
/* In the place of statistics_rank.c where libRmath is missing. */
#include "statistics_rank.h"

#include <math.h>

int rank_sum_test(const double *x, size_t m, const double *y, size_t n, double *p)
{
	(void)x, (void)m, (void)y, (void)n;
	*p = NAN;
	return 0;
}

int signed_rank_test(const double *differences, size_t n, double *p)
{
	(void)differences, (void)n;
	*p = NAN;
	return 0;
}

double rank_sum_smallest_p(size_t m, size_t n)
{
	(void)m, (void)n;
	return NAN;
}

double signed_rank_smallest_p(size_t n)
{
	(void)n;
	return NAN;
}

size_t rank_sum_least(double p)
{
	(void)p;
	return 0;
}

size_t signed_rank_least(double p)
{
	(void)p;
	return 0;
}

size_t rank_sum_depth(size_t m, size_t n, double alpha, double *level)
{
	(void)m, (void)n, (void)alpha;
	*level = NAN;
	return 0;
}

size_t signed_rank_depth(size_t n, double alpha, double *level)
{
	(void)n, (void)alpha;
	*level = NAN;
	return 0;
}

size_t rank_needed(double difference, double variance, double alpha)
{
	(void)difference, (void)variance, (void)alpha;
	return 0;
}

double normal_quantile(double p)
{
	(void)p;
	return NAN;
}

double normal_below(double z)
{
	(void)z;
	return NAN;
}
