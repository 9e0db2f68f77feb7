// SPDX-License-Identifier: GPL-2.0-only
/* The model behind `shootdown check` and its renderers; see capabilities.h. */
#include "capabilities.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static const char *const status_names[] = {
	[CAPABILITY_OK] = "ok",
	[CAPABILITY_MISSING] = "missing",
	[CAPABILITY_NOT_PERMITTED] = "not-permitted",
};

const char *capability_status_name(enum capability_status status)
{
	return status_names[status];
}

static void release_row(struct capability *row)
{
	free(row->name);
	free(row->detail);
	free(row->advice);
}

void capabilities_add(struct capabilities *capabilities, const char *area, const char *name,
		      enum capability_status status, const char *advice, const char *detail, ...)
{
	struct capability row = { .area = area, .status = status }, *rows;
	va_list list;

	va_start(list, detail);
	if (vasprintf(&row.detail, detail, list) < 0)
		row.detail = NULL;
	va_end(list);
	row.name = strdup(name);
	row.advice = advice ? strdup(advice) : NULL;
	rows = realloc(capabilities->rows, (capabilities->count + 1) * sizeof(*rows));
	if (rows)
		capabilities->rows = rows;
	if (!rows || !row.name || !row.detail || (advice && !row.advice)) {
		release_row(&row);
		capabilities->out_of_memory = true;
		return;
	}
	rows[capabilities->count++] = row;
}

int capabilities_collect(const char *root, struct log *log, struct capabilities **capabilities)
{
	struct capabilities *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	log_debug(log, "looking at what this machine has%s%s", *root ? " under " : "", root);
	capabilities_counters(root, found);
	capabilities_memory(root, found);
	capabilities_nodes(root, found);
	capabilities_tools(found);
	if (found->out_of_memory) {
		capabilities_free(found);
		return -ENOMEM;
	}
	*capabilities = found;
	return 0;
}

void capabilities_free(struct capabilities *capabilities)
{
	unsigned int i;

	if (!capabilities)
		return;
	for (i = 0; i < capabilities->count; i++)
		release_row(&capabilities->rows[i]);
	free(capabilities->rows);
	free(capabilities);
}

json_t *capabilities_json(const struct capabilities *capabilities)
{
	json_t *rows = json_array();
	const struct capability *row;
	unsigned int i;

	for (i = 0; i < capabilities->count; i++) {
		row = &capabilities->rows[i];
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s?}", "area",
						      row->area, "name", row->name, "status",
						      capability_status_name(row->status), "detail",
						      row->detail, "advice", row->advice));
	}
	return json_pack("{s:s, s:i, s:o}", "schema", "shootdown-check", "version", 1,
			 "capabilities", rows);
}

static const char *const titles[] = { "AREA", "NAME", "STATUS", "DETAIL" };

#define COLUMN_COUNT	 (sizeof(titles) / sizeof(titles[0]))
#define DETAIL_COLUMN	 (COLUMN_COUNT - 1)
#define DETAIL_WIDTH_MIN 40

/* Turns blanks into line ends so that no line is longer than width, where words allow it. */
static void fold(char *text, size_t width)
{
	char *line = text, *blank = NULL, *at;

	for (at = text; *at; at++) {
		if (*at == ' ')
			blank = at;
		if ((size_t)(at - line) >= width && blank) {
			*blank = '\n';
			line = blank + 1;
			blank = NULL;
		}
	}
}

/* What is left for the last column of a terminal; 0: the stream is none, and lines stay whole. */
static size_t detail_width(const struct capabilities *capabilities, FILE *stream)
{
	size_t taken = 0, length;
	struct winsize size;
	unsigned int i;

	if (fileno(stream) < 0 || ioctl(fileno(stream), TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	for (i = 0; i < capabilities->count; i++) {
		length = strlen(capabilities->rows[i].name);
		if (length > taken)
			taken = length;
	}
	/* and the columns of area and status with the spaces between */
	taken += sizeof("tracepoints") + sizeof("not-permitted") + 1;
	return size.ws_col > taken + DETAIL_WIDTH_MIN ? size.ws_col - taken : DETAIL_WIDTH_MIN;
}

static int add_line(struct libscols_table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	unsigned int i;
	int err = line ? 0 : -ENOMEM;

	for (i = 0; !err && i < COLUMN_COUNT; i++)
		err = scols_line_set_data(line, i, cells[i]);
	return err;
}

/* One row, on as many lines as its detail takes when folded; width 0: on one. */
static int add_row(struct libscols_table *table, const struct capability *row, const char *area,
		   size_t width)
{
	const char *cells[COLUMN_COUNT] = { area, row->name, capability_status_name(row->status) };
	char *detail = NULL, *rest, *piece;
	int err = 0;

	if (asprintf(&detail, "%s%s%s", row->detail, row->advice ? "; to do: " : "",
		     row->advice ? row->advice : "") < 0)
		return -ENOMEM;
	if (width)
		fold(detail, width);
	for (rest = detail; !err && (piece = strsep(&rest, "\n"));) {
		cells[DETAIL_COLUMN] = piece;
		err = add_line(table, cells);
		cells[0] = cells[1] = cells[2] = "";
	}
	free(detail);
	return err;
}

int capabilities_text(const struct capabilities *capabilities, FILE *stream)
{
	struct libscols_table *table = scols_new_table();
	size_t width = detail_width(capabilities, stream);
	const char *before = "", *area;
	unsigned int i;
	int err = 0;

	if (!table)
		return -ENOMEM;
	scols_table_set_stream(table, stream);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (i = 0; !err && i < COLUMN_COUNT; i++)
		err = scols_table_new_column(table, titles[i], 0, 0) ? 0 : -ENOMEM;
	for (i = 0; !err && i < capabilities->count; i++) {
		/* each area's name stands at its first row only */
		area = capabilities->rows[i].area;
		err = add_row(table, &capabilities->rows[i], strcmp(area, before) ? area : "",
			      width);
		before = area;
	}
	if (!err && scols_print_table(table))
		err = -EIO;
	scols_unref_table(table);
	return err;
}
