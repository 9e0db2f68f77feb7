// SPDX-License-Identifier: GPL-2.0-only
/* The table model: lists that grow, and the choice of a renderer. */
#include "table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const render_formats[] = { "text", "markdown", "json", NULL };

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

static void free_lines(struct table_line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(lines[i].label);
		free(lines[i].text);
	}
	free(lines);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free_lines(table->heads, table->head_count);
	free_lines(table->notes, table->note_count);
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i].name);
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	free(table->columns);
	free(table->cells);
	free(table);
}

struct table *table_finish(struct table *table)
{
	if (!table || !table->error)
		return table;
	table_free(table);
	return NULL;
}

void table_column(struct table *table, enum table_align align, const char *name)
{
	struct table_column *columns = reallocarray(table->columns, table->column_count + 1,
						    sizeof(*columns));
	char *copy = strdup(name);

	if (columns)
		table->columns = columns;
	if (!columns || !copy) {
		free(copy);
		table->error = -ENOMEM;
		return;
	}
	columns[table->column_count++] = (struct table_column){ .name = copy, .align = align };
}

/* Takes text over; label is copied. */
static void add_line(struct table *table, struct table_line **list, size_t *count,
		     const char *label, char *text)
{
	struct table_line *lines = reallocarray(*list, *count + 1, sizeof(*lines));
	char *copy = label ? strdup(label) : NULL;

	if (lines)
		*list = lines;
	if (!lines || !text || (label && !copy)) {
		free(copy);
		free(text);
		table->error = -ENOMEM;
		return;
	}
	lines[(*count)++] = (struct table_line){ .label = copy, .text = text };
}

__attribute__((format(printf, 1, 0))) static char *print_text(const char *format, va_list list)
{
	char *text;

	return vasprintf(&text, format, list) < 0 ? NULL : text;
}

void table_head(struct table *table, const char *label, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_line(table, &table->heads, &table->head_count, label, print_text(format, list));
	va_end(list);
}

void table_note(struct table *table, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_line(table, &table->notes, &table->note_count, NULL, print_text(format, list));
	va_end(list);
}

void table_take(struct table *table, char *text)
{
	char **cells = text ? reallocarray(table->cells, table->cell_count + 1, sizeof(*cells))
			    : NULL;

	if (!cells) {
		free(text);
		table->error = -ENOMEM;
		return;
	}
	table->cells = cells;
	cells[table->cell_count++] = text;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	table_take(table, print_text(format, list));
	va_end(list);
}

size_t table_rows(const struct table *table)
{
	return table->column_count ? table->cell_count / table->column_count : 0;
}

const char *table_at(const struct table *table, size_t row, size_t column)
{
	return table->cells[row * table->column_count + column];
}

int render_json(const json_t *json, FILE *out)
{
	if (json_dumpf(json, out, JSON_INDENT(1)) || fputc('\n', out) == EOF || fflush(out))
		return -EIO;
	return 0;
}

int render(struct table *table, json_t *json, const char *format, FILE *out)
{
	int ret = -EINVAL;

	if (!strcmp(format, "json"))
		ret = json ? render_json(json, out) : -ENOMEM;
	else if (!strcmp(format, "markdown"))
		ret = table ? render_markdown(table, out) : -ENOMEM;
	else if (!strcmp(format, "text"))
		ret = table ? render_text(table, out) : -ENOMEM;
	json_decref(json);
	table_free(table);
	return ret;
}
