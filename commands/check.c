// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown check": what can be measured here, and why the rest cannot. */
#include "commands.h"

#include "../harness/capabilities.h"

const struct option_row check_options[] = {
	{ .name = "json", .type = OPTION_FLAG, .help = "print JSON" },
	{ NULL },
};

int check_command(const struct option_values *values, const char *const *arguments,
		  unsigned int argument_count, FILE *out, struct log *log)
{
	struct capabilities *capabilities;
	int rc;

	if (argument_count) {
		log_error(log, "check takes no argument, not \"%s\"", arguments[0]);
		return EXIT_USAGE;
	}
	rc = capabilities_collect("", log, &capabilities);
	if (rc)
		return EXIT_BROKEN;
	if (option_flag(values, "json")) {
		json_t *json = capabilities_json(capabilities);

		rc = json && !json_dumpf(json, out, JSON_INDENT(2)) ? 0 : -1;
		fputc('\n', out);
		json_decref(json);
	} else {
		rc = capabilities_text(capabilities, out);
	}
	capabilities_free(capabilities);
	return rc ? EXIT_BROKEN : EXIT_DONE;
}
