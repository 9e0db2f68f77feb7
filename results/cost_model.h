/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cost model of a platform, from its published rows alone:
 *
 *     time = a[test] x flushes + b x remote IPIs
 *
 * a[test] is what goes with one flush of that test: the flush itself and the work it
 * ends (a page written to zram, 512 pages copied); b is what one more interrupted
 * CPU costs, the same for all tests of a platform. Flushes are not published: they
 * are the baseline's IPIs divided by the CPUs that each flush interrupts, and both
 * arms make the same. Least squares over relative errors, so that a test of 3 s does
 * not drown one of 0.3 s. A model, not a measurement.
 */
#ifndef SHOOTDOWN_COST_MODEL_H
#define SHOOTDOWN_COST_MODEL_H

#include <stddef.h>

#include "reference.h"

struct cost_model {
	const struct reference *reference; /* borrowed */
	unsigned int cpus;		   /* of the platform */
	const char *platform;		   /* its name, borrowed */
	double *flush_ms;		   /* a, by test of the reference; NAN: not published */
	double ipi_ns;			   /* b */
	double worst_error;		   /* the largest |modelled / published - 1| of its rows */
	size_t rows;			   /* published times that it was fitted to */
};

/*
 * Fits the platform of this many CPUs. -ENOENT when nothing was published for it or
 * its rows do not determine the model. The caller frees with cost_model_release().
 */
int cost_model_fit(const struct reference *reference, unsigned int cpus, struct cost_model *model);
void cost_model_release(struct cost_model *model);

/*
 * The published time in ms of a test and arm on a platform, also where pages a second
 * were published; NAN when there is none.
 */
double published_time_ms(const struct reference_test *test,
			 const struct reference_platform *platform, size_t arm);

/*
 * The flushes of the posting for as many pages as a run of the test at this part of its
 * size has. a goes with the pages that a flush of the posting ended, so it must not be
 * multiplied with the flushes of another kernel, which may divide the same pages
 * otherwise (test 2: 31 pages a flush with one kind of LRU, 58 with the other, 44
 * published). NAN: not published.
 */
double cost_model_flushes(const struct cost_model *model, const struct reference_test *test,
			  double scale);

/* The modelled time in ms of a test with these counts; NAN when the test has no a. */
double cost_model_time_ms(const struct cost_model *model, const struct reference_test *test,
			  double flushes, double remote_ipis);

#endif
