// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown compare": two or more arms against the first. */
#include "commands.h"

#include "../results/compare.h"

const struct option_row compare_options[] = {
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = render_formats,
	  .metavar = "FORMAT",
	  .help = "how the table is printed" },
	{ .name = "all",
	  .type = OPTION_FLAG,
	  .help = "show every metric, not only the primary ones" },
	{ NULL },
};

int compare_command(const struct option_values *values, const char *const *arguments,
		    unsigned int argument_count, FILE *out, struct log *log)
{
	struct comparison *comparison;
	int rc;

	if (!argument_count) {
		log_error(log,
			  "compare needs two or more run folders, the baseline first, or one lab "
			  "folder");
		return EXIT_USAGE;
	}
	if (compare_folders(arguments, log, &comparison))
		return EXIT_USAGE;
	rc = comparison_render(comparison, option_string(values, "format"),
			       option_flag(values, "all"), out);
	comparison_free(comparison);
	return rc ? EXIT_BROKEN : EXIT_DONE;
}
