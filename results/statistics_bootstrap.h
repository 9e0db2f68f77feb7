/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shift between two sets of values, and its bootstrap interval. Without libRmath
 * (lib/features.h) there is no interval.
 */
#ifndef SHOOTDOWN_STATISTICS_BOOTSTRAP_H
#define SHOOTDOWN_STATISTICS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64; any state will do, and the same one gives the same numbers. */
uint64_t random_next(uint64_t *state);
/* From 0 on, below 1. */
double random_unit(uint64_t *state);

/*
 * Hodges and Lehmann's estimate: the median of the m * n differences y - x. Both are
 * ascending. Found by bisection, to the 16th digit of the range, in (m + n) steps each.
 */
double shift_of(const double *x, size_t m, const double *y, size_t n);

/*
 * Bootstrap interval of shift_of(), bias-corrected and accelerated: Efron, JASA 82 (1987), 171;
 * the acceleration of two samples as in Davison and Hinkley, Bootstrap Methods and their
 * Application, section 5.3.2 (Multiple samples), with jackknife influence values. x and y are
 * resampled each on its own. 0; -ENOMEM; -EDOM when all resamples are on one side.
 */
int shift_bootstrap(const double *x, size_t m, const double *y, size_t n, double alpha,
		    size_t draws, uint64_t seed, double *low, double *high);

#endif
