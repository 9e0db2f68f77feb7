/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison of arms: points matched, statistics made, nothing formatted.
 * Only repetitions that passed give numbers; the others are counted.
 */
#ifndef SHOOTDOWN_COMPARE_H
#define SHOOTDOWN_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../lib/log.h"
#include "../lib/status.h"
#include "statistics.h"
#include "table.h"

#define COMPARISON_VERSION 1

/* One metric of one point on one arm. */
struct compared_value {
	struct statistics statistics; /* of the samples that have a value */
	double *samples; /* statistics.n of them, in the order of boots and repetitions */
	double change;	 /* against the baseline's mean; NAN for the baseline and where undefined */
	int status;	 /* the worst enum value_status of all samples; -1: there were none */
	char *reason;	 /* of the worst status; NULL: none */
};

struct compared_metric {
	char *name, *unit;
	char *better;		       /* "less", "more", "same"; NULL when no plan says */
	double predicted;	       /* NAN: cannot be known */
	bool primary;		       /* shown without --all */
	struct compared_value *values; /* one an arm */
};

/* What became of one point's repetitions on one arm. */
struct compared_outcomes {
	unsigned int counts[OUTCOME_COUNT];
	char *reasons[OUTCOME_COUNT]; /* the first one given; NULL: none */
};

struct compared_point {
	char *stressor;
	unsigned int stressor_version;
	json_t *parameters;
	struct compared_metric *metrics; /* primary ones first */
	size_t metric_count;
	struct compared_outcomes *outcomes; /* one an arm */
};

struct compared_arm {
	char *name, *folder;
	char *kernel; /* release; NULL when no run of it could be read */
	char *kernel_version;
	unsigned int boots, failed_boots;
	unsigned int repetitions; /* that the plan of a boot asked for; 0: by duration */
	char **notes;
	size_t note_count;
};

struct comparison {
	struct compared_arm *arms; /* the first is the baseline */
	size_t arm_count;
	struct compared_point *points;
	size_t point_count;
	json_t *machine; /* what all runs have in common, see comparison_json() */
	bool guest;
	bool emulated_time;
	unsigned int cpus; /* used by the runs */
	uint64_t *seeds;   /* the different ones */
	size_t seed_count;
	char **notes;
	size_t note_count;
};

/*
 * Loads and compares two or more arms, the first is the baseline; one lab
 * folder stands for all its arms. folders has NULL at the end. Negative errno,
 * said: see run_load() and runs_comparable().
 */
int compare_folders(const char *const *folders, struct log *log, struct comparison **comparison);

/* The same model for one run, or one arm's folder of boots. */
int compare_single(const char *folder, struct log *log, struct comparison **comparison);

void comparison_free(struct comparison *comparison);

/* The metric of this name, NULL when the point has none. */
const struct compared_metric *comparison_metric(const struct compared_point *point,
						const char *name);

/* A new table of it; without all only the primary metrics. NULL: no memory. */
struct table *comparison_table(const struct comparison *comparison, bool all);

/*
 * {"schema":"shootdown-comparison","version":1,"arms":[NAME..],
 *  "points":[{"stressor","stressor_version","parameters","machine","outcomes":[{"arm","pass",..,"reasons"}],
 *    "metrics":[{"name","unit","better","predicted",
 *      "arms":[{"arm","n","status","mean","median","stddev","samples","change"[,"reason"]}]}]}],
 *  "kernels":[{"arm","folder","release","version","boots","failed_boots","repetitions","notes"}],
 *  "seeds":[..],"notes":[..]}
 * What is not known is null. A new reference; NULL: no memory.
 */
json_t *comparison_json(const struct comparison *comparison);

/* Prints in one of render_formats (table.h). all: every metric; JSON always has them all. */
int comparison_render(const struct comparison *comparison, const char *format, bool all, FILE *out);

/* What "shootdown run" prints at its end: the run's table with one arm. */
int summarize_run(const char *folder, const char *format, bool all, FILE *out, struct log *log);

#endif
