/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the report_cover*.c files; for no one else. */
#ifndef SHOOTDOWN_REPORT_COVER_H
#define SHOOTDOWN_REPORT_COVER_H

#include "compare.h"
#include "table.h"

/* What is written. */
struct letter {
	struct table *table;
	const struct comparison *comparison;
	bool all; /* every metric, not only the primary ones */
};

/* Is this metric a row? A point with no primary metric shows what it has. */
bool cover_shows(const struct letter *letter, const struct compared_point *point,
		 const struct compared_metric *metric);
/* remote_ipis -> "remote IPIs", time_ms -> "time, ms": as published tables name them. NULL: no
 * memory. */
char *cover_metric(const struct letter *letter, const struct compared_metric *metric);
/*
 * The factor of the change in the row: where a verdict is given, that which it rests on;
 * else nothing rests on it, and it is that of the two values that are shown, so that it
 * does not contradict them. NAN: none.
 */
double cover_ratio(const struct compared_metric *metric, size_t arm);
/* The ratio of the two values that are shown. NAN: none. */
double cover_ratio_of_values(const struct compared_metric *metric, size_t arm);
/* "-52.2% (2.1x)", or with --factors "0.48x". NULL: no memory. */
char *cover_change(const struct letter *letter, double ratio);
/* The mark of a change that may not be called one, "" for others. */
const char *cover_mark(enum compared_verdict verdict);

/* report_cover_notes.c: what is said below the table. */
void cover_add_notes(struct letter *letter);

#endif
