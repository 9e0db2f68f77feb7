// SPDX-License-Identifier: GPL-2.0-only
/* Scaling curves: a metric over a numeric parameter that has several values in the plan. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"
#include "plots.h"

/* A grid of parameters has a curve for each value of the others; so many are drawn for one. */
#define CURVES_MAX 6

/* Points that differ in one parameter only, in the order of its values. */
struct sweep {
	const struct comparison *comparison;
	const char *parameter;
	size_t *points;
	size_t count;
};

static double parameter_of(const struct sweep *sweep, size_t at)
{
	const struct compared_point *point = &sweep->comparison->points[sweep->points[at]];

	return json_number_value(json_object_get(point->parameters, sweep->parameter));
}

/* Are these points of one curve over the parameter? */
static bool same_but(const struct compared_point *one, const struct compared_point *other,
		     const char *parameter)
{
	const char *key;
	json_t *value;

	if (strcmp(one->stressor, other->stressor) ||
	    json_object_size(one->parameters) != json_object_size(other->parameters) ||
	    !json_is_number(json_object_get(other->parameters, parameter)))
		return false;
	json_object_foreach(one->parameters, key, value) {
		bool is_it = !strcmp(key, parameter);

		if (is_it == json_equal(value, json_object_get(other->parameters, key)) &&
		    one != other)
			return false;
	}
	return true;
}

/* The curve that begins with point first; count 0: another point has begun it. */
static int find_sweep(const struct comparison *comparison, size_t first, const char *parameter,
		      struct sweep *sweep)
{
	*sweep = (struct sweep){
		.comparison = comparison,
		.parameter = parameter,
		.points = calloc(comparison->point_count, sizeof(*sweep->points)),
	};
	if (!sweep->points)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->point_count; i++) {
		size_t at = sweep->count;

		if (!same_but(&comparison->points[first], &comparison->points[i], parameter))
			continue;
		if (i < first) {
			sweep->count = 0;
			return 0;
		}
		sweep->points[sweep->count++] = i;
		for (; at && parameter_of(sweep, at - 1) > parameter_of(sweep, at); at--) {
			size_t moved = sweep->points[at];

			sweep->points[at] = sweep->points[at - 1];
			sweep->points[at - 1] = moved;
		}
	}
	return 0;
}

static const struct compared_metric *metric_at(const struct sweep *sweep, size_t at,
					       const char *name)
{
	return comparison_metric(&sweep->comparison->points[sweep->points[at]], name);
}

/* What the axes must hold. */
struct range {
	double low, high;
};

static void widen(struct range *range, double value)
{
	if (!isfinite(value))
		return;
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

static void widen_by_metric(struct range *range, const struct sweep *sweep,
			    const struct compared_metric *metric)
{
	widen(range, metric->predicted);
	for (size_t arm = 0; arm < sweep->comparison->arm_count; arm++)
		for (size_t i = 0; i < metric->values[arm].boot_count; i++)
			widen(range, metric->values[arm].boots[i].value);
}

static int draw_arm(struct plot *plot, const struct sweep *sweep, const char *name, size_t arm,
		    enum plot_scale x_scale, enum plot_scale y_scale)
{
	struct plot_series *series = plot_series_new(plot, arm, PLOT_LINE, sweep->count);
	size_t boots = 0;

	if (!series)
		return -ENOMEM;
	for (size_t i = 0; i < sweep->count; i++) {
		const struct compared_metric *metric = metric_at(sweep, i, name);

		if (!metric || !metric->values[arm].boot_count)
			continue;
		boots += metric->values[arm].boot_count;
		series->data[series->count++] = (struct plot_datum){
			.x = plot_position(x_scale, parameter_of(sweep, i)),
			.y = plot_position(y_scale, metric->values[arm].by_boot.median),
		};
	}
	series = plot_series_new(plot, arm, PLOT_POINTS, boots);
	if (!series)
		return -ENOMEM;
	for (size_t i = 0; i < sweep->count; i++) {
		const struct compared_metric *metric = metric_at(sweep, i, name);

		for (size_t j = 0; metric && j < metric->values[arm].boot_count; j++)
			series->data[series->count++] = (struct plot_datum){
				.x = plot_position(x_scale, parameter_of(sweep, i)),
				.y = plot_position(y_scale, metric->values[arm].boots[j].value),
			};
	}
	return 0;
}

static int draw_prediction(struct plot *plot, const struct sweep *sweep, const char *name,
			   enum plot_scale x_scale, enum plot_scale y_scale)
{
	struct plot_series *series = plot_series_new(plot, 0, PLOT_PREDICTED, sweep->count);

	if (!series)
		return -ENOMEM;
	for (size_t i = 0; i < sweep->count; i++) {
		const struct compared_metric *metric = metric_at(sweep, i, name);

		if (metric && !isnan(metric->predicted))
			series->data[series->count++] = (struct plot_datum){
				.x = plot_position(x_scale, parameter_of(sweep, i)),
				.y = plot_position(y_scale, metric->predicted),
			};
	}
	return 0;
}

/* The values of the sweep are the ticks: they are what was measured. Crowded ones stay without. */
static int set_parameter_axis(struct plot_axis *axis, const struct sweep *sweep,
			      enum plot_scale scale)
{
	double first = plot_position(scale, parameter_of(sweep, 0));
	double last = plot_position(scale, parameter_of(sweep, sweep->count - 1));
	double least = (last - first) / 8, before = first - least;
	int ret = 0;

	axis->label = strdup(sweep->parameter);
	axis->low = first - (last - first) * 0.05;
	axis->high = last + (last - first) * 0.05;
	for (size_t i = 0; !ret && i < sweep->count; i++) {
		double at = plot_position(scale, parameter_of(sweep, i));

		if (at - before < least * 0.999)
			continue;
		before = at;
		ret = plot_axis_tick(axis, at, format_value(parameter_of(sweep, i), ""));
	}
	return ret || axis->label ? ret : -ENOMEM;
}

static char *describe(const struct sweep *sweep, const char *name)
{
	char *text = format_string("%s over %s.", name, sweep->parameter);

	for (size_t arm = 0; text && arm < sweep->comparison->arm_count; arm++) {
		const struct compared_metric *ends[] = { metric_at(sweep, 0, name),
							 metric_at(sweep, sweep->count - 1, name) };
		char *low, *high, *longer;

		low = format_value(ends[0] ? ends[0]->values[arm].by_boot.median : NAN, "");
		high = format_value(ends[1] ? ends[1]->values[arm].by_boot.median : NAN, "");
		longer = low && high ? format_string("%s %s: from %s to %s.", text,
						     sweep->comparison->arms[arm].name, low, high)
				     : NULL;
		free(high);
		free(low);
		free(text);
		text = longer;
	}
	return text;
}

static int add_plot(const struct sweep *sweep, const struct compared_metric *metric,
		    struct plot_list *plots)
{
	const struct comparison *comparison = sweep->comparison;
	struct range y = { INFINITY, -INFINITY };
	enum plot_scale x_scale = parameter_of(sweep, 0) > 0 ? SCALE_LOG : SCALE_LINEAR, y_scale;
	struct plot *plot;
	char *label;
	int ret;

	for (size_t i = 0; i < sweep->count; i++)
		if (metric_at(sweep, i, metric->name))
			widen_by_metric(&y, sweep, metric_at(sweep, i, metric->name));
	if (y.low > y.high)
		return 0;
	plot = plot_new(plots);
	label = compared_label(comparison, metric);
	ret = plot && label ? 0 : -ENOMEM;
	if (ret)
		goto free_label;
	y_scale = plot_scale_for(y.low, y.high, true);
	plot->title = format_string("%s: %s over %s", comparison->points[sweep->points[0]].stressor,
				    label, sweep->parameter);
	plot->description = describe(sweep, metric->name);
	plot->caption = strdup(
		"Marks are boots, the line goes through their medians, dashes are the "
		"prediction; logarithmic scales.");
	ret = plot->title && plot->description && plot->caption ? 0 : -ENOMEM;
	if (!ret)
		ret = plot_axis_set(&plot->y, y_scale, y.low, y.high, label, metric->unit);
	if (!ret)
		ret = set_parameter_axis(&plot->x, sweep, x_scale);
	if (!ret)
		ret = draw_prediction(plot, sweep, metric->name, x_scale, y_scale);
	for (size_t arm = 0; !ret && arm < comparison->arm_count; arm++)
		ret = draw_arm(plot, sweep, metric->name, arm, x_scale, y_scale);
free_label:
	free(label);
	return ret;
}

/* Curves of arms that lie on each other say nothing that the table does not. */
static bool arms_differ(const struct sweep *sweep, const char *name)
{
	for (size_t i = 0; i < sweep->count; i++) {
		const struct compared_metric *metric = metric_at(sweep, i, name);

		for (size_t arm = 1; metric && arm < sweep->comparison->arm_count; arm++)
			if (metric->values[arm].by_boot.median != metric->values[0].by_boot.median)
				return true;
	}
	return false;
}

static int add_sweep(const struct sweep *sweep, struct plot_list *plots)
{
	const struct compared_point *point = &sweep->comparison->points[sweep->points[0]];
	int ret = 0;

	for (size_t i = 0; !ret && i < point->metric_count; i++)
		if ((point->metrics[i].primary || !point->metrics[0].primary) &&
		    arms_differ(sweep, point->metrics[i].name))
			ret = add_plot(sweep, &point->metrics[i], plots);
	return ret;
}

int plots_of_sweeps(const struct comparison *comparison, struct plot_list *plots)
{
	size_t curves = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->point_count; i++) {
		const char *key;
		json_t *value;

		json_object_foreach(comparison->points[i].parameters, key, value) {
			struct sweep sweep = { 0 };

			if (ret || curves >= CURVES_MAX || !json_is_number(value))
				continue;
			ret = find_sweep(comparison, i, key, &sweep);
			if (!ret && sweep.count > 1) {
				curves++;
				ret = add_sweep(&sweep, plots);
			}
			free(sweep.points);
		}
	}
	return ret;
}
