/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A metric over time from the index: one series for each combination of machine,
 * CPUs, page size, arm, stressor with its version and parameters, and unit, since
 * only values of one such combination may stand beside each other. A value is a
 * run's median (a run is one boot or one night). Kernels may differ: their change is
 * what is looked for.
 *
 * Changes are results/change_point.h's, at the level alpha divided by the number of
 * series (Bonferroni), and only those of at least a given size.
 */
#ifndef SHOOTDOWN_TREND_H
#define SHOOTDOWN_TREND_H

#include <jansson.h>
#include <stdbool.h>

#include "change_point.h"
#include "store.h"
#include "table.h"

#define TREND_VERSION 1

struct trend_value {
	double value;
	int64_t started_ns;
	char run[RUN_ID_LENGTH + 1];
	char *kernel;
};

struct trend_series {
	char *machine, *arch, *arm, *stressor, *parameters, *unit,
		*better; /* arm, better: or NULL */
	int64_t stressor_version, cpus, page_bytes;
	struct trend_value *values; /* oldest first */
	size_t count;
	struct change_point *changes;
	size_t change_count;
	bool too_few; /* no change could be told from chance */
};

struct trend {
	char *metric;
	double alpha;	     /* of all series together */
	double least_change; /* as a fraction of the value before */
	struct trend_series *series;
	size_t series_count;
	size_t least_count; /* values that a series needs */
};

struct trend_request {
	const struct store_filter *filter; /* its limit: the newest so many values of each series */
	const char *metric;
	double alpha, least_change;
};

/* Negative errno, said. A trend without a series is no error. */
int trend_make(struct store *store, const struct trend_request *request, struct log *log,
	       struct trend **trend);
void trend_free(struct trend *trend);

/* The change as a fraction of the value before; infinite from zero. */
double trend_change(const struct change_point *point);
/* "better", "worse", or "moved" when the metric has no direction. */
const char *trend_word(const struct trend_series *series, const struct change_point *point);

bool trend_moved(const struct trend *trend);
/* All series have too few values, or there is none. */
bool trend_cannot_tell(const struct trend *trend);

/* One table a series. NULL: no memory. */
struct table *trend_table(const struct trend *trend, const struct trend_series *series);

/*
 * {"schema":"shootdown-trend","version":1,"metric","alpha","least_change","least_count","series":[
 *   {"machine","arch","arm","stressor","stressor_version","parameters","cpus","page_size","unit",
 *    "better","too_few","values":[{"run","started","kernel","value"}],
 *    "changes":[{"run","started","p","before","after","change","direction"}]}]}
 */
json_t *trend_json(const struct trend *trend);

#endif
