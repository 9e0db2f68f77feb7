/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options as data: help, defaults, validation, completion, the man page and the
 * recorded plan all derive from the same rows. Used for commands (--NAME VALUE)
 * and for stressors (--set NAME=VALUE).
 */
#ifndef SHOOTDOWN_OPTIONS_H
#define SHOOTDOWN_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "log.h"
#include "names.h"

enum option_type {
	OPTION_FLAG,	 /* no value: present or not */
	OPTION_UINT,	 /* whole number; k, M, G suffixes are powers of 1,000 */
	OPTION_REAL,	 /* decimal number */
	OPTION_SIZE,	 /* bytes; K, M, G, T suffixes are powers of 1,024 */
	OPTION_DURATION, /* nanoseconds; ns, us, ms, s, m, h suffixes, seconds without one */
	OPTION_STRING,
	OPTION_CHOICE, /* one of choices[] */
	OPTION_NODE,   /* a NUMA node's number, or "auto", which leaves the choice to the program */
};

struct option_row {
	const char *name; /* NULL ends the table */
	enum option_type type;
	const char *fallback;	    /* the default as a user would type it; NULL: none */
	uint64_t min, max;	    /* inclusive, in the type's unit; max 0: no limits */
	const char *const *choices; /* OPTION_CHOICE: NULL at the end */
	const char *metavar;	    /* what help shows for the value */
	const char *help;	    /* one sentence without full stop */
	bool many;		    /* may be given again and again (strings only) */
};

struct option_values; /* one value a row, plus lists of `many` rows */

/* A set of values that holds the rows' defaults. rows must outlive it. NULL: no memory. */
struct option_values *options_new(const struct option_row *rows);
struct option_values *options_copy(const struct option_values *values);
void options_free(struct option_values *values);

/*
 * Sets NAME from text after checking it. -EINVAL, said through log with what to
 * do (nearest name, range, choices); what names the table in the message, such
 * as "stressor pageout" or "command run".
 */
int options_set(struct option_values *values, const char *what, const char *name, const char *text,
		struct log *log);

/*
 * Parses a command's arguments: --name value, --name=value, "--" ends them.
 * Positional arguments are collected in order into *rest (borrowed strings, the
 * array is the caller's to free; NULL at the end), *rest_count may be NULL.
 */
int options_parse(struct option_values *values, const char *what, int argc, char *const *argv,
		  const char ***rest, unsigned int *rest_count, struct log *log);

/* Values by name; an unknown name is a bug and aborts. Numbers are in the row's unit. */
bool option_given(const struct option_values *values, const char *name); /* set, not the default */
bool option_flag(const struct option_values *values, const char *name);
uint64_t option_uint(const struct option_values *values, const char *name);
double option_real(const struct option_values *values, const char *name);
const char *option_string(const struct option_values *values, const char *name); /* NULL: none */
const char *const *option_list(const struct option_values *values,
			       const char *name); /* never NULL */

/* All rows as a JSON object of typed values, in table order; a new reference. */
json_t *options_json(const struct option_values *values);
/* What the numbers of options_json() are in: {"window":"ns","size":"bytes"}; a new reference. */
json_t *options_units(const struct option_values *values);
/* Sets rows from such an object; unknown names and bad values are -EINVAL, said. */
int options_from_json(struct option_values *values, const char *what, const json_t *object,
		      struct log *log);

/* Help lines of a table: "  --name VALUE   help (default: x)". prefix is "--" or "". */
void options_help(FILE *stream, const struct option_row *rows, const char *prefix);

/* "min to max", "one of a, b", ... for messages and help; empty when nothing restricts it. */
void option_range(const struct option_row *row, char *text, size_t size);

#endif
