// SPDX-License-Identifier: GPL-2.0-only
/* Lines broken at spaces. */
#include "text.h"

#include <stdbool.h>
#include <string.h>

#define RIGHT_COLUMN 29 /* of text_row() */

static void next_line(FILE *out, size_t indent, size_t *column, bool *fresh)
{
	fprintf(out, "\n%*s", (int)indent, "");
	*column = indent;
	*fresh = true;
}

void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t columns)
{
	size_t column = at;
	bool fresh = true; /* nothing on this line yet that a space must follow */

	while (*text) {
		size_t length = strcspn(text, " \n");

		if (!fresh && column + 1 + length > columns)
			next_line(out, indent, &column, &fresh);
		column += fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
		fresh = false;
		text += length;
		if (*text == '\n')
			next_line(out, indent, &column, &fresh);
		text += *text != '\0';
	}
	fputc('\n', out);
}

void text_row(FILE *out, const char *left, const char *right)
{
	size_t at = fprintf(out, "  %s", left);

	if (at + 1 > RIGHT_COLUMN)
		at = fprintf(out, "\n") - 1;
	at += fprintf(out, "%*s", (int)(RIGHT_COLUMN - at), "");
	text_wrap(out, right, at, RIGHT_COLUMN, TEXT_TABLE_COLUMNS);
}
