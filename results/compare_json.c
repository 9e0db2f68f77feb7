// SPDX-License-Identifier: GPL-2.0-only
/* The comparison as JSON: the model as it is, what is not known as null. */
#include <math.h>

#include "../lib/features.h"
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

static json_t *text(const char *word)
{
	return word ? json_string(word) : json_null();
}

static json_t *boots_json(const struct compared_value *value)
{
	json_t *boots = json_array();

	for (size_t i = 0; i < value->boot_count; i++) {
		const struct compared_boot *boot = &value->boots[i];

		append(&boots,
		       json_pack("{s:o, s:o, s:I, s:b, s:I}", "boot",
				 boot->number ? json_integer(boot->number) : json_null(), "value",
				 number(boot->value), "n", (json_int_t)boot->n, "outlier",
				 boot->outlier, "strange", (json_int_t)boot->strange));
	}
	return boots;
}

static json_t *interval_json(const struct compared_interval *interval)
{
	if (interval->method == INTERVAL_NONE)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "low", number(interval->low), "high",
			 number(interval->high), "level", number(interval->level), "method",
			 text(compared_method_name(interval->method)));
}

/* The keys that rest on boots; added to those that describe the samples. */
static json_t *test_json(const struct compared_value *value)
{
	const struct compared_test *test = &value->test;
	const struct statistics *by_boot = &value->by_boot;

	return json_pack(
		"{s:o, s:{s:I, s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
		"boots", boots_json(value), "by_boot", "n", (json_int_t)by_boot->n, "mean",
		number(by_boot->mean), "median", number(by_boot->median), "stddev",
		number(by_boot->stddev), "ratio", number(test->ratio), "difference",
		number(test->difference), "interval", interval_json(&test->interval), "p",
		number(test->p), "p_holm", number(test->p_holm), "smallest_p",
		number(test->smallest_p), "family", (json_int_t)test->family, "verdict",
		text(compared_verdict_name(test->verdict)), "basis",
		text(compared_basis_name(test->basis)), "boots_needed",
		test->boots_needed ? json_integer(test->boots_needed) : json_null(), "noise",
		number(test->noise));
}

static json_t *drift_json(const struct compared_drift *drift)
{
	return json_pack("{s:{s:o, s:o}, s:{s:o, s:o}}", "boots", "tau", number(drift->tau_boots),
			 "p", number(drift->p_boots), "repetitions", "tau",
			 number(drift->tau_repetitions), "p", number(drift->p_repetitions));
}

static json_t *value_json(const struct compared_value *value, const char *arm)
{
	json_t *samples = json_array(), *json, *test = test_json(value);

	for (size_t i = 0; i < value->statistics.n; i++)
		append(&samples, json_real(value->samples[i]));
	json = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s*}", "arm", arm, "n",
			 (json_int_t)value->statistics.n, "status",
			 value->status < 0
				 ? json_null()
				 : json_string(value_status_name((enum value_status)value->status)),
			 "mean", number(value->statistics.mean), "median",
			 number(value->statistics.median), "stddev",
			 number(value->statistics.stddev), "samples", samples, "change",
			 number(value->change), "reason", value->reason);
	if (json && (!test || json_object_update(json, test) ||
		     json_object_set_new(json, "drift", drift_json(&value->drift)))) {
		json_decref(json);
		json = NULL;
	}
	json_decref(test);
	return json;
}

static json_t *metric_json(const struct comparison *comparison,
			   const struct compared_metric *metric)
{
	json_t *values = json_array();

	for (size_t i = 0; i < comparison->arm_count; i++)
		append(&values, value_json(&metric->values[i], comparison->arms[i].name));
	return json_pack("{s:s, s:s, s:s?, s:o, s:b, s:b, s:o}", "name", metric->name, "unit",
			 metric->unit, "better", metric->better, "predicted",
			 number(metric->predicted), "primary", metric->primary, "shared",
			 metric->shared, "arms", values);
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

static json_t *mixes_json(const struct comparison *comparison)
{
	json_t *mixes = json_array();

	for (size_t i = 0; i < comparison->arm_count; i++) {
		json_t *points = json_array();

		for (size_t j = 0; j < comparison->point_count; j++)
			if (compared_shares(&comparison->points[j], i))
				append(&points, json_integer((json_int_t)j));
		if (!points || json_array_size(points))
			append(&mixes, json_pack("{s:s, s:o}", "arm", comparison->arms[i].name,
						 "points", points));
		else
			json_decref(points);
	}
	return mixes;
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
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:o, s:s?, s:o, s:o}",
			 "schema", "shootdown-comparison", "version", COMPARISON_VERSION, "arms",
			 arms, "points", points, "kernels", kernels, "seeds", seeds, "notes",
			 texts(comparison->notes, comparison->note_count), "alpha", COMPARED_ALPHA,
			 "paired", comparison->paired, "allowed",
			 texts(comparison->allowed, comparison->allowed_count), "noise_floor",
			 comparison->noise_source, "verdicts_off",
			 FEATURE_RMATH
				 ? json_null()
				 : json_string("this build has no libRmath (package r-mathlib)"),
			 "mixes", mixes_json(comparison));
}
