// SPDX-License-Identifier: GPL-2.0-only
/* A table in Markdown with pipes, as it can go into a cover letter or an issue. */
#include <errno.h>
#include <string.h>

#include "table.h"

/* Signs that would end a cell or begin markup; a cell is one line. */
static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\n') {
			fputc(' ', out);
			continue;
		}
		if (strchr("|\\*`<", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_lines(const struct table_line *lines, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		fputs("- ", out);
		if (lines[i].label)
			fprintf(out, "%s: ", lines[i].label);
		print_escaped(lines[i].text, out);
		fputc('\n', out);
	}
}

static void print_table(const struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->column_count; i++) {
		fputs("| ", out);
		print_escaped(table->columns[i].name, out);
		fputc(' ', out);
	}
	fputs("|\n", out);
	for (size_t i = 0; i < table->column_count; i++)
		fputs(table->columns[i].align == TABLE_RIGHT ? "|---:" : "|---", out);
	fputs("|\n", out);
	for (size_t row = 0; row < table_rows(table); row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			fputs("| ", out);
			print_escaped(table_at(table, row, i), out);
			fputc(' ', out);
		}
		fputs("|\n", out);
	}
}

int render_markdown(const struct table *table, FILE *out)
{
	print_lines(table->heads, table->head_count, out);
	if (table_rows(table)) {
		fputs(table->head_count ? "\n" : "", out);
		print_table(table, out);
	}
	if (table->note_count)
		fputc('\n', out);
	print_lines(table->notes, table->note_count, out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
