// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table for a terminal, laid out by libsmartcols: it fits the terminal's width
 * by wrapping cells, and is never cut when the output is a file or a pipe.
 */
#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <unistd.h>

#include "table.h"

static int add_columns(struct libscols_table *layout, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		int flags = SCOLS_FL_WRAP;

		if (table->columns[i].align == TABLE_RIGHT)
			flags |= SCOLS_FL_RIGHT;
		if (!scols_table_new_column(layout, table->columns[i].name, 0, flags))
			return -ENOMEM;
	}
	return 0;
}

static int add_rows(struct libscols_table *layout, const struct table *table)
{
	for (size_t row = 0; row < table_rows(table); row++) {
		struct libscols_line *line = scols_table_new_line(layout, NULL);

		if (!line)
			return -ENOMEM;
		for (size_t column = 0; column < table->column_count; column++)
			if (scols_line_set_data(line, column, table_at(table, row, column)))
				return -ENOMEM;
	}
	return 0;
}

static int print_table(const struct table *table, FILE *out)
{
	struct libscols_table *layout = scols_new_table();
	int fd = fileno(out);
	int ret;

	if (!layout)
		return -ENOMEM;
	scols_table_set_stream(layout, out);
	scols_table_set_termforce(layout, fd >= 0 && isatty(fd) ? SCOLS_TERMFORCE_ALWAYS
								: SCOLS_TERMFORCE_NEVER);
	scols_table_enable_minout(layout, 1);
	ret = scols_table_set_column_separator(layout, "  ");
	if (!ret)
		ret = add_columns(layout, table);
	if (!ret)
		ret = add_rows(layout, table);
	if (!ret)
		ret = scols_print_table(layout);
	scols_unref_table(layout);
	return ret;
}

int render_text(const struct table *table, FILE *out)
{
	int ret = 0;

	for (size_t i = 0; i < table->head_count; i++)
		fprintf(out, "%s: %s\n", table->heads[i].label, table->heads[i].text);
	if (table_rows(table)) {
		fputs(table->head_count ? "\n" : "", out);
		ret = print_table(table, out);
	}
	if (table->note_count)
		fputc('\n', out);
	for (size_t i = 0; i < table->note_count; i++)
		fprintf(out, "%s\n", table->notes[i].text);
	if (ret)
		return ret;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
