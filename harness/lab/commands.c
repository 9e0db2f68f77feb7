// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown lab": the table of its commands; fetch, build and ab. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "../../results/compare.h"
#include "prepare.h"

static const struct option_row fetch_options[] = {
	ROW_SOURCE,
	ROW_ARCH,
	ROW_CACHE,
	{ .name = NULL },
};

static const struct option_row build_options[] = {
	{ .name = "arm",
	  .type = OPTION_STRING,
	  .metavar = "NAME[=WHAT]",
	  .help = "build only this arm of the series; with =WHAT a further one, as in lab ab",
	  .many = true },
	ROW_SOURCE,
	ROW_CONFIG,
	LAB_INSTRUMENT_OPTION,
	ROW_ARCH,
	ROW_JOBS,
	ROW_CACHE,
	{ .name = NULL },
};

static const struct option_row ab_options[] = {
	LAB_GUEST_OPTIONS,
	{ .name = "cpus",
	  .type = OPTION_UINT,
	  .fallback = "16",
	  .min = 1,
	  .max = LAB_CPUS_MAX,
	  .metavar = "N",
	  .help = "CPUs of each guest" },
	PLAN_OPTIONS,
	{ .name = "dry-run",
	  .type = OPTION_FLAG,
	  .help = "print the plan, the order of the boots and the emulator's command lines only" },
	{ .name = "aa",
	  .type = OPTION_FLAG,
	  .help = "an A/A: the first arm only, as two arms, which shows the noise" },
	{ .name = "json", .type = OPTION_FLAG, .help = "print the comparison as JSON" },
	{ .name = "all", .type = OPTION_FLAG, .help = "show every metric in the table" },
	{ .name = NULL },
};

int lab_code_of(int error)
{
	if (spawn_interrupted())
		return 128 + spawn_stop_signal;
	switch (error) {
	case 0:
		return EXIT_DONE;
	case -EINVAL:
	case -EEXIST:
		return EXIT_USAGE;
	default:
		return EXIT_BROKEN;
	}
}

static int fetch(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	struct lab_setup setup = { .series_name = argument_count ? arguments[0] : "-",
				   .source = option_string(values, "source"),
				   .arch = option_string(values, "arch"),
				   .cache = option_string(values, "cache") };
	static const char *const plain[] = { "baseline=", NULL };
	struct lab_prepared prepared;
	int rc;

	if (argument_count > 1 || (!argument_count && !setup.source)) {
		log_error(log, "lab fetch needs one series, or --source debian:X.Y");
		return EXIT_USAGE;
	}
	setup.arms = argument_count ? NULL : plain;
	rc = prepare_arms(&setup, log, &prepared);
	if (rc)
		return lab_code_of(rc == -ENOENT ? -EINVAL : rc);
	rc = prepare_source(&prepared, true, log);
	if (!rc)
		fprintf(out, "%s\n", prepared.source.path);
	prepare_release(&prepared);
	return lab_code_of(rc);
}

/* --arm NAME chooses among the series' arms, --arm NAME=WHAT adds one: told apart here. */
struct arm_choice {
	const char **added, **chosen; /* NULL at the end */
	unsigned int added_count, chosen_count;
};

static int split_arms(const char *const *list, struct arm_choice *choice)
{
	unsigned int count = 0;

	while (list[count])
		count++;
	choice->added = calloc(count + 1, sizeof(*choice->added));
	choice->chosen = calloc(count + 1, sizeof(*choice->chosen));
	if (!choice->added || !choice->chosen)
		return -ENOMEM;
	for (; *list; list++) {
		if (strchr(*list, '='))
			choice->added[choice->added_count++] = *list;
		else
			choice->chosen[choice->chosen_count++] = *list;
	}
	return 0;
}

int lab_check_arms(const struct lab_series *series, const char *const *wanted, struct log *log)
{
	const char **names = calloc(series->arm_count + 1, sizeof(*names));
	int rc = names ? 0 : -ENOMEM;

	for (unsigned int i = 0; names && i < series->arm_count; i++)
		names[i] = series->arms[i].name;
	for (; !rc && *wanted; wanted++) {
		if (series_arm(series, *wanted))
			continue;
		say_unknown_name(log, *wanted, names, "its file arms lists them",
				 "series %s has no arm \"%s\"", series->name, *wanted);
		rc = -EINVAL;
	}
	free(names);
	return rc;
}

static bool is_chosen(const struct arm_choice *choice, const char *name)
{
	for (unsigned int i = 0; i < choice->chosen_count; i++)
		if (!strcmp(choice->chosen[i], name))
			return true;
	for (unsigned int i = 0; i < choice->added_count; i++)
		if (!strncmp(choice->added[i], name, strlen(name)) &&
		    choice->added[i][strlen(name)] == '=')
			return true;
	return !choice->chosen_count && !choice->added_count;
}

/* Without a series all arms are given by hand, the plain source among them. */
static bool is_wanted(const struct lab_prepared *prepared, const struct arm_choice *choice,
		      unsigned int index)
{
	return !prepared->series.folder || is_chosen(choice, prepared->series.arms[index].name);
}

static int build_chosen(struct lab_prepared *prepared, const struct arm_choice *choice, FILE *out,
			struct log *log)
{
	int rc = lab_check_arms(&prepared->series, choice->chosen, log);

	if (!rc)
		rc = prepare_instruments(prepared, log);
	for (unsigned int i = 0; !rc && i < prepared->series.arm_count; i++)
		if (is_wanted(prepared, choice, i))
			rc = prepare_check(prepared, i, log);
	for (unsigned int i = 0; !rc && i < prepared->series.arm_count; i++) {
		if (!is_wanted(prepared, choice, i))
			continue;
		rc = prepare_kernel(prepared, i, log);
		if (!rc)
			fprintf(out, "%s\t%s\n", prepared->series.arms[i].name,
				prepared->kernels[i].image);
	}
	return rc;
}

static int build(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	struct arm_choice choice = { 0 };
	struct lab_setup setup = { .series_name = argument_count ? arguments[0] : "-",
				   .source = option_string(values, "source"),
				   .configs = option_list(values, "config"),
				   .instruments = option_list(values, "instrument"),
				   .arch = option_string(values, "arch"),
				   .cache = option_string(values, "cache"),
				   .jobs = option_uint(values, "jobs") };
	struct lab_prepared prepared;
	int rc = argument_count > 1 ? -EINVAL : split_arms(option_list(values, "arm"), &choice);

	if (argument_count > 1)
		log_error(log, "lab build takes one series");
	setup.arms = choice.added;
	if (!rc)
		rc = prepare_arms(&setup, log, &prepared);
	if (!rc) {
		rc = build_chosen(&prepared, &choice, out, log);
		prepare_release(&prepared);
	} else if (rc == -ENOENT) {
		rc = -EINVAL;
	}
	free(choice.added);
	free(choice.chosen);
	return lab_code_of(rc);
}

void lab_ab_request_from(const struct option_values *values, struct lab_ab_request *request)
{
	request->arms = option_list(values, "arm");
	request->source = option_string(values, "source");
	request->configs = option_list(values, "config");
	request->instruments = option_list(values, "instrument");
	request->arch = option_string(values, "arch");
	request->cache = option_string(values, "cache");
	request->accel = option_string(values, "accel");
	request->kernel_arguments = option_string(values, "append");
	request->program = option_string(values, "program");
	request->out = option_string(values, "out");
	request->cpus = option_uint(values, "cpus");
	request->boots = option_uint(values, "boots");
	request->jobs = option_uint(values, "jobs");
	request->memory_bytes = option_uint(values, "memory");
	request->numa = option_string(values, "numa");
	request->cxl = option_string(values, "cxl");
	request->boot_timeout_ns = option_uint(values, "boot-timeout");
	request->seed = option_uint(values, "seed");
}

static json_t *strings_json(const char *const *strings)
{
	json_t *array = strings && *strings ? json_array() : NULL;

	for (; array && *strings; strings++)
		json_array_append_new(array, json_string(*strings));
	return array;
}

json_t *lab_ab_given(const struct lab_ab_request *request)
{
	char *memory = request->memory_bytes
			       ? format_string("%llu", (unsigned long long)request->memory_bytes)
			       : NULL;
	json_t *given = json_pack("{s:s,s:o*,s:s*,s:o*,s:o*,s:s*,s:s*,s:s*,s:s*,s:s*,s:b}",
				  "series", request->series, "arm", strings_json(request->arms),
				  "source", request->source, "config",
				  strings_json(request->configs), "instrument",
				  strings_json(request->instruments), "memory", memory, "numa",
				  request->numa, "cxl", request->cxl, "program", request->program,
				  "append", request->kernel_arguments, "aa", request->twice);

	free(memory);
	return given;
}

/* The table of what arrived; a lab that measured nothing has none. */
static int print_comparison(const struct option_values *values, const struct lab_ab_result *result,
			    FILE *out, struct log *log)
{
	const char *const folders[] = { result->out, NULL };
	struct comparison *comparison;
	int rc = compare_folders(folders, log, &comparison);

	if (rc)
		return rc;
	rc = comparison_render(comparison, option_flag(values, "json") ? "json" : "text",
			       option_flag(values, "all"), out);
	comparison_free(comparison);
	return rc;
}

static int run_ab(const struct option_values *values, const struct lab_ab_request *request,
		  FILE *out, struct log *log)
{
	struct lab_ab_result result;
	int rc = lab_ab(request, log, &result), code;

	if (rc)
		return lab_code_of(rc == -ENOENT ? -EINVAL : rc);
	code = result.exit_code;
	rc = print_comparison(values, &result, out, log);
	if (rc && !code)
		code = EXIT_BROKEN;
	log_info(log, "the records are in %s", result.out);
	lab_ab_release(&result);
	return code;
}

static int ab(const struct option_values *values, const char *const *arguments,
	      unsigned int argument_count, FILE *out, struct log *log)
{
	struct plan_request wanted = { 0 };
	struct lab_ab_request request = { 0 };
	struct plan *plan;
	int code;

	if (argument_count < 2) {
		log_error(
			log,
			"lab ab needs a series (or - for none) and at least one stressor, such as: "
			"shootdown lab ab batched-stale-cpus pageout");
		return EXIT_USAGE;
	}
	plan_request_from(values, &wanted);
	wanted.stressors = arguments + 1;
	if (plan_build(&wanted, log, &plan))
		return EXIT_USAGE;
	lab_ab_request_from(values, &request);
	request.series = arguments[0];
	request.plan = plan;
	request.twice = option_flag(values, "aa");
	if (option_flag(values, "dry-run"))
		code = lab_code_of(lab_ab_describe(&request, out, log));
	else
		code = run_ab(values, &request, out, log);
	plan_free(plan);
	return code;
}

const struct command lab_commands[] = {
	{ .name = "fetch",
	  .usage = "[SERIES] [OPTION]...",
	  .summary = "get the newest kernel source for a series",
	  .description =
		  "Asks the Debian mirror that apt is configured for, with package lists of "
		  "its own, and keeps the source in the cache. The path is printed. The other "
		  "lab commands take what the cache has and fetch only when it has nothing.",
	  .example = "batched-stale-cpus",
	  .options = fetch_options,
	  .run = fetch },
	{ .name = "build",
	  .usage = "[SERIES] [OPTION]...",
	  .summary = "build the kernels of a series",
	  .description =
		  "Prints each arm's name and the path of its kernel. A kernel is built once "
		  "for the same source, options, patches and compiler. The first arm compiles "
		  "everything, a further arm what its patches touch.",
	  .example = "batched-stale-cpus --arm baseline",
	  .options = build_options,
	  .run = build },
	{ .name = "boot",
	  .usage = "KERNEL [OPTION]... [-- COMMAND...]",
	  .summary = "run a command in a guest",
	  .description =
		  "KERNEL is SERIES:ARM, or the path of an image. The command (\"shootdown "
		  "check\" when there is none) runs as root in the guest; its output and exit "
		  "code are those of this command. What the kernel reports as its failure is "
		  "named and makes the exit code 1.\n\n"
		  "--numa gives the guest nodes: a number splits CPUs and memory evenly; else nodes "
		  "have \";\" between and are numbered from 0. cpus=0-3/6 are a node's CPUs, "
		  "cpus=all those that no other node names, and a node without cpus has memory "
		  "only. mem=SIZE is its memory: all nodes give it and --memory is left out, or "
		  "--memory is split. latency=NS and bandwidth=MBS, from the node's nearest CPU, "
		  "make the kernel put slower memory into a lower tier (100 and 100000 where only "
		  "others give one). distances=10/21/30 are those to all nodes. The last node may "
		  "have mem=0 and no CPUs: its number stays unused. --cxl adds emulated CXL "
		  "devices and makes a region of them, which is one more node in a lower tier, "
		  "online before the command runs.",
	  .example = "batched-stale-cpus:patched --cpus 16 -- shootdown run null",
	  .options = lab_boot_options,
	  .run = lab_boot },
	{ .name = "ab",
	  .usage = "SERIES STRESSOR... [OPTION]...",
	  .summary = "measure the arms of a series against each other",
	  .description =
		  "Builds each arm's kernel or takes it from the cache, boots each as often as "
		  "--boots says, runs the same plan in every boot and prints the comparison. "
		  "SERIES is the name of a bundled series, the folder of another, or - for none; "
		  "--arm adds arms. --numa and --cxl are those of lab boot. With --aa the first arm "
		  "is measured against itself: what that shows is noise, and compare "
		  "--noise-floor takes it.\n\n"
		  "The order of the boots is decided by the seed: each round boots every arm once. "
		  "Two guests run side by side when there are cores and memory for it. A boot whose "
		  "kernel panics, oopses, warns, hangs or is not the one asked for fails, and the "
		  "failure is named.",
	  .example = "batched-stale-cpus pageout --cpus 16 --boots 2 --runs 5 --set pages=4096",
	  .options = ab_options,
	  .run = ab },
	{ .name = NULL },
};
