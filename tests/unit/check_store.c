// SPDX-License-Identifier: GPL-2.0-only
/* The index: what is added, selected, found, dropped and made anew. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/features.h"
#include "../../results/store.h"
#include "store.h"

#define DAY_NS 86400000000000LL

static struct store *store;
static struct log *logger;

static void open_store(void)
{
	char *path = in_folder("data/index.db");

	logger = quiet_log();
	ck_assert_int_eq(store_open(path, logger, &store), 0);
	free(path);
}

static void setup(void)
{
	make_folder();
	open_store();
}

static void teardown(void)
{
	store_close(store);
	remove_folder();
}

static const struct made_run runs[] = {
	{ .name = "r/one",
	  .host = "big",
	  .kernel = "7.2.0",
	  .value = 10,
	  .started_ns = 1 * DAY_NS },
	{ .name = "r/two",
	  .host = "big",
	  .kernel = "7.3.0",
	  .value = 20,
	  .started_ns = 2 * DAY_NS },
	{ .name = "r/three",
	  .host = "small",
	  .kernel = "7.3.0",
	  .pages = 4096,
	  .value = 30,
	  .started_ns = 3 * DAY_NS },
	{ .name = "r/four",
	  .host = "(none)",
	  .value = 40,
	  .started_ns = 4 * DAY_NS,
	  .unfinished = true },
};
#define RUN_COUNT (sizeof(runs) / sizeof(runs[0]))

static void add(const char *path, enum store_added wanted)
{
	enum store_added added;

	ck_assert_int_eq(store_add(store, path, &added), 0);
	ck_assert_int_eq(added, wanted);
}

static void add_runs(void)
{
	for (size_t i = 0; i < RUN_COUNT; i++) {
		char *path = make_run(&runs[i]);

		add(path, STORE_NEW);
		free(path);
	}
	logger = quiet_log();
}

/* "one two": the last parts of the folders of what was selected. */
struct seen {
	char text[256];
	struct store_run last;
	unsigned int count;
};

static int see(void *context, const struct store_run *run)
{
	struct seen *seen = context;

	if (seen->count++)
		strcat(seen->text, " ");
	strcat(seen->text, strrchr(run->folder, '/') + 1);
	return 0;
}

static const char *const pages_64[] = { "pages=64", NULL };
static const char *const text_and_truth[] = { "contents=random", "fast=true", NULL };
static const char *const wrong_value[] = { "contents=zero", NULL };
static const char *const hostile[] = { "pages'\"=64", NULL };

static const struct {
	struct store_filter filter;
	const char *wanted;
} selections[] = {
	{ { 0 }, "four three two one" },
	{ { .limit = 2 }, "four three" },
	{ { .machine = "big" }, "two one" },
	{ { .machine = "b?g" }, "two one" },
	{ { .machine = "x86_64" }, "four" },
	{ { .kernel = "7.3*" }, "four three two" },
	{ { .kernel = "7.3" }, "" },
	{ { .stressor = "pageout" }, "four three two one" },
	{ { .stressor = "null" }, "" },
	{ { .parameters = pages_64 }, "four two one" },
	{ { .parameters = text_and_truth }, "four three two one" },
	{ { .parameters = wrong_value }, "" },
	{ { .parameters = hostile }, "" },
	{ { .since_ns = 2 * DAY_NS, .until_ns = 3 * DAY_NS }, "two" },
	{ { .machine = "' OR 1 OR '" }, "" },
	{ { .series = "x" }, "" },
	{ { .arm = "x" }, "" },
};

START_TEST(selected)
{
	struct seen seen = { 0 };

	add_runs();
	ck_assert_int_eq(store_select(store, &selections[_i].filter, see, &seen), 0);
	ck_assert_str_eq(seen.text, selections[_i].wanted);
}
END_TEST

static int check_row(void *context, const struct store_run *run)
{
	(void)context;
	ck_assert_str_eq(run->outcome, "pass");
	ck_assert_str_eq(run->stressors, "pageout");
	ck_assert_str_eq(run->arch, "x86_64");
	ck_assert_int_eq(run->started_ns, 3 * DAY_NS + 1);
	ck_assert_int_eq(run->cpus, 4);
	ck_assert_int_eq(run->page_bytes, 4096);
	ck_assert_int_eq(run->sample_count, 2);
	ck_assert(run->verified);
	ck_assert_ptr_null(run->series);
	ck_assert_ptr_null(run->failure);
	return 7;
}

START_TEST(row_of_a_run)
{
	struct store_filter filter = { .machine = "small" };

	add_runs();
	ck_assert_int_eq(store_select(store, &filter, check_row, NULL), 7);
}
END_TEST

START_TEST(added_twice_moved_and_copied)
{
	char *path = make_run(&runs[0]), *moved = in_folder("moved"), command[512];
	struct store_filter filter = { 0 };
	enum store_added added;
	struct seen seen = { 0 };

	add(path, STORE_NEW);
	add(path, STORE_KNOWN);
	ck_assert_int_eq(rename(path, moved), 0);
	add(moved, STORE_CHANGED);
	snprintf(command, sizeof(command), "cp -r %s %s", moved, path);
	ck_assert_int_eq(system(command), 0);
	add(path, STORE_KNOWN);
	ck_assert_int_eq(store_select(store, &filter, see, &seen), 0);
	ck_assert_str_eq(seen.text, "moved");
	/* a copy that was changed, with the checksums of the other */
	snprintf(command, sizeof(command), "echo ' ' >> %s/plan.json", path);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(store_add(store, path, &added), -EBADMSG);
	free(moved);
	free(path);
}
END_TEST

/* A run that was added while it went on is replaced by what it became. */
START_TEST(finished_later)
{
	char *path = make_run(&runs[3]), *samples = in_folder("r/four/samples.jsonl");
	FILE *stream;
	struct store_filter filter = { 0 };
	struct seen seen = { 0 };

	add(path, STORE_NEW);
	stream = fopen(samples, "a");
	fputs("{\"end\":\"pass\",\"restored\":true}\n", stream);
	fclose(stream);
	add(path, STORE_CHANGED);
	ck_assert_int_eq(store_select(store, &filter, see, &seen), 0);
	ck_assert_str_eq(seen.text, "four");
	free(samples);
	free(path);
}
END_TEST

START_TEST(damaged_run_is_refused)
{
	static const char other[] = "{\"schema\":\"shootdown-samples\",\"version\":1}\n";
	char *path = make_run(&runs[0]), *samples = in_folder("r/one/samples.jsonl");
	struct store_filter filter = { 0 };
	struct seen seen = { 0 };
	enum store_added added;

	ck_assert_int_eq(fs_replace(samples, other, sizeof(other) - 1), 0);
	ck_assert_int_eq(store_add(store, path, &added), -EBADMSG);
	ck_assert_int_eq(store_select(store, &filter, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 0);
	free(samples);
	free(path);
}
END_TEST

START_TEST(found_by_id)
{
	char id[RUN_ID_LENGTH + 1], full[RUN_ID_LENGTH + 1], *path, *found;

	add_runs();
	path = in_folder("r/two");
	ck_assert_int_eq(run_identity(path, id), 0);
	ck_assert_int_eq(store_find(store, id, full, &found), 0);
	ck_assert_str_eq(found, path);
	free(found);
	id[6] = '\0';
	ck_assert_int_eq(store_find(store, id, full, NULL), 0);
	ck_assert_int_eq(store_find(store, "00000000", full, NULL), -ENOENT);
	ck_assert_int_eq(store_find(store, "abc", full, NULL), -EINVAL);
	ck_assert_int_eq(store_find(store, "folder", full, NULL), -EINVAL);
	free(path);
}
END_TEST

START_TEST(removed_and_dropped)
{
	char id[RUN_ID_LENGTH + 1], *path;
	struct store_filter filter = { 0 };
	struct seen seen = { 0 };

	add_runs();
	path = in_folder("r/two");
	ck_assert_int_eq(run_identity(path, id), 0);
	ck_assert_int_eq(store_remove(store, id), 0);
	ck_assert_int_eq(store_remove(store, id), -ENOENT);
	free(path);
	path = in_folder("r/one");
	fs_remove_tree(path);
	ck_assert_int_eq(store_gc(store), 1);
	ck_assert_int_eq(store_gc(store), 0);
	ck_assert_int_eq(store_select(store, &filter, see, &seen), 0);
	ck_assert_str_eq(seen.text, "four three");
	free(path);
}
END_TEST

struct values {
	char text[256];
	unsigned int count;
};

static int see_value(void *context, const struct store_value *value)
{
	struct values *values = context;

	ck_assert_str_eq(value->unit, "interrupts");
	ck_assert_str_eq(value->better, "less");
	ck_assert_str_eq(value->stressor, "pageout");
	ck_assert_int_eq(value->n, 2);
	snprintf(values->text + strlen(values->text), 64, "%s%s:%g", values->count++ ? " " : "",
		 value->machine, value->median);
	return 0;
}

START_TEST(values_in_time_order)
{
	struct store_filter filter = { .until_ns = 4 * DAY_NS };
	struct values values = { 0 };

	add_runs();
	ck_assert_int_eq(store_values(store, &filter, "remote_ipis", see_value, &values), 0);
	ck_assert_str_eq(values.text, "big:11 big:21 small:31");
	ck_assert_int_eq(store_values(store, &filter, "time_ms", see_value, &values), 0);
	ck_assert_uint_eq(values.count, 3);
}
END_TEST

/* What the index says of all runs, so that two can be compared. */
static int describe(void *context, const struct store_run *run)
{
	fprintf(context, "%s %s %lld %s %s %s %s %lld %d\n", run->id, run->folder,
		(long long)run->started_ns, run->machine, run->kernel, run->stressors, run->outcome,
		(long long)run->sample_count, run->verified);
	return 0;
}

static int describe_value(void *context, const struct store_value *value)
{
	fprintf(context, "%s %s %g\n", value->run, value->parameters, value->median);
	return 0;
}

static char *contents(void)
{
	struct store_filter filter = { 0 };
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	ck_assert_int_eq(store_select(store, &filter, describe, stream), 0);
	ck_assert_int_eq(store_values(store, &filter, "remote_ipis", describe_value, stream), 0);
	fclose(stream);
	return text;
}

START_TEST(rebuilt_as_imported)
{
	char *top, *before, *after;
	unsigned int damaged = 9;

	add_runs();
	top = in_folder("r");
	before = contents();
	ck_assert_int_eq(store_rebuild(store, (const char *[]){ top, NULL }, &damaged), RUN_COUNT);
	ck_assert_uint_eq(damaged, 0);
	after = contents();
	ck_assert_str_eq(before, after);
	free(after);
	ck_assert_int_eq(store_rebuild(store, (const char *[]){ NULL }, &damaged), 0);
	after = contents();
	ck_assert_str_eq(after, "");
	free(after);
	free(before);
	free(top);
}
END_TEST

START_TEST(roots_are_kept)
{
	char **roots;

	ck_assert_int_eq(store_add_root(store, folder), 0);
	ck_assert_int_eq(store_add_root(store, folder), 0);
	ck_assert_int_eq(store_add_root(store, "/nowhere/at/all"), -ENOENT);
	ck_assert_int_eq(store_roots(store, &roots), 0);
	ck_assert_str_eq(roots[0], folder);
	ck_assert_ptr_null(roots[1]);
	store_free_list(roots);
}
END_TEST

/* A file that is none, one of another program, and a damaged one that is put aside. */
START_TEST(not_an_index)
{
	char *path = in_folder("other.db"), *aside = in_folder("other.db.damaged");
	static const char text[] = "this is not a data base, and it is longer than its header is: "
				   "one hundred bytes, which is what SQLite looks at first of all";
	struct store *other;

	ck_assert_int_eq(fs_replace(path, text, sizeof(text)), 0);
	ck_assert_int_eq(store_open(path, quiet_log(), &other), -EBADMSG);
	ck_assert_said("db rebuild");
	ck_assert_int_eq(store_open_anew(path, quiet_log(), &other), 0);
	ck_assert_said("put aside");
	store_close(other);
	ck_assert(fs_exists("", aside));
	ck_assert_int_eq(store_open("/proc/no/index.db", quiet_log(), &other), -ENOENT);
	ck_assert_said("--db");
	free(aside);
	free(path);
}
END_TEST

static const struct {
	const char *text;
	long long seconds; /* since 1970 in UTC; -1: none */
} times[] = {
	{ "2026-11-30", 1795996800 },
	{ "2026-11-30 22:00", 1796076000 },
	{ "2026-11-30T22:00", 1796076000 },
	{ "7d", 2000000000 - 7 * 86400 },
	{ "12h", 2000000000 - 12 * 3600 },
	{ "30m", 2000000000 - 1800 },
	{ "2w", 2000000000 - 14 * 86400 },
	{ "", -1 },
	{ "7", -1 },
	{ "d", -1 },
	{ "-7d", -1 },
	{ "7dd", -1 },
	{ "2026-13-01", -1 },
	{ "2026-11-30 22:00 or so", -1 },
	{ "99999999999999999999d", -1 },
	{ "0226-11-30", -1 },
	{ "9999-11-30", -1 },
};

START_TEST(parsed_time)
{
	int64_t ns = 0;
	int ret;

	setenv("TZ", "UTC", 1);
	ret = store_parse_time(times[_i].text, 2000000000LL * 1000000000, &ns);
	ck_assert_int_eq(ret, times[_i].seconds < 0 ? -EINVAL : 0);
	if (!ret)
		ck_assert_int_eq(ns / 1000000000, times[_i].seconds);
}
END_TEST

static const struct {
	const char *json, *name;
} machines[] = {
	{ "{\"host\":\"big\",\"cpu_model\":\"m\",\"arch\":\"a\",\"guest\":null}", "big" },
	{ "{\"host\":\"(none)\",\"cpu_model\":\"m\",\"arch\":\"a\"}", "m" },
	{ "{\"cpu_model\":null,\"arch\":\"a\"}", "a" },
	{ "{\"host\":\"(none)\",\"cpu_model\":\"m\",\"guest\":{\"accel\":\"tcg\"}}", "m (tcg)" },
	{ "{\"host\":\"(none)\",\"guest\":{\"host\":\"lab\",\"accel\":\"kvm\"}}", "lab (kvm)" },
	{ "{}", "unknown" },
};

START_TEST(named_machine)
{
	json_t *json = json_loads(machines[_i].json, 0, NULL);
	char *name = store_machine(json);

	ck_assert_str_eq(name, machines[_i].name);
	free(name);
	json_decref(json);
}
END_TEST

START_TEST(without_sqlite)
{
	struct store *none;

	ck_assert_int_eq(store_open(NULL, quiet_log(), &none), -EOPNOTSUPP);
	ck_assert_said("libsqlite3-dev");
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	TCase *tests = tcase_create("store");

	if (!FEATURE_SQLITE) {
		tcase_add_checked_fixture(tests, make_folder, remove_folder);
		tcase_add_test(tests, without_sqlite);
		tcase_add_loop_test(tests, parsed_time, 0, COUNT(times));
		tcase_add_loop_test(tests, named_machine, 0, COUNT(machines));
		return run_suite("store", tests);
	}
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, selected, 0, COUNT(selections));
	tcase_add_test(tests, row_of_a_run);
	tcase_add_test(tests, added_twice_moved_and_copied);
	tcase_add_test(tests, finished_later);
	tcase_add_test(tests, damaged_run_is_refused);
	tcase_add_test(tests, found_by_id);
	tcase_add_test(tests, removed_and_dropped);
	tcase_add_test(tests, values_in_time_order);
	tcase_add_test(tests, rebuilt_as_imported);
	tcase_add_test(tests, roots_are_kept);
	tcase_add_test(tests, not_an_index);
	tcase_add_loop_test(tests, parsed_time, 0, COUNT(times));
	tcase_add_loop_test(tests, named_machine, 0, COUNT(machines));
	return run_suite("store", tests);
}
