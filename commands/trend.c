// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown trend": a metric over time, and whether it moved. */
#include "commands.h"

#include "../results/table.h"
#include "../results/trend.h"
#include "filter.h"

static const char *const trend_formats[] = { "text", "json", NULL };

const struct option_row trend_options[] = {
	{ .name = "metric",
	  .type = OPTION_STRING,
	  .metavar = "NAME",
	  .help = "the metric, such as remote_ipis" },
	FILTER_OPTIONS,
	{ .name = "last",
	  .type = OPTION_UINT,
	  .fallback = "100",
	  .max = 2000,
	  .metavar = "N",
	  .help = "only the newest N runs of each series; 0: all" },
	{ .name = "least",
	  .type = OPTION_REAL,
	  .fallback = "1",
	  .metavar = "PERCENT",
	  .help = "a change must be this large" },
	{ .name = "alpha",
	  .type = OPTION_REAL,
	  .fallback = "0.01",
	  .metavar = "P",
	  .help = "how often chance alone may be called a change, over all series together" },
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = trend_formats,
	  .metavar = "FORMAT",
	  .help = "how the series are printed" },
	DB_OPTION,
	{ NULL },
};

static int print_text(const struct trend *trend, FILE *out)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < trend->series_count; i++) {
		struct table *table = trend_table(trend, &trend->series[i]);

		if (i)
			fputc('\n', out);
		ret = table ? render_text(table, out) : -1;
		table_free(table);
	}
	return ret;
}

static int print_json(const struct trend *trend, FILE *out)
{
	json_t *json = trend_json(trend);
	int ret = json ? render_json(json, out) : -1;

	json_decref(json);
	return ret;
}

static int conclude(const struct trend *trend, struct log *log)
{
	if (!trend->series_count)
		log_warn(log, "no run in the index has such values; \"shootdown db ls\" shows what "
			      "there is");
	if (trend_moved(trend))
		return EXIT_FAILED;
	return trend_cannot_tell(trend) ? EXIT_SKIPPED : EXIT_DONE;
}

int trend_command(const struct option_values *values, const char *const *arguments,
		  unsigned int argument_count, FILE *out, struct log *log)
{
	struct trend_request request = { .metric = option_string(values, "metric"),
					 .alpha = option_real(values, "alpha"),
					 .least_change = option_real(values, "least") / 100.0 };
	struct store_filter filter;
	struct store *store;
	struct trend *trend;
	int ret;

	if (argument_count) {
		log_error(log, "trend takes no argument, not \"%s\"; write --stressor and --metric",
			  arguments[0]);
		return EXIT_USAGE;
	}
	if (!request.metric || !option_given(values, "stressor")) {
		log_error(log, "trend needs --stressor and --metric");
		return EXIT_USAGE;
	}
	if (!(request.alpha > 0.0 && request.alpha < 1.0) || request.least_change < 0.0) {
		log_error(log, "--alpha must be between 0 and 1, and --least not below 0");
		return EXIT_USAGE;
	}
	if (filter_from(values, &filter, log))
		return EXIT_USAGE;
	filter.limit = option_uint(values, "last");
	request.filter = &filter;
	if (store_open(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	ret = trend_make(store, &request, log, &trend);
	store_close(store);
	if (ret)
		return EXIT_BROKEN;
	ret = option_string(values, "format")[0] == 'j' ? print_json(trend, out)
							: print_text(trend, out);
	ret = ret ? EXIT_BROKEN : conclude(trend, log);
	trend_free(trend);
	return ret;
}
