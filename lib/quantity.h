/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole numbers with a suffix for their unit, as users type them and as reports
 * print them: what is printed reads back as the same number.
 */
#ifndef SHOOTDOWN_QUANTITY_H
#define SHOOTDOWN_QUANTITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum quantity {
	QUANTITY_PLAIN, /* no suffix */
	QUANTITY_COUNT, /* k, M, G are powers of 1,000 */
	QUANTITY_BYTES, /* K, M, G, T are powers of 1,024 */
	QUANTITY_TIME,	/* nanoseconds; ns, us, ms, s, m, h, without a suffix seconds */
};

/* A number that may have a fraction when it has a unit ("1.5G"); false: it is none. */
bool quantity_parse(enum quantity quantity, const char *text, uint64_t *number);

/* "50ms", "1500us", "64M", "1023": with the largest suffix that leaves it whole. A fresh string;
 * NULL: no memory. */
char *quantity_text(enum quantity quantity, uint64_t number);

/* "ns, us, ms, s, m, h": the suffixes there are, for manuals. A fresh string; NULL: no memory. */
char *quantity_suffixes(enum quantity quantity);

/* How records name what a number is in: "bytes", "ns"; NULL for a number without a unit. */
const char *quantity_unit(enum quantity quantity);

/*
 * A value of a record (options_json()) as options_set() takes it back; unit is
 * quantity_unit()'s, NULL: none. A fresh string; NULL: no memory.
 */
char *quantity_json_text(const json_t *value, const char *unit);

#endif
