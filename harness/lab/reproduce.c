// SPDX-License-Identifier: GPL-2.0-only
/*
 * "shootdown reproduce": a posting's tests, one after the other, each an A/B in
 * the lab. What was published and what the numbers mean together is results/'s.
 */
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "../../lib/status.h"
#include "../../results/compare.h"
#include "../../results/reference.h"
#include "../../results/reproduction.h"
#include "../../stressors/stressor.h"
#include "../plan.h"
#include "lab.h"

#define SCALE_MAX 100.0

const struct option_row reproduce_options[] = {
	{ .name = "test",
	  .type = OPTION_STRING,
	  .metavar = "T",
	  .help = "only this test, by its number or its stressor (default: all)" },
	{ .name = "scale",
	  .type = OPTION_REAL,
	  .fallback = "1",
	  .metavar = "F",
	  .help = "size of the tests as a part of the published size, such as 0.05" },
	PLAN_LENGTH_OPTIONS,
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = render_formats,
	  .metavar = "FORMAT",
	  .help = "form of the table" },
	LAB_GUEST_OPTIONS,
	{ .name = "cpus",
	  .type = OPTION_UINT,
	  .min = 1,
	  .max = LAB_CPUS_MAX,
	  .metavar = "N",
	  .help = "CPUs of each guest (default: as many as each platform of the posting has)" },
	{ .name = NULL },
};

/* One reproduction under way. */
struct job {
	const struct option_values *values;
	const struct reference *reference;
	struct reproduction *reproduction;
	struct log *log;
	double scale;
	char *out;			 /* OUT/test-T-N-cpus/ are lab folders */
	int exit_code;			 /* the worst of the lab's */
	unsigned int labs, skipped_labs; /* A/Bs; those in which everything was skipped */
};

/* Which exit code says more: a failure of the kernel first, then the end by a signal (128 + N). */
static int worse(int one, int other)
{
	static const int order[] = { EXIT_BROKEN, EXIT_USAGE, EXIT_SKIPPED };

	if (one == EXIT_FAILED || other == EXIT_FAILED)
		return EXIT_FAILED;
	if (one > 128 || other > 128)
		return one > 128 ? one : other;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (one == order[i] || other == order[i])
			return order[i];
	return EXIT_DONE;
}

/* "threads=1,4,8": the steps of the sweep that a guest has CPUs for; a fresh string. */
static char *sweep_of(const struct reference_test *test, const char *name, const json_t *values,
		      unsigned int cpus)
{
	char *setting = format_string("%s=", name);
	const json_t *value;
	size_t i;

	json_array_foreach(values, i, value) {
		char *longer = NULL, *text;

		if (test->sweep_within_cpus && json_integer_value(value) > cpus)
			continue;
		text = json_dumps(value, JSON_ENCODE_ANY);
		if (setting && text)
			longer = format_string("%s%s%s", setting, i ? "," : "", text);
		free(text);
		free(setting);
		setting = longer;
	}
	return setting;
}

/* "pages=4096": a parameter of the test at the size asked for; a fresh string. */
static char *setting_of(const struct job *job, const struct reference_test *test, const char *name,
			const json_t *value, unsigned int cpus)
{
	char *text, *setting;

	if (json_is_array(value))
		return sweep_of(test, name, value, cpus);
	if (!strcmp(name, test->scaled)) {
		long long scaled = llround((double)json_integer_value(value) * job->scale);

		return format_string("%s=%lld", name, scaled < 1 ? 1 : scaled);
	}
	if (json_is_string(value))
		return format_string("%s=%s", name, json_string_value(value));
	text = json_dumps(value, JSON_ENCODE_ANY);
	setting = text ? format_string("%s=%s", name, text) : NULL;
	free(text);
	return setting;
}

static int plan_test(const struct job *job, const struct reference_test *test, unsigned int cpus,
		     struct plan **plan)
{
	size_t count = json_object_size(test->parameters), used = 0;
	char **settings = calloc(count + 1, sizeof(*settings));
	const char *stressors[] = { test->stressor, NULL };
	struct plan_request request = {
		.stressors = stressors,
		.settings = (const char *const *)settings,
		.repetitions = (unsigned int)option_uint(job->values, "runs"),
		.timeout_ns = option_uint(job->values, "timeout"),
		.seed = option_uint(job->values, "seed"),
	};
	int ret = settings ? 0 : -ENOMEM;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)test->parameters, name, value) {
		if (ret)
			break;
		settings[used] = setting_of(job, test, name, value, cpus);
		ret = settings[used++] ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = plan_build(&request, job->log, plan);
	for (size_t i = 0; i < used; i++)
		free(settings[i]);
	free(settings);
	return ret;
}

/* Compares what the lab left and adds it to the table. */
static int take_result(struct job *job, const struct reference_test *test, unsigned int cpus,
		       const struct lab_ab_result *result)
{
	struct comparison *comparison;
	int ret = compare_folders((const char *const *)result->arm_folders, job->log, &comparison);

	if (ret)
		return ret;
	ret = reproduction_add(job->reproduction, test, cpus, comparison);
	if (ret)
		comparison_free(comparison);
	return ret;
}

/* How an earlier A/B in this folder ended, a fresh string; NULL: not at all, or by a signal. */
static char *finished_outcome(const char *folder)
{
	char *path = format_string("%s/lab.json", folder), *outcome = NULL;
	json_t *lab = path ? json_load_file(path, 0, NULL) : NULL;
	const char *text = json_string_value(json_object_get(lab, "outcome"));

	if (text && outcome_parse(text) >= 0 && outcome_parse(text) != OUTCOME_INTERRUPTED)
		outcome = strdup(text);
	json_decref(lab);
	free(path);
	return outcome;
}

/* What an interrupted A/B left is kept beside the new one. */
static int move_aside(const char *folder, struct log *log)
{
	for (unsigned int i = 1; fs_exists("", folder) && i < 1000; i++) {
		char *aside = format_string("%s.interrupted-%u", folder, i);
		int rc = !aside ? -ENOMEM : fs_exists("", aside) ? -EEXIST : 0;

		if (!rc && rename(folder, aside))
			rc = -errno;
		if (!rc)
			log_info(log, "what was not finished is kept in %s", aside);
		free(aside);
		if (rc != -EEXIST)
			return rc;
	}
	return 0;
}

/* A test that was finished before is not run again. 1: it was; 0, or a negative errno. */
static int take_finished(struct job *job, const struct reference_test *test, unsigned int cpus,
			 char *out)
{
	char *outcome = finished_outcome(out), *folders[] = { out, NULL };
	struct lab_ab_result result = { .arm_folders = folders };
	int ret;

	if (!outcome)
		return move_aside(out, job->log);
	log_info(job->log, "test %s on %u CPUs is in %s already", test->test, cpus, out);
	job->labs++;
	job->skipped_labs += !strcmp(outcome, outcome_name(OUTCOME_SKIP));
	if (!strcmp(outcome, outcome_name(OUTCOME_FAIL)))
		job->exit_code = worse(job->exit_code, EXIT_FAILED);
	else if (!strcmp(outcome, outcome_name(OUTCOME_BROKEN)))
		job->exit_code = worse(job->exit_code, EXIT_BROKEN);
	free(outcome);
	ret = take_result(job, test, cpus, &result);
	if (ret && ret != -ENOMEM)
		ret = reproduction_skip(job->reproduction, test, cpus,
					"its boots left nothing that can be compared");
	return ret ? ret : 1;
}

static int run_test(struct job *job, const struct reference_test *test, unsigned int cpus)
{
	char *out = format_string("%s/test-%s-%u-cpus", job->out, test->test, cpus);
	struct lab_ab_result result;
	struct lab_ab_request request = { 0 };
	struct plan *plan;
	int ret;

	if (!out)
		return -ENOMEM;
	ret = take_finished(job, test, cpus, out);
	if (ret) {
		free(out);
		return ret < 0 ? ret : 0;
	}
	ret = plan_test(job, test, cpus, &plan);
	if (ret)
		goto free_out;
	lab_ab_request_from(job->values, &request);
	request.series = job->reference->series;
	request.arch = request.arch ? request.arch : job->reference->arch;
	request.plan = plan;
	request.cpus = cpus;
	request.out = out;
	if (!request.numa && !request.cxl) {
		request.numa = test->numa;
		request.cxl = test->cxl;
	}
	log_info(job->log, "test %s, %s, on %u CPUs", test->test, test->title, cpus);
	ret = lab_ab(&request, job->log, &result);
	if (ret)
		goto free_plan;
	job->labs++;
	if (result.exit_code == EXIT_SKIPPED)
		job->skipped_labs++;
	else
		job->exit_code = worse(job->exit_code, result.exit_code);
	ret = take_result(job, test, cpus, &result);
	lab_ab_release(&result);
	if (ret && ret != -ENOMEM) {
		/* Boots that all failed leave nothing to compare; the other tests go on. */
		job->exit_code = worse(job->exit_code, EXIT_BROKEN);
		ret = reproduction_skip(job->reproduction, test, cpus,
					"its boots left nothing that can be compared");
	}
free_plan:
	plan_free(plan);
free_out:
	free(out);
	return ret;
}

/* A test at the number of CPUs asked for, or at each that was published. */
static int run_sizes(struct job *job, const struct reference_test *test)
{
	char reason[128];
	int ret = 0;

	if (!stressor_find(test->stressor)) {
		snprintf(reason, sizeof(reason), "this shootdown has no stressor \"%s\"",
			 test->stressor);
		return reproduction_skip(job->reproduction, test, 0, reason);
	}
	if (option_given(job->values, "cpus"))
		return run_test(job, test, (unsigned int)option_uint(job->values, "cpus"));
	for (size_t i = 0; !ret && !spawn_interrupted() && i < test->platform_count; i++)
		ret = run_test(job, test, test->platforms[i].cpus);
	return ret;
}

/* *only: the test that --test names; NULL: all are wanted. */
static int choose_test(const struct job *job, const struct reference_test **only)
{
	const struct reference *reference = job->reference;
	const char *wanted = option_string(job->values, "test");

	*only = wanted ? reference_find_test(reference, wanted) : NULL;
	if (!wanted || *only)
		return 0;
	log_error(job->log, "series %s has no test \"%s\"; it has tests %s to %s",
		  reference->series, wanted, reference->tests[0].test,
		  reference->tests[reference->test_count - 1].test);
	return -EINVAL;
}

static int run_tests(struct job *job, const struct reference_test *only)
{
	const struct reference *reference = job->reference;
	int ret = 0;

	if (only)
		return run_sizes(job, only);
	for (size_t i = 0; !ret && !spawn_interrupted() && i < reference->test_count; i++)
		ret = run_sizes(job, &reference->tests[i]);
	return ret;
}

static int print(const struct job *job, FILE *out)
{
	const char *format = option_string(job->values, "format");
	bool json = !strcmp(format, "json");

	return render(json ? NULL : reproduction_table(job->reproduction),
		      json ? reproduction_json(job->reproduction) : NULL, format, out);
}

static char *out_folder(const struct option_values *values)
{
	const char *given = option_string(values, "out");
	time_t now = time(NULL);
	struct tm local;
	char text[32];

	if (given)
		return strdup(given);
	if (!localtime_r(&now, &local) || !strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local))
		return NULL;
	return format_string("./shootdown-reproduce-%s-%d", text, (int)getpid());
}

/*
 * What decides the numbers: a folder of another reproduction is not gone on with.
 * Which tests and sizes are asked for, and how it is printed, may differ.
 */
static json_t *identity(const struct job *job)
{
	static const char *const free_choices[] = { "test", "cpus",  "format", "out",
						    "jobs", "cache", "timeout" };
	json_t *options = options_json(job->values);

	for (size_t i = 0; i < sizeof(free_choices) / sizeof(free_choices[0]); i++)
		json_object_del(options, free_choices[i]);
	return json_pack("{s:s, s:i, s:s, s:o}", "schema", "shootdown-reproduce", "version", 1,
			 "series", job->reference->series, "options", options);
}

/* A new folder, or one in which this very reproduction was begun. */
static int open_out(struct job *job)
{
	char *path = format_string("%s/reproduce.json", job->out), *text = NULL;
	json_t *mine = identity(job), *there = path ? json_load_file(path, 0, NULL) : NULL;
	int ret = path && mine ? fs_make_folders(job->out, 0755) : -ENOMEM;

	if (!ret && there && !json_equal(mine, there)) {
		log_error(
			job->log,
			"%s holds a reproduction with other options: give it the same ones to go on, "
			"or another --out",
			job->out);
		ret = -EINVAL;
	} else if (!ret && !there) {
		text = json_dumps(mine, JSON_INDENT(1));
		ret = text ? fs_replace(path, text, strlen(text)) : -ENOMEM;
		if (ret)
			log_error(job->log, "%s: %s", path, strerror(-ret));
	}
	json_decref(mine);
	json_decref(there);
	free(text);
	free(path);
	return ret;
}

/* The table may not be read by anybody: what it found is in the exit code, too. */
static void judge(struct job *job)
{
	size_t differing = reproduction_differing(job->reproduction),
	       unjudged = reproduction_unjudged(job->reproduction);

	if (unjudged) {
		log_error(job->log,
			  "%zu rule%s could not be judged: the metric was not measured (see the "
			  "column measured, and the notes)",
			  unjudged, unjudged == 1 ? "" : "s");
		job->exit_code = worse(job->exit_code, EXIT_BROKEN);
	}
	if (differing) {
		log_error(job->log, "%zu count%s differ%s from what is predicted or asked for",
			  differing, differing == 1 ? "" : "s", differing == 1 ? "s" : "");
		job->exit_code = worse(job->exit_code, EXIT_FAILED);
	}
}

static int reproduce(struct job *job, FILE *out)
{
	const struct reference_test *only;
	int ret = choose_test(job, &only);
	int printed;

	if (!ret)
		ret = open_out(job);
	if (!ret)
		ret = run_tests(job, only);

	if (ret && !reproduction_measured(job->reproduction))
		return ret == -EINVAL ? EXIT_USAGE : EXIT_BROKEN;
	/* What was measured before an error or Ctrl-C is worth its table. */
	printed = print(job, out);
	if (printed)
		log_error(job->log, "cannot write the table: %s", strerror(-printed));
	judge(job);
	if (ret || printed)
		return worse(job->exit_code, EXIT_BROKEN);
	if (!reproduction_measured(job->reproduction) || job->labs == job->skipped_labs)
		return worse(job->exit_code, EXIT_SKIPPED);
	log_info(job->log, "the run folders are in %s", job->out);
	return job->exit_code;
}

static int check_arguments(const char *const *arguments, unsigned int count, double scale,
			   struct log *log)
{
	if (count != 1) {
		log_error(log, "reproduce takes one series, such as \"batched-stale-cpus\"%s%s%s",
			  count ? ", not also \"" : "", count ? arguments[1] : "",
			  count ? "\"" : "");
		return EXIT_USAGE;
	}
	if (!(scale > 0 && scale <= SCALE_MAX)) {
		log_error(log,
			  "--scale %g is out of range; give a part of the published size above 0 "
			  "and up to %g",
			  scale, SCALE_MAX);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

int reproduce_run(const struct option_values *values, const char *const *arguments,
		  unsigned int count, FILE *out, struct log *log)
{
	struct job job = {
		.values = values,
		.log = log,
		.scale = option_real(values, "scale"),
	};
	struct reference *reference;
	int exit_code = check_arguments(arguments, count, job.scale, log);
	int ret;

	if (exit_code)
		return exit_code;
	ret = reference_load(arguments[0], log, &reference);
	if (ret)
		return ret == -ENOENT ? EXIT_USAGE : EXIT_BROKEN;
	exit_code = EXIT_BROKEN;
	job.reference = reference;
	job.out = out_folder(values);
	job.reproduction = reproduction_new(reference, job.scale);
	if (job.out && job.reproduction)
		exit_code = reproduce(&job, out);
	else
		log_error(log, "out of memory");
	reproduction_free(job.reproduction);
	free(job.out);
	reference_free(reference);
	return exit_code;
}
