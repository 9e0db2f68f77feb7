// SPDX-License-Identifier: GPL-2.0-only
/* Heat maps: a value by CPU, one row a boot. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "plots.h"

/* More cells than that would make the report heavy: then a row is an arm. */
#define CELLS_MAX 4096
/* CPU numbers are sparse at times; a map with this many columns says nothing any more. */
#define COLUMNS_MAX 4096
/* Rows are as high as text, unless there are fewer or more than that. */
#define ROWS_LEAST 4
#define ROWS_HIGH  40

/* Sums by row and CPU, and how many values each has. */
struct sums {
	double *sum;
	unsigned int *count;
	size_t rows, columns;
	bool by_boot;
};

/* The highest CPU number with a value of this metric, plus 1; 0: there is none by CPU. */
static int count_columns(const struct report_runs *runs, size_t point, const char *metric,
			 size_t *columns)
{
	*columns = 0;
	for (size_t i = 0; i < runs->count; i++) {
		const struct loaded_run *run = runs->list[i].run;
		struct report_value *values;
		size_t count;
		int ret = report_run_values(&runs->list[i], point, metric, &values, &count);

		if (ret)
			return ret;
		for (size_t j = 0; j < count; j++)
			for (uint32_t k = 0; k < values[j].sample->by_cpu_count; k++) {
				size_t cpu = run->by_cpu[values[j].sample->by_cpu + k].cpu;

				if (cpu + 1 > *columns)
					*columns = cpu + 1;
			}
		free(values);
	}
	return 0;
}

static int add_run(struct sums *sums, const struct report_run *from, size_t row, size_t point,
		   const char *metric)
{
	struct report_value *values;
	size_t count;
	int ret = report_run_values(from, point, metric, &values, &count);

	if (ret)
		return ret;
	for (size_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < values[i].sample->by_cpu_count; j++) {
			const struct run_cpu_value *value =
				&from->run->by_cpu[values[i].sample->by_cpu + j];
			size_t cell = row * sums->columns + value->cpu;

			sums->sum[cell] += value->value;
			sums->count[cell]++;
		}
	free(values);
	return 0;
}

static int shade(struct plot *plot, const struct sums *sums, const struct compared_metric *metric)
{
	double low = INFINITY, high = -INFINITY, most;
	size_t cells = sums->rows * sums->columns;
	struct plot_axis *axis = &plot->shades.axis;
	enum plot_scale scale;
	int ret;

	plot->shades.values = calloc(cells, sizeof(double));
	if (!plot->shades.values)
		return -ENOMEM;
	plot->shades.rows = sums->rows;
	plot->shades.columns = sums->columns;
	for (size_t i = 0; i < cells; i++) {
		double mean = sums->count[i] ? sums->sum[i] / sums->count[i] : NAN;

		plot->shades.values[i] = mean;
		low = sums->count[i] ? fmin(low, mean) : low;
		high = sums->count[i] ? fmax(high, mean) : high;
	}
	/* From zero on, so that the same shade is the same number in every row. */
	scale = plot_scale_for(fmin(low, 0), high, false);
	ret = plot_axis_set(axis, scale, fmin(low, 0), high, metric->name, metric->unit);
	if (ret)
		return ret;
	most = axis->high - axis->low;
	for (size_t i = 0; i < cells; i++)
		plot->shades.values[i] =
			(plot_position(scale, plot->shades.values[i]) - axis->low) / most;
	for (size_t i = 0; i < axis->tick_count; i++)
		axis->ticks[i].at = (axis->ticks[i].at - axis->low) / most;
	axis->low = 0;
	axis->high = 1;
	return 0;
}

/* Rows from the top: the first arm's first boot. */
static int set_axes(struct plot *plot, const struct comparison *comparison,
		    const struct report_runs *runs, const struct sums *sums)
{
	size_t step = sums->columns / 16 + 1;
	int ret = 0;

	plot->x.label = strdup("CPU");
	plot->x.low = -0.5;
	plot->x.high = (double)sums->columns - 0.5;
	plot->y.low = (double)sums->rows - 0.5;
	plot->y.high = -0.5;
	for (size_t i = 0; !ret && i < sums->columns; i += step)
		ret = plot_axis_tick(&plot->x, (double)i, format_string("%zu", i));
	for (size_t i = 0, boot = 0; !ret && sums->by_boot && i < runs->count; i++) {
		size_t arm = runs->list[i].arm;
		char *name = plot_arm_label(comparison, arm);

		boot = i && runs->list[i - 1].arm == arm ? boot + 1 : 1;
		ret = plot_axis_tick(&plot->y, (double)i,
				     name ? format_string("%s/%zu", name, boot) : NULL);
		free(name);
	}
	for (size_t i = 0; !ret && !sums->by_boot && i < sums->rows; i++)
		ret = plot_axis_tick(&plot->y, (double)i, plot_arm_label(comparison, i));
	return ret || plot->x.label ? ret : -ENOMEM;
}

static int add_plot(const struct comparison *comparison, const struct report_runs *runs,
		    const struct compared_metric *metric, const struct sums *sums,
		    struct plot_list *plots)
{
	struct plot *plot = plot_new(plots);
	size_t rows = sums->rows < ROWS_HIGH ? sums->rows : ROWS_HIGH;
	int ret;

	if (!plot)
		return -ENOMEM;
	if (rows < ROWS_LEAST)
		rows = ROWS_LEAST;
	plot->width = 920;
	plot->height = 90 + 18 * (unsigned int)rows;
	plot->title = format_string("%s: by CPU", metric->name);
	plot->description = format_string(
		"Heat map of %s on CPUs 0 to %zu, %zu rows. The numbers are in the embedded data.",
		metric->name, sums->columns - 1, sums->rows);
	/* what a CPU does is the stressor's to say: here it makes calls, there it has a neighbour
	 */
	plot->caption = sums->by_boot
				? format_string("Mean of the repetitions on each CPU, a row a %s.",
						comparison_unit(comparison))
				: strdup("Mean of the repetitions on each CPU, a row an arm.");
	ret = plot->title && plot->description && plot->caption ? 0 : -ENOMEM;
	if (!ret)
		ret = shade(plot, sums, metric);
	if (!ret)
		ret = set_axes(plot, comparison, runs, sums);
	return ret;
}

int plots_add_heat(const struct comparison *comparison, const struct report_runs *runs,
		   size_t point, const struct compared_metric *metric, struct plot_list *plots)
{
	struct sums sums = { 0 };
	int ret = count_columns(runs, point, metric->name, &sums.columns);

	if (ret || sums.columns < 2 || sums.columns > COLUMNS_MAX)
		return ret;
	sums.by_boot = sums.columns * runs->count <= CELLS_MAX;
	sums.rows = sums.by_boot ? runs->count : comparison->arm_count;
	sums.sum = calloc(sums.rows * sums.columns, sizeof(*sums.sum));
	sums.count = calloc(sums.rows * sums.columns, sizeof(*sums.count));
	ret = sums.sum && sums.count ? 0 : -ENOMEM;
	for (size_t i = 0; !ret && i < runs->count; i++)
		ret = add_run(&sums, &runs->list[i], sums.by_boot ? i : runs->list[i].arm, point,
			      metric->name);
	if (!ret)
		ret = add_plot(comparison, runs, metric, &sums, plots);
	free(sums.count);
	free(sums.sum);
	return ret;
}
