// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown list": the stressors, their options, and whether this machine can run them. */
#include "commands.h"

#include <hwloc.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <unistd.h>

#include "../harness/needs.h"
#include "../lib/cpus.h"
#include "../stressors/stressor.h"

const struct option_row list_options[] = {
	{ .name = "json", .type = OPTION_FLAG, .help = "print JSON" },
	{ NULL },
};

/* With its default parameters; reason is empty when the machine meets the needs. */
static int find_unmet(const struct stressor *stressor, char *reason, size_t size)
{
	struct option_values *parameters = options_new(stressor->options);
	struct point point = {
		.stressor = stressor,
		.parameters = parameters,
		.page_bytes = sysconf(_SC_PAGESIZE),
	};
	hwloc_bitmap_t cpus;
	int rc = parameters ? cpus_usable(&cpus) : -1;

	*reason = '\0';
	if (!rc) {
		point.cpu_count = hwloc_bitmap_weight(cpus);
		hwloc_bitmap_free(cpus);
		if (!needs_unmet("", &point, reason, size))
			*reason = '\0';
	}
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

static json_t *stressor_json(const struct stressor *stressor)
{
	json_t *options = json_array(), *metrics = json_array();
	char needs[256], reason[512];

	if (find_unmet(stressor, reason, sizeof(reason)))
		return NULL;
	needs_describe(stressor, needs, sizeof(needs));
	for (const struct option_row *row = stressor->options; row->name; row++)
		json_array_append_new(options, row_json(row));
	for (const struct metric_row *row = stressor->metrics; row->name; row++)
		json_array_append_new(metrics, json_pack("{s:s, s:s, s:s}", "name", row->name,
							 "unit", row->unit, "help", row->help));
	return json_pack("{s:s, s:i, s:s, s:s, s:b, s:o, s:o, s:o}", "name", stressor->name,
			 "version", (int)stressor->version, "summary", stressor->summary, "needs",
			 needs, "available", !*reason, "reason",
			 *reason ? json_string(reason) : json_null(), "options", options, "metrics",
			 metrics);
}

static int print_json(FILE *out)
{
	json_t *list = json_array(), *whole;
	int rc;

	for (unsigned int i = 0; all_stressors[i]; i++)
		json_array_append_new(list, stressor_json(all_stressors[i]));
	whole = json_pack("{s:s, s:i, s:o}", "schema", "shootdown-list", "version", 1, "stressors",
			  list);
	rc = whole ? json_dumpf(whole, out, JSON_INDENT(2)) : -1;
	fputc('\n', out);
	json_decref(whole);
	return rc;
}

static int add_row(struct libscols_table *table, const struct stressor *stressor)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char needs[256], reason[512], options[512] = "";
	size_t used = 0;

	if (!line || find_unmet(stressor, reason, sizeof(reason)))
		return -1;
	needs_describe(stressor, needs, sizeof(needs));
	for (const struct option_row *row = stressor->options; row->name && used < sizeof(options);
	     row++)
		used += snprintf(options + used, sizeof(options) - used, "%s%s", used ? " " : "",
				 row->name);
	scols_line_set_data(line, 0, stressor->name);
	scols_line_set_data(line, 1, *reason ? "no" : "yes");
	scols_line_set_data(line, 2, stressor->summary);
	scols_line_set_data(line, 3, options);
	scols_line_set_data(line, 4, *reason ? reason : needs);
	return 0;
}

static int print_table(FILE *out)
{
	static const char *const columns[] = { "STRESSOR", "HERE", "WHAT", "OPTIONS", "NEEDS" };
	struct libscols_table *table = scols_new_table();
	int rc = table ? 0 : -1;

	for (size_t i = 0; !rc && i < sizeof(columns) / sizeof(columns[0]); i++)
		scols_table_new_column(table, columns[i], 0, i >= 2 ? SCOLS_FL_WRAP : 0);
	for (unsigned int i = 0; !rc && all_stressors[i]; i++)
		rc = add_row(table, all_stressors[i]);
	if (!rc) {
		scols_table_set_stream(table, out);
		rc = scols_print_table(table);
	}
	scols_unref_table(table);
	return rc;
}

int list_command(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	if (argument_count) {
		log_error(log, "list takes no argument, not \"%s\"", arguments[0]);
		return EXIT_USAGE;
	}
	return (option_flag(values, "json") ? print_json(out) : print_table(out)) ? EXIT_BROKEN
										  : EXIT_DONE;
}
