// SPDX-License-Identifier: GPL-2.0-only
#include "quiet.h"

#include <errno.h>
#include <math.h>

#include "../../harness/mix.h"
#include "../../harness/needs.h"
#include "../../harness/plan.h"

#if defined(__aarch64__)
#define TLBI_HERE true
#else
#define TLBI_HERE false
#endif

static const char *const nothing[] = { NULL };

static struct plan_request request_for(const char *const *stressors, const char *const *settings)
{
	return (struct plan_request){
		.stressors = stressors,
		.settings = settings,
		.sources = nothing,
		.events = nothing,
		.repetitions = 3,
		.timeout_ns = 1000000000,
		.seed = 42,
	};
}

static struct plan *build(const char *const *stressors, const char *const *settings)
{
	struct plan_request request = request_for(stressors, settings);
	struct plan *plan;

	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
	return plan;
}

START_TEST(several_values_make_several_points)
{
	const char *const stressors[] = { "pageout", "null", NULL };
	const char *const settings[] = { "pages=10,20", "pageout.neighbours=spin,idle", NULL };
	struct plan *plan = build(stressors, settings);

	/* pageout 2 x 2, null 2 */
	ck_assert_uint_eq(plan->point_count, 6);
	ck_assert_uint_eq(plan->step_count, 18);
	plan_free(plan);
}
END_TEST

START_TEST(every_round_holds_every_point_once)
{
	const char *const stressors[] = { "null", NULL };
	const char *const settings[] = { "pages=1,2,3,4,5,6,7", NULL };
	struct plan *plan = build(stressors, settings), *same = build(stressors, settings);
	bool shuffled = false;

	for (unsigned int round = 0; round < 3; round++) {
		unsigned int seen = 0;

		for (unsigned int i = 0; i < 7; i++) {
			const struct plan_step *step = &plan->order[round * 7 + i];

			ck_assert_uint_eq(step->repetition, round + 1);
			seen |= 1u << step->point;
			shuffled |= step->point != i;
			ck_assert_uint_eq(step->point, same->order[round * 7 + i].point);
		}
		ck_assert_uint_eq(seen, 127);
	}
	ck_assert(shuffled);
	plan_free(plan);
	plan_free(same);
}
END_TEST

/* The published sizes of test 1: 81,920 pages on 112, 384 and 512 CPUs. */
static const struct {
	unsigned int cpus;
	double ipis;
} predicted[] = { { 1, 0 }, { 2, 81920 }, { 112, 9093120 }, { 384, 31375360 }, { 512, 41861120 } };

START_TEST(pageout_predicts_pages_times_others)
{
	const char *const stressors[] = { "pageout", NULL };
	struct plan *plan = build(stressors, nothing);
	json_t *json = plan_json(plan, predicted[_i].cpus, 4096), *metrics;

	metrics = json_object_get(json_array_get(json_object_get(json, "points"), 0), "metrics");
	ck_assert_double_eq(json_number_value(json_object_get(
				    json_object_get(metrics, "remote_ipis"), "predicted")),
			    predicted[_i].ipis);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(metrics, "time_ms"), "better")),
		"less");
	json_decref(json);
	plan_free(plan);
}
END_TEST

START_TEST(idle_neighbours_and_madvise_are_predicted_as_what_they_are)
{
	const char *const stressors[] = { "pageout", NULL };
	const char *const settings[] = { "neighbours=idle", NULL };
	const char *const madvise[] = { "method=madvise", NULL };
	struct plan *plan = build(stressors, settings);
	json_t *json = plan_json(plan, 16, 4096);

	ck_assert_double_eq(
		json_number_value(json_object_get(
			json_object_get(
				json_object_get(json_array_get(json_object_get(json, "points"), 0),
						"metrics"),
				"remote_ipis"),
			"predicted")),
		0);
	json_decref(json);
	plan_free(plan);
	plan = build(stressors, madvise);
	json = plan_json(plan, 16, 4096);
	ck_assert(json_is_null(json_object_get(
		json_object_get(json_object_get(json_array_get(json_object_get(json, "points"), 0),
						"metrics"),
				"remote_ipis"),
		"predicted")));
	json_decref(json);
	plan_free(plan);
}
END_TEST

/* The same plan's storm predicts both; each architecture counts one of them. */
static const struct {
	const char *metric;
	bool here;
} foreign[] = {
	{ "remote_ipis", !TLBI_HERE },
	{ "flushes", !TLBI_HERE },
	{ "tlbi_broadcast", TLBI_HERE },
};

START_TEST(only_what_this_architecture_counts_is_predicted)
{
	const char *const stressors[] = { "dontneed-storm", NULL };
	const char *const settings[] = { "mode=processes", NULL };
	struct plan *plan = build(stressors, settings);
	json_t *json = plan_json(plan, 4, 4096), *metrics;

	metrics = json_object_get(json_array_get(json_object_get(json, "points"), 0), "metrics");
	ck_assert_int_eq(json_is_number(json_object_get(
				 json_object_get(metrics, foreign[_i].metric), "predicted")),
			 foreign[_i].here);
	json_decref(json);
	plan_free(plan);
}
END_TEST

/*
 * Worked out by hand. move-pages: 648 batches for 331,600 pages; calls of 100 are a
 * flush each, the last of a round too (8,150 pages: 82); calls of 600 are two, and
 * what is left over (350 pages) one. demote: the first call looks at 1 to 16 pages
 * at priorities 5 to 1, keeps these 31 because they are fresh, and at priority 0 finds
 * them again with one more fresh one, which the second call takes: 2 flushes.
 * migrate-active: 1,284 batches, T = 2.
 */
static const struct {
	const char *stressor, *setting;
	unsigned int cpus;
	const char *metric;
	double value; /* NAN: not predicted */
} moved[] = {
	{ "move-pages", NULL, 112, "flushes", 648 },
	{ "move-pages", NULL, 112, "remote_ipis", 71928 },
	{ "move-pages", NULL, 512, "remote_ipis", 331128 },
	{ "move-pages", "pages=512", 2, "flushes", 1 },
	{ "move-pages", "pages=513", 2, "flushes", 2 },
	{ "move-pages", "pages=8150 batch=100 rounds=3", 8, "remote_ipis", 1722 },
	{ "move-pages", "pages=8150 batch=600", 8, "remote_ipis", 189 },
	{ "move-pages", "pages=8150 batch=9000", 8, "remote_ipis", 112 },
	{ "move-pages", "neighbours=idle", 8, "remote_ipis", 0 },
	{ "move-pages", NULL, 8, "pages_refused", 0 },
	{ "demote", "pages=1", 4, "flushes", 1 },
	{ "demote", "pages=32", 4, "flushes", 2 },
	{ "demote", "pages=32", 4, "remote_ipis", 6 },
	{ "demote", "lru=generations", 4, "remote_ipis", NAN },
	{ "demote", "swappiness=199", 4, "flushes", NAN },
	{ "demote", "swappiness=1", 4, "pages_demoted", 81876 },
	{ "demote", NULL, 4, "pages_demoted", 81876 },
	{ "migrate-active", NULL, 112, "flushes", 1284 },
	{ "migrate-active", NULL, 112, "remote_ipis", 141240 },
	{ "migrate-active", "accessors=4 pages=512", 8, "remote_ipis", 5 },
	{ "migrate-active", "shared=move", 112, "remote_ipis", NAN },
	{ "migrate-active", NULL, 2, "remote_ipis", NAN },
};

static struct plan *build_words(const char *stressor, const char *words)
{
	const char *const stressors[] = { stressor, NULL };
	char *text = strdup(words ? words : ""), *rest = text, *word;
	const char *settings[8] = { NULL };
	unsigned int count = 0;
	struct plan *plan;

	while (words && (word = strsep(&rest, " ")))
		settings[count++] = word;
	plan = build(stressors, settings);
	free(text);
	return plan;
}

START_TEST(moves_are_predicted)
{
	struct plan *plan = build_words(moved[_i].stressor, moved[_i].setting);
	json_t *json = plan_json(plan, moved[_i].cpus, 4096), *found;

	found = json_object_get(
		json_object_get(json_object_get(json_array_get(json_object_get(json, "points"), 0),
						"metrics"),
				moved[_i].metric),
		"predicted");
	if (isnan(moved[_i].value))
		ck_assert(json_is_null(found));
	else
		ck_assert_double_eq(json_number_value(found), moved[_i].value);
	json_decref(json);
	plan_free(plan);
}
END_TEST

/* A flush of a part of an isolation costs as much: never fewer than pages / 32, and not many more.
 */
START_TEST(demotion_takes_a_little_more_than_a_flush_for_32_pages)
{
	struct plan *plan = build_words("demote", NULL);
	json_t *json = plan_json(plan, 512, 4096);
	double flushes = json_number_value(json_object_get(
		json_object_get(json_object_get(json_array_get(json_object_get(json, "points"), 0),
						"metrics"),
				"flushes"),
		"predicted"));

	ck_assert_double_ge(flushes, 81876 / 32.0);
	ck_assert_double_le(flushes, 81876 / 32.0 * 1.05);
	json_decref(json);
	plan_free(plan);
}
END_TEST

START_TEST(a_mix_predicts_only_what_can_be_told_apart)
{
	const char *const stressors[] = { "pageout", "null", NULL };
	struct plan_request request = request_for(stressors, nothing);
	json_t *json, *metrics;
	struct plan *plan;

	request.interleave = true;
	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
	json = plan_json(plan, 16, 4096);
	metrics = json_object_get(json_array_get(json_object_get(json, "points"), 0), "metrics");
	ck_assert(json_is_null(
		json_object_get(json_object_get(metrics, "remote_ipis"), "predicted")));
	ck_assert_double_eq(json_number_value(json_object_get(
				    json_object_get(metrics, "pages_reclaimed"), "predicted")),
			    81920);
	json_decref(json);
	plan_free(plan);
}
END_TEST

/* Control CPUs and CPUs of own threads come first and are nobody else's; one has the neighbours. */
START_TEST(a_mix_shares_out_the_cpus)
{
	const unsigned int cpus[] = { 0, 1, 2, 5, 6, 7, 8, 9 };
	const char *const names[] = { "pageout", "stale-read", "null" };
	const unsigned int control[] = { 0, 1, 8 };
	struct option_values *parameters[3];
	struct mix *mix;

	ck_assert_int_eq(mix_new(3, cpus, 8, &mix), 0);
	for (int i = 0; i < 3; i++) {
		const struct stressor *stressor = stressor_find(names[i]);

		parameters[i] = options_new(stressor->options);
		mix->points[i] = (struct point){ .stressor = stressor,
						 .parameters = parameters[i],
						 .cpu_count = 8 };
		mix->participants[i].point = &mix->points[i];
	}
	ck_assert_int_eq(mix_place(mix, 3, quiet_log()), 0);
	for (int i = 0; i < 3; i++) {
		unsigned int seen = 0;

		ck_assert_uint_eq(mix->points[i].cpus[0], control[i]);
		ck_assert_uint_eq(mix->participants[i].reserved_cpus, 7);
		ck_assert(mix->participants[i].without_neighbours == (i != 0));
		for (int j = 0; j < 8; j++)
			seen |= 1u << mix->points[i].cpus[j];
		ck_assert_uint_eq(seen, 0x3e7);
	}
	options_set(parameters[1], "test", "mms", "6", quiet_log());
	ck_assert_int_eq(mix_place(mix, 3, quiet_log()), -EINVAL);
	ck_assert_said("give fewer");
	for (int i = 0; i < 3; i++)
		options_free(parameters[i]);
	mix_free(mix);
}
END_TEST

static const struct {
	const char *stressors[3];
	const char *setting, *words; /* NULL: it may run */
} mixes[] = {
	{ { "pageout", "demote" }, NULL, "pageout and demote cannot run at once: each needs" },
	{ { "demote", "pageout" }, NULL, "demotion_enabled" },
	{ { "demote" },
	  "lru=classic,generations",
	  "demote cannot run at once with these settings" },
	{ { "demote" }, "lru=classic,keep", NULL },
	{ { "pageout", "move-pages" }, "pages=10,20", NULL },
};

START_TEST(a_mix_wants_one_value_of_a_knob)
{
	const char *const settings[] = { mixes[_i].setting, NULL };
	struct plan_request request = request_for(mixes[_i].stressors, settings);
	struct plan *plan, *again;
	json_t *json;

	/* one after the other each has the machine for itself, */
	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
	json = plan_json(plan, 16, 4096);
	plan_free(plan);
	/* at once they have not, whoever wrote the plan */
	json_object_set_new(json, "interleave", json_true());
	request.interleave = true;
	if (mixes[_i].words) {
		ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), -EINVAL);
		ck_assert_said(mixes[_i].words);
		ck_assert_int_eq(plan_from_json(json, quiet_log(), &again), -EINVAL);
		ck_assert_said(mixes[_i].words);
	} else {
		ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
		plan_free(plan);
	}
	json_decref(json);
}
END_TEST

START_TEST(pageout_turns_demotion_off)
{
	const struct stressor *stressor = stressor_find("pageout");
	const struct environment_row *row = stressor->environment;

	while (row->kind != ENVIRONMENT_END && row->kind != ENVIRONMENT_KNOB)
		row++;
	ck_assert_int_eq(row->kind, ENVIRONMENT_KNOB);
	ck_assert_str_eq(row->path, "/sys/kernel/mm/numa/demotion_enabled");
	ck_assert_str_eq(row->text, "0");
}
END_TEST

START_TEST(json_goes_round)
{
	const char *const stressors[] = { "all", NULL };
	const char *const settings[] = { "pages=10,20", NULL };
	struct plan *plan = build(stressors, settings), *again;
	json_t *json = plan_json(plan, 16, 4096), *json_again;

	ck_assert_int_eq(plan_from_json(json, quiet_log(), &again), 0);
	json_again = plan_json(again, 16, 4096);
	ck_assert(json_equal(json, json_again));
	json_object_set_new(json_array_get(json_object_get(json, "points"), 0), "stressor_version",
			    json_integer(999));
	plan_free(again);
	ck_assert_int_eq(plan_from_json(json, quiet_log(), &again), -EINVAL);
	ck_assert_said("the same shootdown on both sides");
	json_decref(json);
	json_decref(json_again);
	plan_free(plan);
}
END_TEST

/* Whoever makes the record again asks for the same, which is not what every run reads. */
START_TEST(counters_that_were_asked_for)
{
	const char *const stressors[] = { "null", NULL }, *const counters[] = { "all", NULL };
	struct plan_request request = request_for(stressors, nothing);
	struct plan *plan, *again;
	json_t *json, *json_again;

	request.sources = counters;
	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
	json = plan_json(plan, 2, 4096);
	ck_assert_int_eq(plan_from_json(json, quiet_log(), &again), 0);
	json_again = plan_json(again, 2, 4096);
	ck_assert_uint_eq(json_array_size(json_object_get(json_again, "counters")), 1);
	ck_assert_str_eq(
		json_string_value(json_array_get(json_object_get(json_again, "counters"), 0)),
		"all");
	ck_assert(json_array_size(json_object_get(json_again, "sources")) > 1);
	json_decref(json_again);
	json_decref(json);
	plan_free(again);
	plan_free(plan);
}
END_TEST

static const struct {
	const char *stressor, *setting, *words;
} refused[] = {
	{ "pagout", NULL, "did you mean \"pageout\"" },
	{ "qqqqqqqqqq", NULL, "shootdown list" },
	{ "pageout", "pagse=1", "did you mean \"pages\"" },
	{ "pageout", "pages=0", "1 to " },
	{ "pageout", "pages=1,x", "whole number" },
	{ "pageout", "pages", "OPTION=VALUE" },
	{ "pageout", "=5", "OPTION=VALUE" },
	{ "pageout", "null.pages=5", "not in this plan" },
	{ "pageout", "neighbours=dance", "one of spin, idle, kernel" },
	{ "move-pages", "to=x", "a node's number or auto" },
	{ "move-pages", "from=-1", "a node's number or auto" },
	{ "move-pages", "from=1x", "a node's number or auto" },
	{ "move-pages", "from=99999999999", "a node's number or auto" },
};

START_TEST(wrong_requests_are_refused)
{
	const char *const stressors[] = { refused[_i].stressor, NULL };
	const char *const settings[] = { refused[_i].setting, NULL };
	struct plan_request request = request_for(stressors, settings);
	struct plan *plan;

	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), -EINVAL);
	ck_assert_said(refused[_i].words);
}
END_TEST

START_TEST(bad_lists_and_counters_are_refused)
{
	const char *const stressors[] = { "null", NULL };
	const char *const counters[] = { "ipy", NULL };
	struct plan_request request = request_for(stressors, nothing);
	struct plan *plan;

	request.cpu_list = "0-";
	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), -EINVAL);
	ck_assert_said("0-3,8");
	request = request_for(stressors, nothing);
	request.sources = counters;
	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), -EINVAL);
	ck_assert_said("did you mean \"ipi\"");
}
END_TEST

START_TEST(needs_tell_what_to_do)
{
	struct option_values *parameters = options_new(stressor_find("stale-read")->options);
	struct point point = { .stressor = stressor_find("stale-read"),
			       .parameters = parameters,
			       .cpu_count = 1,
			       .page_bytes = 4096 };
	char reason[512];

	/* root or CPUs: one of them is said, whoever runs the tests */
	ck_assert_int_eq(needs_unmet("/nonexistent", &point, reason, sizeof(reason)), 1);
	ck_assert(strstr(reason, "sudo") || strstr(reason, "needs 2 CPUs"));
	needs_describe(point.stressor, reason, sizeof(reason));
	ck_assert_ptr_nonnull(strstr(reason, "2 CPUs"));
	ck_assert_ptr_nonnull(strstr(reason, "zram (cause=reclaim)"));
	options_free(parameters);
}
END_TEST

/* Plans predict them where they are counted. */
static void add_tests_of_interrupts(TCase *tests)
{
	tcase_add_loop_test(tests, pageout_predicts_pages_times_others, 0,
			    sizeof(predicted) / sizeof(predicted[0]));
	tcase_add_test(tests, idle_neighbours_and_madvise_are_predicted_as_what_they_are);
	tcase_add_loop_test(tests, moves_are_predicted, 0, sizeof(moved) / sizeof(moved[0]));
	tcase_add_test(tests, demotion_takes_a_little_more_than_a_flush_for_32_pages);
}

int main(void)
{
	TCase *tests = tcase_create("plan");

	tcase_add_test(tests, several_values_make_several_points);
	tcase_add_test(tests, every_round_holds_every_point_once);
	if (!TLBI_HERE)
		add_tests_of_interrupts(tests);
	tcase_add_loop_test(tests, only_what_this_architecture_counts_is_predicted, 0,
			    sizeof(foreign) / sizeof(foreign[0]));
	tcase_add_test(tests, a_mix_predicts_only_what_can_be_told_apart);
	tcase_add_test(tests, a_mix_shares_out_the_cpus);
	tcase_add_loop_test(tests, a_mix_wants_one_value_of_a_knob, 0,
			    sizeof(mixes) / sizeof(mixes[0]));
	tcase_add_test(tests, pageout_turns_demotion_off);
	tcase_add_test(tests, json_goes_round);
	tcase_add_test(tests, counters_that_were_asked_for);
	tcase_add_loop_test(tests, wrong_requests_are_refused, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tests, bad_lists_and_counters_are_refused);
	tcase_add_test(tests, needs_tell_what_to_do);
	return run_suite("plan", tests);
}
