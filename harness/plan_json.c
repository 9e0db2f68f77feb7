// SPDX-License-Identifier: GPL-2.0-only
/* A plan as JSON, with what is predicted for its points, and back. */
#include "plan_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../results/record.h"
#include "samples.h"

#define SECONDS_MAX 31536000.0

static json_t *metric_json(const char *unit, const char *better, double predicted)
{
	return json_pack("{s:s, s:s, s:o}", "unit", unit, "better", better, "predicted",
			 isnan(predicted) ? json_null() : json_real(predicted));
}

static void add_source_metrics(json_t *metrics, const struct source_metric *row)
{
	for (; row && row->name; row++)
		json_object_set_new(metrics, row->name, metric_json(row->unit, row->better, NAN));
}

static bool reports_itself(const struct stressor *stressor, const char *metric)
{
	for (const struct metric_row *row = stressor->metrics; row->name; row++)
		if (!strcmp(row->name, metric))
			return true;
	return false;
}

/* What no kernel of this architecture counts: a prediction beside it would wait in vain. */
static bool is_foreign(const struct plan *plan, const char *metric)
{
	for (const struct source **source = plan->sources; *source; source++)
		if ((*source)->foreign && (*source)->foreign(metric))
			return true;
	return false;
}

/* Whether what a stressor predicts can be seen; in a mix that is only what it reports itself. */
static bool is_seen(const struct plan *plan, const struct stressor *stressor, const char *metric)
{
	if (reports_itself(stressor, metric))
		return true;
	return !plan->interleave && !is_foreign(plan, metric);
}

/* Every metric that the stressor and the plan's sources report, with what is predicted. */
static json_t *point_metrics(const struct plan *plan, const struct plan_point *from,
			     unsigned int cpu_count, size_t page_bytes)
{
	struct point point = {
		.stressor = from->stressor,
		.parameters = from->parameters,
		.cpu_count = cpu_count,
		.page_bytes = page_bytes,
	};
	struct prediction list[PREDICTION_MAX];
	unsigned int count = from->stressor->predict ? from->stressor->predict(&point, list) : 0;
	json_t *metrics = json_object();

	add_source_metrics(metrics, window_metrics);
	for (const struct source **source = plan->sources; *source; source++)
		add_source_metrics(metrics, (*source)->metrics);
	for (const struct metric_row *row = from->stressor->metrics; row->name; row++)
		json_object_set_new(metrics, row->name, metric_json(row->unit, row->better, NAN));
	for (unsigned int i = 0; i < count; i++) {
		json_t *metric = json_object_get(metrics, list[i].metric);

		if (metric && is_seen(plan, from->stressor, list[i].metric))
			json_object_set_new(metric, "predicted", json_real(list[i].value));
	}
	json_object_set_new(json_object_get(metrics, from->stressor->primary), "primary",
			    json_true());
	return metrics;
}

static json_t *strings_json(char *const *strings)
{
	json_t *array = json_array();

	for (; strings && *strings; strings++)
		json_array_append_new(array, json_string(*strings));
	return array;
}

json_t *plan_json(const struct plan *plan, unsigned int cpu_count, size_t page_bytes)
{
	json_t *points = json_array(), *order = json_array(), *sources = json_array();

	for (unsigned int i = 0; i < plan->point_count; i++)
		json_array_append_new(
			points,
			json_pack("{s:s, s:i, s:o, s:o, s:o}", "stressor",
				  plan->points[i].stressor->name, "stressor_version",
				  (int)plan->points[i].stressor->version, "parameters",
				  options_json(plan->points[i].parameters), "units",
				  options_units(plan->points[i].parameters), "metrics",
				  point_metrics(plan, &plan->points[i], cpu_count, page_bytes)));
	for (unsigned int i = 0; i < plan->step_count; i++)
		json_array_append_new(order, json_pack("[i, i]", (int)plan->order[i].point,
						       (int)plan->order[i].repetition));
	for (const struct source **source = plan->sources; *source; source++)
		json_array_append_new(sources, json_string((*source)->name));
	return json_pack("{s:s, s:i, s:I, s:i, s:f, s:f, s:b, s:s?, s:o, s:o, s:o, s:o, s:o}",
			 "schema", "shootdown-plan", "version", RECORD_VERSION, "seed",
			 (json_int_t)plan->seed, "repetitions", (int)plan->repetitions,
			 "duration_s", plan->duration_ns / 1e9, "timeout_s", plan->timeout_ns / 1e9,
			 "interleave", (int)plan->interleave, "cpu_list", plan->cpu_list, "sources",
			 sources, "counters", strings_json(plan->counters), "events",
			 strings_json(plan->events), "points", points, "order", order);
}

/* Borrowed strings of a JSON array, NULL at the end; the caller frees the array. */
static const char **borrow_strings(const json_t *array)
{
	size_t count = json_array_size(array), used = 0;
	const char **strings = calloc(count + 1, sizeof(*strings));

	for (size_t i = 0; strings && i < count; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (text)
			strings[used++] = text;
	}
	return strings;
}

static int add_point_json(struct plan *plan, const json_t *json, struct log *log)
{
	const char *name = json_string_value(json_object_get(json, "stressor"));
	int version = json_integer_value(json_object_get(json, "stressor_version"));
	struct option_values *parameters;
	const struct stressor *stressor;
	char what[96];
	int rc;

	stressor = name ? stressor_find(name) : NULL;
	if (!stressor)
		return plan_unknown_stressor(name ? name : "", log);
	if (version != (int)stressor->version) {
		log_error(log,
			  "the plan wants version %d of stressor %s, this shootdown has %u; "
			  "use the same shootdown on both sides",
			  version, name, stressor->version);
		return -EINVAL;
	}
	parameters = options_new(stressor->options);
	if (!parameters)
		return -ENOMEM;
	snprintf(what, sizeof(what), "stressor %s", name);
	rc = options_from_json(parameters, what, json_object_get(json, "parameters"), log);
	if (rc) {
		options_free(parameters);
		return rc;
	}
	return plan_add_point(plan, stressor, parameters);
}

/* Seconds of a plan as nanoseconds; a year is the limit of the options as well. */
static int take_times(struct plan *plan, const json_t *json, struct log *log)
{
	double duration_s = json_number_value(json_object_get(json, "duration_s"));
	double timeout_s = json_number_value(json_object_get(json, "timeout_s"));

	if (!(duration_s >= 0 && duration_s <= SECONDS_MAX && timeout_s >= 0 &&
	      timeout_s <= SECONDS_MAX)) {
		log_error(log, "the plan's duration_s or timeout_s is out of range");
		return -EINVAL;
	}
	plan->duration_ns = duration_s * 1e9;
	plan->timeout_ns = timeout_s * 1e9;
	return 0;
}

int plan_from_json(const json_t *json, struct log *log, struct plan **out)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	const char **sources = borrow_strings(json_object_get(json, "sources"));
	const char **events = borrow_strings(json_object_get(json, "events"));
	const char **counters = borrow_strings(json_object_get(json, "counters"));
	const json_t *points = json_object_get(json, "points");
	struct plan *plan = calloc(1, sizeof(*plan));
	int rc = plan && sources && events && counters ? 0 : -ENOMEM;

	if (!rc && (!schema || strcmp(schema, "shootdown-plan") ||
		    json_integer_value(json_object_get(json, "version")) != RECORD_VERSION ||
		    !json_array_size(points))) {
		log_error(log, "this is no plan of version %d", RECORD_VERSION);
		rc = -EINVAL;
	}
	if (!rc) {
		plan->repetitions = json_integer_value(json_object_get(json, "repetitions"));
		plan->seed = json_integer_value(json_object_get(json, "seed"));
		plan->interleave = json_is_true(json_object_get(json, "interleave"));
		rc = take_times(plan, json, log);
	}
	if (!rc)
		rc = plan_take_cpu_list(plan, json_string_value(json_object_get(json, "cpu_list")),
					log);
	for (size_t i = 0; !rc && i < json_array_size(points); i++)
		rc = add_point_json(plan, json_array_get(points, i), log);
	if (!rc)
		rc = plan_check_mix(plan, log);
	if (!rc)
		rc = plan_take_sources(plan, sources, events, log);
	if (!rc)
		rc = plan_take_counters(plan, counters);
	if (!rc)
		rc = plan_take_events(plan, events, log);
	if (!rc)
		rc = plan_make_order(plan, log);
	free(sources);
	free(events);
	free(counters);
	if (rc)
		plan_free(plan);
	else
		*out = plan;
	return rc;
}
