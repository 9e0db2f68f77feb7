// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown restore": undoes what killed runs left, from their journals. */
#include "commands.h"

#include "../harness/undo.h"

const struct option_row restore_options[] = {
	{ NULL },
};

int restore_command(const struct option_values *values, const char *const *arguments,
		    unsigned int argument_count, FILE *out, struct log *log)
{
	int visited;

	(void)values;
	if (argument_count) {
		log_error(log, "restore takes no argument, not \"%s\"", arguments[0]);
		return EXIT_USAGE;
	}
	visited = undo_dead_journals(log);
	if (visited < 0)
		return EXIT_BROKEN;
	if (visited)
		fprintf(out, "undid what %d killed run%s left\n", visited, visited == 1 ? "" : "s");
	else
		fprintf(out, "nothing to undo\n");
	return EXIT_DONE;
}
