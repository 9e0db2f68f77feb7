// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table as plain ASCII for a mail, never wider than 72 columns: columns give
 * way and cells are broken, numbers last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define WIDTH	    72
#define GAP	    2
#define COLUMNS_MAX 16
/* A column of words gets no narrower than this, unless it must. */
#define WORDS_MIN 10
/* Names of columns that are not longer are left whole as long as possible. */
#define NAME_MIN 12

/* The text in ASCII: another sign becomes one '?', a control sign a space. NULL: no memory. */
static char *plain(const char *text)
{
	char *copy = malloc(strlen(text) + 1), *to = copy;

	if (!copy)
		return NULL;
	for (; *text; text++) {
		unsigned char sign = (unsigned char)*text;

		if ((sign & 0xc0) == 0x80)
			continue; /* not the first byte of its sign */
		*to++ = sign >= 0x80 ? '?' : sign < ' ' || sign == 0x7f ? ' ' : (char)sign;
	}
	*to = '\0';
	return copy;
}

/*
 * How much of text goes on a line of this width: up to the last space that fits, else all
 * that fits. *skip: spaces behind it that are dropped.
 */
static size_t fit(const char *text, size_t width, size_t *skip)
{
	size_t length = strlen(text), at = width;

	*skip = 0;
	if (length <= width)
		return length;
	while (at && text[at] != ' ')
		at--;
	if (!at)
		return width;
	*skip = strspn(text + at, " ");
	while (at && text[at - 1] == ' ')
		at--;
	return at ? at : width;
}

/* A paragraph; its lines after the first are indented. */
static int print_wrapped(const char *label, const char *text, FILE *out)
{
	char *first = plain(label ? label : ""), *rest = plain(text);
	char *all = NULL, *at;
	size_t length, skip, width = WIDTH;
	int ret = first && rest && asprintf(&all, "%s%s%s", first, label ? ": " : "", rest) >= 0
			  ? 0
			  : -ENOMEM;

	free(first);
	free(rest);
	if (ret)
		return ret;
	for (at = all; *at || at == all; at += length + skip, width = WIDTH - 2) {
		length = fit(at, width, &skip);
		fprintf(out, "%s%.*s\n", at == all ? "" : "  ", (int)length, at);
		if (!*at)
			break;
	}
	free(all);
	return 0;
}

struct layout {
	const struct table *table;
	size_t count;
	size_t width[COLUMNS_MAX]; /* as laid out */
	size_t cells[COLUMNS_MAX]; /* of the widest cell, its name left out */
};

static size_t total(const struct layout *layout)
{
	size_t sum = (layout->count - 1) * GAP;

	for (size_t i = 0; i < layout->count; i++)
		sum += layout->width[i];
	return sum;
}

/* Takes a column from the widest that is above its least width; false: there is none. */
static bool shrink(struct layout *layout, const size_t *least)
{
	size_t widest = layout->count;

	for (size_t i = 0; i < layout->count; i++)
		if (layout->width[i] > least[i] &&
		    (widest == layout->count || layout->width[i] > layout->width[widest]))
			widest = i;
	if (widest == layout->count)
		return false;
	layout->width[widest]--;
	return true;
}

/* What gives way, in this order, until the table fits. */
enum step {
	STEP_LONG_NAMES, /* names of columns, to NAME_MIN */
	STEP_WORDS,	 /* columns of words, to WORDS_MIN */
	STEP_NAMES,
	STEP_NUMBERS,
	STEPS,
};

static size_t least_width(const struct layout *layout, size_t column, enum step step)
{
	bool words = layout->table->columns[column].align == TABLE_LEFT;
	size_t cells = layout->cells[column] ? layout->cells[column] : 1;
	size_t name = strlen(layout->table->columns[column].name);

	if (step == STEP_NUMBERS)
		return 1;
	if (words && step >= STEP_WORDS && cells > WORDS_MIN)
		cells = WORDS_MIN;
	if (step < STEP_NAMES && name > NAME_MIN)
		name = NAME_MIN;
	return step < STEP_NAMES && name > cells ? name : cells;
}

static int measure(struct layout *layout)
{
	const struct table *table = layout->table;
	size_t least[COLUMNS_MAX];

	for (size_t i = 0; i < layout->count; i++) {
		size_t name = strlen(table->columns[i].name);

		for (size_t row = 0; row < table_rows(table); row++) {
			char *cell = plain(table_at(table, row, i));

			if (!cell)
				return -ENOMEM;
			if (strlen(cell) > layout->cells[i])
				layout->cells[i] = strlen(cell);
			free(cell);
		}
		layout->width[i] = name > layout->cells[i] ? name : layout->cells[i];
	}
	for (int step = 0; step < STEPS; step++) {
		for (size_t i = 0; i < layout->count; i++)
			least[i] = least_width(layout, i, (enum step)step);
		while (total(layout) > WIDTH && shrink(layout, least))
			;
	}
	return 0;
}

/* One row of cells, over as many lines as its highest cell needs. texts are plain. */
static void print_row(const struct layout *layout, char **texts, FILE *out)
{
	const char *left[COLUMNS_MAX];
	bool more = true;

	for (size_t i = 0; i < layout->count; i++)
		left[i] = texts[i];
	while (more) {
		size_t pending = 0; /* spaces that are printed only before something */

		more = false;
		for (size_t i = 0; i < layout->count; i++) {
			size_t skip, width = layout->width[i];
			size_t length = fit(left[i], width, &skip);
			bool right = layout->table->columns[i].align == TABLE_RIGHT;

			if (right)
				pending += width - length;
			if (length)
				fprintf(out, "%*s%.*s", (int)pending, "", (int)length, left[i]);
			if (length)
				pending = 0;
			if (!right)
				pending += width - length;
			pending += GAP;
			left[i] += length + skip;
			more |= *left[i] != '\0';
		}
		fputc('\n', out);
	}
}

static int print_cells(const struct layout *layout, const char *const *cells, FILE *out)
{
	char *texts[COLUMNS_MAX] = { NULL };
	int ret = 0;

	for (size_t i = 0; i < layout->count; i++) {
		texts[i] = plain(cells[i]);
		if (!texts[i])
			ret = -ENOMEM;
	}
	if (!ret)
		print_row(layout, texts, out);
	for (size_t i = 0; i < layout->count; i++)
		free(texts[i]);
	return ret;
}

static int print_table(const struct table *table, FILE *out)
{
	struct layout layout = { .table = table, .count = table->column_count };
	const char *cells[COLUMNS_MAX] = { NULL };
	int ret;

	if (layout.count > COLUMNS_MAX)
		return -E2BIG;
	ret = measure(&layout);
	for (size_t i = 0; i < layout.count; i++)
		cells[i] = table->columns[i].name;
	if (!ret)
		ret = print_cells(&layout, cells, out);
	for (size_t i = 0; !ret && i < layout.count; i++) {
		fprintf(out, "%*s", i ? GAP : 0, "");
		for (size_t j = 0; j < layout.width[i]; j++)
			fputc('-', out);
	}
	fputc('\n', out);
	for (size_t row = 0; !ret && row < table_rows(table); row++) {
		for (size_t i = 0; i < layout.count; i++)
			cells[i] = table_at(table, row, i);
		ret = print_cells(&layout, cells, out);
	}
	return ret;
}

int render_cover(const struct table *table, FILE *out)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < table->head_count; i++)
		ret = print_wrapped(table->heads[i].label, table->heads[i].text, out);
	fputc('\n', out);
	if (!ret && table_rows(table))
		ret = print_table(table, out);
	fputc('\n', out);
	for (size_t i = 0; !ret && i < table->note_count; i++)
		ret = print_wrapped(NULL, table->notes[i].text, out);
	if (ret)
		return ret;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
