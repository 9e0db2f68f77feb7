/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one table model: what a table says, in which order. Makers format the
 * numbers (results/format.h); renderers lay them out and compute nothing.
 */
#ifndef SHOOTDOWN_TABLE_H
#define SHOOTDOWN_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
};

struct table_column {
	char *name;
	enum table_align align;
};

struct table_line {
	char *label; /* "machine", "seed"; NULL for a note */
	char *text;
};

struct table {
	struct table_line *heads; /* above the table */
	size_t head_count;
	struct table_column *columns;
	size_t column_count;
	char **cells; /* row by row */
	size_t cell_count;
	struct table_line *notes; /* below the table */
	size_t note_count;
	int error; /* -ENOMEM once memory ran out: see table_finish() */
};

/* The makers remember a lack of memory, so that one check at the end is enough. NULL: no memory. */
struct table *table_new(void);
void table_free(struct table *table);

/* All columns come before the first cell. */
void table_column(struct table *table, enum table_align align, const char *name);
__attribute__((format(printf, 3, 4))) void table_head(struct table *table, const char *label,
						      const char *format, ...);
__attribute__((format(printf, 2, 3))) void table_note(struct table *table, const char *format, ...);
/* The next cell, from left to right; a new row starts by itself. */
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);
/* A cell from a fresh string, which it takes over; NULL counts as lack of memory. */
void table_take(struct table *table, char *text);

/* The table, or NULL after freeing it when memory ran out on the way. */
struct table *table_finish(struct table *table);

size_t table_rows(const struct table *table);
const char *table_at(const struct table *table, size_t row, size_t column);

/* Renderers: 0 or a negative errno (-EIO when the stream failed). */
int render_text(const struct table *table, FILE *out);
int render_markdown(const struct table *table, FILE *out);
int render_json(const json_t *json, FILE *out);

/* "text", "markdown", "json", NULL at the end: the choices of --format. */
extern const char *const render_formats[];

/* Frees both. table or json may be NULL only when the format does not need it. */
int render(struct table *table, json_t *json, const char *format, FILE *out);

#endif
