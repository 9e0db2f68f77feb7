// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fits time = a[test] x flushes + b x IPIs by weighted least squares. For a given b the
 * best a of each test follows by itself, so b is the only unknown left: with w = 1/t,
 * u = w x flushes and v = w x IPIs, minimise the sum of (1 - a u - b v)^2.
 */
#include "cost_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct reference_metric *find_metric(const struct reference_platform *platform,
						  const char *name)
{
	for (size_t i = 0; i < platform->metric_count; i++)
		if (!strcmp(platform->metrics[i].name, name))
			return &platform->metrics[i];
	return NULL;
}

double published_time_ms(const struct reference_test *test,
			 const struct reference_platform *platform, size_t arm)
{
	const struct reference_metric *time = find_metric(platform, "time_ms");
	const struct reference_metric *rate = find_metric(platform, "pages_per_s");
	double pages = json_number_value(json_object_get(test->parameters, test->scaled));

	if (time)
		return time->values[arm];
	return rate && rate->values[arm] > 0 ? pages / rate->values[arm] * 1e3 : NAN;
}

/* CPUs that a flush of the baseline interrupts: all but those that run the task. */
static double interrupted_cpus(const struct reference_test *test, unsigned int cpus)
{
	return cpus - (double)test->active_cpus;
}

/* One test's rows, as sums for the fit; false when it has none. */
struct sums {
	double uu, uv, vv, u1, v1;
	size_t rows;
};

static bool sum_test(const struct reference *reference, const struct reference_test *test,
		     unsigned int cpus, struct sums *sums)
{
	const struct reference_platform *platform = reference_find_platform(test, cpus);
	const struct reference_metric *ipis = platform ? find_metric(platform, "remote_ipis")
						       : NULL;
	double flushes;

	*sums = (struct sums){ 0 };
	if (!ipis)
		return false;
	flushes = ipis->values[0] / interrupted_cpus(test, cpus);
	for (size_t arm = 0; arm < reference->arm_count; arm++) {
		double time_ms = published_time_ms(test, platform, arm);
		double u = flushes / time_ms, v = ipis->values[arm] / time_ms;

		if (isnan(time_ms))
			continue;
		sums->uu += u * u;
		sums->uv += u * v;
		sums->vv += v * v;
		sums->u1 += u;
		sums->v1 += v;
		sums->rows++;
	}
	return sums->rows >= 2;
}

/* b from what is left of v after each test's u was taken out of it (normal equations). */
static int fit_ipi(const struct reference *reference, unsigned int cpus, struct cost_model *model)
{
	double up = 0, down = 0;

	for (size_t i = 0; i < reference->test_count; i++) {
		struct sums sums;

		if (!sum_test(reference, &reference->tests[i], cpus, &sums))
			continue;
		up += sums.v1 - sums.uv * sums.u1 / sums.uu;
		down += sums.vv - sums.uv * sums.uv / sums.uu;
		model->rows += sums.rows;
	}
	if (!(down > 0))
		return -ENOENT;
	model->ipi_ns = up / down * 1e6;
	return 0;
}

static void fit_flushes(const struct reference *reference, unsigned int cpus,
			struct cost_model *model)
{
	for (size_t i = 0; i < reference->test_count; i++) {
		struct sums sums;

		model->flush_ms[i] = NAN;
		if (sum_test(reference, &reference->tests[i], cpus, &sums))
			model->flush_ms[i] = (sums.u1 - model->ipi_ns / 1e6 * sums.uv) / sums.uu;
	}
}

static void measure_error(const struct reference *reference, unsigned int cpus,
			  struct cost_model *model)
{
	for (size_t i = 0; i < reference->test_count; i++) {
		const struct reference_test *test = &reference->tests[i];
		const struct reference_platform *platform = reference_find_platform(test, cpus);
		const struct reference_metric *ipis = platform
							      ? find_metric(platform, "remote_ipis")
							      : NULL;

		for (size_t arm = 0; ipis && arm < reference->arm_count; arm++) {
			double time_ms = published_time_ms(test, platform, arm);
			double flushes = cost_model_flushes(model, test, 1);
			double error =
				fabs(cost_model_time_ms(model, test, flushes, ipis->values[arm]) /
					     time_ms -
				     1);

			if (error > model->worst_error)
				model->worst_error = error;
			model->platform = platform->name;
		}
	}
}

int cost_model_fit(const struct reference *reference, unsigned int cpus, struct cost_model *out)
{
	struct cost_model model = { .reference = reference, .cpus = cpus };
	int rc;

	model.flush_ms = calloc(reference->test_count ? reference->test_count : 1, sizeof(double));
	if (!model.flush_ms)
		return -ENOMEM;
	rc = fit_ipi(reference, cpus, &model);
	if (rc) {
		cost_model_release(&model);
		return rc;
	}
	fit_flushes(reference, cpus, &model);
	measure_error(reference, cpus, &model);
	*out = model;
	return 0;
}

void cost_model_release(struct cost_model *model)
{
	free(model->flush_ms);
	model->flush_ms = NULL;
}

double cost_model_flushes(const struct cost_model *model, const struct reference_test *test,
			  double scale)
{
	const struct reference_platform *platform = reference_find_platform(test, model->cpus);
	const struct reference_metric *ipis = platform ? find_metric(platform, "remote_ipis")
						       : NULL;

	return ipis ? scale * ipis->values[0] / interrupted_cpus(test, model->cpus) : NAN;
}

double cost_model_time_ms(const struct cost_model *model, const struct reference_test *test,
			  double flushes, double remote_ipis)
{
	size_t i = test - model->reference->tests;

	return model->flush_ms[i] * flushes + model->ipi_ns / 1e6 * remote_ipis;
}
