// SPDX-License-Identifier: GPL-2.0-only
/* Parses the text of /proc/interrupts; see interrupts.h. */
#include "interrupts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind a struct interrupts: its strings and counts. */
struct parsed {
	struct interrupts table; /* first, so that one pointer serves for both */
	char *text;
	uint64_t *counts;
};

static char *skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* A whole number that ends at white space; NULL when there is none. */
static char *take_number(char *at, uint64_t *number)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*at))
		return NULL;
	for (; isdigit((unsigned char)*at); at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (*at && !isspace((unsigned char)*at))
		return NULL;
	*number = value;
	return at;
}

/* "CPU0 CPU1 CPU4": each word is a column. */
static int parse_header(char *line, struct interrupts *table)
{
	unsigned int room = 0;
	uint64_t number;
	char *at;

	for (at = strstr(line, "CPU"); at; at = strstr(at + 1, "CPU"))
		room++;
	if (!room)
		return -EBADMSG;
	table->cpus = calloc(room, sizeof(*table->cpus));
	if (!table->cpus)
		return -ENOMEM;
	for (at = skip_blanks(line); *at; at = skip_blanks(at)) {
		if (strncmp(at, "CPU", 3))
			return -EBADMSG;
		at = take_number(at + 3, &number);
		if (!at || number > UINT_MAX)
			return -EBADMSG;
		table->cpus[table->cpu_count++] = (unsigned int)number;
	}
	return 0;
}

/* "label: count count ... description". A line without a label is no row. */
static void parse_row(char *line, struct interrupts *table, uint64_t *counts)
{
	struct interrupts_row *row = &table->rows[table->row_count];
	char *at = skip_blanks(line), *colon = strchr(at, ':'), *next, *end;

	if (!colon)
		return;
	*colon = '\0';
	row->label = at;
	row->counts = counts;
	for (at = skip_blanks(colon + 1); row->count < table->cpu_count; at = skip_blanks(next)) {
		next = take_number(at, &counts[row->count]);
		if (!next)
			break;
		row->count++;
	}
	for (end = at + strlen(at); end > at && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	row->description = at;
	table->row_count++;
}

int interrupts_parse(const char *text, size_t length, struct interrupts **table)
{
	size_t lines = 0, i;
	struct parsed *parsed;
	char *line, *next;
	int err;

	if (!length || text[length - 1] != '\n' || memchr(text, '\0', length))
		return -EBADMSG;
	parsed = calloc(1, sizeof(*parsed));
	if (!parsed)
		return -ENOMEM;
	err = -ENOMEM;
	parsed->text = strndup(text, length);
	if (!parsed->text)
		goto fail;
	for (i = 0; i < length; i++)
		lines += text[i] == '\n';

	next = strchr(parsed->text, '\n');
	*next++ = '\0';
	err = parse_header(parsed->text, &parsed->table);
	if (err)
		goto fail;
	err = -ENOMEM;
	parsed->table.rows = calloc(lines, sizeof(*parsed->table.rows));
	parsed->counts = calloc(lines * parsed->table.cpu_count, sizeof(*parsed->counts));
	if (!parsed->table.rows || !parsed->counts)
		goto fail;
	for (line = next; *line; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		parse_row(line, &parsed->table,
			  parsed->counts +
				  (size_t)parsed->table.row_count * parsed->table.cpu_count);
	}
	*table = &parsed->table;
	return 0;

fail:
	interrupts_free(&parsed->table);
	return err;
}

void interrupts_free(struct interrupts *table)
{
	struct parsed *parsed = (struct parsed *)table;

	if (!parsed)
		return;
	free(parsed->counts);
	free(table->rows);
	free(table->cpus);
	free(parsed->text);
	free(parsed);
}

const struct interrupts_row *interrupts_find(const struct interrupts *table, const char *label)
{
	unsigned int i;

	for (i = 0; i < table->row_count; i++)
		if (!strcmp(table->rows[i].label, label))
			return &table->rows[i];
	return NULL;
}

const struct interrupts_row *interrupts_find_described(const struct interrupts *table,
						       const char *description)
{
	unsigned int i;

	for (i = 0; i < table->row_count; i++)
		if (!strcmp(table->rows[i].description, description))
			return &table->rows[i];
	return NULL;
}

uint64_t interrupts_added(uint64_t before, uint64_t after)
{
	if (after >= before)
		return after - before;
	return after + (UINT64_C(1) << 32) - before;
}
