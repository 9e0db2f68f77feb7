// SPDX-License-Identifier: GPL-2.0-only
/*
 * A KCIDB submission by I/O schema 5.3. Ids are ORIGIN: and what makes them one
 * among all of the origin: the kernel's identity for checkout and build; the run's id,
 * point, repetition and metric for tests. Nothing is null there; what is not known is
 * left out. A path is made of letters, digits, '_' and '-'.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/fs.h"
#include "export_private.h"

#define SCHEMA_MAJOR 5
#define SCHEMA_MINOR 3

static const char *const statuses[OUTCOME_COUNT] = {
	[OUTCOME_PASS] = "PASS",    [OUTCOME_FAIL] = "FAIL",	     [OUTCOME_SKIP] = "SKIP",
	[OUTCOME_BROKEN] = "ERROR", [OUTCOME_INTERRUPTED] = "ERROR",
};

/* The lists of the submission. Kernels are few, so checkouts and builds wait for the end. */
struct submission {
	json_t *checkouts, *builds; /* by id */
	bool some;		    /* a test was written */
};

static void free_submission(struct submission *submission)
{
	json_decref(submission->checkouts);
	json_decref(submission->builds);
	free(submission);
}

static int begin(const struct export_request *request, size_t total, FILE *out, void **state)
{
	struct submission *submission = calloc(1, sizeof(*submission));

	(void)request;
	(void)total;
	if (!submission)
		return -ENOMEM;
	submission->checkouts = json_object();
	submission->builds = json_object();
	if (!submission->checkouts || !submission->builds) {
		free_submission(submission);
		return -ENOMEM;
	}
	fprintf(out, "{\"version\":{\"major\":%d,\"minor\":%d},\"tests\":[", SCHEMA_MAJOR,
		SCHEMA_MINOR);
	*state = submission;
	return 0;
}

/* "2026-11-30T20:47:20.123456+00:00"; NULL: no time is known. */
static json_t *time_json(uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm parts;

	if (!ns || !gmtime_r(&seconds, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
		return NULL;
	return json_sprintf("%s.%06u+00:00", text, (unsigned int)(ns % 1000000000 / 1000));
}

/* "shootdown.pageout.remote_ipis": what a path must not have becomes '_'. metric may be NULL. */
static json_t *path_json(const char *stressor, const char *metric)
{
	char *path = format_string("shootdown.%s%s%s", stressor, metric ? "." : "",
				   metric ? metric : "");
	json_t *json = NULL;

	if (path) {
		size_t first = strlen("shootdown."), second = first + strlen(stressor);

		for (size_t i = first; path[i]; i++)
			if (i != second && !isalnum((unsigned char)path[i]) && path[i] != '-')
				path[i] = '_';
		json = json_string(path);
	}
	free(path);
	return json;
}

static void set_if(json_t *object, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(object, key, value);
}

static const char *kernel_fact(const struct loaded_run *run, const char *fact)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(run->machine, "kernel"), fact));

	return text ? text : "";
}

/* The id that the checkout and the build of this kernel have; a fresh string. */
static char *kernel_id(const struct export_run *export)
{
	char hex[SHA256_DIGEST_STRING_LENGTH], *id = NULL;
	char *text =
		format_string("%s\n%s\n%s", kernel_fact(export->run, "release"),
			      kernel_fact(export->run, "version"),
			      json_string_value(json_object_get(export->run->machine, "arch")));

	if (text && SHA256Data((const uint8_t *)text, strlen(text), hex))
		id = format_string("%s:%.*s", export->request->origin, RUN_ID_LENGTH, hex);
	free(text);
	return id;
}

static int add_kernel(const struct export_run *export, const char *id)
{
	struct submission *submission = export->state;
	const struct loaded_run *run = export->run;
	const char *origin = export->request->origin;
	const char *arch = json_string_value(json_object_get(run->machine, "arch"));
	const char *arm = json_string_value(json_object_get(run->machine, "arm"));
	json_t *checkout, *build;

	if (json_object_get(submission->builds, id))
		return 0;
	checkout = json_pack("{s:s,s:s,s:b,s:s,s:{}}", "id", id, "origin", origin, "valid", true,
			     "comment", kernel_fact(run, "release"), "misc");
	build = json_pack("{s:s,s:s,s:s,s:s,s:s,s:{s:s}}", "checkout_id", id, "id", id, "origin",
			  origin, "comment", kernel_fact(run, "version"), "status", "PASS", "misc",
			  "release", kernel_fact(run, "release"));
	if (!checkout || !build) {
		json_decref(checkout);
		json_decref(build);
		return -ENOMEM;
	}
	/* the name of an architecture as uname has it is lower case but for a few old ones */
	if (strspn(arch, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(arch))
		set_if(build, "architecture", json_string(arch));
	if (arm) {
		set_if(json_object_get(checkout, "misc"), "arm", json_string(arm));
		set_if(json_object_get(build, "misc"), "arm", json_string(arm));
	}
	json_object_set_new(submission->checkouts, id, checkout);
	return json_object_set_new(submission->builds, id, build) ? -ENOMEM : 0;
}

static json_t *environment_json(const struct loaded_run *run)
{
	const char *model = json_string_value(json_object_get(run->machine, "cpu_model"));
	json_t *misc = json_object(), *guest = json_object_get(run->machine, "guest");
	json_t *environment = json_pack("{s:o}", "misc", misc);

	json_object_set(misc, "cpus", json_object_get(run->machine, "cpus"));
	if (json_is_object(guest))
		set_if(misc, "accel",
		       json_string(json_string_value(json_object_get(guest, "accel"))));
	if (model)
		set_if(environment, "comment", json_string(model));
	return environment;
}

/* Writes a test and frees it. */
static int put_test(struct submission *submission, json_t *test, FILE *out)
{
	int ret;

	if (!test)
		return -ENOMEM;
	fputs(submission->some ? ",\n" : "\n", out);
	submission->some = true;
	ret = json_dumpf(test, out, JSON_COMPACT) ? -EIO : 0;
	json_decref(test);
	return ret;
}

static int put_outcome(const struct export_run *export, const char *build,
		       const struct run_outcome *outcome, FILE *out)
{
	const struct loaded_run *run = export->run;
	const struct run_point *point = &run->points[outcome->point];
	json_t *test = json_pack(
		"{s:s,s:o,s:s,s:o,s:s,s:o,s:{s:s,s:I,s:O,s:I}}", "build_id", build, "id",
		json_sprintf("%s:%s-%u-%u", export->request->origin, export->id, outcome->point,
			     outcome->repetition),
		"origin", export->request->origin, "path", path_json(point->stressor, NULL),
		"status", statuses[outcome->outcome], "environment", environment_json(run), "misc",
		"run", export->id, "point", (json_int_t)outcome->point, "parameters",
		point->parameters, "repetition", (json_int_t)outcome->repetition);
	const char *reason = run->texts[outcome->reason];

	if (test && *reason)
		set_if(test, "comment", json_string(reason));
	if (test && outcome->outcome != OUTCOME_SKIP && outcome->seconds >= 0.0)
		set_if(test, "duration", json_real(outcome->seconds));
	if (test)
		set_if(test, "start_time", time_json(outcome->started_ns));
	return put_test(export->state, test, out);
}

static int put_value(const struct export_run *export, const char *build,
		     const struct run_sample *sample, FILE *out)
{
	const struct loaded_run *run = export->run;
	const struct run_point *point = &run->points[sample->point];
	const struct run_metric *metric = &run->metrics[sample->metric];
	const struct run_outcome *outcome = run_find_outcome(run, sample->point,
							     sample->repetition);
	json_t *test;

	/* Only the values of what passed are results; absent ones are no numbers. */
	if (isnan(sample->value) || !outcome || outcome->outcome != OUTCOME_PASS)
		return 0;
	test = json_pack("{s:s,s:o,s:s,s:o,s:s,s:{s:f,s:s},s:{s:s,s:I,s:O,s:I,s:s}}", "build_id",
			 build, "id",
			 json_sprintf("%s:%s-%u-%u-%s", export->request->origin, export->id,
				      sample->point, sample->repetition, metric->name),
			 "origin", export->request->origin, "path",
			 path_json(point->stressor, metric->name), "status", "DONE", "number",
			 "value", sample->value, "unit", metric->unit, "misc", "run", export->id,
			 "point", (json_int_t)sample->point, "parameters", point->parameters,
			 "repetition", (json_int_t)sample->repetition, "quality",
			 value_status_name((enum value_status)sample->status));
	if (test)
		set_if(test, "start_time", time_json(outcome->started_ns));
	return put_test(export->state, test, out);
}

static int put_run(const struct export_run *export, FILE *out)
{
	const struct loaded_run *run = export->run;
	char *build = kernel_id(export);
	int ret = build ? add_kernel(export, build) : -ENOMEM;

	for (size_t i = 0; !ret && i < run->outcome_count; i++)
		ret = put_outcome(export, build, &run->outcomes[i], out);
	for (size_t i = 0; !ret && i < run->sample_count; i++)
		ret = put_value(export, build, &run->samples[i], out);
	free(build);
	return ret;
}

/* The values of an object as a list. */
static int put_list(const char *name, json_t *object, FILE *out)
{
	const char *key;
	json_t *value;
	bool first = true;
	int ret = 0;

	fprintf(out, ",\n\"%s\":[", name);
	json_object_foreach(object, key, value) {
		fputs(first ? "\n" : ",\n", out);
		first = false;
		ret = ret || json_dumpf(value, out, JSON_COMPACT) ? -EIO : 0;
	}
	fputc(']', out);
	return ret;
}

static int end(FILE *out, void *state)
{
	struct submission *submission = state;
	int ret;

	fputc(']', out);
	ret = put_list("checkouts", submission->checkouts, out);
	if (put_list("builds", submission->builds, out))
		ret = -EIO;
	fputs("}\n", out);
	free_submission(submission);
	return ret;
}

const struct export_format export_kcidb = { "kcidb", begin, put_run, end };
