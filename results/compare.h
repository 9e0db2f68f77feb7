/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison of arms: points matched, statistics and verdicts made, nothing
 * formatted. Only repetitions that passed give numbers; the others are counted.
 * A difference may be worded or coloured as one only when compared_differs().
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

/*
 * One boot of an arm (lab), or one run (a machine that was not rebooted): the unit of
 * observation. Its repetitions are summarised by their median, which one disturbed
 * repetition does not move, and are never counted as observations of their own.
 */
struct compared_boot {
	double value;	      /* median of its samples */
	size_t first, n;      /* its samples are samples[first .. first + n - 1] of the value */
	unsigned int number;  /* the lab's boot K; 0: not a lab's */
	uint64_t started_ns;  /* real time of its first repetition; 0: not known */
	bool outlier;	      /* see statistics_outliers(); flagged, never left out */
	unsigned int strange; /* how many of its samples are outliers among them */
};

/* What is said of an arm's difference from the baseline. */
enum compared_verdict {
	COMPARED_NONE,	    /* the baseline itself, or there is nothing to compare */
	COMPARED_OFF,	    /* this build has no tests */
	COMPARED_TOO_FEW,   /* no test with so few boots can be significant */
	COMPARED_UNDECIDED, /* tested, not significant: "~" */
	COMPARED_NOISE,	    /* significant, but inside the noise floor that was given */
	COMPARED_SAME,	    /* counts that are equal, or differ by less than their tolerance */
	COMPARED_CHANGED,   /* a difference of a metric that has no better direction */
	COMPARED_BETTER,
	COMPARED_WORSE,
};

/* What a verdict rests on, and how an interval was made. */
enum compared_basis {
	BASIS_NONE,
	BASIS_COUNT,	    /* deterministic counts, see compare_verdict.c */
	BASIS_MANN_WHITNEY, /* exact, two-sided */
	BASIS_SIGNED_RANK,  /* exact, two-sided, boots paired by number */
};

enum compared_method {
	INTERVAL_NONE,
	INTERVAL_ORDER, /* order statistics of the ratios: inverts the rank test */
	INTERVAL_BCA,	/* bootstrap, bias-corrected and accelerated, fixed seed */
};

struct compared_interval {
	double low, high; /* of ratio; high may be INFINITY; NAN: none */
	double level;	  /* what it covers: INTERVAL_ORDER has steps; NAN: none */
	enum compared_method method;
};

/* An arm against the baseline, by boots. All NAN or 0 for the baseline. */
struct compared_test {
	double ratio;	   /* median of the ratios of each boot to each of the baseline's
			      (Hodges-Lehmann;      paired: of boots of one number); NAN where the
			      baseline      has 0 */
	double difference; /* likewise of the differences, in the metric's unit */
	struct compared_interval interval;
	double difference_low, difference_high; /* where interval has the method order; else NAN */
	double p;				/* NAN: not tested */
	double p_holm;	     /* corrected over the family: the point's primary (or other) metrics */
	double smallest_p;   /* that so many boots can reach, NAN: unknown */
	unsigned int family; /* how many metrics Holm's correction is for */
	unsigned int
		boots_needed; /* in each arm for a verdict; 0: not known, or there are enough */
	double noise; /* the noise floor, as a difference; NAN: none was given for the metric */
	enum compared_verdict verdict;
	enum compared_basis basis;
};

/* Does the order matter? Mann-Kendall; NAN where there are too few to ask. */
struct compared_drift {
	double tau_boots, p_boots;	       /* over the arm's boots, as they were started */
	double tau_repetitions, p_repetitions; /* within boots, all boots together */
};

/* One metric of one point on one arm. */
struct compared_value {
	struct statistics statistics; /* describes the samples that have a value, all boots' */
	double *samples; /* statistics.n of them, in the order of boots and repetitions */
	struct compared_boot *boots; /* those that have a sample, in their order */
	size_t boot_count;
	struct statistics by_boot; /* of the boots' values */
	struct compared_test test;
	struct compared_drift drift;
	double change; /* test.ratio - 1; NAN for the baseline and where undefined */
	int status;    /* the worst enum value_status of all samples; -1: there were none */
	char *reason;  /* of the worst status; NULL: none */
};

struct compared_metric {
	char *name, *unit;
	char *better;	  /* "less", "more", "same"; NULL when no plan says */
	double predicted; /* NAN: cannot be known */
	bool primary;	  /* shown without --all; see compare_drop_unsupported() */
	bool shared; /* by all points that ran at once (--interleave): none's own, on some arm */
	struct compared_value *values; /* one an arm */
};

/* What became of one point's repetitions on one arm. */
struct compared_outcomes {
	unsigned int counts[OUTCOME_COUNT];
	char *reasons[OUTCOME_COUNT]; /* the first one given; NULL: none */
	unsigned int shared;	      /* boots in which the point had values that others share */
};

struct compared_point {
	char *stressor;
	unsigned int stressor_version;
	json_t *parameters;
	json_t *units;			 /* of its numbers, quantity_unit()'s; NULL: not known */
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
	/* that came to their end, of the point that has most; in the boot with fewest, with most */
	unsigned int made_least, made_most;
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
	bool interleaved;  /* its points ran at once, a mixed load */
	bool rebooted;	   /* by a lab, whose boots are numbered; else a run is the unit */
	unsigned int cpus; /* used by the runs */
	uint64_t *seeds;   /* the different ones */
	size_t seed_count;
	char **notes;
	size_t note_count;
	char **allowed; /* differences that were allowed by name, in words */
	size_t allowed_count;
	char *noise_source; /* where the noise floor comes from; NULL: none was given */
	bool paired;
	bool factors; /* the table shows factors, not changes */
};

/* How to compare; all zero is the default. */
struct compare_request {
	const char *const *folders;	/* two or more arms, NULL at the end */
	const char *const *allow;	/* names of facts (comparable.h) that may differ; NULL */
	const char *const *noise_floor; /* an A/A's folders; NULL or empty: none */
	bool paired;			/* pair the boots of one number */
	bool factors;
};

/* Level of the intervals is 1 - this; what a corrected p must not exceed. */
#define COMPARED_ALPHA 0.05
/* With so many boots in both arms, and not more, the interval is INTERVAL_BCA. */
#define COMPARED_BCA_LEAST 20
#define COMPARED_BCA_MOST  200
/* Counts are judged without a test from so many boots on, see compare_verdict.c. */
#define COMPARED_COUNT_LEAST 3
/* A count that agrees with its prediction is within this part of it. */
#define COMPARED_TOLERANCE 0.01

/* As compare_folders(), with more to ask for. */
int compare_with(const struct compare_request *request, struct log *log,
		 struct comparison **comparison);

/* "better", "worse", "changed", "same", "noise", "undecided", "too-few", "off"; NULL for none. */
const char *compared_verdict_name(enum compared_verdict verdict);
/* Is it said that the arm differs (better, worse, changed)? Only then a difference may be called
 * one. */
bool compared_differs(enum compared_verdict verdict);
/* "count", "mann-whitney", "signed-rank"; NULL for none. "order", "bca"; NULL for none. */
const char *compared_basis_name(enum compared_basis basis);
const char *compared_method_name(enum compared_method method);

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

/* compare_unit.c: a parameter's value as --set takes it, "50ms"; a fresh string, NULL: no memory.
 */
char *compared_parameter(const struct compared_point *point, const char *key);
/* compare_unit.c: "boot", or "run" where no lab has booted: what a verdict rests on. */
const char *comparison_unit(const struct comparison *comparison);
/* What was made: "6 boots of 5 runs", "6 runs of 3 repetitions", "3 boots (1 failed) of 2 to 5
 * runs". A fresh string; NULL: no memory. */
char *compared_arm_text(const struct comparison *comparison, const struct compared_arm *arm);
/* Was the point one of several that ran at once on this arm, as its values tell? */
bool compared_shares(const struct compared_point *point, size_t arm);

/* The metric's name with what must be said of it: "time_ms (emulated)", "remote_ipis (shared)". A
 * verdict on a shared one is on the whole mix. Caller frees; NULL: no memory. */
char *compared_label(const struct comparison *comparison, const struct compared_metric *metric);

/* Notes in the table what "(shared)" means, and which points those were; none without a mix. */
void comparison_note_mixes(struct table *table, const struct comparison *comparison);

/* A new table of it; without all only the primary metrics. NULL: no memory. */
struct table *comparison_table(const struct comparison *comparison, bool all);

/*
 * {"schema":"shootdown-comparison","version":1,"arms":[NAME..],
 *  "points":[{"stressor","stressor_version","parameters","machine","outcomes":[{"arm","pass",..,"reasons"}],
 *    "metrics":[{"name","unit","better","predicted","primary","shared",
 *      "arms":[{"arm","n","status","mean","median","stddev","samples","change"[,"reason"],
 *        "boots":[{"boot":K|null,"value","n","outlier","strange"}],
 *        "by_boot":{"n","mean","median","stddev"},
 *        "ratio","difference","interval":{"low","high","level","method"}|null,
 *        "p","p_holm","smallest_p","family","verdict","basis","boots_needed","noise",
 *        "drift":{"boots":{"tau","p"},"repetitions":{"tau","p"}}}]}]}],
 *  "kernels":[{"arm","folder","release","version","boots","failed_boots","repetitions","notes"}],
 *  "seeds":[..],"notes":[..],"alpha","paired","allowed":[..],"noise_floor":TEXT|null,
 *  "verdicts_off":TEXT|null,"mixes":[{"arm","points":[INDEX..]}]}
 * mixes: which points ran at once; they all have the values of metrics that are shared, and a
 * verdict on those is on the mix. Empty: no value is shared.
 * n, mean, median and stddev describe the samples; verdicts rest on boots. What is not known is
 * null. A new reference; NULL: no memory.
 */
json_t *comparison_json(const struct comparison *comparison);

/* Prints in one of render_formats (table.h). all: every metric; JSON always has them all. */
int comparison_render(const struct comparison *comparison, const char *format, bool all, FILE *out);

/* What "shootdown run" prints at its end: the run's table with one arm. */
int summarize_run(const char *folder, const char *format, bool all, FILE *out, struct log *log);

#endif
