// SPDX-License-Identifier: GPL-2.0-only
/* The figures of one point: every boot and repetition, and the order they were measured in. */
#include "plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"

#define ARM_LABEL_MAX 12
/* So many repetitions of a boot are drawn; of more, every second, third.. */
#define DRAWN_MAX 400

/* The values of all boots for one metric, run by run. */
struct gathered {
	struct report_value **values; /* one list a run */
	size_t *counts;
	size_t run_count;
	double low, high; /* of all, the prediction and the intervals included */
	bool differ;
};

static void free_gathered(struct gathered *gathered)
{
	for (size_t i = 0; gathered->values && i < gathered->run_count; i++)
		free(gathered->values[i]);
	free(gathered->values);
	free(gathered->counts);
}

static void widen(struct gathered *gathered, double value)
{
	if (!isfinite(value))
		return;
	gathered->low = fmin(gathered->low, value);
	gathered->high = fmax(gathered->high, value);
}

/*
 * The interval of the arm's ratio to the baseline, put where it can be seen: times
 * the baseline's median boot. NAN in low where there is none.
 */
static struct plot_datum interval_of(const struct compared_metric *metric, size_t arm)
{
	const struct compared_test *test = &metric->values[arm].test;
	double base = metric->values[0].by_boot.median;
	struct plot_datum interval = { .y = NAN, .low = NAN, .high = NAN };

	if (arm && test->interval.method != INTERVAL_NONE && isfinite(base * test->ratio))
		interval = (struct plot_datum){
			.y = base * test->ratio,
			.low = base * test->interval.low,
			.high = base * test->interval.high,
		};
	return interval;
}

static int gather(const struct comparison *comparison, const struct report_runs *runs, size_t point,
		  const struct compared_metric *metric, struct gathered *gathered)
{
	int ret = 0;

	*gathered = (struct gathered){
		.values = calloc(runs->count + 1, sizeof(*gathered->values)),
		.counts = calloc(runs->count + 1, sizeof(*gathered->counts)),
		.run_count = runs->count,
		.low = INFINITY,
		.high = -INFINITY,
	};
	if (!gathered->values || !gathered->counts)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < runs->count; i++) {
		ret = report_run_values(&runs->list[i], point, metric->name, &gathered->values[i],
					&gathered->counts[i]);
		for (size_t j = 0; !ret && j < gathered->counts[i]; j++)
			widen(gathered, gathered->values[i][j].value);
	}
	gathered->differ = gathered->high > gathered->low;
	widen(gathered, metric->predicted);
	for (size_t i = 0; i < comparison->arm_count; i++) {
		struct plot_datum interval = interval_of(metric, i);

		widen(gathered, interval.low);
		widen(gathered, interval.high);
	}
	return ret;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

char *plot_arm_label(const struct comparison *comparison, size_t arm)
{
	for (size_t i = 0; i < comparison->arm_count; i++) {
		const char *name = comparison->arms[i].name;

		if (strlen(name) > ARM_LABEL_MAX || !*name || !is_plain(name))
			return format_string("arm %zu", arm + 1);
	}
	return strdup(comparison->arms[arm].name);
}

/* "baseline: 10 values of 2 boots, 61,440 to 61,530. patched: ..." */
static char *describe(const struct comparison *comparison, const struct report_runs *runs,
		      const struct gathered *gathered, const struct compared_metric *metric)
{
	char *text = format_string("%s, %s.", metric->name, metric->unit);

	for (size_t arm = 0; text && arm < comparison->arm_count; arm++) {
		struct gathered range = { .low = INFINITY, .high = -INFINITY };
		size_t boots = 0, count = 0;
		char *low, *high, *longer;

		for (size_t i = 0; i < runs->count; i++) {
			if (runs->list[i].arm != arm || !gathered->counts[i])
				continue;
			boots++;
			count += gathered->counts[i];
			for (size_t j = 0; j < gathered->counts[i]; j++)
				widen(&range, gathered->values[i][j].value);
		}
		low = format_value(count ? range.low : NAN, metric->unit);
		high = format_value(count ? range.high : NAN, metric->unit);
		longer = low && high ? format_string("%s %s: %zu value%s of %zu boot%s, %s to %s.",
						     text, comparison->arms[arm].name, count,
						     count == 1 ? "" : "s", boots,
						     boots == 1 ? "" : "s", low, high)
				     : NULL;
		free(high);
		free(low);
		free(text);
		text = longer;
	}
	return text;
}

/* The boots of an arm stand side by side, each one unit wide, with a place for the interval after
 * them. */
static size_t boots_of(const struct report_runs *runs, size_t arm)
{
	size_t boots = 0;

	for (size_t i = 0; i < runs->count; i++)
		boots += runs->list[i].arm == arm;
	return boots ? boots : 1;
}

static int draw_boot(struct plot *plot, size_t arm, enum plot_scale scale,
		     const struct report_value *values, size_t count, double median, double centre)
{
	size_t step = count / DRAWN_MAX + 1;
	struct plot_series *series = plot_series_new(plot, arm, PLOT_POINTS, count);

	if (!series)
		return -ENOMEM;
	for (size_t i = 0; i < count; i += step)
		series->data[series->count++] = (struct plot_datum){
			.x = centre + 0.56 * ((i + 0.5) / count - 0.5),
			.y = plot_position(scale, values[i].value),
		};
	series = plot_series_new(plot, arm, PLOT_LEVEL, 2);
	if (!series)
		return -ENOMEM;
	series->data[0] = (struct plot_datum){ centre - 0.38, plot_position(scale, median) };
	series->data[1] = (struct plot_datum){ centre + 0.38, plot_position(scale, median) };
	series->count = 2;
	return 0;
}

static int draw_interval(struct plot *plot, size_t arm, enum plot_scale scale,
			 struct plot_datum interval, double x)
{
	struct plot_series *series;

	if (isnan(interval.low))
		return 0;
	series = plot_series_new(plot, arm, PLOT_INTERVAL, 1);
	if (!series)
		return -ENOMEM;
	series->data[series->count++] = (struct plot_datum){
		.x = x,
		.y = plot_position(scale, interval.y),
		.low = plot_position(scale, interval.low),
		.high = isfinite(interval.high) ? plot_position(scale, interval.high)
						: plot->y.high,
	};
	return 0;
}

static int draw_prediction(struct plot *plot, enum plot_scale scale, double predicted)
{
	struct plot_series *series;

	if (isnan(predicted))
		return 0;
	series = plot_series_new(plot, 0, PLOT_PREDICTED, 2);
	if (!series)
		return -ENOMEM;
	series->data[0] = (struct plot_datum){ plot->x.low, plot_position(scale, predicted) };
	series->data[1] = (struct plot_datum){ plot->x.high, plot_position(scale, predicted) };
	series->count = 2;
	return 0;
}

/* The comparison's boots are those of the runs that have a value. */
static int draw_boots(struct plot *plot, const struct report_runs *runs,
		      const struct gathered *gathered, const struct compared_value *value,
		      size_t arm, enum plot_scale scale, double at)
{
	size_t boot = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < runs->count; i++) {
		if (runs->list[i].arm != arm)
			continue;
		if (gathered->counts[i] && boot < value->boot_count)
			ret = draw_boot(plot, arm, scale, gathered->values[i], gathered->counts[i],
					value->boots[boot++].value, at);
		at += 1;
	}
	return ret;
}

static int draw_arms(struct plot *plot, const struct comparison *comparison,
		     const struct report_runs *runs, const struct gathered *gathered,
		     const struct compared_metric *metric, enum plot_scale scale)
{
	double at = 0;
	int ret = 0;

	for (size_t arm = 0; !ret && arm < comparison->arm_count; arm++) {
		double width = (double)boots_of(runs, arm) + 0.6;

		ret = plot_axis_tick(&plot->x, at + width / 2 - 0.1,
				     plot_arm_label(comparison, arm));
		if (!ret)
			ret = draw_boots(plot, runs, gathered, &metric->values[arm], arm, scale,
					 at + 0.5);
		if (!ret)
			ret = draw_interval(plot, arm, scale, interval_of(metric, arm),
					    at + width - 0.35);
		at += width + 0.4;
	}
	plot->x.low = -0.2;
	plot->x.high = at - 0.2;
	return ret;
}

static bool has_intervals(const struct comparison *comparison, const struct compared_metric *metric)
{
	for (size_t i = 0; i < comparison->arm_count; i++)
		if (!isnan(interval_of(metric, i).low))
			return true;
	return false;
}

static int add_distribution(const struct comparison *comparison, const struct report_runs *runs,
			    const struct gathered *gathered, const struct compared_metric *metric,
			    const char *label, struct plot_list *plots)
{
	enum plot_scale scale = plot_scale_for(gathered->low, gathered->high, false);
	struct plot *plot = plot_new(plots);
	int ret;

	if (!plot)
		return -ENOMEM;
	plot->title = format_string("%s: every boot and repetition", label);
	plot->description = describe(comparison, runs, gathered, metric);
	plot->caption = format_string("Marks are repetitions, lines the medians of boots%s%s%s.",
				      has_intervals(comparison, metric)
					      ? ", bars the interval of the ratio times the "
						"baseline's median"
					      : "",
				      isnan(metric->predicted) ? "" : ", dashes the prediction",
				      scale == SCALE_LINEAR ? "" : "; logarithmic scale");
	ret = plot->title && plot->description && plot->caption ? 0 : -ENOMEM;
	if (!ret)
		ret = plot_axis_set(&plot->y, scale, gathered->low, gathered->high, label,
				    metric->unit);
	if (!ret)
		ret = draw_arms(plot, comparison, runs, gathered, metric, scale);
	if (!ret)
		ret = draw_prediction(plot, scale, metric->predicted);
	return ret;
}

static int draw_run(struct plot *plot, size_t arm, enum plot_scale scale,
		    const struct report_value *values, size_t count)
{
	struct plot_series *series = plot_series_new(plot, arm, PLOT_LINE, count);
	size_t step = count / DRAWN_MAX + 1;

	if (!series)
		return -ENOMEM;
	for (size_t i = 0; i < count; i += step)
		series->data[series->count++] = (struct plot_datum){
			.x = values[i].place, .y = plot_position(scale, values[i].value)
		};
	return 0;
}

static int add_order(const struct comparison *comparison, const struct report_runs *runs,
		     const struct gathered *gathered, const struct compared_metric *metric,
		     const char *label, struct plot_list *plots)
{
	enum plot_scale scale = plot_scale_for(gathered->low, gathered->high, false);
	struct plot *plot;
	size_t longest = 0, last = 0;
	int ret;

	for (size_t i = 0; i < runs->count; i++) {
		if (gathered->counts[i] > longest)
			longest = gathered->counts[i];
		for (size_t j = 0; j < gathered->counts[i]; j++)
			if (gathered->values[i][j].place > last)
				last = gathered->values[i][j].place;
	}
	if (longest < 2)
		return 0;
	plot = plot_new(plots);
	if (!plot)
		return -ENOMEM;
	plot->title = format_string("%s: in the order of the run", label);
	plot->description = describe(comparison, runs, gathered, metric);
	plot->caption = format_string("A line a boot; a slope is a drift within the run%s.",
				      scale == SCALE_LINEAR ? "" : "; logarithmic scale");
	ret = plot->title && plot->description && plot->caption ? 0 : -ENOMEM;
	if (!ret)
		ret = plot_axis_set(&plot->y, scale, gathered->low, gathered->high, label,
				    metric->unit);
	plot->x.label = strdup("repetition, in the order of the run");
	plot->x.low = 0.5;
	plot->x.high = (double)last + 0.5;
	for (size_t at = 1; !ret && at <= last; at += last / 10 + 1)
		ret = plot_axis_tick(&plot->x, (double)at, format_string("%zu", at));
	for (size_t i = 0; !ret && i < runs->count; i++)
		ret = draw_run(plot, runs->list[i].arm, scale, gathered->values[i],
			       gathered->counts[i]);
	return ret ? ret : plot->x.label ? 0 : -ENOMEM;
}

static int add_metric(const struct comparison *comparison, const struct report_runs *runs,
		      size_t point, const struct compared_metric *metric, struct plot_list *plots)
{
	char *label = compared_label(comparison, metric);
	struct gathered gathered;
	int ret = gather(comparison, runs, point, metric, &gathered);

	if (!label)
		ret = -ENOMEM;
	if (!ret && gathered.differ) {
		ret = add_distribution(comparison, runs, &gathered, metric, label, plots);
		if (!ret)
			ret = add_order(comparison, runs, &gathered, metric, label, plots);
	}
	free_gathered(&gathered);
	free(label);
	return ret ? ret : plots_add_heat(comparison, runs, point, metric, plots);
}

int plots_of_point(const struct comparison *comparison, const struct report_runs *runs,
		   size_t point, struct plot_list *plots)
{
	const struct compared_point *shown = &comparison->points[point];
	int ret = 0;

	for (size_t i = 0; !ret && i < shown->metric_count; i++)
		if (shown->metrics[i].primary || !shown->metrics[0].primary)
			ret = add_metric(comparison, runs, point, &shown->metrics[i], plots);
	return ret;
}
