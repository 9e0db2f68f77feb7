// SPDX-License-Identifier: GPL-2.0-only
/* A comparison in any form that there is, to a stream or a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "report.h"

const char *const report_formats[] = { "text", "markdown", "json", "html", "cover-letter", NULL };

static int print_html(const struct comparison *comparison, struct log *log, FILE *out)
{
	struct report *report;
	int ret = report_make(comparison, log, &report);

	if (ret)
		return ret;
	ret = render_html(report, log, out);
	report_free(report);
	return ret;
}

static int print_cover(const struct comparison *comparison, bool all, FILE *out)
{
	struct table *table = cover_table(comparison, all);
	int ret = table ? render_cover(table, out) : -ENOMEM;

	table_free(table);
	return ret;
}

static int print_report(const struct comparison *comparison, const char *format, bool all,
			struct log *log, FILE *out)
{
	if (!strcmp(format, "html"))
		return print_html(comparison, log, out);
	if (!strcmp(format, "cover-letter"))
		return print_cover(comparison, all, out);
	return comparison_render(comparison, format, all, out);
}

/* The file appears as one step, when all of it is there. */
static int print_file(const struct comparison *comparison, const char *format, bool all,
		      const char *path, struct log *log)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int ret = out ? print_report(comparison, format, all, log, out) : -ENOMEM;

	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	if (!ret)
		ret = fs_replace(path, text, length);
	if (ret)
		log_error(log, "cannot write %s: %s", path, strerror(-ret));
	else
		log_info(log, "the report is in %s", path);
	free(text);
	return ret;
}

int report_print(const struct comparison *comparison, const char *format, bool all,
		 const char *path, struct log *log, FILE *out)
{
	return path ? print_file(comparison, format, all, path, log)
		    : print_report(comparison, format, all, log, out);
}
