// SPDX-License-Identifier: GPL-2.0-only
/*
 * The noise floor: what arms of one kernel show against each other. It is the largest
 * difference that the A/A's own interval does not exclude, in the metric's unit; where the
 * A/A has too few boots for an interval, the largest difference of any two of its boots.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "compare_private.h"

static const struct compared_point *find_point(const struct comparison *noise,
					       const struct compared_point *point)
{
	for (size_t i = 0; i < noise->point_count; i++)
		if (!strcmp(noise->points[i].stressor, point->stressor) &&
		    json_equal(noise->points[i].parameters, point->parameters))
			return &noise->points[i];
	return NULL;
}

static double range_of_boots(const struct compared_value *one, const struct compared_value *other)
{
	double range = NAN;

	for (size_t i = 0; i < one->boot_count; i++)
		for (size_t j = 0; j < other->boot_count; j++)
			range = fmax(range, fabs(one->boots[i].value - other->boots[j].value));
	return range;
}

static double floor_of(const struct comparison *noise, const struct compared_metric *metric)
{
	double floor = NAN;

	/* fmax() takes the number where the other is none. */
	for (size_t i = 1; i < noise->arm_count; i++) {
		const struct compared_test *test = &metric->values[i].test;

		if (isnan(test->difference_low))
			floor = fmax(floor, range_of_boots(&metric->values[0], &metric->values[i]));
		else
			floor = fmax(floor,
				     fmax(fabs(test->difference_low), fabs(test->difference_high)));
	}
	return floor;
}

static void apply(struct compared_metric *metric, size_t arm_count, double floor)
{
	for (size_t i = 1; i < arm_count; i++) {
		struct compared_test *test = &metric->values[i].test;

		test->noise = floor;
		if (compared_differs(test->verdict) && fabs(test->difference) <= floor)
			test->verdict = COMPARED_NOISE;
	}
}

static int check_kernels(const struct comparison *noise, struct log *log)
{
	const struct compared_arm *first = &noise->arms[0];

	if (noise->arm_count < 2) {
		log_error(log,
			  "--noise-floor: %s is one arm; give the folder of an A/A "
			  "(shootdown lab ab --aa), or two folders of runs of one kernel",
			  first->folder);
		return -EINVAL;
	}
	for (size_t i = 1; i < noise->arm_count; i++) {
		const struct compared_arm *arm = &noise->arms[i];

		if (first->kernel && arm->kernel && !strcmp(first->kernel, arm->kernel) &&
		    !strcmp(first->kernel_version, arm->kernel_version))
			continue;
		log_error(
			log,
			"--noise-floor: %s and %s did not run the same kernel, so their difference "
			"is not noise; give the folder of an A/A (shootdown lab ab --aa)",
			first->folder, arm->folder);
		return -EINVAL;
	}
	return 0;
}

static int note_missing(struct comparison *comparison, const struct compared_point *point)
{
	char *name = compare_point_text(comparison, point, false);
	int ret = -ENOMEM;

	if (name)
		ret = compare_add_text(&comparison->notes, &comparison->note_count,
				       format_string("the noise floor has no point %s: that one is "
						     "judged without it",
						     name));
	free(name);
	return ret;
}

int compare_apply_noise(struct comparison *comparison, const struct comparison *noise,
			const char *source, struct log *log)
{
	int ret = check_kernels(noise, log);

	if (ret)
		return ret;
	for (size_t i = 0; i < comparison->point_count; i++) {
		struct compared_point *point = &comparison->points[i];
		const struct compared_point *same = find_point(noise, point);

		if (!same)
			ret = note_missing(comparison, point);
		if (ret)
			return ret;
		for (size_t j = 0; same && j < point->metric_count; j++) {
			const struct compared_metric *metric =
				comparison_metric(same, point->metrics[j].name);

			if (metric)
				apply(&point->metrics[j], comparison->arm_count,
				      floor_of(noise, metric));
		}
	}
	comparison->noise_source = format_string("%s: %s, %u and %u boots", source,
						 noise->arms[0].kernel_version,
						 noise->arms[0].boots, noise->arms[1].boots);
	return comparison->noise_source ? 0 : -ENOMEM;
}
