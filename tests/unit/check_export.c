// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export: CSV and JSON read back, KTAP as the kernel's document has it, and KCIDB
 * submissions by the rules of its I/O schema 5.3, which kcidb_rules below restate.
 */
#include <errno.h>
#include <jansson.h>
#include <regex.h>

#include "../../results/export.h"
#include "store.h"

static char *text;

static void setup(void)
{
	make_folder();
	text = NULL;
}

static void teardown(void)
{
	free(text);
	remove_folder();
}

/* Exports fixtures (NULL at the end) into text. */
static int export(const char *format, const char *const *names)
{
	char *folders[8] = { NULL };
	struct export_request request = { .folders = (const char *const *)folders,
					  .format = format,
					  .origin = "my_lab" };
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret;

	for (size_t i = 0; names[i]; i++)
		folders[i] = fixture_run(names[i]);
	ret = export_runs(&request, out, quiet_log());
	fclose(out);
	for (size_t i = 0; folders[i]; i++)
		free(folders[i]);
	return ret;
}

static const char *const one[] = { "baseline", NULL };
static const char *const all[] = {
	"baseline", "patched", "skipped", "no-end", "more-points", NULL
};
static const char *const skipped[] = { "skipped", NULL };

static unsigned int count_of(const char *words)
{
	unsigned int count = 0;

	for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
		count++;
	return count;
}

START_TEST(csv_lines)
{
	ck_assert_int_eq(export("csv", one), 0);
	/* header and 15 samples */
	ck_assert_uint_eq(count_of("\n"), 16);
	ck_assert_ptr_eq(strstr(text, "run,arm,boot,kernel,"), text);
	ck_assert_ptr_nonnull(strstr(text, ",baseline,,7.3.0-lab,x86_64,16,0,pageout,1,"
					   "pages=4096 contents=random,1,pass,remote_ipis,"
					   "interrupts,61440.0,ok,\n"));
	ck_assert_ptr_nonnull(strstr(text, "flushes,flushes,,unsupported,needs a kernel with "
					   "CONFIG_DEBUG_TLBFLUSH\n"));
	ck_assert_ptr_null(strstr(text, "nan"));
}
END_TEST

START_TEST(csv_skip_is_there)
{
	ck_assert_int_eq(export("csv", skipped), 0);
	ck_assert_uint_eq(count_of("\n"), 2);
	ck_assert_ptr_nonnull(
		strstr(text, ",skip,,,,,zram cannot be added: load the zram module\n"));
}
END_TEST

START_TEST(csv_quotes)
{
	static const char samples[] =
		"{\"schema\":\"shootdown-samples\",\"version\":1}\n"
		"{\"point\":0,\"repetition\":1,\"outcome\":\"fail\","
		"\"reason\":\"a \\\"b\\\", c\\nd\",\"started_ns\":1,\"seconds\":1}\n";
	static const struct made_run made = { .name = "run", .started_ns = 1, .unfinished = true };
	char *path = make_run(&made), *file = in_folder("run/samples.jsonl");
	struct export_request request = { .folders = (const char *[]){ path, NULL },
					  .format = "csv",
					  .origin = "x" };
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(fs_replace(file, samples, sizeof(samples) - 1), 0);
	ck_assert_int_eq(export_runs(&request, out, quiet_log()), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, ",fail,,,,,\"a \"\"b\"\", c\nd\"\n"));
	free(file);
	free(path);
}
END_TEST

START_TEST(json_reads_back)
{
	json_t *json, *run, *sample;

	ck_assert_int_eq(export("json", all), 0);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "runs")), 5);
	run = json_array_get(json_object_get(json, "runs"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "samples")), 15);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "outcomes")), 3);
	sample = json_array_get(json_object_get(run, "samples"), 2);
	ck_assert_double_eq(json_real_value(json_object_get(sample, "value")), 61440.0);
	ck_assert_double_eq(
		json_real_value(json_object_get(json_object_get(sample, "by_cpu"), "2")), 30720.0);
	ck_assert(json_is_false(
		json_object_get(json_array_get(json_object_get(json, "runs"), 3), "complete")));
	json_decref(json);
}
END_TEST

START_TEST(ktap_of_a_failure)
{
	static const char *const names[] = { "patched", "skipped", NULL };

	ck_assert_int_eq(export("ktap", names), 0);
	ck_assert_ptr_eq(strstr(text, "KTAP version 1\n1..2\n  KTAP version 1\n  # Subtest: run-"),
			 text);
	ck_assert_ptr_nonnull(strstr(
		text, "    KTAP version 1\n    # Subtest: pageout pages=4096 contents=random\n"
		      "    1..3\n    # time_ms: 150.0 ms\n"));
	ck_assert_ptr_nonnull(strstr(text, "    ok 2 repetition-2\n"));
	ck_assert_ptr_nonnull(strstr(text, "    # page 7 came back with other contents\n"
					   "    not ok 3 repetition-3\n"
					   "  not ok 1 pageout pages=4096 contents=random\n"
					   "not ok 1 run-"));
	ck_assert_ptr_nonnull(strstr(text, "  ok 1 pageout pages=4096 contents=random # SKIP zram "
					   "cannot be added: load the zram module\nok 2 run-"));
}
END_TEST

/* Texts of a run cannot pass for results or directives. */
START_TEST(ktap_of_hostile_texts)
{
	static const char samples[] =
		"{\"schema\":\"shootdown-samples\",\"version\":1}\n"
		"{\"point\":0,\"repetition\":1,\"metric\":\"m\\nok 1 x\",\"unit\":\"u\",\"status\":\"ok\","
		"\"value\":1}\n"
		"{\"point\":0,\"repetition\":1,\"outcome\":\"broken\",\"reason\":\"a # SKIP b\\n1..9\"}\n";
	static const struct made_run made = { .name = "run", .started_ns = 1, .unfinished = true };
	char *path = make_run(&made), *file = in_folder("run/samples.jsonl");
	struct export_request request = { .folders = (const char *[]){ path, NULL },
					  .format = "ktap",
					  .origin = "x" };
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(fs_replace(file, samples, sizeof(samples) - 1), 0);
	ck_assert_int_eq(export_runs(&request, out, quiet_log()), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "    # m ok 1 x: 1.0 u\n"
					   "    not ok 1 repetition-1 # ERROR a   SKIP b 1..9\n"));
	free(file);
	free(path);
}
END_TEST

/* The properties of each kind of object by kcidb-io's v05_03.py, as far as they are used here. */
struct rule {
	const char *name;
	char type; /* s string, n number, o object, b boolean */
	bool required;
	const char *pattern; /* of a string; NULL: any */
};

#define ID     "^[a-z0-9_]+:.*$"
#define ORIGIN "^[a-z0-9_]+$"
#define STATUS "^(FAIL|ERROR|MISS|PASS|DONE|SKIP)$"
#define PATH   "^([a-zA-Z0-9_-]+(\\.[a-zA-Z0-9_-]+)*)?$"
#define INSTANT                                                                                    \
	"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"

static const struct rule checkout_rules[] = {
	{ "id", 's', true, ID },
	{ "origin", 's', true, ORIGIN },
	{ "comment", 's', false, NULL },
	{ "valid", 'b', false, NULL },
	{ "start_time", 's', false, INSTANT },
	{ "misc", 'o', false, NULL },
	{ NULL },
};

static const struct rule build_rules[] = {
	{ "checkout_id", 's', true, ID },
	{ "id", 's', true, ID },
	{ "origin", 's', true, ORIGIN },
	{ "comment", 's', false, NULL },
	{ "architecture", 's', false, "^[a-z0-9_]*$" },
	{ "status", 's', false, STATUS },
	{ "misc", 'o', false, NULL },
	{ NULL },
};

static const struct rule test_rules[] = {
	{ "build_id", 's', true, ID },	       { "id", 's', true, ID },
	{ "origin", 's', true, ORIGIN },       { "environment", 'o', false, NULL },
	{ "path", 's', false, PATH },	       { "comment", 's', false, NULL },
	{ "status", 's', false, STATUS },      { "number", 'o', false, NULL },
	{ "start_time", 's', false, INSTANT }, { "duration", 'n', false, NULL },
	{ "misc", 'o', false, NULL },	       { NULL },
};

static const struct rule environment_rules[] = {
	{ "comment", 's', false, NULL },
	{ "misc", 'o', false, NULL },
	{ NULL },
};

static const struct rule number_rules[] = {
	{ "value", 'n', true, NULL },
	{ "unit", 's', false, NULL },
	{ NULL },
};

static bool has_type(const json_t *value, char type)
{
	switch (type) {
	case 's':
		return json_is_string(value);
	case 'n':
		return json_is_number(value);
	case 'b':
		return json_is_boolean(value);
	default:
		return json_is_object(value);
	}
}

static void check_string(const char *name, const char *value, const char *pattern)
{
	regex_t regex;

	if (!pattern)
		return;
	ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(!regexec(&regex, value, 0, NULL, 0), "%s \"%s\" is not %s", name, value,
		      pattern);
	regfree(&regex);
}

/* Every property is known and of its type; the required ones are there. */
static void check_object(json_t *object, const struct rule *rules)
{
	const char *key;
	json_t *value;

	ck_assert(json_is_object(object));
	json_object_foreach(object, key, value) {
		const struct rule *rule = rules;

		while (rule->name && strcmp(rule->name, key))
			rule++;
		ck_assert_msg(rule->name, "the schema has no \"%s\"", key);
		ck_assert_msg(has_type(value, rule->type), "\"%s\" has another type", key);
		if (rule->type == 's')
			check_string(key, json_string_value(value), rule->pattern);
	}
	for (; rules->name; rules++)
		ck_assert_msg(!rules->required || json_object_get(object, rules->name),
			      "\"%s\" is missing", rules->name);
}

/* ids are unique within a list; all are noted in known. */
static void check_list(json_t *list, const struct rule *rules, json_t *known)
{
	json_t *object;
	size_t i;

	ck_assert(json_is_array(list));
	json_array_foreach(list, i, object) {
		const char *id = json_string_value(json_object_get(object, "id"));

		check_object(object, rules);
		ck_assert_msg(!json_object_get(known, id), "id %s is there twice", id);
		json_object_set_new(known, id, json_true());
	}
}

static void check_reference(json_t *list, const char *key, json_t *known)
{
	json_t *object;
	size_t i;

	json_array_foreach(list, i, object)
		ck_assert_ptr_nonnull(
			json_object_get(known, json_string_value(json_object_get(object, key))));
}

static json_t *check_submission(void)
{
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *version, *test, *part;
	json_t *checkouts = json_object(), *builds = json_object(), *tests = json_object();
	size_t i;

	ck_assert_ptr_nonnull(json);
	ck_assert_uint_eq(json_object_size(json), 4);
	version = json_object_get(json, "version");
	ck_assert_int_eq(json_integer_value(json_object_get(version, "major")), 5);
	ck_assert_int_eq(json_integer_value(json_object_get(version, "minor")), 3);
	check_list(json_object_get(json, "checkouts"), checkout_rules, checkouts);
	check_list(json_object_get(json, "builds"), build_rules, builds);
	check_list(json_object_get(json, "tests"), test_rules, tests);
	check_reference(json_object_get(json, "builds"), "checkout_id", checkouts);
	check_reference(json_object_get(json, "tests"), "build_id", builds);
	json_array_foreach(json_object_get(json, "tests"), i, test) {
		part = json_object_get(test, "number");
		if (part)
			check_object(part, number_rules);
		part = json_object_get(test, "environment");
		if (part)
			check_object(part, environment_rules);
	}
	json_decref(tests);
	json_decref(builds);
	json_decref(checkouts);
	return json;
}

static json_t *find_test(json_t *json, const char *path, const char *status)
{
	json_t *test;
	size_t i;

	json_array_foreach(json_object_get(json, "tests"), i, test)
		if (!strcmp(json_string_value(json_object_get(test, "path")), path) &&
		    !strcmp(json_string_value(json_object_get(test, "status")), status))
			return test;
	return NULL;
}

START_TEST(kcidb_submission)
{
	json_t *json, *test;

	ck_assert_int_eq(export("kcidb", all), 0);
	json = check_submission();
	test = find_test(json, "shootdown.pageout.remote_ipis", "DONE");
	ck_assert_ptr_nonnull(test);
	ck_assert_double_eq(
		json_number_value(json_object_get(json_object_get(test, "number"), "value")),
		61440.0);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(test, "number"), "unit")),
		"interrupts");
	ck_assert_ptr_nonnull(find_test(json, "shootdown.pageout", "PASS"));
	ck_assert_ptr_nonnull(find_test(json, "shootdown.pageout", "FAIL"));
	ck_assert_ptr_nonnull(find_test(json, "shootdown.pageout", "SKIP"));
	/* what has no value is no number, and what failed gives none */
	ck_assert_ptr_null(find_test(json, "shootdown.pageout.flushes", "DONE"));
	ck_assert_ptr_null(strstr(text, "999999"));
	json_decref(json);
}
END_TEST

START_TEST(kcidb_of_nothing)
{
	ck_assert_int_eq(export("kcidb", skipped), 0);
	json_decref(check_submission());
}
END_TEST

static const char *const origins[] = { "", "My", "a-b", "a:b", "a b" };

START_TEST(bad_origin)
{
	struct export_request request = { .folders = (const char *[]){ NULL },
					  .format = "kcidb",
					  .origin = origins[_i] };

	ck_assert_int_eq(export_runs(&request, stdout, quiet_log()), -EINVAL);
	ck_assert_said("is no origin");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("export");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, csv_lines);
	tcase_add_test(tests, csv_skip_is_there);
	tcase_add_test(tests, csv_quotes);
	tcase_add_test(tests, json_reads_back);
	tcase_add_test(tests, ktap_of_a_failure);
	tcase_add_test(tests, ktap_of_hostile_texts);
	tcase_add_test(tests, kcidb_submission);
	tcase_add_test(tests, kcidb_of_nothing);
	tcase_add_loop_test(tests, bad_origin, 0, sizeof(origins) / sizeof(origins[0]));
	return run_suite("export", tests);
}
