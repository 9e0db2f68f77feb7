// SPDX-License-Identifier: GPL-2.0-only
/* Whether two runs may be put side by side. */
#include "comparable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "../lib/options.h"

/* What may be allowed besides the facts, and how comparable_names counts them all. */
enum {
	ALLOW_PLAN = 9,
	ALLOW_VERSION,
	ALLOW_WORKLOAD,
	ALLOW_ALL,
};

const char *const comparable_names[] = {
	"arch",
	"page-size",
	"cpus",
	"memory",
	"config",
	"instruments",
	"accel",
	"emulation",
	"arguments",
	[ALLOW_PLAN] = "plan",
	[ALLOW_VERSION] = "stressor-version",
	[ALLOW_WORKLOAD] = "workload",
	[ALLOW_ALL] = "all",
	NULL,
};

/* What must be the same of two machines, in comparable_names' order: where machine.json has it, and
 * what to do. */
static const struct fact {
	const char *name;
	const char *object; /* NULL: at the top */
	const char *key;
	const char *advice;
	bool may_be_unknown; /* then it is not compared with one that is known */
} facts[ALLOW_PLAN] = {
	{ "architecture", NULL, "arch", "compare runs of one architecture" },
	{ "page size", NULL, "page_size", "use kernels with the same page size" },
	{ "number of CPUs used", "cpus", "used", "run both with the same --cpus" },
	{ "memory of the guest", "guest", "memory", "run both with the same --numa and --cxl" },
	{ "configuration of the kernel", "guest", "config", "build both with the same --config",
	  true },
	{ "instrument of the kernel", "guest", "instruments",
	  "build both with the same --instrument" },
	{ "accelerator of the guest", "guest", "accel", "run both with the same --accel" },
	{ "emulated time", "guest", "emulated_time", "run both in guests or both on hardware" },
	{ "kernel arguments", "guest", "arguments", "run both with the same --append", true },
};

static bool allows(const struct allowance *allowance, unsigned int fact)
{
	return allowance->facts & (1U << fact | 1U << ALLOW_ALL);
}

int allowance_add(struct allowance *allowance, const char *const *names, struct log *log)
{
	for (; names && *names; names++) {
		unsigned int i = 0;

		while (comparable_names[i] && strcmp(comparable_names[i], *names))
			i++;
		if (!comparable_names[i]) {
			say_unknown_name(log, *names, comparable_names,
					 "\"shootdown compare --help\" lists what may differ",
					 "--allow %s: there is no such fact", *names);
			return -EINVAL;
		}
		allowance->facts |= 1U << i;
	}
	return 0;
}

void allowance_release(struct allowance *allowance)
{
	for (size_t i = 0; i < allowance->said_count; i++)
		free(allowance->said[i]);
	free(allowance->said);
	*allowance = (struct allowance){ 0 };
}

/* Takes text over, unless it was said before. */
static int say(struct allowance *allowance, char *text)
{
	char **said;

	for (size_t i = 0; text && i < allowance->said_count; i++)
		if (!strcmp(allowance->said[i], text)) {
			free(text);
			return 0;
		}
	said = text ? reallocarray(allowance->said, allowance->said_count + 1, sizeof(*said))
		    : NULL;
	if (!said) {
		free(text);
		return -ENOMEM;
	}
	allowance->said = said;
	said[allowance->said_count++] = text;
	return 0;
}

/*
 * The fact as text. "none": the record does not have it, as that of a machine that is no guest has
 * no guest's facts. "empty" is known: no kernel arguments.
 */
static char *fact_text(const struct fact *fact, const struct loaded_run *run)
{
	const json_t *object = fact->object ? json_object_get(run->machine, fact->object)
					    : run->machine;
	const json_t *value = json_object_get(object, fact->key);

	if (json_is_string(value))
		return strdup(json_string_length(value) ? json_string_value(value) : "empty");
	return value && !json_is_null(value) ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY)
					     : strdup("none");
}

static int check_fact(unsigned int index, const struct loaded_run *first,
		      const struct loaded_run *second, struct allowance *allowance, struct log *log)
{
	const struct fact *fact = &facts[index];
	char *one = fact_text(fact, first), *other = fact_text(fact, second);
	int ret = 0;

	if (!one || !other) {
		ret = -ENOMEM;
	} else if (fact->may_be_unknown && (!strcmp(one, "none") || !strcmp(other, "none"))) {
		ret = 0;
	} else if (strcmp(one, other) && allows(allowance, index)) {
		ret = say(allowance, format_string("%s: %s and %s", fact->name, one, other));
	} else if (strcmp(one, other)) {
		log_error(log,
			  "these runs cannot be compared: the %s is %s in %s and %s in %s; %s, or "
			  "--allow %s",
			  fact->name, one, first->folder, other, second->folder, fact->advice,
			  comparable_names[index]);
		ret = -EINVAL;
	}
	free(other);
	free(one);
	return ret;
}

static bool same_point(const struct run_point *one, const struct run_point *other, bool any_version)
{
	return !strcmp(one->stressor, other->stressor) &&
	       (any_version || one->stressor_version == other->stressor_version) &&
	       json_equal(one->parameters, other->parameters);
}

/* The point of run that is this one and not taken yet; the same index is looked at first. */
static uint32_t find_point(const struct loaded_run *run, const struct run_point *point,
			   uint32_t likely, const bool *taken, bool any_version)
{
	if (likely < run->point_count && !taken[likely] &&
	    same_point(&run->points[likely], point, any_version))
		return likely;
	for (uint32_t i = 0; i < run->point_count; i++)
		if (!taken[i] && same_point(&run->points[i], point, any_version))
			return i;
	return UINT32_MAX;
}

/* Says how a point without a match differs from its nearest relative, in words a user can act on.
 */
static void say_unmatched(const struct loaded_run *has, uint32_t index,
			  const struct loaded_run *lacks, struct log *log)
{
	const struct run_point *point = &has->points[index], *other = NULL;
	char *one, *two;
	const char *key;
	const json_t *value;

	if (index < lacks->point_count && !strcmp(lacks->points[index].stressor, point->stressor))
		other = &lacks->points[index];
	if (!other) {
		log_error(
			log,
			"these runs cannot be compared: their plans differ, %s runs point %u (%s) "
			"and %s does not; run both with the same stressors and --set",
			has->folder, index, point->stressor, lacks->folder);
		return;
	}
	if (point->stressor_version != other->stressor_version) {
		log_error(
			log,
			"these runs cannot be compared: version of stressor %s is %u in %s and %u "
			"in %s; run both with the same shootdown",
			point->stressor, point->stressor_version, has->folder,
			other->stressor_version, lacks->folder);
		return;
	}
	json_object_foreach((json_t *)point->parameters, key, value) {
		const json_t *theirs = json_object_get(other->parameters, key);

		if (json_equal(value, theirs))
			continue;
		one = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		two = theirs ? json_dumps(theirs, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
		log_error(log,
			  "these runs cannot be compared: parameter %s of %s is %s in %s and %s in "
			  "%s; run both with the same --set",
			  key, point->stressor, one ? one : "?", has->folder, two ? two : "absent",
			  lacks->folder);
		free(two);
		free(one);
		return;
	}
	log_error(
		log,
		"these runs cannot be compared: parameters of %s (point %u) differ in %s and %s; run "
		"both with the same --set",
		point->stressor, index, has->folder, lacks->folder);
}

static int check_version(const struct run_point *one, const struct run_point *other,
			 struct allowance *allowance)
{
	if (one->stressor_version == other->stressor_version)
		return 0;
	return say(allowance, format_string("version of stressor %s: %u and %u", one->stressor,
					    one->stressor_version, other->stressor_version));
}

/* A point that only one of them has. */
static int miss_point(const struct loaded_run *has, uint32_t index, const struct loaded_run *lacks,
		      struct allowance *allowance, struct log *log)
{
	if (allows(allowance, ALLOW_PLAN))
		return say(allowance,
			   format_string("plan: point %u (%s) of %s is not in %s", index,
					 has->points[index].stressor, has->folder, lacks->folder));
	say_unmatched(has, index, lacks, log);
	return -EINVAL;
}

static int match_points(const struct loaded_run *first, const struct loaded_run *second,
			struct allowance *allowance, struct log *log, uint32_t *map)
{
	bool *taken = calloc(first->point_count, sizeof(*taken));
	uint32_t found = 0;
	int ret = 0;

	if (!taken)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < second->point_count; i++) {
		map[i] = find_point(first, &second->points[i], i, taken,
				    allows(allowance, ALLOW_VERSION));
		if (map[i] == UINT32_MAX) {
			ret = miss_point(second, i, first, allowance, log);
			continue;
		}
		taken[map[i]] = true;
		found++;
		ret = check_version(&first->points[map[i]], &second->points[i], allowance);
	}
	for (uint32_t i = 0; !ret && i < first->point_count; i++)
		if (!taken[i])
			ret = miss_point(first, i, second, allowance, log);
	if (!ret && !found) {
		say_unmatched(second, 0, first, log);
		ret = -EINVAL;
	}
	free(taken);
	return ret;
}

/* ---- what a stressor found to work on ---- */

static bool is_fixed(const struct run_point *point, const char *metric)
{
	const char *better = json_string_value(
		json_object_get(json_object_get(point->metrics, metric), "better"));

	return better && !strcmp(better, "fixed");
}

static bool passed(const struct loaded_run *run, uint32_t point, uint32_t repetition)
{
	const struct run_outcome *outcome = run_find_outcome(run, point, repetition);

	return outcome && outcome->outcome == OUTCOME_PASS;
}

static bool any_passed(const struct loaded_run *run, uint32_t point)
{
	for (size_t i = 0; i < run->outcome_count; i++)
		if (run->outcomes[i].point == point && run->outcomes[i].outcome == OUTCOME_PASS)
			return true;
	return false;
}

/* The next sample from `from` on with a number of a metric, by its name; NULL: there is none. */
static const struct run_sample *next_number(const struct loaded_run *run, size_t from,
					    uint32_t point, const char *metric)
{
	for (size_t i = from; i < run->sample_count; i++)
		if (run->samples[i].point == point &&
		    value_status_has_value(run->samples[i].status) &&
		    !strcmp(run->metrics[run->samples[i].metric].name, metric) &&
		    passed(run, point, run->samples[i].repetition))
			return &run->samples[i];
	return NULL;
}

static char *number_text(const struct run_sample *sample)
{
	return sample ? format_string("%.15g", sample->value) : strdup("not known");
}

/*
 * The first number of run that is not like: NULL when there is none. That the first run has only
 * one number shows when it is compared with itself, as gather_arm() does.
 */
static const struct run_sample *find_other(const struct loaded_run *run, uint32_t point,
					   const char *metric, const struct run_sample *like)
{
	const struct run_sample *other = next_number(run, 0, point, metric);

	while (other && like && other->value == like->value)
		other = next_number(run, other - run->samples + 1, point, metric);
	return other;
}

static int check_fixed(const char *metric, const struct loaded_run *first, uint32_t first_point,
		       const struct loaded_run *run, uint32_t point, struct allowance *allowance,
		       struct log *log)
{
	const char *stressor = run->points[point].stressor;
	const struct run_sample *one = next_number(first, 0, first_point, metric);
	const struct run_sample *other = find_other(run, point, metric, one);
	bool missing = one && !next_number(run, 0, point, metric);
	char *texts[2];
	int ret = -EINVAL;

	if ((!other && !missing) || !any_passed(first, first_point) || !any_passed(run, point))
		return 0;
	texts[0] = number_text(one);
	texts[1] = number_text(other);
	if (allows(allowance, ALLOW_WORKLOAD))
		ret = say(allowance, format_string("%s of %s: %s and %s", metric, stressor,
						   texts[0], texts[1]));
	else
		log_error(log,
			  "these runs cannot be compared: %s of %s is %s in %s and %s in %s, which "
			  "is other work; use the same sources and tools, or --allow %s",
			  metric, stressor, texts[0], first->folder, texts[1], run->folder,
			  comparable_names[ALLOW_WORKLOAD]);
	free(texts[1]);
	free(texts[0]);
	return ret;
}

static int check_workload(const struct loaded_run *first, const struct loaded_run *run,
			  const uint32_t *map, struct allowance *allowance, struct log *log)
{
	const char *metric;
	json_t *row;
	int ret = 0;

	for (uint32_t i = 0; i < run->point_count; i++)
		json_object_foreach((json_t *)run->points[i].metrics, metric, row) {
			if (ret || map[i] == UINT32_MAX)
				break;
			if (is_fixed(&run->points[i], metric) ||
			    is_fixed(&first->points[map[i]], metric))
				ret = check_fixed(metric, first, map[i], run, i, allowance, log);
		}
	return ret;
}

int runs_comparable_but(const struct loaded_run *first, const struct loaded_run *second,
			struct allowance *allowance, struct log *log, uint32_t *map)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < ALLOW_PLAN; i++)
		ret = check_fact(i, first, second, allowance, log);
	ret = ret ? ret : match_points(first, second, allowance, log, map);
	return ret ? ret : check_workload(first, second, map, allowance, log);
}

int runs_comparable(const struct loaded_run *first, const struct loaded_run *second,
		    struct log *log, uint32_t *map)
{
	struct allowance nothing = { 0 };
	int ret = runs_comparable_but(first, second, &nothing, log, map);

	allowance_release(&nothing);
	return ret;
}
