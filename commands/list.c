// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown list": the stressors, their options, and whether this machine can run them. */
#include "commands.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "../harness/needs.h"
#include "../lib/cpus.h"
#include "../lib/text.h"
#include "../stressors/stressor.h"

const struct option_row list_options[] = {
	{ .name = "json", .type = OPTION_FLAG, .help = "print JSON" },
	{ NULL },
};

/* Whether a stressor runs on this machine, with its defaults or with another choice. */
struct found {
	char reason[512]; /* why its defaults do not run; empty when they do */
	char choice[64];  /* "OPTION=VALUE" that makes them run; empty: none does alone */
};

static bool is_met(const struct stressor *stressor, const struct option_values *parameters,
		   unsigned int cpu_count, char *reason, size_t size)
{
	struct point point = {
		.stressor = stressor,
		.parameters = parameters,
		.cpu_count = cpu_count,
		.page_bytes = sysconf(_SC_PAGESIZE),
	};

	return !needs_unmet("", &point, reason, size);
}

/* Each other value of each choice, one at a time. */
static int find_choice(const struct stressor *stressor, unsigned int cpu_count, struct log *log,
		       struct found *found)
{
	char reason[512];

	for (const struct option_row *row = stressor->options; row->name; row++)
		for (const char *const *choice = row->choices; choice && *choice; choice++) {
			struct option_values *parameters = options_new(stressor->options);
			int rc = parameters ? options_set(parameters, stressor->name, row->name,
							  *choice, log)
					    : -ENOMEM;
			bool met = !rc &&
				   is_met(stressor, parameters, cpu_count, reason, sizeof(reason));

			options_free(parameters);
			if (met)
				snprintf(found->choice, sizeof(found->choice), "%s=%s", row->name,
					 *choice);
			if (rc || met)
				return rc;
		}
	return 0;
}

static int find_out(const struct stressor *stressor, struct log *log, struct found *found)
{
	struct option_values *parameters = options_new(stressor->options);
	unsigned int cpu_count;
	hwloc_bitmap_t cpus;
	int rc = parameters ? cpus_usable(&cpus) : -ENOMEM;

	*found = (struct found){ "", "" };
	if (rc)
		goto free_parameters;
	cpu_count = hwloc_bitmap_weight(cpus);
	hwloc_bitmap_free(cpus);
	if (is_met(stressor, parameters, cpu_count, found->reason, sizeof(found->reason)))
		*found->reason = '\0';
	else
		rc = find_choice(stressor, cpu_count, log, found);
free_parameters:
	options_free(parameters);
	return rc;
}

static json_t *row_json(const struct option_row *row)
{
	char range[512];

	option_range(row, range, sizeof(range));
	return json_pack("{s:s, s:s?, s:s, s:s}", "name", row->name, "default", row->fallback,
			 "range", range, "help", row->help);
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *stressor_json(const struct stressor *stressor, struct log *log)
{
	json_t *options = json_array(), *metrics = json_array();
	struct found found;
	char needs[256];

	if (find_out(stressor, log, &found))
		return NULL;
	needs_describe(stressor, needs, sizeof(needs));
	for (const struct option_row *row = stressor->options; row->name; row++)
		json_array_append_new(options, row_json(row));
	for (const struct metric_row *row = stressor->metrics; row->name; row++)
		json_array_append_new(metrics, json_pack("{s:s, s:s, s:s}", "name", row->name,
							 "unit", row->unit, "help", row->help));
	return json_pack("{s:s, s:i, s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "name", stressor->name,
			 "version", (int)stressor->version, "summary", stressor->summary, "needs",
			 needs, "available", !*found.reason, "reason", text_or_null(found.reason),
			 "available_with", text_or_null(found.choice), "options", options,
			 "metrics", metrics);
}

static int print_json(FILE *out, struct log *log)
{
	json_t *list = json_array(), *whole;
	int rc;

	for (unsigned int i = 0; all_stressors[i]; i++)
		json_array_append_new(list, stressor_json(all_stressors[i], log));
	whole = json_pack("{s:s, s:i, s:o}", "schema", "shootdown-list", "version", 1, "stressors",
			  list);
	rc = whole ? json_dumpf(whole, out, JSON_INDENT(2)) : -1;
	fputc('\n', out);
	json_decref(whole);
	return rc;
}

static int print_stressor(FILE *out, const struct stressor *stressor, struct log *log)
{
	char needs[256], state[768];
	struct found found;
	int rc = find_out(stressor, log, &found);

	if (rc)
		return rc;
	needs_describe(stressor, needs, sizeof(needs));
	if (*found.choice)
		snprintf(state, sizeof(state), "Here: with %s; its defaults: %s", found.choice,
			 found.reason);
	else if (*found.reason)
		snprintf(state, sizeof(state), "Here: no; %s", found.reason);
	else
		snprintf(state, sizeof(state), "Here: yes; it needs %s", needs);
	text_row(out, stressor->name, stressor->summary);
	text_row(out, "", state);
	return 0;
}

static int print_text(FILE *out, struct log *log)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && all_stressors[i]; i++)
		rc = print_stressor(out, all_stressors[i], log);
	fputs("\n\"shootdown help STRESSOR\" tells more of one, and its options.\n", out);
	return rc;
}

int list_command(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	if (argument_count) {
		log_error(log, "list takes no argument, not \"%s\"", arguments[0]);
		return EXIT_USAGE;
	}
	return (option_flag(values, "json") ? print_json(out, log) : print_text(out, log))
		       ? EXIT_BROKEN
		       : EXIT_DONE;
}
