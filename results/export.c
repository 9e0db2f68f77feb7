// SPDX-License-Identifier: GPL-2.0-only
/* Export: the formats' table, CSV and JSON. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "export_private.h"

char *export_parameters(const struct run_point *point)
{
	char *text = strdup("");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)point->parameters, key, value) {
		char *dumped = json_is_string(value)
				       ? strdup(json_string_value(value))
				       : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		char *longer = text && dumped ? format_string("%s%s%s=%s", text, *text ? " " : "",
							      key, dumped)
					      : NULL;

		free(dumped);
		free(text);
		text = longer;
	}
	return text;
}

static int by_place(const void *one, const void *other, void *context)
{
	const struct loaded_run *run = context;
	const size_t *a = one, *b = other;
	const struct run_sample *first = &run->samples[*a], *second = &run->samples[*b];

	if (first->point != second->point)
		return first->point < second->point ? -1 : 1;
	if (first->repetition != second->repetition)
		return first->repetition < second->repetition ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

size_t *export_order(const struct loaded_run *run)
{
	size_t *order = calloc(run->sample_count + 1, sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < run->sample_count; i++)
		order[i] = i;
	if (run->sample_count)
		qsort_r(order, run->sample_count, sizeof(*order), by_place, (void *)run);
	return order;
}

/* A number as JSON has it, so that it reads back as the same and no locale matters. */
static int put_number(double value, FILE *out)
{
	json_t *number = json_real(value);
	int ret = number ? json_dumpf(number, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : 0;

	json_decref(number);
	return ret;
}

static void put_field(const char *text, FILE *out)
{
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int csv_begin(const struct export_request *request, size_t total, FILE *out, void **state)
{
	(void)request;
	(void)total;
	(void)state;
	fputs("run,arm,boot,kernel,arch,cpus,point,stressor,stressor_version,parameters,repetition,"
	      "outcome,metric,unit,value,status,reason\n",
	      out);
	return 0;
}

/* What all lines of one point have in common: up to the repetition. */
static void csv_head(const struct export_run *export, uint32_t place, const char *parameters,
		     FILE *out)
{
	const json_t *machine = export->run->machine;
	const struct run_point *point = &export->run->points[place];
	const json_t *boot = json_object_get(machine, "boot");

	fprintf(out, "%s,", export->id);
	put_field(text_at(machine, "arm"), out);
	fputc(',', out);
	if (json_is_integer(boot))
		fprintf(out, "%lld", (long long)json_integer_value(boot));
	fputc(',', out);
	put_field(text_at(json_object_get(machine, "kernel"), "release"), out);
	fputc(',', out);
	put_field(text_at(machine, "arch"), out);
	fprintf(out, ",%lld,%u,",
		(long long)json_integer_value(
			json_object_get(json_object_get(machine, "cpus"), "used")),
		place);
	put_field(point->stressor, out);
	fprintf(out, ",%u,", point->stressor_version);
	put_field(parameters, out);
}

static void csv_sample(const struct export_run *export, const struct run_sample *sample,
		       const char *parameters, FILE *out)
{
	const struct loaded_run *run = export->run;
	const struct run_outcome *outcome = run_find_outcome(run, sample->point,
							     sample->repetition);

	csv_head(export, sample->point, parameters, out);
	fprintf(out, ",%u,%s,", sample->repetition,
		outcome ? outcome_name(outcome->outcome) : "unfinished");
	put_field(run->metrics[sample->metric].name, out);
	fputc(',', out);
	put_field(run->metrics[sample->metric].unit, out);
	fputc(',', out);
	if (!isnan(sample->value))
		put_number(sample->value, out);
	fprintf(out, ",%s,", value_status_name((enum value_status)sample->status));
	put_field(run->texts[sample->reason], out);
	fputc('\n', out);
}

static void csv_outcome(const struct export_run *export, const struct run_outcome *outcome,
			const char *parameters, FILE *out)
{
	csv_head(export, outcome->point, parameters, out);
	fprintf(out, ",%u,%s,,,,,", outcome->repetition, outcome_name(outcome->outcome));
	put_field(export->run->texts[outcome->reason], out);
	fputc('\n', out);
}

/* Samples and the outcomes without samples, merged: both are sorted by point and repetition. */
static int csv_run(const struct export_run *export, FILE *out)
{
	const struct loaded_run *run = export->run;
	size_t *order = export_order(run), at = 0, next = 0;
	int ret = order ? 0 : -ENOMEM;

	for (uint32_t place = 0; !ret && place < run->point_count; place++) {
		char *parameters = export_parameters(&run->points[place]);

		if (!parameters)
			ret = -ENOMEM;
		while (!ret && (at < run->sample_count || next < run->outcome_count)) {
			const struct run_sample *sample = at < run->sample_count
								  ? &run->samples[order[at]]
								  : NULL;
			const struct run_outcome *outcome = next < run->outcome_count
								    ? &run->outcomes[next]
								    : NULL;
			bool has = sample && sample->point == place;

			if (outcome && outcome->point == place &&
			    (!has || outcome->repetition < sample->repetition)) {
				if (!at || run->samples[order[at - 1]].point != place ||
				    run->samples[order[at - 1]].repetition != outcome->repetition)
					csv_outcome(export, outcome, parameters, out);
				next++;
			} else if (has) {
				csv_sample(export, sample, parameters, out);
				at++;
			} else {
				break;
			}
		}
		free(parameters);
	}
	free(order);
	return ret;
}

static int json_begin(const struct export_request *request, size_t total, FILE *out, void **state)
{
	(void)request;
	(void)total;
	(void)state;
	fputs("{\"schema\":\"shootdown-export\",\"version\":1,\"runs\":[", out);
	return 0;
}

static int put_json(json_t *json, FILE *out)
{
	int ret = json ? json_dumpf(json, out, JSON_COMPACT) : 0;

	ret = json && !ret ? 0 : json ? -EIO : -ENOMEM;
	json_decref(json);
	return ret;
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *by_cpu_json(const struct loaded_run *run, const struct run_sample *sample)
{
	json_t *object = json_object();
	char cpu[16];

	for (uint32_t i = 0; i < sample->by_cpu_count; i++) {
		const struct run_cpu_value *value = &run->by_cpu[sample->by_cpu + i];

		snprintf(cpu, sizeof(cpu), "%u", value->cpu);
		json_object_set_new(object, cpu, json_real(value->value));
	}
	return object;
}

static json_t *sample_json(const struct loaded_run *run, const struct run_sample *sample)
{
	const struct run_metric *metric = &run->metrics[sample->metric];
	json_t *json = json_pack("{s:I,s:I,s:s,s:s,s:s}", "point", (json_int_t)sample->point,
				 "repetition", (json_int_t)sample->repetition, "metric",
				 metric->name, "unit", metric->unit, "status",
				 value_status_name((enum value_status)sample->status));

	if (json && !isnan(sample->value))
		json_object_set_new(json, "value", json_real(sample->value));
	if (json && sample->by_cpu_count)
		json_object_set_new(json, "by_cpu", by_cpu_json(run, sample));
	if (json && sample->reason)
		json_object_set_new(json, "reason", json_string(run->texts[sample->reason]));
	return json;
}

static json_t *outcome_json(const struct loaded_run *run, const struct run_outcome *outcome)
{
	return json_pack("{s:I,s:I,s:s,s:o,s:I,s:f}", "point", (json_int_t)outcome->point,
			 "repetition", (json_int_t)outcome->repetition, "outcome",
			 outcome_name(outcome->outcome), "reason",
			 text_or_null(run->texts[outcome->reason]), "started_ns",
			 (json_int_t)outcome->started_ns, "seconds", outcome->seconds);
}

static int json_run(const struct export_run *export, FILE *out)
{
	const struct loaded_run *run = export->run;
	json_t *head = json_pack("{s:s,s:s,s:b,s:b,s:s?,s:O,s:O}", "id", export->id, "folder",
				 run->folder, "complete", run->complete, "verified", run->verified,
				 "end", run->complete ? outcome_name(run->end) : NULL, "machine",
				 run->machine, "plan", run->plan);
	char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
	int ret = text ? 0 : -ENOMEM;

	if (text) {
		/* the head's closing brace is left out, the lists follow */
		fprintf(out, "%s\n%.*s,\"outcomes\":[", export->index ? "," : "",
			(int)strlen(text) - 1, text);
	}
	free(text);
	json_decref(head);
	for (size_t i = 0; !ret && i < run->outcome_count; i++) {
		fputs(i ? ",\n" : "\n", out);
		ret = put_json(outcome_json(run, &run->outcomes[i]), out);
	}
	fputs("],\"samples\":[", out);
	for (size_t i = 0; !ret && i < run->sample_count; i++) {
		fputs(i ? ",\n" : "\n", out);
		ret = put_json(sample_json(run, &run->samples[i]), out);
	}
	fputs("]}", out);
	return ret;
}

static int json_end(FILE *out, void *state)
{
	(void)state;
	fputs("]}\n", out);
	return 0;
}

static const struct export_format csv = { "csv", csv_begin, csv_run, NULL };
static const struct export_format json = { "json", json_begin, json_run, json_end };

static const struct export_format *const formats[] = { &csv, &json, &export_ktap, &export_kcidb };

const char *const export_formats[] = { "csv", "json", "ktap", "kcidb", NULL };

static int check_origin(const char *origin, struct log *log)
{
	if (*origin && strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(origin))
		return 0;
	log_error(log,
		  "\"%s\" is no origin: KCIDB takes lower-case letters, digits and underscores",
		  origin);
	return -EINVAL;
}

static int export_one(const struct export_format *format, struct export_run *export, FILE *out,
		      struct log *log)
{
	struct loaded_run *run;
	int ret = run_load(export->request->folders[export->index], true, log, &run);

	if (ret)
		return ret;
	export->run = run;
	ret = run_identity(run->folder, export->id);
	if (!ret)
		ret = format->run(export, out);
	run_free(run);
	return ret;
}

int export_runs(const struct export_request *request, FILE *out, struct log *log)
{
	const struct export_format *format = formats[0];
	struct export_run export = { .request = request };
	int ret = check_origin(request->origin, log), end;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i]->name, request->format))
			format = formats[i];
	while (request->folders[export.total])
		export.total++;
	if (!ret && format->begin)
		ret = format->begin(request, export.total, out, &export.state);
	if (ret)
		return ret;
	for (; !ret && export.index < export.total; export.index++)
		ret = export_one(format, &export, out, log);
	end = format->end ? format->end(out, export.state) : 0;
	if (!ret)
		ret = end;
	return !ret && ferror(out) ? -EIO : ret;
}
