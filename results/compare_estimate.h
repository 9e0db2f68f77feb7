/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One arm's boots against the baseline's: estimate, interval, p, and how many
 * boots would do. For compare_verdict.c, which says what follows, and for tests.
 */
#ifndef SHOOTDOWN_COMPARE_ESTIMATE_H
#define SHOOTDOWN_COMPARE_ESTIMATE_H

#include "compare.h"

/* Nothing is known yet. */
void compare_no_estimate(struct compared_value *value);

/*
 * Fills value's test, but for family, p_holm, verdict and basis. Both have boots. The interval of
 * the ratio is the order-statistic one (statistics_rank.h) below COMPARED_BCA_LEAST boots in one
 * of the arms (where BCa covers too little) and above COMPARED_BCA_MOST (where it takes long), for
 * pairs, and where a value is 0; else BCa of the logarithms. 0 or -ENOMEM.
 */
int compare_estimate(const struct compared_value *base, struct compared_value *value, bool paired);

/*
 * Boots in each arm that can give a p of alpha at all, and that would find the difference seen
 * with a power of 0.8 given the variance seen (of logarithms where all values are positive). 0
 * when that is not known, or no more than there are.
 */
unsigned int compare_boots_needed(const struct compared_value *base,
				  const struct compared_value *value, double alpha, bool paired);

/* Fills value's drift. 0 or -ENOMEM. */
int compare_find_drift(struct compared_value *value);

#endif
