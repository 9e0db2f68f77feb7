// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown compare": two or more arms against the first. */
#include "commands.h"

#include "../results/compare.h"
#include "../results/report.h"

const struct option_row compare_options[] = {
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = report_formats,
	  .metavar = "FORMAT",
	  .help = "how the table is printed" },
	{ .name = "out",
	  .type = OPTION_STRING,
	  .metavar = "FILE",
	  .help = "write to this file, not to standard output" },
	{ .name = "all",
	  .type = OPTION_FLAG,
	  .help = "show every metric, not only the primary ones" },
	{ .name = "allow",
	  .type = OPTION_STRING,
	  .metavar = "FACT",
	  .help = "compare although this differs: arch, page-size, cpus, memory, config, "
		  "instruments, accel, emulation, arguments, plan, stressor-version, "
		  "workload (what a stressor found to work on), all",
	  .many = true },
	{ .name = "noise-floor",
	  .type = OPTION_STRING,
	  .metavar = "RUN",
	  .help = "folder of an A/A (lab ab --aa): a difference inside its noise is not called one",
	  .many = true },
	{ .name = "paired",
	  .type = OPTION_FLAG,
	  .help = "test boots in pairs of one number (signed-rank); takes more boots" },
	{ .name = "factors",
	  .type = OPTION_FLAG,
	  .help = "show factors of the baseline (1.00x, 26.37x) in place of changes" },
	{ NULL },
};

int compare_command(const struct option_values *values, const char *const *arguments,
		    unsigned int argument_count, FILE *out, struct log *log)
{
	struct compare_request request = { .folders = arguments };
	struct comparison *comparison;
	int rc;

	if (!argument_count) {
		log_error(log,
			  "compare needs two or more run folders, the baseline first, or one lab "
			  "folder");
		return EXIT_USAGE;
	}
	request.allow = option_list(values, "allow");
	request.noise_floor = option_list(values, "noise-floor");
	request.paired = option_flag(values, "paired");
	request.factors = option_flag(values, "factors");
	if (compare_with(&request, log, &comparison))
		return EXIT_USAGE;
	rc = report_print(comparison, option_string(values, "format"), option_flag(values, "all"),
			  option_string(values, "out"), log, out);
	comparison_free(comparison);
	return rc ? EXIT_BROKEN : EXIT_DONE;
}
