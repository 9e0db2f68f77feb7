/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model of a reproduction (reproduction.c) and its table and JSON share. */
#ifndef SHOOTDOWN_REPRODUCTION_PRIVATE_H
#define SHOOTDOWN_REPRODUCTION_PRIVATE_H

#include "reproduction.h"

enum verdict {
	VERDICT_NONE, /* nothing to judge by */
	VERDICT_AGREES,
	VERDICT_DIFFERS,
	VERDICT_EMULATED, /* a time that an emulator kept */
};
extern const char *const reproduction_verdicts[]; /* names, NULL for none */

/* One metric of one point of a test on one arm. NAN: there is no such number. */
struct row {
	char *metric, *unit, *arm;
	size_t step;		 /* of the test's sweep */
	const char *change_only; /* what was published where no number was; NULL */
	double published, published_change;
	double predicted;
	const struct reference_rule *rule; /* that is shown of those for the arm; NULL: none */
	double bound;			   /* what the rule comes to */
	double measured, stddev, measured_change;
	enum verdict verdict;
};

struct entry {
	const struct reference_test *test;
	unsigned int cpus;
	char *skipped;		       /* the reason; NULL: it was measured */
	struct comparison *comparison; /* NULL when skipped */
	struct row *rows;
	size_t row_count;
};

/* The point that was measured for a step; NULL: none was. */
const struct compared_point *reproduction_point(const struct entry *entry, size_t step);

struct reproduction {
	const struct reference *reference;
	double scale;
	struct entry *entries;
	size_t entry_count;
};

#endif
