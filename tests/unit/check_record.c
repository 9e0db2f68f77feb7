// SPDX-License-Identifier: GPL-2.0-only
/* The run folder: written, streamed, received, read back, and refused when it is none. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../results/load.h"
#include "../../results/record.h"
#include "../../results/scan.h"

static char *folder; /* of this test */
static char *messages;
static size_t messages_length;
static FILE *stream;
static struct log logger;

static void setup(void)
{
	char template[] = "/tmp/shootdown-check-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(template));
	folder = strdup(template);
	stream = open_memstream(&messages, &messages_length);
	log_open(&logger, stream, LOG_LEVEL_WARN);
}

static void teardown(void)
{
	fclose(stream);
	free(messages);
	fs_remove_tree(folder);
	free(folder);
}

static const char *said(void)
{
	fflush(stream);
	return messages;
}

#define ck_assert_said(part)                                                                       \
	ck_assert_msg(strstr(said(), part) != NULL, "\"%s\" is not in: %s", part, said())

static char *path_of(const char *name)
{
	return format_string("%s/%s", folder, name);
}

static char *fixture(const char *name)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES");

	return format_string("%s/runs/%s", fixtures ? fixtures : "tests/fixtures", name);
}

static json_t *machine(void)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:{s:s, s:s}, s:{s:i, s:i}}", "schema",
			 "shootdown-machine", "version", 1, "arch", "x86_64", "page_size", 4096,
			 "kernel", "release", "7.3", "version", "#1", "cpus", "online", 4, "used",
			 4);
}

static json_t *plan(void)
{
	return json_pack("{s:s, s:i, s:i, s:[{s:s, s:i, s:{}, s:{}}], s:[[i, i]]}", "schema",
			 "shootdown-plan", "version", 1, "seed", 1, "points", "stressor", "null",
			 "stressor_version", 1, "parameters", "metrics", "order", 0, 1);
}

static json_t *sample(double value)
{
	return json_pack("{s:i, s:i, s:s, s:s, s:f, s:s, s:{s:f, s:f}}", "point", 0, "repetition",
			 1, "metric", "remote_ipis", "unit", "interrupts", "value", value, "status",
			 "ok", "by_cpu", "0", 1.0, "12", value - 1);
}

static json_t *outcome(void)
{
	return json_pack("{s:i, s:i, s:s, s:s, s:I, s:f}", "point", 0, "repetition", 1, "outcome",
			 "pass", "reason", "caf\xc3\xa9 \"x\"", "started_ns",
			 (json_int_t)1790000000000000001LL, "seconds", 0.25);
}

static json_t *end(void)
{
	return json_pack("{s:s, s:b}", "end", "pass", "restored", 1);
}

static void put(int (*writer)(struct record *, const json_t *), struct record *record, json_t *json)
{
	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(writer(record, json), 0);
	json_decref(json);
}

static void write_run(struct record *record)
{
	put(record_machine, record, machine());
	put(record_plan, record, plan());
	put(record_sample, record, sample(62.5));
	put(record_sample, record, outcome());
	put(record_sample, record, end());
}

static void check_run(const char *path)
{
	struct loaded_run *run;

	ck_assert_int_eq(run_load(path, true, &logger, &run), 0);
	ck_assert(run->complete && run->restored);
	ck_assert_int_eq(run->end, OUTCOME_PASS);
	ck_assert_uint_eq(run->point_count, 1);
	ck_assert_str_eq(run->points[0].stressor, "null");
	ck_assert_uint_eq(run->sample_count, 1);
	ck_assert_double_eq(run->samples[0].value, 62.5);
	ck_assert_str_eq(run->metrics[run->samples[0].metric].name, "remote_ipis");
	ck_assert_uint_eq(run->samples[0].by_cpu_count, 2);
	ck_assert_uint_eq(run->by_cpu[run->samples[0].by_cpu + 1].cpu, 12);
	ck_assert_double_eq(run->by_cpu[run->samples[0].by_cpu + 1].value, 61.5);
	ck_assert_uint_eq(run->outcome_count, 1);
	ck_assert_str_eq(run->texts[run->outcomes[0].reason], "caf\xc3\xa9 \"x\"");
	ck_assert_uint_eq(run->outcomes[0].started_ns, 1790000000000000001ULL);
	ck_assert_ptr_nonnull(run_find_outcome(run, 0, 1));
	ck_assert_ptr_null(run_find_outcome(run, 0, 2));
	run_free(run);
}

START_TEST(written_and_read)
{
	char *path = path_of("a/b/run");
	struct record *record;

	ck_assert_int_eq(record_create(path, &logger, &record), 0);
	write_run(record);
	record_close(record);
	check_run(path);
	ck_assert_int_eq(record_create(path, &logger, &record), -EEXIST);
	ck_assert_said("not empty");
	ck_assert_said("--out");
	free(path);
}
END_TEST

START_TEST(streamed_and_received)
{
	char *lines = path_of("lines"), *path = path_of("run"), *text, *line, *rest;
	int fd = open(lines, O_RDWR | O_CREAT, 0600);
	struct record *record;

	ck_assert_int_eq(record_stream(fd, &record), 0);
	write_run(record);
	record_close(record);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(record_create(path, &logger, &record), 0);
	ck_assert_int_eq(fs_read("", lines, &text, NULL), 0);
	for (rest = text; (line = strsep(&rest, "\n")) && *line;)
		ck_assert_int_eq(record_receive(record, line, strlen(line)), 0);
	record_close(record);
	check_run(path);
	free(text);
	free(path);
	free(lines);
}
END_TEST

START_TEST(received_nonsense)
{
	static const char *const lines[] = {
		"",
		"x",
		"[]",
		"{\"record\":\"sample\"}",
		"{\"record\":\"other\",\"data\":{}}",
		"{\"record\":\"sample\",\"data\":[]}",
		"{\"record\":\"sample\",\"data\":{",
	};
	char *path = path_of("run");
	struct record *record;

	ck_assert_int_eq(record_create(path, &logger, &record), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_int_eq(record_receive(record, lines[i], strlen(lines[i])), -EBADMSG);
	record_close(record);
	free(path);
}
END_TEST

/* A write that fails half-way stands in for a full disk: the same short write(2). */
START_TEST(short_write_is_taken_back)
{
	char *path = path_of("run"), *samples = path_of("run/samples.jsonl"), *text;
	struct rlimit limit = { .rlim_cur = 200, .rlim_max = RLIM_INFINITY };
	struct record *record;
	json_t *line = sample(1);
	int limited, written;
	size_t length;

	ck_assert_int_eq(record_create(path, &logger, &record), 0);
	ck_assert_int_eq(record_sample(record, line), 0);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 200;
	signal(SIGXFSZ, SIG_IGN);
	/* no assertion under the limit: Check writes a file as well */
	limited = setrlimit(RLIMIT_FSIZE, &limit);
	written = record_sample(record, line);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(limited, 0);
	ck_assert_int_lt(written, 0);
	ck_assert_said("what was recorded before is kept");
	ck_assert_int_eq(fs_read("", samples, &text, &length), 0);
	ck_assert_int_eq(text[length - 1], '\n');
	ck_assert_int_eq(record_sample(record, line), 0);
	json_decref(line);
	record_close(record);
	free(text);
	free(samples);
	free(path);
}
END_TEST

/* The real thing, where there is a device that is always full. */
START_TEST(full_stream)
{
	struct record *record;
	json_t *line = sample(1);
	int fd = open("/dev/full", O_WRONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(record_stream(fd, &record), 0);
	ck_assert_int_eq(record_sample(record, line), -ENOSPC);
	ck_assert_int_eq(record_sample(record, line), -ENOSPC);
	json_decref(line);
	record_close(record);
	close(fd);
}
END_TEST

static const struct {
	const char *name;
	int ret;
	const char *parts[3]; /* of the message */
} bad_folders[] = {
	{ "foreign", -EBADMSG, { "machine.json", "another-tool" } },
	{ "wrong-version", -EINVAL, { "machine.json", "version 2", "run again" } },
	{ "wrong-samples-version", -EINVAL, { "samples.jsonl", "version 9" } },
	{ "missing-plan", -EBADMSG, { "has no plan.json" } },
	{ "garbage", -EBADMSG, { "samples.jsonl line 5", "damaged" } },
	{ "nowhere", -ENOENT, { "nowhere", "No such file" } },
	{ "lab", -EBADMSG, { "is no run folder" } },
	{ "lab/lab.json", -EBADMSG, { "is a file" } },
};

START_TEST(bad_folder)
{
	char *path = fixture(bad_folders[_i].name);
	struct loaded_run *run;

	ck_assert_int_eq(run_load(path, false, &logger, &run), bad_folders[_i].ret);
	for (size_t i = 0; i < 3 && bad_folders[_i].parts[i]; i++)
		ck_assert_said(bad_folders[_i].parts[i]);
	free(path);
}
END_TEST

START_TEST(killed_writer)
{
	char *path = fixture(_i ? "truncated" : "no-end");
	struct loaded_run *run;

	ck_assert_int_eq(run_load(path, false, &logger, &run), 0);
	ck_assert(!run->complete);
	ck_assert_said(_i ? "cut off" : "no end line");
	ck_assert_uint_eq(run->outcome_count, 2);
	ck_assert_uint_eq(run->sample_count, 15);
	ck_assert_ptr_null(run_find_outcome(run, 0, 3));
	run_free(run);
	free(path);
}
END_TEST

#define HEADER "{\"schema\":\"shootdown-samples\",\"version\":1}\n"
#define SAMPLE "\"point\":0,\"repetition\":1,\"metric\":\"m\",\"unit\":\"u\""
#define PASS   "{\"point\":0,\"repetition\":1,\"outcome\":\"pass\"}\n"

static const struct {
	const char *text;
	const char *part; /* of the message */
} bad_samples[] = {
	{ "", "is empty" },
	{ "\n", "not a JSON object" },
	{ "{\"schema\":\"shootdown-sam", "\"schema\" has no proper value" },
	{ HEADER "\n", "line 2" },
	{ HEADER "{}\n", "neither a sample" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\"}\n", "without a value" },
	{ HEADER "{" SAMPLE ",\"status\":\"failed\",\"value\":1}\n", "with a value" },
	{ HEADER "{" SAMPLE ",\"status\":\"fine\",\"value\":1}\n", "unknown status \"fine\"" },
	{ HEADER "{" SAMPLE ",\"value\":1}\n", "\"status\" is missing" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\",\"value\":\"1\"}\n",
	  "\"value\" has no proper value" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\",\"value\":1e999}\n",
	  "\"value\" has no proper value" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\",\"value\":1,}\n", "not a whole" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\",\"value\":1} x\n", "something follows" },
	{ HEADER "{" SAMPLE ",\"unit\":\"u\"}\n", "\"unit\" is there twice" },
	{ HEADER "{\"point\":1,\"repetition\":1,\"outcome\":\"pass\"}\n",
	  "point 1 is not in plan.json" },
	{ HEADER "{\"point\":0,\"repetition\":0,\"outcome\":\"pass\"}\n",
	  "repetition 0 is out of range" },
	{ HEADER "{\"point\":-1,\"repetition\":1,\"outcome\":\"pass\"}\n",
	  "\"point\" has no proper value" },
	{ HEADER "{\"point\":0,\"repetition\":1,\"outcome\":\"good\"}\n", "unknown outcome" },
	{ HEADER PASS PASS, "has two outcomes" },
	{ HEADER "{\"end\":\"pass\",\"restored\":true}\n" PASS, "follows the run's end line" },
	{ HEADER
	  "{" SAMPLE ",\"status\":\"ok\",\"value\":1}\n"
	  "{\"point\":0,\"repetition\":1,\"metric\":\"m\",\"unit\":\"v\",\"status\":\"ok\",\"value\":1}\n",
	  "has the unit \"v\" here" },
	{ HEADER "{" SAMPLE ",\"status\":\"ok\",\"value\":1,\"reason\":\"\xff\"}\n",
	  "\"reason\" has no proper value" },
};

START_TEST(bad_line)
{
	char *path = path_of("run"), *samples = path_of("run/samples.jsonl");
	struct record *record;
	struct loaded_run *run;

	ck_assert_int_eq(record_create(path, &logger, &record), 0);
	put(record_machine, record, machine());
	put(record_plan, record, plan());
	record_close(record);
	ck_assert_int_eq(fs_replace(samples, bad_samples[_i].text, strlen(bad_samples[_i].text)),
			 0);
	ck_assert_int_eq(run_load(path, true, &logger, &run), -EBADMSG);
	ck_assert_said(bad_samples[_i].part);
	ck_assert_said("run again");
	free(samples);
	free(path);
}
END_TEST

static const struct {
	const char *text;
	double value; /* NAN: no number */
} numbers[] = {
	{ "0", 0 },
	{ "-0.5", -0.5 },
	{ "123456789012345", 123456789012345.0 },
	{ "61440.0", 61440 },
	{ "0.1", 0.1 },
	{ "2974.6", 2974.6 },
	{ "1e3", 1000 },
	{ "9007199254740993", 9007199254740992.0 },
	{ "0.30000000000000004", 0.30000000000000004 },
	{ "1.7976931348623157e308", 1.7976931348623157e308 },
	{ "01", NAN },
	{ "1.", NAN },
	{ ".5", NAN },
	{ "+1", NAN },
	{ "1e", NAN },
	{ "-", NAN },
	{ "NaN", NAN },
};

START_TEST(scanned_number)
{
	char *text = strdup(numbers[_i].text);
	struct scan scan = { .at = text, .end = text + strlen(text) };
	double value;
	bool valid = scan_number(&scan, &value) && scan_done(&scan);

	ck_assert_int_eq(valid, !isnan(numbers[_i].value));
	if (valid)
		ck_assert_double_eq(value, numbers[_i].value);
	free(text);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tests = tcase_create("record");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, written_and_read);
	tcase_add_test(tests, streamed_and_received);
	tcase_add_test(tests, received_nonsense);
	tcase_add_test(tests, short_write_is_taken_back);
	tcase_add_test(tests, full_stream);
	tcase_add_loop_test(tests, bad_folder, 0, COUNT(bad_folders));
	tcase_add_loop_test(tests, killed_writer, 0, 2);
	tcase_add_loop_test(tests, bad_line, 0, COUNT(bad_samples));
	tcase_add_loop_test(tests, scanned_number, 0, COUNT(numbers));
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
