/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan: which points are run, how often, in which order, and what is read.
 * Pure: it is made from options and a CPU set and touches nothing. Its JSON form
 * is plan.json (results/record.h) and what a guest is given to run.
 */
#ifndef SHOOTDOWN_PLAN_H
#define SHOOTDOWN_PLAN_H

#include <jansson.h>
#include <stdint.h>

#include "../lib/log.h"
#include "../stressors/stressor.h"
#include "sources/source.h"

struct plan_point {
	const struct stressor *stressor;
	struct option_values *parameters;
};

struct plan_step {
	unsigned int point;	 /* index into points */
	unsigned int repetition; /* from 1 */
};

struct plan {
	struct plan_point *points;
	unsigned int point_count;
	unsigned int repetitions;
	uint64_t duration_ns; /* 0: repetitions rule; else rounds until the time is up */
	uint64_t timeout_ns;  /* of one repetition */
	uint64_t seed;
	bool interleave;	 /* all points of a round at once */
	struct plan_step *order; /* point_count x repetitions steps, seeded */
	unsigned int step_count;
	const struct source **sources; /* NULL at the end */
	char **events;		       /* NULL at the end */
	char **counters; /* sources that were asked for by name, "all" too; NULL at the end */
	char *cpu_list;		       /* "0-3,8": restricts the CPUs; NULL: all that are allowed */
};

struct plan_request {
	const char *const *stressors; /* names or "all", NULL at the end */
	const char *const
		*settings; /* "OPTION=VALUE[,VALUE...]": several values make several points */
	const char *const *sources; /* counter sources to add to the default ones, or "all" */
	const char *const *events;
	unsigned int repetitions;
	uint64_t duration_ns, timeout_ns, seed;
	bool interleave;
	const char *cpu_list;
};

/*
 * The options that make a request: all of them for run and lab ab; how long it takes
 * alone for reproduce, whose points are those of the published tests.
 */
/* clang-format off */
#define PLAN_LENGTH_OPTIONS                                                                       \
	{ .name = "runs", .type = OPTION_UINT, .fallback = "5", .min = 1, .max = 1000000,         \
	  .metavar = "N", .help = "repetitions of each point (in each boot)" },                   \
	{ .name = "timeout", .type = OPTION_DURATION, .fallback = "10m", .min = 1000000000,       \
	  .max = 31536000000000000ULL, .metavar = "T", .help = "limit of one repetition" },       \
	{ .name = "seed", .type = OPTION_UINT, .fallback = "1", .max = INT64_MAX, .metavar = "S",                   \
	  .help = "seed of the order and of page contents" }
#define PLAN_OPTIONS                                                                              \
	PLAN_LENGTH_OPTIONS,                                                                      \
	{ .name = "duration", .type = OPTION_DURATION, .min = 1000000, .max = 31536000000000000ULL,               \
	  .metavar = "T", .help = "go round the points until this time is up, instead of --runs" },\
	{ .name = "interleave", .type = OPTION_FLAG,                                                \
	  .help = "run all points at once, as a mixed load: what cannot be told apart is marked "  \
		  "shared" },                                                                     \
	{ .name = "set", .type = OPTION_STRING, .many = true, .metavar = "OPTION=VALUE",          \
	  .help = "a stressor's option, [STRESSOR.]OPTION=VALUE[,VALUE...]; several values make " \
		  "several points" },                                                             \
	{ .name = "counter", .type = OPTION_STRING, .many = true, .metavar = "NAME",              \
	  .help = "read this source of counts as well (see COUNTERS), or all" },                  \
	{ .name = "event", .type = OPTION_STRING, .many = true, .metavar = "EVENT",               \
	  .help = "count a perf event or tracepoint, NAME[@cpu|@task] or "                        \
		  "SYSTEM:NAME[/FILTER/]" }
/* clang-format on */

/* Fills what PLAN_OPTIONS say; strings and lists are borrowed from values. */
void plan_request_from(const struct option_values *values, struct plan_request *request);

/* -EINVAL with a message that says what to do for a name, option or value that is wrong. */
int plan_build(const struct plan_request *request, struct log *log, struct plan **plan);
void plan_free(struct plan *plan);

/* predictions are made for cpu_count CPUs and the page size; a new reference, NULL: no memory. */
json_t *plan_json(const struct plan *plan, unsigned int cpu_count, size_t page_bytes);
/* -EINVAL, said, for a plan of another version or with unknown names. */
int plan_from_json(const json_t *json, struct log *log, struct plan **plan);

#endif
