// SPDX-License-Identifier: GPL-2.0-only
/* The runs behind a comparison: loaded with their values by CPU, walked, and as JSON. */
#include "report_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "arm.h"

/* The comparison's point for one of the run's; the same index is looked at first. */
static uint32_t find_point(const struct comparison *comparison, const struct run_point *wanted,
			   uint32_t likely)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		size_t at = (likely + i) % comparison->point_count;
		const struct compared_point *point = &comparison->points[at];

		if (!strcmp(point->stressor, wanted->stressor) &&
		    json_equal(point->parameters, wanted->parameters))
			return (uint32_t)at;
	}
	return UINT32_MAX;
}

static int add_run(struct report_runs *runs, const struct comparison *comparison, size_t arm,
		   const char *folder, struct log *log)
{
	struct report_run *list = reallocarray(runs->list, runs->count + 1, sizeof(*list));
	struct report_run *added;
	int ret;

	if (!list)
		return -ENOMEM;
	runs->list = list;
	added = &list[runs->count];
	*added = (struct report_run){ .arm = arm };
	ret = run_load(folder, true, log, &added->run);
	if (ret)
		return ret;
	runs->count++;
	added->map = calloc(added->run->point_count, sizeof(*added->map));
	if (!added->map)
		return -ENOMEM;
	for (uint32_t i = 0; i < added->run->point_count; i++)
		added->map[i] = find_point(comparison, &added->run->points[i], i);
	return 0;
}

/* Which boots count is arms_load()'s to say; what it has to tell was told by the comparison. */
static int add_arm(struct report_runs *runs, const struct comparison *comparison, size_t arm,
		   struct log *log)
{
	const char *folders[] = { comparison->arms[arm].folder, NULL };
	struct arms *arms;
	int ret = arms_load(folders, log, &arms);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < arms->count; i++)
		for (size_t j = 0; !ret && j < arms->list[i].run_count; j++)
			ret = add_run(runs, comparison, arm, arms->list[i].runs[j]->folder, log);
	arms_free(arms);
	return ret;
}

int report_runs_load(const struct comparison *comparison, struct log *log, struct report_runs *out)
{
	struct report_runs runs = { 0 };
	struct log quiet = *log;
	char *lab;
	int ret = 0;

	quiet.level = LOG_LEVEL_ERROR;
	for (size_t i = 0; !ret && i < comparison->arm_count; i++)
		ret = add_arm(&runs, comparison, i, &quiet);
	if (!ret && comparison->arm_count) {
		lab = format_string("%s/../lab.json", comparison->arms[0].folder);
		runs.lab = lab ? json_load_file(lab, 0, NULL) : NULL;
		free(lab);
	}
	if (ret)
		report_runs_free(&runs);
	else
		*out = runs;
	return ret;
}

void report_runs_free(struct report_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		run_free(runs->list[i].run);
		free(runs->list[i].map);
	}
	free(runs->list);
	json_decref(runs->lab);
	*runs = (struct report_runs){ 0 };
}

int report_run_values(const struct report_run *from, size_t point, const char *metric,
		      struct report_value **out, size_t *out_count)
{
	const struct loaded_run *run = from->run;
	struct report_value *values = NULL, *grown;
	uint32_t place = 0, last_point = UINT32_MAX, last_repetition = 0;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < run->sample_count; i++) {
		const struct run_sample *sample = &run->samples[i];
		const struct run_outcome *outcome;

		if (sample->point != last_point || sample->repetition != last_repetition)
			place++;
		last_point = sample->point;
		last_repetition = sample->repetition;
		if (from->map[sample->point] != point || isnan(sample->value) ||
		    strcmp(run->metrics[sample->metric].name, metric))
			continue;
		outcome = run_find_outcome(run, sample->point, sample->repetition);
		if (!outcome || outcome->outcome != OUTCOME_PASS)
			continue;
		if (count == room) {
			room = room ? room * 2 : 16;
			grown = reallocarray(values, room, sizeof(*values));
			if (!grown) {
				free(values);
				return -ENOMEM;
			}
			values = grown;
		}
		values[count++] = (struct report_value){ sample->value, place, sample };
	}
	*out = values;
	*out_count = count;
	return 0;
}

static json_t *sample_json(const struct loaded_run *run, const struct run_sample *sample)
{
	const struct run_metric *metric = &run->metrics[sample->metric];
	json_t *json, *by_cpu = NULL;
	char key[16];

	if (sample->by_cpu_count)
		by_cpu = json_object();
	for (uint32_t i = 0; i < sample->by_cpu_count; i++) {
		const struct run_cpu_value *value = &run->by_cpu[sample->by_cpu + i];

		snprintf(key, sizeof(key), "%u", value->cpu);
		json_object_set_new(by_cpu, key, json_real(value->value));
	}
	json = json_pack("{s:I, s:I, s:s, s:s, s:s, s:o*}", "point", (json_int_t)sample->point,
			 "repetition", (json_int_t)sample->repetition, "metric", metric->name,
			 "unit", metric->unit, "status",
			 value_status_name((enum value_status)sample->status), "by_cpu", by_cpu);
	if (json && !isnan(sample->value))
		json_object_set_new(json, "value", json_real(sample->value));
	return json;
}

static json_t *outcome_json(const struct loaded_run *run, const struct run_outcome *outcome)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:f, s:I}", "point", (json_int_t)outcome->point,
			 "repetition", (json_int_t)outcome->repetition, "outcome",
			 outcome_name(outcome->outcome), "reason", run->texts[outcome->reason],
			 "seconds", outcome->seconds, "started_ns",
			 (json_int_t)outcome->started_ns);
}

static json_t *run_json(const struct comparison *comparison, const struct report_run *run)
{
	json_t *samples = json_array(), *outcomes = json_array();
	int failed = 0;

	for (size_t i = 0; i < run->run->sample_count; i++)
		failed |= json_array_append_new(samples,
						sample_json(run->run, &run->run->samples[i]));
	for (size_t i = 0; i < run->run->outcome_count; i++)
		failed |= json_array_append_new(outcomes,
						outcome_json(run->run, &run->run->outcomes[i]));
	if (failed) {
		json_decref(samples);
		json_decref(outcomes);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:O, s:O, s:o, s:o}", "arm", comparison->arms[run->arm].name,
			 "folder", run->run->folder, "machine", run->run->machine, "plan",
			 run->run->plan, "outcomes", outcomes, "samples", samples);
}

json_t *report_runs_json(const struct comparison *comparison, const struct report_runs *runs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < runs->count; i++)
		if (json_array_append_new(list, run_json(comparison, &runs->list[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}
