// SPDX-License-Identifier: GPL-2.0-only
/*
 * harness/run.c and point.c: which points of a mix run, in which repetitions, and whether
 * neighbours were there, with stressors of the test's own. Needs two CPUs.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../harness/mix.h"
#include "../../harness/run.h"
#include "../../lib/clock.h"
#include "../../lib/cpus.h"
#include "../../lib/fs.h"
#include "../../stressors/region.h"
#include "quiet.h"

#define COUNT(list)	((int)(sizeof(list) / sizeof((list)[0])))
#define REPETITIONS	3
#define REPETITIONS_MAX 30

static const struct option_row no_options[] = { { .name = NULL } };
static const struct metric_row no_metrics[] = { { .name = NULL } };

/* What the second point does: 'p' it runs, 'f' and fails, 's' its set-up skips, 'b' is broken. */
static const char *behaviour;

static int run_nothing(struct task *task)
{
	(void)task;
	return 0;
}

/* The seed of a repetition holds its number (make_point() in harness/run.c); the plan's is 0. */
static int behave(struct task *task)
{
	unsigned int repetition = (unsigned int)task->point->seed % 10007;

	switch (behaviour[repetition - 1]) {
	case 's':
		return task_say(task, OUTCOME_SKIP, "not today");
	case 'f':
		task_say(task, OUTCOME_FAIL, "not today");
		return 0;
	case 'b':
		return task_say(task, OUTCOME_BROKEN, "not today");
	default:
		return 0;
	}
}

static const struct stressor steady = {
	.name = "steady",
	.options = no_options,
	.metrics = no_metrics,
	.primary = "time_ms",
	.neighbours = point_never,
	.setup = run_nothing,
	.run = run_nothing,
};

static const struct need unmet_needs[] = {
	{ .kind = NEED_FILE, .path = "/no/such/file", .words = "a file" },
	{ .kind = NEED_END },
};

/* Not const: the needs are the case's. */
static struct stressor fickle = {
	.name = "fickle",
	.options = no_options,
	.metrics = no_metrics,
	.primary = "time_ms",
	.neighbours = point_never,
	.setup = behave,
	.run = run_nothing,
};

static const struct option_row neighbours_option[] = { NEIGHBOURS_OPTION, { .name = NULL } };

/* Long enough for a neighbour to have its CPU on a busy machine, too. */
static int run_long(struct task *task)
{
	(void)task;
	usleep(500000);
	return 0;
}

static const struct stressor lonely = {
	.name = "lonely",
	.options = neighbours_option,
	.metrics = no_metrics,
	.primary = "time_ms",
	.setup = run_nothing,
	.run = run_long,
};

/* ---- a counter of the whole machine ---- */

static int open_count(const struct source_setup *setup, struct log *log, void **state)
{
	(void)setup;
	(void)log;
	*state = NULL;
	return 0;
}

static int touch_count(void *state)
{
	(void)state;
	return 0;
}

static void read_count(void *state, struct sample_sink *sink)
{
	struct value value = { .value = 1, .status = VALUE_OK };

	(void)state;
	sink->add(sink, "count", "", &value, NULL, 0);
}

static void close_count(void *state)
{
	(void)state;
}

static const struct source_metric count_metrics[] = {
	{ "count", "", "less", "counts" },
	{ NULL },
};

static const struct source count_source = {
	.name = "count",
	.metrics = count_metrics,
	.open = open_count,
	.start = touch_count,
	.stop = touch_count,
	.read = read_count,
	.close = close_count,
};

/* ---- one that keeps neighbours from running ---- */

static pid_t stopped_neighbour;
static bool goes_on; /* after the window */

static int open_stopper(const struct source_setup *setup, struct log *log, void **state)
{
	(void)log;
	*state = NULL;
	ck_assert_uint_eq(setup->task_count, 3); /* target, driver, neighbour */
	stopped_neighbour = setup->tasks[2];
	ck_assert_int_eq(kill(stopped_neighbour, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(stopped_neighbour, NULL, WUNTRACED), stopped_neighbour);
	return 0;
}

/* Not at once: it must not have run when the window's end is looked at. */
static int end_stopper(void *state)
{
	(void)state;
	if (goes_on && !fork()) {
		usleep(300000);
		kill(stopped_neighbour, SIGCONT);
		_exit(0);
	}
	return 0;
}

static const struct source stopper = {
	.name = "stopper",
	.metrics = count_metrics,
	.open = open_stopper,
	.start = touch_count,
	.stop = end_stopper,
	.read = read_count,
	.close = close_count,
};

/* ---- a run, and its record in a few words ---- */

static char last_reason[512];

static void describe(const json_t *line, char *text, size_t size)
{
	const json_t *data = json_object_get(line, "data");
	const char *outcome = json_string_value(json_object_get(data, "outcome"));
	const char *metric = json_string_value(json_object_get(data, "metric"));
	const char *reason = json_string_value(json_object_get(data, "reason"));
	int point = (int)json_integer_value(json_object_get(data, "point"));
	size_t used = strlen(text);

	if (reason)
		snprintf(last_reason, sizeof(last_reason), "%s", reason);
	if (outcome)
		snprintf(text + used, size - used, "%d %s, ", point, outcome);
	else if (metric && !strcmp(metric, "count"))
		snprintf(text + used, size - used, "%d %s, ", point,
			 json_string_value(json_object_get(data, "status")));
}

static enum exit_code run_and_describe(const struct plan *plan, bool emulated, char *text,
				       size_t size)
{
	FILE *stream = tmpfile();
	struct run_result result;
	json_t *machine = json_pack("{s:{},s:{s:b}}", "cpus", "guest", "emulated_time", emulated);
	json_t *line;
	struct record *record;

	ck_assert_int_eq(record_stream(fileno(stream), &record), 0);
	ck_assert_int_eq(run_plan(plan, machine, record, quiet_log(), &result), 0);
	ck_assert(result.restored);
	record_close(record);
	rewind(stream);
	*text = '\0';
	while ((line = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL))) {
		describe(line, text, size);
		json_decref(line);
	}
	fclose(stream);
	json_decref(machine);
	return run_exit_code(&result);
}

static void run_both(char *text, size_t size)
{
	const struct source *sources[] = { &count_source, NULL };
	struct plan_point points[] = { { &steady, options_new(no_options) },
				       { &fickle, options_new(no_options) } };
	struct plan plan = {
		.points = points,
		.point_count = 2,
		.repetitions = REPETITIONS,
		.timeout_ns = 60 * NS_PER_S,
		.interleave = true,
		.sources = sources,
	};

	run_and_describe(&plan, false, text, size);
	for (int i = 0; i < 2; i++)
		options_free(points[i].parameters);
}

static bool have_two_cpus(void)
{
	hwloc_bitmap_t usable;
	int count;

	if (cpus_usable(&usable))
		return false;
	count = hwloc_bitmap_weight(usable);
	hwloc_bitmap_free(usable);
	return count > 1;
}

static const struct {
	bool unmet;
	const char *behaviour, *record;
} mixes[] = {
	{ false, "ppp",
	  "0 shared, 1 shared, 0 pass, 1 pass, 0 shared, 1 shared, 0 pass, 1 pass, "
	  "0 shared, 1 shared, 0 pass, 1 pass, " },
	/* one that never runs is no member, and what is left is no mix */
	{ true, "ppp", "1 skip, 0 ok, 0 pass, 0 ok, 0 pass, 0 ok, 0 pass, " },
	{ false, "sss", "1 skip, 0 ok, 0 pass, 0 ok, 0 pass, 0 ok, 0 pass, " },
	/* one that ran before is missing: that repetition gives no numbers */
	{ false, "psp",
	  "0 shared, 1 shared, 0 pass, 1 pass, 0 broken, 1 skip, "
	  "0 shared, 1 shared, 0 pass, 1 pass, " },
	{ false, "bpp",
	  "0 broken, 1 broken, 0 shared, 1 shared, 0 pass, 1 pass, "
	  "0 shared, 1 shared, 0 pass, 1 pass, " },
};

START_TEST(the_same_points_run_in_all_repetitions)
{
	char text[1024];

	if (!have_two_cpus())
		return;
	fickle.needs = mixes[_i].unmet ? unmet_needs : NULL;
	behaviour = mixes[_i].behaviour;
	run_both(text, sizeof(text));
	ck_assert_str_eq(text, mixes[_i].record);
}
END_TEST

static struct plan plan_of_one(struct plan_point *point, unsigned int repetitions,
			       const struct source **sources)
{
	static struct plan_step order[REPETITIONS_MAX]; /* point 0 */

	return (struct plan){
		.points = point,
		.point_count = 1,
		.repetitions = repetitions,
		.order = order,
		.step_count = repetitions,
		.timeout_ns = 3 * NS_PER_S,
		.sources = sources,
	};
}

/* Alone, too: what is missing at first is missing for good, what ran once is tried again. */
static const struct {
	const char *behaviour, *record;
} singles[] = {
	{ "ppp", "0 ok, 0 pass, 0 ok, 0 pass, 0 ok, 0 pass, " },
	{ "spp", "0 skip, " },
	{ "bsp", "0 broken, 0 skip, " },
	{ "psp", "0 ok, 0 pass, 0 skip, 0 ok, 0 pass, " },
	{ "pss", "0 ok, 0 pass, 0 skip, 0 skip, " },
	{ "fsp", "0 ok, 0 fail, 0 skip, 0 ok, 0 pass, " },
};

START_TEST(a_skip_after_a_pass_is_of_one_repetition)
{
	const struct source *sources[] = { &count_source, NULL };
	struct plan_point point = { &fickle, options_new(no_options) };
	struct plan plan = plan_of_one(&point, REPETITIONS, sources);
	char text[256];

	fickle.needs = NULL;
	behaviour = singles[_i].behaviour;
	run_and_describe(&plan, false, text, sizeof(text));
	ck_assert_str_eq(text, singles[_i].record);
	options_free(point.parameters);
}
END_TEST

/* What was measured once and then not again, twenty times, is no success. */
START_TEST(a_run_that_gives_up_is_broken)
{
	const struct source *sources[] = { &count_source, NULL };
	struct plan_point point = { &fickle, options_new(no_options) };
	struct plan plan = plan_of_one(&point, REPETITIONS_MAX, sources);
	char text[2048];

	fickle.needs = NULL;
	behaviour = "psssssssssssssssssssspppppppppp";
	ck_assert_int_eq(run_and_describe(&plan, false, text, sizeof(text)), EXIT_BROKEN);
	ck_assert_str_eq(text + strlen(text) - strlen("0 skip, 0 skip, "), "0 skip, 0 skip, ");
	ck_assert_said("gave up: too many repetitions in a row were broken or skipped");
	ck_assert_str_eq(last_reason,
			 "gave up: too many repetitions in a row were broken or skipped");
	options_free(point.parameters);
}
END_TEST

/* What a lab's host says of its guest; what it says of other things is not taken. */
START_TEST(the_lab_tells_who_the_guest_is)
{
	static const char said[] = "{\"arm\":\"patched\",\"boot\":null,\"arch\":\"m68k\","
				   "\"guest\":{\"accel\":\"tcg\",\"emulated_time\":true}}";
	char root[] = "/tmp/check-mix-XXXXXX";
	json_t *machine, *guest;
	char *run, *path;

	ck_assert_ptr_nonnull(mkdtemp(root));
	machine = machine_describe(root);
	ck_assert(json_is_null(json_object_get(machine, "guest")));
	json_decref(machine);
	run = format_string("%s/run", root);
	path = format_string("%s" MACHINE_LAB_PATH, root);
	ck_assert_int_eq(fs_make_folders(run, 0700), 0);
	ck_assert_int_eq(fs_replace(path, said, strlen(said)), 0);
	machine = machine_describe(root);
	guest = json_object_get(machine, "guest");
	ck_assert(json_is_true(json_object_get(guest, "emulated_time")));
	ck_assert_str_eq(json_string_value(json_object_get(machine, "arm")), "patched");
	ck_assert_str_ne(json_string_value(json_object_get(machine, "arch")), "m68k");
	json_decref(machine);
	fs_remove_tree(root);
	free(path);
	free(run);
}
END_TEST

/* By its own turns in the window; where an emulator hands out the turns, by the next one, too. */
static const struct {
	bool stopped, goes_on, emulated;
	const char *record;
} windows[] = {
	{ false, false, false, "0 ok, 0 pass, " }, { true, false, false, "0 ok, 0 broken, " },
	{ true, true, false, "0 ok, 0 broken, " }, { true, true, true, "0 ok, 0 pass, " },
	{ true, false, true, "0 ok, 0 broken, " },
};

START_TEST(neighbours_must_be_there)
{
	const struct source *sources[] = { windows[_i].stopped ? &stopper : &count_source, NULL };
	hwloc_bitmap_t usable;
	struct plan_point point = { &lonely, options_new(neighbours_option) };
	struct plan plan = plan_of_one(&point, 1, sources);
	char text[256], two[32];
	int first;

	if (!have_two_cpus())
		return;
	ck_assert_int_eq(cpus_usable(&usable), 0);
	first = hwloc_bitmap_first(usable);
	snprintf(two, sizeof(two), "%d,%d", first, hwloc_bitmap_next(usable, first));
	plan.cpu_list = two;
	goes_on = windows[_i].goes_on;
	*last_reason = '\0';
	run_and_describe(&plan, windows[_i].emulated, text, sizeof(text));
	ck_assert_str_eq(text, windows[_i].record);
	ck_assert_int_eq(!strstr(last_reason, "did not run in the measured window"),
			 !strstr(text, "broken"));
	options_free(point.parameters);
	hwloc_bitmap_free(usable);
}
END_TEST

/* Who is skipped leaves its CPUs to the others, and the neighbours if it had them. */
START_TEST(a_skipped_point_reserves_no_cpu)
{
	const unsigned int cpus[] = { 0, 1, 2, 5, 6, 7, 8, 9 };
	const char *const names[] = { "pageout", "stale-read", "null" };
	struct option_values *parameters[3];
	struct mix *mix;

	ck_assert_int_eq(mix_new(3, cpus, 8, &mix), 0);
	for (int i = 0; i < 3; i++) {
		const struct stressor *stressor = stressor_find(names[i]);

		parameters[i] = options_new(stressor->options);
		mix->points[i] = (struct point){ .stressor = stressor,
						 .parameters = parameters[i],
						 .cpu_count = 8 };
		mix->participants[i] = (struct participant){ .point = &mix->points[i], .index = i };
	}
	ck_assert_int_eq(mix_place(mix, 3, quiet_log()), 0);
	mix->participants[0].outcome = OUTCOME_SKIP;
	ck_assert_uint_eq(mix_leave_out_skipped(mix, 3), 2);
	ck_assert_int_eq(mix_place(mix, 2, quiet_log()), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(mix->participants[i].point->stressor->name, names[i + 1]);
		ck_assert_uint_eq(mix->participants[i].index, i + 1);
		ck_assert_uint_eq(mix->participants[i].reserved_cpus, 6);
		/* stale-read wants none */
		ck_assert(mix->participants[i].without_neighbours == (i == 0));
	}
	ck_assert_uint_eq(mix->points[0].cpus[0], 0);
	ck_assert_uint_eq(mix->points[1].cpus[0], 7);
	for (int i = 0; i < 3; i++)
		options_free(parameters[i]);
	mix_free(mix);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("mix");

	tcase_add_loop_test(tests, the_same_points_run_in_all_repetitions, 0, COUNT(mixes));
	tcase_add_loop_test(tests, a_skip_after_a_pass_is_of_one_repetition, 0, COUNT(singles));
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_run_that_gives_up_is_broken);
	tcase_add_test(tests, the_lab_tells_who_the_guest_is);
	tcase_add_loop_test(tests, neighbours_must_be_there, 0, COUNT(windows));
	tcase_add_test(tests, a_skipped_point_reserves_no_cpu);
	return run_suite("mix", tests);
}
