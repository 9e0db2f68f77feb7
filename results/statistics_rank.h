/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact rank tests, and the order statistics that invert them into intervals
 * (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, sections 3.1 to
 * 3.3 and 4.1 to 4.3). Nothing is assumed of the distributions' form; the intervals
 * assume that the arms differ by a shift (of logarithms: by a factor).
 *
 * Distributions come from libRmath (pwilcox, psignrank). A build without it has
 * none of this (lib/features.h): every result is NAN.
 */
#ifndef SHOOTDOWN_STATISTICS_RANK_H
#define SHOOTDOWN_STATISTICS_RANK_H

#include <stddef.h>

/*
 * Mann-Whitney (Wilcoxon rank-sum), two-sided: twice the smaller tail. Without ties pwilcox();
 * with ties the distribution of the midranks' sum over all choices of m of them (Streitberg and
 * Roehmel, 1986). Both are exact up to 50 values a side; above that the normal distribution, with
 * correction for ties and continuity. 0 or -ENOMEM.
 */
int rank_sum_test(const double *x, size_t m, const double *y, size_t n, double *p);

/* Wilcoxon's signed-rank test of differences, likewise: zeros are left out, as Wilcoxon did. */
int signed_rank_test(const double *differences, size_t n, double *p);

/* The smallest p that so many values can give, and how many a side (pairs) it takes for one of p.
 */
double rank_sum_smallest_p(size_t m, size_t n);
double signed_rank_smallest_p(size_t n);
size_t rank_sum_least(double p);
size_t signed_rank_least(double p);

/*
 * The interval for the shift from x to y is from the k-th smallest to the k-th largest
 * of the m * n differences (pairs: of the n (n + 1) / 2 Walsh averages). Returns k, 0 when so few
 * values have no interval of that level; *level is what it covers: 1 - alpha or more.
 */
size_t rank_sum_depth(size_t m, size_t n, double alpha, double *level);
size_t signed_rank_depth(size_t n, double alpha, double *level);

/*
 * How many values a side show a difference with a power of 0.8, given the variances of both sides:
 * the normal formula over 0.955, the tests' efficiency under normality (section 4.5 there).
 * 0: it cannot be said, or more than a million.
 */
size_t rank_needed(double difference, double variance, double alpha);

/* Quantile of the standard normal distribution, and its distribution function. */
double normal_quantile(double p);
double normal_below(double z);

#endif
