// SPDX-License-Identifier: GPL-2.0-only
/* Lines of samples.jsonl. */
#include "samples.h"

#include <errno.h>
#include <math.h>

const struct source_metric window_metrics[] = {
	{ "time_ms", "ms", "less", "time of the call under test, on the monotonic clock" },
	{ NULL },
};

static json_t *by_cpu_json(const double *by_cpu, unsigned int cpu_count)
{
	json_t *object = json_object();
	char name[16];

	for (unsigned int cpu = 0; cpu < cpu_count; cpu++) {
		if (isnan(by_cpu[cpu]))
			continue;
		snprintf(name, sizeof(name), "%u", cpu);
		json_object_set_new(object, name, json_real(by_cpu[cpu]));
	}
	return object;
}

static void write_line(struct samples *samples, json_t *line)
{
	int rc = line ? record_sample(samples->record, line) : -ENOMEM;

	json_decref(line);
	if (rc && !samples->rc)
		samples->rc = rc;
}

static void write_sample(struct sample_sink *sink, const char *metric, const char *unit,
			 const struct value *value, const double *by_cpu, unsigned int cpu_count)
{
	struct samples *samples = (struct samples *)sink;
	bool has_value = value_status_has_value(value->status);
	bool shared = samples->mixed && !value->own && has_value;
	json_t *line = json_pack("{s:i, s:i, s:s, s:s, s:s}", "point", (int)samples->point,
				 "repetition", (int)samples->repetition, "metric", metric, "unit",
				 unit, "status",
				 value_status_name(shared ? VALUE_SHARED : value->status));

	if (has_value)
		json_object_set_new(line, "value", json_real(value->value));
	if (value->reason)
		json_object_set_new(line, "reason", json_string(value->reason));
	else if (shared)
		json_object_set_new(line, "reason",
				    json_string("counted over everything that ran at once"));
	if (by_cpu && value->status == VALUE_OK)
		json_object_set_new(line, "by_cpu", by_cpu_json(by_cpu, cpu_count));
	write_line(samples, line);
}

void samples_open(struct samples *samples, struct record *record, unsigned int point,
		  unsigned int repetition, bool mixed)
{
	*samples = (struct samples){
		.sink.add = write_sample,
		.record = record,
		.point = point,
		.repetition = repetition,
		.mixed = mixed,
	};
}

void samples_write_reports(struct samples *samples, const struct stressor *stressor,
			   const struct shared *shared)
{
	struct value value = { .status = VALUE_OK, .own = true };

	for (unsigned int i = 0; stressor->metrics[i].name && i < REPORTS_MAX; i++) {
		if (!atomic_load(&shared->reports[i].set))
			continue;
		value.value = shared->reports[i].value;
		write_sample(&samples->sink, stressor->metrics[i].name, stressor->metrics[i].unit,
			     &value, NULL, 0);
	}
	value.value = (shared->window_end_ns - shared->window_start_ns) / 1e6;
	write_sample(&samples->sink, window_metrics[0].name, window_metrics[0].unit, &value, NULL,
		     0);
}

void samples_write_outcome(struct samples *samples, enum outcome outcome, const char *reason,
			   uint64_t started_ns, double seconds)
{
	json_t *line = json_pack("{s:i, s:i, s:s, s:I, s:f}", "point", (int)samples->point,
				 "repetition", (int)samples->repetition, "outcome",
				 outcome_name(outcome), "started_ns", (json_int_t)started_ns,
				 "seconds", seconds);

	if (line && *reason)
		json_object_set_new(line, "reason", json_string(reason));
	write_line(samples, line);
}
