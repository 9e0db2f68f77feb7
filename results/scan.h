/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scanner of one JSON line in place: for files of millions of small objects,
 * where a tree of values for each would cost more than all else. It takes any
 * order of keys and white space, and knows no schema.
 *
 * The line is written to: strings are ended with a NUL where they stand. Numbers
 * never depend on the locale. Each function returns false when something else
 * stands there; then the line is to be given up.
 */
#ifndef SHOOTDOWN_SCAN_H
#define SHOOTDOWN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
	char *at;
	char *end; /* the line's terminating NUL */
};

/* The next character that is no white space is this one: takes it. */
bool scan_take(struct scan *scan, char wanted);
/* The same without taking it. */
bool scan_peek(struct scan *scan, char wanted);

/* A string without its quotes, escapes decoded, valid UTF-8 without NULs; it lives as long as the
 * line. */
bool scan_string(struct scan *scan, char **text);

bool scan_number(struct scan *scan, double *value);
/* A whole number without sign, exact to 64 bits. */
bool scan_u64(struct scan *scan, uint64_t *value);
bool scan_bool(struct scan *scan, bool *value);
bool scan_null(struct scan *scan);

/* Any value, nested ones too; nothing is kept of it. */
bool scan_skip(struct scan *scan);

/* Nothing but white space is left. */
bool scan_done(struct scan *scan);

/*
 * The next key of an object whose '{' was taken: true with the key, its ':'
 * taken. At the '}' (taken) it is true with *key NULL. *first starts as true.
 */
bool scan_key(struct scan *scan, bool *first, char **key);

#endif
