// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown run": a plan on the running kernel, its record, its summary. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../harness/plan.h"
#include "../harness/run.h"
#include "../lib/cpus.h"
#include "../lib/fs.h"
#include "../lib/spawn.h"
#include "../results/compare.h"

const struct option_row run_options[] = {
	PLAN_OPTIONS,
	{ .name = "cpus",
	  .type = OPTION_STRING,
	  .metavar = "LIST",
	  .help = "use only these CPUs, such as 0-3,8; the first is the control CPU" },
	{ .name = "out",
	  .type = OPTION_STRING,
	  .metavar = "DIR",
	  .help = "folder for the record, new or empty (default: ./shootdown-run-TIME)" },
	{ .name = "dry-run",
	  .type = OPTION_FLAG,
	  .help = "print the plan as JSON and run nothing" },
	{ .name = "json", .type = OPTION_FLAG, .help = "print the summary as JSON" },
	{ .name = "all", .type = OPTION_FLAG, .help = "show every metric in the summary" },
	{ NULL },
};

static char *default_folder(void)
{
	char stamp[32];
	time_t now = time(NULL);

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	return format_string("shootdown-run-%s-%d", stamp, (int)getpid());
}

static int print_plan(const struct plan *plan, FILE *out)
{
	hwloc_bitmap_t cpus;
	json_t *json;
	int rc = plan->cpu_list ? cpus_parse(plan->cpu_list, &cpus) : cpus_usable(&cpus);

	if (rc)
		return EXIT_BROKEN;
	json = plan_json(plan, hwloc_bitmap_weight(cpus), sysconf(_SC_PAGESIZE));
	hwloc_bitmap_free(cpus);
	rc = json ? json_dumpf(json, out, JSON_INDENT(2)) : -1;
	fputc('\n', out);
	json_decref(json);
	return rc ? EXIT_BROKEN : EXIT_DONE;
}

static int run_and_summarize(const struct plan *plan, const char *folder,
			     const struct option_values *values, FILE *out, struct log *log)
{
	struct run_result result;
	struct record *record;
	json_t *machine;
	int rc = record_create(folder, log, &record);

	if (rc)
		return rc == -EEXIST ? EXIT_USAGE : EXIT_BROKEN;
	machine = machine_describe("");
	rc = machine ? run_plan(plan, machine, record, log, &result) : -ENOMEM;
	json_decref(machine);
	record_close(record);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	if (rc)
		return EXIT_BROKEN;
	rc = summarize_run(folder, option_flag(values, "json") ? "json" : "text",
			   option_flag(values, "all"), out, log);
	log_info(log, "the record is in %s", folder);
	if (spawn_interrupted())
		return 128 + spawn_stop_signal;
	return rc ? EXIT_BROKEN : run_exit_code(&result);
}

int run_command(const struct option_values *values, const char *const *arguments,
		unsigned int argument_count, FILE *out, struct log *log)
{
	struct plan_request request = { .stressors = arguments };
	struct plan *plan;
	char *folder;
	int code;

	(void)argument_count;
	plan_request_from(values, &request);
	request.cpu_list = option_string(values, "cpus");
	if (plan_build(&request, log, &plan))
		return EXIT_USAGE;
	folder = option_given(values, "out") ? strdup(option_string(values, "out"))
					     : default_folder();
	if (option_flag(values, "dry-run"))
		code = print_plan(plan, out);
	else
		code = folder ? run_and_summarize(plan, folder, values, out, log) : EXIT_BROKEN;
	free(folder);
	plan_free(plan);
	return code;
}
