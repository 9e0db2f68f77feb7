// SPDX-License-Identifier: GPL-2.0-only
/* The cost model: a platform whose costs are known is recovered, and the published ones make sense.
 */
#include "quiet.h"

#include <errno.h>
#include <math.h>

#include "../../results/cost_model.h"

/* Two tests on 11 CPUs at 2 ms and 0.5 ms a flush and 300 ns an IPI. */
static struct reference_metric metrics[2][2] = {
	{ { .name = "remote_ipis", .values = (double[]){ 10000, 100 } },
	  { .name = "time_ms", .values = (double[]){ 2003, 2000.03 } } },
	{ { .name = "remote_ipis", .values = (double[]){ 400000, 5000 } },
	  { .name = "time_ms", .values = (double[]){ 20120, 20001.5 } } },
};
static struct reference_platform platforms[2] = {
	{ .name = "made up", .cpus = 11, .metrics = metrics[0], .metric_count = 2 },
	{ .name = "made up", .cpus = 11, .metrics = metrics[1], .metric_count = 2 },
};
static struct reference_test tests[2] = {
	{ .test = "1", .active_cpus = 1, .platforms = &platforms[0], .platform_count = 1 },
	{ .test = "2", .active_cpus = 1, .platforms = &platforms[1], .platform_count = 1 },
};
static const char *arms[] = { "baseline", "patched" };
static struct reference made_up = { .arms = arms, .arm_count = 2, .tests = tests, .test_count = 2 };

START_TEST(known_costs_are_recovered)
{
	struct cost_model model;

	ck_assert_int_eq(cost_model_fit(&made_up, 11, &model), 0);
	ck_assert_double_eq_tol(model.ipi_ns, 300, 0.001);
	ck_assert_double_eq_tol(model.flush_ms[0], 2, 1e-6);
	ck_assert_double_eq_tol(model.flush_ms[1], 0.5, 1e-6);
	ck_assert_double_lt(model.worst_error, 1e-9);
	ck_assert_uint_eq(model.rows, 4);
	ck_assert_double_eq_tol(cost_model_time_ms(&model, &tests[0], 1000, 20000), 2006, 1e-6);
	/* 10,000 IPIs to 10 CPUs, half of them at half the size, however many flushes a kernel
	 * makes */
	ck_assert_double_eq_tol(cost_model_flushes(&model, &tests[0], 0.5), 500, 1e-9);
	cost_model_release(&model);
	ck_assert_int_eq(cost_model_fit(&made_up, 12, &model), -ENOENT);
}
END_TEST

/* Fits are 29 to 243 ns an IPI: many CPUs are interrupted at once, so it is less than one alone
 * takes. */
START_TEST(published_platforms_can_be_fitted)
{
	static const unsigned int cpus[] = { 112, 384, 512 };
	struct reference *reference;

	ck_assert_int_eq(reference_load("batched-stale-cpus", quiet_log(), &reference), 0);
	for (int i = 0; i < 3; i++) {
		struct cost_model model;

		ck_assert_int_eq(cost_model_fit(reference, cpus[i], &model), 0);
		ck_assert_double_gt(model.ipi_ns, 10);
		ck_assert_double_lt(model.ipi_ns, 3000);
		ck_assert_double_lt(model.worst_error, 0.25);
		ck_assert_uint_eq(model.rows, cpus[i] == 512 ? 8 : 6);
		cost_model_release(&model);
	}
	/* 656,940 pages at 386,385 pages a second */
	ck_assert_double_eq_tol(
		published_time_ms(reference_find_test(reference, "4"),
				  reference_find_platform(reference_find_test(reference, "4"), 112),
				  0),
		1700.22, 0.01);
	reference_free(reference);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("cost model");

	tcase_add_test(cases, known_costs_are_recovered);
	tcase_add_test(cases, published_platforms_can_be_fitted);
	return run_suite("cost model", cases);
}
