// SPDX-License-Identifier: GPL-2.0-only
/* The comparison as JSON: the model as it is, what is not known as null. */
#include <math.h>

#include "compare.h"

/* NAN and infinity have no JSON form. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Puts value (taken over, NULL counts as lack of memory) at the end of list. */
static void append(json_t **list, json_t *value)
{
	if (*list && json_array_append_new(*list, value)) {
		json_decref(*list);
		*list = NULL;
	}
}

static json_t *texts(char *const *list, size_t count)
{
	json_t *json = json_array();

	for (size_t i = 0; i < count; i++)
		append(&json, json_string(list[i]));
	return json;
}

static json_t *value_json(const struct compared_value *value, const char *arm)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < value->statistics.n; i++)
		append(&samples, json_real(value->samples[i]));
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s*}", "arm", arm, "n",
			 (json_int_t)value->statistics.n, "status",
			 value->status < 0
				 ? json_null()
				 : json_string(value_status_name((enum value_status)value->status)),
			 "mean", number(value->statistics.mean), "median",
			 number(value->statistics.median), "stddev",
			 number(value->statistics.stddev), "samples", samples, "change",
			 number(value->change), "reason", value->reason);
}

static json_t *metric_json(const struct comparison *comparison,
			   const struct compared_metric *metric)
{
	json_t *values = json_array();

	for (size_t i = 0; i < comparison->arm_count; i++)
		append(&values, value_json(&metric->values[i], comparison->arms[i].name));
	return json_pack("{s:s, s:s, s:s?, s:o, s:o}", "name", metric->name, "unit", metric->unit,
			 "better", metric->better, "predicted", number(metric->predicted), "arms",
			 values);
}

static json_t *outcomes_json(const struct compared_outcomes *outcomes, const char *arm)
{
	json_t *json = json_pack("{s:s}", "arm", arm);
	json_t *reasons = json_object();

	for (int i = 0; i < OUTCOME_COUNT; i++) {
		const char *name = outcome_name((enum outcome)i);

		if (json_object_set_new(json, name, json_integer(outcomes->counts[i])) ||
		    (outcomes->reasons[i] &&
		     json_object_set_new(reasons, name, json_string(outcomes->reasons[i]))))
			goto fail;
	}
	if (!json_object_set_new(json, "reasons", reasons))
		return json;
	reasons = NULL;
fail:
	json_decref(reasons);
	json_decref(json);
	return NULL;
}

static json_t *point_json(const struct comparison *comparison, const struct compared_point *point)
{
	json_t *outcomes = json_array(), *metrics = json_array();

	for (size_t i = 0; i < comparison->arm_count; i++)
		append(&outcomes, outcomes_json(&point->outcomes[i], comparison->arms[i].name));
	for (size_t i = 0; i < point->metric_count; i++)
		append(&metrics, metric_json(comparison, &point->metrics[i]));
	return json_pack("{s:s, s:I, s:O, s:O, s:o, s:o}", "stressor", point->stressor,
			 "stressor_version", (json_int_t)point->stressor_version, "parameters",
			 point->parameters, "machine", comparison->machine, "outcomes", outcomes,
			 "metrics", metrics);
}

static json_t *kernel_json(const struct compared_arm *arm)
{
	return json_pack("{s:s, s:s, s:s?, s:s?, s:I, s:I, s:I, s:o}", "arm", arm->name, "folder",
			 arm->folder, "release", arm->kernel, "version", arm->kernel_version,
			 "boots", (json_int_t)arm->boots, "failed_boots",
			 (json_int_t)arm->failed_boots, "repetitions", (json_int_t)arm->repetitions,
			 "notes", texts(arm->notes, arm->note_count));
}

json_t *comparison_json(const struct comparison *comparison)
{
	json_t *arms = json_array(), *points = json_array(), *kernels = json_array();
	json_t *seeds = json_array();

	for (size_t i = 0; i < comparison->arm_count; i++) {
		append(&arms, json_string(comparison->arms[i].name));
		append(&kernels, kernel_json(&comparison->arms[i]));
	}
	for (size_t i = 0; i < comparison->point_count; i++)
		append(&points, point_json(comparison, &comparison->points[i]));
	for (size_t i = 0; i < comparison->seed_count; i++)
		append(&seeds, json_integer((json_int_t)comparison->seeds[i]));
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "schema", "shootdown-comparison",
			 "version", COMPARISON_VERSION, "arms", arms, "points", points, "kernels",
			 kernels, "seeds", seeds, "notes",
			 texts(comparison->notes, comparison->note_count));
}
