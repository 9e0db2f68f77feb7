// SPDX-License-Identifier: GPL-2.0-only
/* Published tables: found, read and checked. */
#include "reference.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/data.h"
#include "../lib/fs.h"

/* A key's string, or NULL; and the first that was missing is remembered for the message. */
static const char *need_text(const json_t *json, const char *key, const char **missing)
{
	const char *text = json_string_value(json_object_get(json, key));

	if (!text && !*missing)
		*missing = key;
	return text;
}

static unsigned int need_count(const json_t *json, const char *key, const char **missing)
{
	json_int_t number = json_integer_value(json_object_get(json, key));

	if ((number < 1 || number > 1000000) && !*missing)
		*missing = key;
	return (unsigned int)number;
}

static const json_t *need_list(const json_t *json, const char *key, const char **missing)
{
	const json_t *list = json_object_get(json, key);

	if (!json_array_size(list) && !*missing)
		*missing = key;
	return list;
}

/* One arm's numbers: one, or of a sweep a list with one for each step, null where none was
 * published. */
static int take_values(const json_t *json, double *values, size_t steps)
{
	for (size_t i = 0; i < steps; i++) {
		const json_t *value = json_is_array(json) ? json_array_get(json, i) : json;

		if (!json_is_number(value) && !json_is_null(value))
			return -EBADMSG;
		values[i] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return (json_is_array(json) ? json_array_size(json) : 1) == steps ? 0 : -EBADMSG;
}

static int take_metric(const struct reference *reference, const struct reference_test *test,
		       const json_t *json, struct reference_metric *metric, const char **missing)
{
	const json_t *values = json_object_get(json, "values");
	size_t count = reference->arm_count * test->step_count;

	metric->name = need_text(json, "name", missing);
	metric->unit = need_text(json, "unit", missing);
	metric->better = need_text(json, "better", missing);
	metric->change = json_string_value(json_object_get(json, "change"));
	metric->values = calloc(count, sizeof(*metric->values));
	if (!metric->values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		metric->values[i] = NAN;
	for (size_t i = 0; values && i < reference->arm_count; i++)
		if (take_values(json_object_get(values, reference->arms[i]),
				&metric->values[i * test->step_count], test->step_count) &&
		    !*missing)
			*missing = "values";
	return 0;
}

static double bound(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static int take_rules(const json_t *list, struct reference_test *test, const char **missing)
{
	size_t count = json_array_size(list);

	test->rules = calloc(count ? count : 1, sizeof(*test->rules));
	if (!test->rules)
		return -ENOMEM;
	test->rule_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *json = json_array_get(list, i);
		struct reference_rule *rule = &test->rules[i];

		rule->metric = need_text(json, "metric", missing);
		rule->arm = need_text(json, "arm", missing);
		rule->why = need_text(json, "why", missing);
		rule->steps = json_object_get(json, "steps");
		rule->at_least = bound(json, "at_least");
		rule->at_most = bound(json, "at_most");
		rule->of_published = json_object_get(json, "of") != NULL;
		if (rule->of_published && strcmp(need_text(json, "of", missing), "published") &&
		    !*missing)
			*missing = "rules";
		if (isnan(rule->at_least) == isnan(rule->at_most) && !*missing)
			*missing = "rules";
	}
	return 0;
}

static int take_platform(const struct reference *reference, const struct reference_test *test,
			 const json_t *json, struct reference_platform *platform,
			 const char **missing)
{
	const json_t *metrics = need_list(json, "metrics", missing);
	size_t count = json_array_size(metrics);
	int ret = 0;

	platform->name = need_text(json, "name", missing);
	platform->cpus = need_count(json, "cpus", missing);
	platform->any_cpus = test->sweep || json_is_true(json_object_get(json, "any_cpus"));
	platform->metrics = calloc(count ? count : 1, sizeof(*platform->metrics));
	if (!platform->metrics)
		return -ENOMEM;
	platform->metric_count = count;
	for (size_t i = 0; !ret && i < count; i++)
		ret = take_metric(reference, test, json_array_get(metrics, i),
				  &platform->metrics[i], missing);
	return ret;
}

static int take_test(const struct reference *reference, const json_t *json,
		     struct reference_test *test, const char **missing)
{
	const json_t *platforms = need_list(json, "platforms", missing), *steps;
	size_t count = json_array_size(platforms);
	int ret;

	test->test = need_text(json, "test", missing);
	test->title = need_text(json, "title", missing);
	test->stressor = need_text(json, "stressor", missing);
	test->scaled = need_text(json, "scaled", missing);
	test->active_cpus = need_count(json, "active_cpus", missing);
	test->tolerance = json_number_value(json_object_get(json, "tolerance"));
	test->parameters = json_object_get(json, "parameters");
	test->note = json_string_value(json_object_get(json, "note"));
	test->sweep = json_string_value(json_object_get(json, "sweep"));
	test->sweep_within_cpus = json_is_true(json_object_get(json, "sweep_within_cpus"));
	steps = test->sweep ? need_list(test->parameters, test->sweep, missing) : NULL;
	test->step_count = json_array_size(steps) ? json_array_size(steps) : 1;
	test->numa = json_string_value(json_object_get(json_object_get(json, "guest"), "numa"));
	test->cxl = json_string_value(json_object_get(json_object_get(json, "guest"), "cxl"));
	if (!*missing && !(test->tolerance > 0))
		*missing = "tolerance";
	if (!*missing && !json_is_integer(json_object_get(test->parameters, test->scaled)))
		*missing = "parameters";
	test->platforms = calloc(count ? count : 1, sizeof(*test->platforms));
	if (!test->platforms)
		return -ENOMEM;
	test->platform_count = count;
	ret = take_rules(json_object_get(json, "rules"), test, missing);
	for (size_t i = 0; !ret && i < count; i++)
		ret = take_platform(reference, test, json_array_get(platforms, i),
				    &test->platforms[i], missing);
	return ret;
}

static int take_arms(struct reference *reference, const char **missing)
{
	const json_t *arms = need_list(reference->json, "arms", missing);
	size_t count = json_array_size(arms);

	reference->arms = calloc(count ? count : 1, sizeof(*reference->arms));
	if (!reference->arms)
		return -ENOMEM;
	reference->arm_count = count;
	for (size_t i = 0; i < count; i++) {
		reference->arms[i] = json_string_value(json_array_get(arms, i));
		if (!reference->arms[i] && !*missing)
			*missing = "arms";
	}
	return 0;
}

static int take_all(struct reference *reference, const char **missing)
{
	const json_t *tests = need_list(reference->json, "tests", missing);
	size_t count = json_array_size(tests);
	int ret;

	reference->series = need_text(reference->json, "series", missing);
	reference->source = need_text(reference->json, "source", missing);
	reference->statistic = need_text(reference->json, "statistic", missing);
	reference->arch = need_text(reference->json, "arch", missing);
	if (json_object_get(reference->json, "runs"))
		reference->runs = need_count(reference->json, "runs", missing);
	ret = take_arms(reference, missing);
	if (ret || *missing)
		return ret;
	reference->tests = calloc(count ? count : 1, sizeof(*reference->tests));
	if (!reference->tests)
		return -ENOMEM;
	reference->test_count = count;
	for (size_t i = 0; !ret && i < count; i++)
		ret = take_test(reference, json_array_get(tests, i), &reference->tests[i], missing);
	return ret;
}

/* Names of the tables that there are, for a message. */
static void say_unknown(const char *series, struct log *log)
{
	char *folder = data_path(DATA_REFERENCE, ""), *names = strdup("");
	DIR *stream = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (stream && names && (entry = readdir(stream)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');
		char *longer;

		if (!dot || strcmp(dot, ".json"))
			continue;
		longer = format_string("%s%s%.*s", names, *names ? ", " : "",
				       (int)(dot - entry->d_name), entry->d_name);
		free(names);
		names = longer;
	}
	if (stream)
		closedir(stream);
	log_error(
		log,
		"no published table for the series \"%s\" in %s (there are: %s); name one of them, or "
		"measure the series with shootdown lab ab",
		series, folder ? folder : "", names && *names ? names : "none");
	free(names);
	free(folder);
}

static int read_json(const char *series, const char *path, struct log *log, json_t **out)
{
	json_error_t error;
	const char *schema;
	json_t *json;

	if (strchr(series, '/') || !fs_exists("", path)) {
		say_unknown(series, log);
		return -ENOENT;
	}
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json) {
		log_error(log, "%s line %d: %s; install shootdown again", path, error.line,
			  error.text);
		return -EBADMSG;
	}
	schema = json_string_value(json_object_get(json, "schema"));
	if (!schema || strcmp(schema, "shootdown-reference") ||
	    json_integer_value(json_object_get(json, "version")) != REFERENCE_VERSION) {
		log_error(log,
			  "%s is no table of published results of version %d; install the one that "
			  "belongs to this program",
			  path, REFERENCE_VERSION);
		json_decref(json);
		return -EBADMSG;
	}
	*out = json;
	return 0;
}

int reference_load(const char *series, struct log *log, struct reference **out)
{
	char *name = format_string("%s.json", series);
	char *path = name ? data_path(DATA_REFERENCE, name) : NULL;
	struct reference *reference = calloc(1, sizeof(*reference));
	const char *missing = NULL;
	int ret = path && reference ? read_json(series, path, log, &reference->json) : -ENOMEM;

	if (!ret)
		ret = take_all(reference, &missing);
	if (!ret && missing) {
		log_error(log, "%s: \"%s\" is missing or wrong somewhere; install shootdown again",
			  path, missing);
		ret = -EBADMSG;
	}
	free(path);
	free(name);
	if (ret)
		reference_free(reference);
	else
		*out = reference;
	return ret;
}

void reference_free(struct reference *reference)
{
	if (!reference)
		return;
	for (size_t i = 0; i < reference->test_count; i++) {
		struct reference_test *test = &reference->tests[i];

		for (size_t j = 0; j < test->platform_count; j++) {
			for (size_t k = 0; k < test->platforms[j].metric_count; k++)
				free(test->platforms[j].metrics[k].values);
			free(test->platforms[j].metrics);
		}
		free(test->platforms);
		free(test->rules);
	}
	free(reference->tests);
	free(reference->arms);
	json_decref(reference->json);
	free(reference);
}

const struct reference_test *reference_find_test(const struct reference *reference,
						 const char *test)
{
	for (size_t i = 0; i < reference->test_count; i++)
		if (!strcmp(reference->tests[i].test, test) ||
		    !strcmp(reference->tests[i].stressor, test))
			return &reference->tests[i];
	return NULL;
}

const struct reference_platform *reference_find_platform(const struct reference_test *test,
							 unsigned int cpus)
{
	for (size_t i = 0; i < test->platform_count; i++)
		if (test->platforms[i].cpus == cpus || test->platforms[i].any_cpus)
			return &test->platforms[i];
	return NULL;
}

int reference_step(const struct reference_test *test, const json_t *parameters)
{
	const json_t *steps, *value;

	if (!test->sweep)
		return 0;
	steps = json_object_get(test->parameters, test->sweep);
	value = json_object_get(parameters, test->sweep);
	for (size_t i = 0; i < test->step_count; i++)
		if (json_equal(json_array_get(steps, i), value))
			return (int)i;
	return -1;
}
