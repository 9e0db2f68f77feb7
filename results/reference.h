/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Published tables (results/reference/<series>.json): what a posting claims, as
 * data. It holds no measurement of ours.
 *
 * {"schema":"shootdown-reference","version":1,"series":..,"source":..,"statistic":"mean",["runs":N,]
 *  "arch":..,"arms":[BASELINE,..],
 *  "tests":[{"test":"1","title":..,"stressor":..,"parameters":{..},"scaled":"pages","active_cpus":N,"tolerance":T,
 *    ["sweep":PARAMETER,"sweep_within_cpus":BOOL,] ["note":TEXT,]
 * ["guest":{"numa":SPEC,"cxl":SIZE},]
 *    ["rules":[{"metric":..,"arm":..,["steps":[VALUE,..],] "at_least":R or
 * "at_most":R,["of":"published",]"why":TEXT}],] "platforms":[{"name":..,"cpus":N,["any_cpus":BOOL,]
 *      "metrics":[{"name":..,"unit":..,"better":..,["values":{ARM:V,..},] ["change":TEXT]}]}]}]}
 *
 * A test may sweep one parameter, whose value is then a list, and each V a list as long: one
 * step each. A platform's number of CPUs is what a guest gets by default; with "any_cpus", and in
 * a sweep, its values are shown whatever the guest has. With "sweep_within_cpus" steps above the
 * guest's number of CPUs are left out. A metric without values is one that was not published, or
 * only as a change. A rule says what an arm must do whatever was published: its metric is at least,
 * or at most, R times the baseline's.
 */
#ifndef SHOOTDOWN_REFERENCE_H
#define SHOOTDOWN_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "../lib/log.h"

#define REFERENCE_VERSION 1

struct reference_metric {
	const char *name, *unit, *better;
	const char *change; /* as published, for instance "-74.3% (3.9x)"; NULL: not said */
	double *values;	    /* [arm * step_count + step]; NAN: not published */
};

struct reference_rule {
	const char *metric, *arm, *why;
	const json_t *steps;	  /* values of the swept parameter; NULL: all */
	double at_least, at_most; /* times the baseline's value; one is NAN */
	bool of_published;	  /* times what was published for the arm instead */
};

struct reference_platform {
	const char *name;
	unsigned int cpus;
	bool any_cpus; /* what was published stands beside guests of any size */
	struct reference_metric *metrics;
	size_t metric_count;
};

struct reference_test {
	const char *test, *title, *stressor;
	const json_t *parameters; /* at the published size */
	const char *scaled;	  /* the parameter that --scale multiplies */
	const char *sweep;	  /* the parameter that has a list; NULL: none */
	size_t step_count;	  /* of that list; 1 without */
	bool sweep_within_cpus;	  /* a step needs as many CPUs */
	const char *note;	  /* printed below the table; NULL: none */
	struct reference_rule *rules;
	size_t rule_count;
	double tolerance; /* a count agrees within this part of its prediction, or one flush */
	unsigned int active_cpus; /* CPUs that run the task itself */
	const char *numa,
		*cxl; /* memory that a guest needs for it, as "lab ab" takes it; or NULL */
	struct reference_platform *platforms;
	size_t platform_count;
};

/* Strings and parameters are borrowed from json, which it owns. */
struct reference {
	json_t *json;
	const char *series, *source, *statistic, *arch;
	unsigned int runs; /* 0: not said */
	const char **arms;
	size_t arm_count;
	struct reference_test *tests;
	size_t test_count;
};

/*
 * The table of a series, by name: from $SHOOTDOWN_REFERENCE, else the installed
 * folder. -ENOENT when nothing was published for it, -EBADMSG for a damaged
 * file; said, with the tables that there are.
 */
int reference_load(const char *series, struct log *log, struct reference **reference);
void reference_free(struct reference *reference);

/* A test by its number or its stressor's name; NULL when there is none. */
const struct reference_test *reference_find_test(const struct reference *reference,
						 const char *test);
/* The platform of this many CPUs, or one that stands for any; NULL when none was published. */
const struct reference_platform *reference_find_platform(const struct reference_test *test,
							 unsigned int cpus);

/* Which step of the sweep a point with these parameters is; 0 without a sweep, -1: none of them. */
int reference_step(const struct reference_test *test, const json_t *parameters);

#endif
