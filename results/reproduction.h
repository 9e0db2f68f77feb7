/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Published, predicted and measured side by side. Counts are judged against the
 * prediction for the size that was run, other arms by the reference's rules; a published time is
 * shown and never judged, least of all against a time that an emulator kept.
 */
#ifndef SHOOTDOWN_REPRODUCTION_H
#define SHOOTDOWN_REPRODUCTION_H

#include <jansson.h>
#include <stddef.h>

#include "compare.h"
#include "reference.h"
#include "table.h"

#define REPRODUCTION_VERSION 1

struct reproduction;

/* reference is borrowed and must outlive it; scale as given to --scale. NULL: no memory. */
struct reproduction *reproduction_new(const struct reference *reference, double scale);
void reproduction_free(struct reproduction *reproduction);

/* Adds what was measured for a test at a number of CPUs; the comparison is taken over on success.
 */
int reproduction_add(struct reproduction *reproduction, const struct reference_test *test,
		     unsigned int cpus, struct comparison *comparison);
/* Adds a test that was not run, with the reason; cpus 0: at any number of CPUs. */
int reproduction_skip(struct reproduction *reproduction, const struct reference_test *test,
		      unsigned int cpus, const char *reason);

/*
 * How many tests were measured; how many counts differ from their prediction or break a
 * rule of the reference; and how many rules could not be judged, for want of a number.
 */
size_t reproduction_measured(const struct reproduction *reproduction);
size_t reproduction_differing(const struct reproduction *reproduction);
size_t reproduction_unjudged(const struct reproduction *reproduction);

/* A new table; NULL: no memory. */
struct table *reproduction_table(const struct reproduction *reproduction);

/*
 * {"schema":"shootdown-reproduction","version":1,"series","source","scale",
 *  "tests":[{"test","title","stressor","cpus":N|null,"skipped":null|TEXT,"left_out":[TEXT,..],"comparison":null|{..},
 *    "rows":[{"step":TEXT|null,"metric","unit","arm","published","published_change":TEXT|null,"predicted",
 *      "bound","measured","verdict"}]}]}
 * step: of a sweep, "threads=4"; left_out: its steps that the guest has too few CPUs for. bound:
 * what a rule of the reference comes to. verdict: "agrees", "differs", "emulated" or null. NULL: no
 * memory.
 */
json_t *reproduction_json(const struct reproduction *reproduction);

#endif
