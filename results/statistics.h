/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of a handful of samples. They are always computed from raw
 * samples and never read from a file.
 *
 * Sources: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.5.1
 * (mean, median) and 1.3.5.6 (standard deviation).
 */
#ifndef SHOOTDOWN_STATISTICS_H
#define SHOOTDOWN_STATISTICS_H

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

/* value / baseline - 1; NAN when the baseline is 0 or one of them is no number. */
double change_ratio(double baseline, double value);

#endif
