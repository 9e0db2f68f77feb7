/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runs behind a comparison, with their values by CPU: what a report draws
 * one by one. The comparison has the statistics; this has no numbers of its own.
 */
#ifndef SHOOTDOWN_REPORT_RUNS_H
#define SHOOTDOWN_REPORT_RUNS_H

#include "compare.h"
#include "load.h"

struct report_run {
	size_t arm; /* of the comparison */
	struct loaded_run *run;
	uint32_t *map; /* the run's points -> the comparison's; UINT32_MAX: it has none */
};

struct report_runs {
	struct report_run *list; /* arm by arm, boots in their order */
	size_t count;
	json_t *lab; /* lab.json above the arms' folders; NULL: there is none */
};

/* One value of a passed repetition. */
struct report_value {
	double value;
	uint32_t place; /* of the repetition in the run's order, all points counted; from 1 */
	const struct run_sample *sample;
};

/* Reads the comparison's folders again. Negative errno, said. */
int report_runs_load(const struct comparison *comparison, struct log *log,
		     struct report_runs *runs);
void report_runs_free(struct report_runs *runs);

/* The run's values of a metric in a point of the comparison, in the order they were measured.
 * The caller frees *values. */
int report_run_values(const struct report_run *run, size_t point, const char *metric,
		      struct report_value **values, size_t *count);

/* [{"arm","folder","machine","plan","outcomes":[..],"samples":[{"point","repetition","metric","unit",
 * "status","value","by_cpu"}]}]: what was read, as it can be embedded. NULL: no memory. */
json_t *report_runs_json(const struct comparison *comparison, const struct report_runs *runs);

#endif
