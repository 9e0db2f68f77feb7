// SPDX-License-Identifier: GPL-2.0-only
/* Scales and ticks of figures, and the lists of the plot model. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "format.h"
#include "plots.h"

/* From this ratio on a linear axis hides the smaller values. */
#define LOG_RATIO 20.0

enum plot_scale plot_scale_for(double low, double high, bool log)
{
	if (low < 0 || (!log && high <= LOG_RATIO * (low > 0 ? low : 1)))
		return SCALE_LINEAR;
	return low > 0 ? SCALE_LOG : SCALE_LOG_ZERO;
}

double plot_position(enum plot_scale scale, double value)
{
	if (scale == SCALE_LOG)
		return log10(value);
	return scale == SCALE_LOG_ZERO ? asinh(value) / M_LN10 : value;
}

int plot_axis_tick(struct plot_axis *axis, double at, char *label)
{
	struct plot_tick *ticks =
		label ? reallocarray(axis->ticks, axis->tick_count + 1, sizeof(*ticks)) : NULL;

	if (!ticks) {
		free(label);
		return -ENOMEM;
	}
	axis->ticks = ticks;
	ticks[axis->tick_count++] = (struct plot_tick){ at, label };
	return 0;
}

/* 61440 -> "61.4k": at most four signs and a letter. */
static char *short_number(double value)
{
	static const char letters[] = { '\0', 'k', 'M', 'G', 'T', 'P' };
	size_t letter = 0;
	double size = fabs(value);

	while (size >= 1000 && letter + 1 < sizeof(letters)) {
		size /= 1000;
		value /= 1000;
		letter++;
	}
	if (letters[letter])
		return format_string("%.4g%c", value, letters[letter]);
	return format_string("%.4g", value);
}

/* The largest of 1, 2, 5 times a power of ten that makes at least four steps of range. */
static double nice_step(double range)
{
	static const double factors[] = { 5, 2 };
	double rough = range / 4;
	double power = pow(10, floor(log10(rough)));

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (rough >= factors[i] * power)
			return factors[i] * power;
	return power;
}

static int set_linear(struct plot_axis *axis, double low, double high)
{
	double range = high - low, step;
	int ret = 0;

	/* Values that hardly differ are not blown up to the whole height. */
	if (range < fabs(high) * 0.02)
		range = fabs(high) * 0.02;
	if (range == 0)
		range = 1;
	step = nice_step(range);
	axis->low = (floor(low / step) - (low == high)) * step;
	axis->high = (ceil(high / step) + (low == high)) * step;
	if (low >= 0 && (axis->low < 0 || low < high / 2))
		axis->low = 0;
	step = nice_step(axis->high - axis->low);
	for (double at = ceil(axis->low / step) * step; !ret && at <= axis->high + step / 1e6;
	     at += step)
		ret = plot_axis_tick(axis, at, short_number(fabs(at) < step / 1e6 ? 0 : at));
	axis->high += (axis->high - axis->low) * 0.04;
	return ret;
}

/* A tick at each power of ten, or every second or third; between few of them at 2 and 5 too. */
static int set_log(struct plot_axis *axis, enum plot_scale scale, double low, double high)
{
	static const double factors[] = { 1, 2, 5 };
	/* Next to zero there is no room for a one, unless there is little else. */
	int first = scale == SCALE_LOG ? (int)floor(log10(low)) : high > 1000;
	int last = (int)ceil(log10(high > 1 || scale == SCALE_LOG ? high : 1));
	int step = (last - first) / 6 + 1;
	size_t each = last - first <= (scale == SCALE_LOG ? 3 : 2) ? 3 : 1;
	int ret = 0;

	axis->low = plot_position(scale, low);
	axis->high = plot_position(scale, high);
	if (scale == SCALE_LOG_ZERO)
		ret = plot_axis_tick(axis, 0, strdup("0"));
	axis->high += (axis->high - axis->low) * 0.06 + 0.02;
	axis->low -= scale == SCALE_LOG ? (axis->high - axis->low) * 0.06 : 0;
	for (int power = first; !ret && power <= last; power += step)
		for (size_t i = 0; !ret && i < each; i++) {
			double value = factors[i] * pow(10, power);
			double at = plot_position(scale, value);

			if (at >= axis->low && at <= axis->high)
				ret = plot_axis_tick(axis, at, short_number(value));
		}
	return ret;
}

/* "time_ms (emulated)" names "ms", "flushes" names "flushes". */
static bool names_unit(const char *label, const char *unit)
{
	size_t length = strcspn(label, " "), of_unit = strlen(unit);

	return length >= of_unit && !strncmp(label + length - of_unit, unit, of_unit) &&
	       (length == of_unit || label[length - of_unit - 1] == '_');
}

int plot_axis_set(struct plot_axis *axis, enum plot_scale scale, double low, double high,
		  const char *label, const char *unit)
{
	axis->label = *unit && !names_unit(label, unit) ? format_string("%s, %s", label, unit)
							: strdup(label);
	if (!axis->label)
		return -ENOMEM;
	return scale == SCALE_LINEAR ? set_linear(axis, low, high)
				     : set_log(axis, scale, low, high);
}

struct plot *plot_new(struct plot_list *plots)
{
	struct plot *list = reallocarray(plots->list, plots->count + 1, sizeof(*list));

	if (!list)
		return NULL;
	plots->list = list;
	list[plots->count] = (struct plot){ .width = 450, .height = 300 };
	return &list[plots->count++];
}

struct plot_series *plot_series_new(struct plot *plot, size_t arm, enum plot_style style,
				    size_t room)
{
	struct plot_series *list = reallocarray(plot->series, plot->series_count + 1,
						sizeof(*list));
	struct plot_datum *data = calloc(room ? room : 1, sizeof(*data));

	if (list)
		plot->series = list;
	if (!list || !data) {
		free(data);
		return NULL;
	}
	list[plot->series_count] = (struct plot_series){ .arm = arm, .style = style, .data = data };
	return &list[plot->series_count++];
}

static void free_axis(struct plot_axis *axis)
{
	for (size_t i = 0; i < axis->tick_count; i++)
		free(axis->ticks[i].label);
	free(axis->ticks);
	free(axis->label);
}

void plots_free(struct plot_list *plots)
{
	for (size_t i = 0; i < plots->count; i++) {
		struct plot *plot = &plots->list[i];

		for (size_t j = 0; j < plot->series_count; j++)
			free(plot->series[j].data);
		free(plot->series);
		free(plot->shades.values);
		free_axis(&plot->shades.axis);
		free_axis(&plot->x);
		free_axis(&plot->y);
		free(plot->title);
		free(plot->description);
		free(plot->caption);
	}
	free(plots->list);
	*plots = (struct plot_list){ 0 };
}
