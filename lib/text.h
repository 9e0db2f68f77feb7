/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for terminals: lines of a width that can be read. */
#ifndef SHOOTDOWN_TEXT_H
#define SHOOTDOWN_TEXT_H

#include <stdio.h>

#define TEXT_PROSE_COLUMNS 78 /* paragraphs */
#define TEXT_TABLE_COLUMNS 99 /* names beside their explanation */

/*
 * Prints paragraphs broken at spaces, no line over `columns` unless one word is. The
 * first line goes on at column `at`; the others begin after `indent` spaces. Ends
 * the line.
 */
void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t columns);

/* "  left   right" with right wrapped beside it; left gets a line of its own when it is long. */
void text_row(FILE *out, const char *left, const char *right);

#endif
