/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What describes a handful of samples: mean, median, spread, outliers, a trend.
 * Always computed from raw samples, never read from a file. Tests of
 * difference and intervals are in statistics_rank.h and statistics_bootstrap.h.
 *
 * Sources: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.5.1
 * (mean, median), 1.3.5.6 (standard deviation), 1.3.5.17 (outliers).
 */
#ifndef SHOOTDOWN_STATISTICS_H
#define SHOOTDOWN_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

struct statistics {
	size_t n;
	double mean;   /* sum(x) / n; NAN for n = 0 */
	double median; /* middle of the sorted samples, for even n the mean of the two middle ones
			*/
	double stddev; /* sqrt(sum((x - mean)^2) / (n - 1)); NAN for n < 2 */
};

/* samples is left as it is. 0 or -ENOMEM. */
int statistics_of(const double *samples, size_t n, struct statistics *statistics);

/* For qsort(). */
int statistics_ascending(const void *one, const void *other);

/* value / baseline - 1; NAN when the baseline is 0 or one of them is no number. */
double change_ratio(double baseline, double value);

/* Fewer samples than these have no outliers. */
#define OUTLIERS_LEAST 5

/*
 * Marks samples whose modified z-score exceeds 3.5: 0.6745 |x - median| / MAD, MAD being the
 * median of |x - median| (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993).
 * Where more than half are equal and the MAD is 0: |x - median| / (1.253314 mean of |x - median|).
 * What differs from the median by less than a thousandth of it is none.
 * outlier has room for n. 0 or -ENOMEM.
 */
int statistics_outliers(const double *samples, size_t n, bool *outlier);

struct trend {
	double tau; /* Kendall's: 1 rises always, -1 falls always; NAN: undefined */
	double p;   /* two-sided; NAN: too few samples to say */
};

/*
 * Mann-Kendall: does the value rise or fall with the order? groups are separate series of
 * counts[i] values, one after the other in values, which share no level: only pairs within one
 * count, and their scores and variances are added (Hirsch, Slack and Smith, Water Resources
 * Research 18(1), 1982). One group of up to 50 values without ties: the exact distribution;
 * else the normal one, with correction for ties and continuity (Kendall, Rank Correlation
 * Methods, 1975, chapter 4), from 10 values on. 0 or -ENOMEM.
 */
int statistics_trend(const double *values, const size_t *counts, size_t groups,
		     struct trend *trend);

#endif
