// SPDX-License-Identifier: GPL-2.0-only
/* Whether two runs may be put side by side. */
#include "comparable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"

/* What must be the same of two machines: where machine.json has it, and what to do. */
static const struct fact {
	const char *name;
	const char *object; /* NULL: at the top */
	const char *key;
	const char *advice;
} facts[] = {
	{ "architecture", NULL, "arch", "compare runs of one architecture" },
	{ "page size", NULL, "page_size", "use kernels with the same page size" },
	{ "number of CPUs used", "cpus", "used", "run both with the same --cpus" },
	{ "accelerator of the guest", "guest", "accel", "run both with the same --accel" },
	{ "emulated time", "guest", "emulated_time", "run both in guests or both on hardware" },
};

/* The fact as text; a machine that is no guest has "none" for a guest's facts. */
static char *fact_text(const struct fact *fact, const struct loaded_run *run)
{
	const json_t *object = fact->object ? json_object_get(run->machine, fact->object)
					    : run->machine;
	const json_t *value = json_object_get(object, fact->key);

	if (json_is_string(value))
		return strdup(json_string_value(value));
	return value && !json_is_null(value) ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY)
					     : strdup("none");
}

static int check_fact(const struct fact *fact, const struct loaded_run *first,
		      const struct loaded_run *second, struct log *log)
{
	char *one = fact_text(fact, first), *other = fact_text(fact, second);
	int ret = 0;

	if (!one || !other) {
		ret = -ENOMEM;
	} else if (strcmp(one, other)) {
		log_error(log, "these runs cannot be compared: the %s is %s in %s and %s in %s; %s",
			  fact->name, one, first->folder, other, second->folder, fact->advice);
		ret = -EINVAL;
	}
	free(other);
	free(one);
	return ret;
}

static bool same_point(const struct run_point *one, const struct run_point *other)
{
	return !strcmp(one->stressor, other->stressor) &&
	       one->stressor_version == other->stressor_version &&
	       json_equal(one->parameters, other->parameters);
}

/* The point of run that is this one and not taken yet; the same index is looked at first. */
static uint32_t find_point(const struct loaded_run *run, const struct run_point *point,
			   uint32_t likely, const bool *taken)
{
	if (likely < run->point_count && !taken[likely] && same_point(&run->points[likely], point))
		return likely;
	for (uint32_t i = 0; i < run->point_count; i++)
		if (!taken[i] && same_point(&run->points[i], point))
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

static int match_points(const struct loaded_run *first, const struct loaded_run *second,
			struct log *log, uint32_t *map)
{
	bool *taken = calloc(first->point_count, sizeof(*taken));
	int ret = 0;

	if (!taken)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < second->point_count; i++) {
		map[i] = find_point(first, &second->points[i], i, taken);
		if (map[i] == UINT32_MAX) {
			say_unmatched(second, i, first, log);
			ret = -EINVAL;
		} else {
			taken[map[i]] = true;
		}
	}
	for (uint32_t i = 0; !ret && i < first->point_count; i++)
		if (!taken[i]) {
			say_unmatched(first, i, second, log);
			ret = -EINVAL;
		}
	free(taken);
	return ret;
}

int runs_comparable(const struct loaded_run *first, const struct loaded_run *second,
		    struct log *log, uint32_t *map)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(facts) / sizeof(facts[0]); i++)
		ret = check_fact(&facts[i], first, second, log);
	return ret ? ret : match_points(first, second, log, map);
}
