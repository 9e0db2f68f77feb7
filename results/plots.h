/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one plot model: what a report's figures show, computed and laid out on
 * axes, so that a renderer only draws. Positions on an axis are linear: where a
 * scale is logarithmic, values and ticks were transformed here.
 */
#ifndef SHOOTDOWN_PLOTS_H
#define SHOOTDOWN_PLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "report_runs.h"

struct plot_tick {
	double at;
	char *label;
};

struct plot_axis {
	char *label;
	double low, high;
	struct plot_tick *ticks; /* none: the axis is not drawn */
	size_t tick_count;
};

enum plot_style {
	PLOT_POINTS,
	PLOT_LINE,	/* points that are joined */
	PLOT_LEVEL,	/* joined, without points */
	PLOT_INTERVAL,	/* a mark at y, a bar from low to high (in y) */
	PLOT_PREDICTED, /* joined, without points, dashed */
};

struct plot_datum {
	double x, y, low, high;
};

struct plot_series {
	size_t arm; /* its colour and mark; not used for PLOT_PREDICTED */
	enum plot_style style;
	struct plot_datum *data;
	size_t count;
};

/* Rows of shaded cells; cell (column, row) is centred at x = column, y = row. */
struct plot_shades {
	double *values; /* row by row; 0 to 1 by shade_axis, NAN: not measured */
	size_t columns, rows;
	struct plot_axis axis; /* of the colours, from 0 to 1 */
};

struct plot {
	char *title;	   /* short: the metric */
	char *description; /* what a reader hears who cannot see it */
	char *caption;	   /* what it shows and how; under the figure */
	struct plot_axis x, y;
	struct plot_series *series;
	size_t series_count;
	struct plot_shades shades; /* rows 0: no heat map */
	unsigned int width, height;
};

struct plot_list {
	struct plot *list;
	size_t count;
};

/*
 * The figures of one point: for each primary metric that is not the same
 * everywhere every boot and repetition with the interval and the prediction,
 * and the values in the order they were measured; heat maps of values by CPU.
 */
int plots_of_point(const struct comparison *comparison, const struct report_runs *runs,
		   size_t point, struct plot_list *plots);

/* Curves over each numeric parameter that has several values. */
int plots_of_sweeps(const struct comparison *comparison, struct plot_list *plots);

/* What an arm is called where there is little room: its name when short, else "arm 2". */
char *plot_arm_label(const struct comparison *comparison, size_t arm);

void plots_free(struct plot_list *plots);

/* For plots*.c. */

/* Where values go on an axis. */
enum plot_scale {
	SCALE_LINEAR,
	SCALE_LOG,
	SCALE_LOG_ZERO, /* asinh: as logarithmic from about 10 on, with a place for zero */
};

/* The scale that shows values between low and high; log: where it can be logarithmic. */
enum plot_scale plot_scale_for(double low, double high, bool log);
double plot_position(enum plot_scale scale, double value);

/* Sets the axis up for values between low and high. label is copied. */
int plot_axis_set(struct plot_axis *axis, enum plot_scale scale, double low, double high,
		  const char *label, const char *unit);
/* One more tick at a position. label is taken over. */
int plot_axis_tick(struct plot_axis *axis, double at, char *label);

/* A new series at the end of the plot; NULL: no memory. */
struct plot_series *plot_series_new(struct plot *plot, size_t arm, enum plot_style style,
				    size_t room);
/* A new plot at the end of the list; NULL: no memory. */
struct plot *plot_new(struct plot_list *plots);

/* plots_heat.c */
int plots_add_heat(const struct comparison *comparison, const struct report_runs *runs,
		   size_t point, const struct compared_metric *metric, struct plot_list *plots);

#endif
