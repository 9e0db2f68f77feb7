// SPDX-License-Identifier: GPL-2.0-only
/* A metric over time: values gathered into series, changes found, both shown. */
#include "trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/fs.h"
#include "format.h"

static bool same_text(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

static bool belongs(const struct trend_series *series, const struct store_value *value)
{
	return series->stressor_version == value->stressor_version && series->cpus == value->cpus &&
	       series->page_bytes == value->page_bytes &&
	       same_text(series->machine, value->machine) && same_text(series->arch, value->arch) &&
	       same_text(series->arm, value->arm) && same_text(series->stressor, value->stressor) &&
	       same_text(series->parameters, value->parameters) &&
	       same_text(series->unit, value->unit);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct trend_series *add_series(struct trend *trend, const struct store_value *value)
{
	struct trend_series *list = reallocarray(trend->series, trend->series_count + 1,
						 sizeof(*list));

	if (!list)
		return NULL;
	trend->series = list;
	list += trend->series_count++;
	*list = (struct trend_series){
		.machine = copy(value->machine),
		.arch = copy(value->arch),
		.arm = copy(value->arm),
		.stressor = copy(value->stressor),
		.parameters = copy(value->parameters),
		.unit = copy(value->unit),
		.better = copy(value->better),
		.stressor_version = value->stressor_version,
		.cpus = value->cpus,
		.page_bytes = value->page_bytes,
	};
	if (list->machine && list->arch && list->stressor && list->parameters && list->unit)
		return list;
	return NULL;
}

static int take_value(void *context, const struct store_value *value)
{
	struct trend *trend = context;
	struct trend_series *series = NULL;
	struct trend_value *values;

	for (size_t i = 0; i < trend->series_count && !series; i++)
		if (belongs(&trend->series[i], value))
			series = &trend->series[i];
	if (!series)
		series = add_series(trend, value);
	if (!series)
		return -ENOMEM;
	values = series->values;
	/* The room is the next power of two. */
	if (!(series->count & (series->count - 1)))
		values = reallocarray(values, series->count ? series->count * 2 : 1,
				      sizeof(*values));
	if (!values)
		return -ENOMEM;
	series->values = values;
	values += series->count;
	*values = (struct trend_value){ .value = value->median, .started_ns = value->started_ns };
	strncpy(values->run, value->run, RUN_ID_LENGTH);
	values->kernel = strdup(value->kernel);
	if (!values->kernel)
		return -ENOMEM;
	series->count++;
	return 0;
}

/* Only the newest limit values. */
static void cut(struct trend_series *series, unsigned int limit)
{
	size_t drop = limit && series->count > limit ? series->count - limit : 0;

	for (size_t i = 0; i < drop; i++)
		free(series->values[i].kernel);
	series->count -= drop;
	memmove(series->values, series->values + drop, series->count * sizeof(*series->values));
}

double trend_change(const struct change_point *point)
{
	if (point->before == 0.0)
		return point->after > 0.0 ? INFINITY : point->after < 0.0 ? -INFINITY : 0.0;
	return (point->after - point->before) / fabs(point->before);
}

const char *trend_word(const struct trend_series *series, const struct change_point *point)
{
	double change = trend_change(point);

	if (change == 0.0 || !series->better)
		return "moved";
	if (!strcmp(series->better, "less"))
		return change < 0.0 ? "better" : "worse";
	if (!strcmp(series->better, "more"))
		return change > 0.0 ? "better" : "worse";
	return "moved";
}

/* Changes that are too small to matter are left out; a change of spread alone is one of them. */
static void drop_small(struct trend_series *series, double least)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->change_count; i++) {
		double change = fabs(trend_change(&series->changes[i]));

		if (change >= least && change > 0.0)
			series->changes[kept++] = series->changes[i];
	}
	series->change_count = kept;
}

static int find_changes(struct trend *trend, struct trend_series *series)
{
	double alpha = trend->alpha / (double)trend->series_count, *values;
	int ret;

	series->too_few = series->count < trend->least_count;
	if (series->too_few)
		return 0;
	values = calloc(series->count, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < series->count; i++)
		values[i] = series->values[i].value;
	ret = change_points(values, series->count, alpha, &series->changes, &series->change_count);
	free(values);
	if (!ret)
		drop_small(series, trend->least_change);
	return ret;
}

int trend_make(struct store *store, const struct trend_request *request, struct log *log,
	       struct trend **out)
{
	struct trend *trend = calloc(1, sizeof(*trend));
	int ret = -ENOMEM;

	if (!trend)
		return ret;
	trend->metric = strdup(request->metric);
	trend->alpha = request->alpha;
	trend->least_change = request->least_change;
	if (trend->metric)
		ret = store_values(store, request->filter, request->metric, take_value, trend);
	if (trend->series_count)
		trend->least_count = change_point_least(trend->alpha / (double)trend->series_count);
	for (size_t i = 0; !ret && i < trend->series_count; i++) {
		cut(&trend->series[i], request->filter->limit);
		log_progress(log, "looking for changes", i, trend->series_count);
		ret = find_changes(trend, &trend->series[i]);
	}
	log_progress_end(log);
	if (ret) {
		if (ret == -ENOMEM)
			log_error(log, "there is not enough memory for the trend");
		trend_free(trend);
		return ret;
	}
	*out = trend;
	return 0;
}

void trend_free(struct trend *trend)
{
	if (!trend)
		return;
	for (size_t i = 0; i < trend->series_count; i++) {
		struct trend_series *series = &trend->series[i];

		for (size_t j = 0; j < series->count; j++)
			free(series->values[j].kernel);
		free(series->values);
		free(series->changes);
		free(series->machine);
		free(series->arch);
		free(series->arm);
		free(series->stressor);
		free(series->parameters);
		free(series->unit);
		free(series->better);
	}
	free(trend->series);
	free(trend->metric);
	free(trend);
}

bool trend_moved(const struct trend *trend)
{
	for (size_t i = 0; i < trend->series_count; i++)
		if (trend->series[i].change_count)
			return true;
	return false;
}

bool trend_cannot_tell(const struct trend *trend)
{
	for (size_t i = 0; i < trend->series_count; i++)
		if (!trend->series[i].too_few)
			return false;
	return true;
}

static void format_time(int64_t ns, char text[32])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;

	if (!ns || !localtime_r(&seconds, &parts) || !strftime(text, 32, "%Y-%m-%d %H:%M", &parts))
		strcpy(text, "-");
}

static const struct change_point *change_at(const struct trend_series *series, size_t at)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].at == at)
			return &series->changes[i];
	return NULL;
}

static void add_change_cell(struct table *table, const struct trend_series *series,
			    const struct change_point *point)
{
	char *change, *before, *after;

	if (!point) {
		table_cell(table, "%s", "");
		return;
	}
	change = isinf(trend_change(point)) ? strdup("from zero")
					    : format_change(trend_change(point));
	before = format_value(point->before, series->unit);
	after = format_value(point->after, series->unit);
	if (change && before && after)
		table_cell(table, "%s: %s -> %s (%s, p = %.4f)", trend_word(series, point), before,
			   after, change, point->p);
	else
		table_take(table, NULL);
	free(after);
	free(before);
	free(change);
}

static void add_verdict(struct table *table, const struct trend *trend,
			const struct trend_series *series)
{
	if (series->too_few)
		table_note(table, "%zu run%s: too few to tell a change from chance, %zu would do",
			   series->count, series->count == 1 ? "" : "s", trend->least_count);
	else if (!series->change_count)
		table_note(table, "no change in %zu runs", series->count);
	else
		table_note(table, "%zu change%s in %zu runs", series->change_count,
			   series->change_count == 1 ? "" : "s", series->count);
}

struct table *trend_table(const struct trend *trend, const struct trend_series *series)
{
	struct table *table = table_new();
	char time[32];

	if (!table)
		return NULL;
	table_head(table, "series", "%s of %s %s", trend->metric, series->stressor,
		   series->parameters);
	table_head(table, "machine", "%s, %s, %lld CPUs%s%s", series->machine, series->arch,
		   (long long)series->cpus, series->arm ? ", arm " : "",
		   series->arm ? series->arm : "");
	table_head(
		table, "method",
		"energy statistic of E-divisive, %d seeded permutations, alpha %g over %zu series",
		CHANGE_POINT_PERMUTATIONS, trend->alpha, trend->series_count);
	table_column(table, TABLE_LEFT, "STARTED");
	table_column(table, TABLE_LEFT, "RUN");
	table_column(table, TABLE_LEFT, "KERNEL");
	table_column(table, TABLE_RIGHT, series->unit);
	table_column(table, TABLE_LEFT, "CHANGE");
	for (size_t i = 0; i < series->count; i++) {
		const struct trend_value *value = &series->values[i];

		format_time(value->started_ns, time);
		table_cell(table, "%s", time);
		table_cell(table, "%s", value->run);
		table_cell(table, "%s", value->kernel);
		table_take(table, format_value(value->value, series->unit));
		add_change_cell(table, series, change_at(series, i));
	}
	add_verdict(table, trend, series);
	return table_finish(table);
}

static json_t *changes_json(const struct trend_series *series)
{
	json_t *list = json_array();

	for (size_t i = 0; i < series->change_count; i++) {
		const struct change_point *point = &series->changes[i];
		const struct trend_value *value = &series->values[point->at];
		double change = trend_change(point);

		json_array_append_new(
			list, json_pack("{s:s,s:I,s:f,s:f,s:f,s:o,s:s}", "run", value->run,
					"started", (json_int_t)value->started_ns, "p", point->p,
					"before", point->before, "after", point->after, "change",
					isfinite(change) ? json_real(change) : json_null(),
					"direction", trend_word(series, point)));
	}
	return list;
}

static json_t *series_json(const struct trend_series *series)
{
	json_t *values = json_array(), *parameters = json_loads(series->parameters, 0, NULL);

	for (size_t i = 0; i < series->count; i++)
		json_array_append_new(values,
				      json_pack("{s:s,s:I,s:s,s:f}", "run", series->values[i].run,
						"started", (json_int_t)series->values[i].started_ns,
						"kernel", series->values[i].kernel, "value",
						series->values[i].value));
	return json_pack("{s:s,s:s,s:s?,s:s,s:I,s:o,s:I,s:I,s:s,s:s?,s:b,s:o,s:o}", "machine",
			 series->machine, "arch", series->arch, "arm", series->arm, "stressor",
			 series->stressor, "stressor_version", (json_int_t)series->stressor_version,
			 "parameters", parameters ? parameters : json_null(), "cpus",
			 (json_int_t)series->cpus, "page_size", (json_int_t)series->page_bytes,
			 "unit", series->unit, "better", series->better, "too_few", series->too_few,
			 "values", values, "changes", changes_json(series));
}

json_t *trend_json(const struct trend *trend)
{
	json_t *list = json_array();

	for (size_t i = 0; i < trend->series_count; i++)
		json_array_append_new(list, series_json(&trend->series[i]));
	return json_pack("{s:s,s:i,s:s,s:f,s:f,s:I,s:o}", "schema", "shootdown-trend", "version",
			 TREND_VERSION, "metric", trend->metric, "alpha", trend->alpha,
			 "least_change", trend->least_change, "least_count",
			 (json_int_t)trend->least_count, "series", list);
}
