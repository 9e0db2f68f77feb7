// SPDX-License-Identifier: GPL-2.0-only
/* From names and settings to points and an order. Touches nothing. */
#include "plan_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cpus.h"
#include "../lib/perf.h"
#include "environment.h"

#define POINTS_MAX 10000
#define STEPS_MAX  10000000

/* splitmix64 (Steele, Lea, Flood 2014): the order only has to be the same for the same seed. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

int plan_unknown_stressor(const char *name, struct log *log)
{
	const char *names[64];
	unsigned int count = 0;

	while (all_stressors[count] && count < 63) {
		names[count] = all_stressors[count]->name;
		count++;
	}
	names[count] = NULL;
	say_unknown_name(log, name, names, "\"shootdown list\" shows those there are",
			 "there is no stressor \"%s\"", name);
	return -EINVAL;
}

int plan_add_point(struct plan *plan, const struct stressor *stressor,
		   struct option_values *parameters)
{
	struct plan_point *larger;

	if (!parameters)
		return -ENOMEM;
	larger = reallocarray(plan->points, plan->point_count + 1, sizeof(*larger));
	if (!larger) {
		options_free(parameters);
		return -ENOMEM;
	}
	plan->points = larger;
	plan->points[plan->point_count++] = (struct plan_point){ stressor, parameters };
	return 0;
}

static int add_stressor(struct plan *plan, const char *name, struct log *log)
{
	const struct stressor *stressor;
	bool all = !strcmp(name, "all");
	int rc = 0;

	for (unsigned int i = 0; all && !rc && all_stressors[i]; i++)
		rc = plan_add_point(plan, all_stressors[i], options_new(all_stressors[i]->options));
	if (all)
		return rc;
	stressor = stressor_find(name);
	if (!stressor)
		return plan_unknown_stressor(name, log);
	return plan_add_point(plan, stressor, options_new(stressor->options));
}

/* A setting's parts: [STRESSOR.]OPTION=VALUE[,VALUE...] */
struct setting {
	char *stressor; /* NULL: every stressor that has the option */
	char *option;
	char *values; /* comma-separated */
};

static int split_setting(char *text, struct setting *setting, struct log *log)
{
	char *equals = strchr(text, '='), *dot;

	if (!equals || equals == text || !equals[1]) {
		log_error(log, "--set takes OPTION=VALUE, not \"%s\"", text);
		return -EINVAL;
	}
	*equals = '\0';
	dot = strchr(text, '.');
	if (dot)
		*dot = '\0';
	setting->stressor = dot ? text : NULL;
	setting->option = dot ? dot + 1 : text;
	setting->values = equals + 1;
	return 0;
}

static bool has_option(const struct stressor *stressor, const struct setting *setting)
{
	if (setting->stressor && strcmp(setting->stressor, stressor->name))
		return false;
	for (const struct option_row *row = stressor->options; row->name; row++)
		if (!strcmp(row->name, setting->option))
			return true;
	return false;
}

/* What a point has been given is not overwritten, and no point is there twice. */
static int check_setting(const struct plan_point *point, const struct setting *setting,
			 struct log *log)
{
	char *values, *rest, *value;
	size_t length;
	int rc = 0;

	if (option_given(point->parameters, setting->option)) {
		log_error(log,
			  "option \"%s\" of %s is set twice; give all values in one --set, with "
			  "commas between",
			  setting->option, point->stressor->name);
		return -EINVAL;
	}
	values = strdup(setting->values);
	rest = values;
	while (!rc && (value = strsep(&rest, ",")) && rest) {
		length = strlen(value);
		for (const char *later = rest; later && !rc;
		     later = strchr(later, ',') ? strchr(later, ',') + 1 : NULL)
			if (strcspn(later, ",") == length && !strncmp(later, value, length))
				rc = -EINVAL;
		if (rc)
			log_error(log,
				  "option \"%s\" of %s has the value \"%s\" twice: --runs repeats",
				  setting->option, point->stressor->name, value);
	}
	rc = values ? rc : -ENOMEM;
	free(values);
	return rc;
}

/* Each of the values of one setting makes a point of its own out of points[index]. */
static int multiply_point(struct plan *plan, unsigned int index, const struct setting *setting,
			  struct log *log)
{
	const struct stressor *stressor = plan->points[index].stressor;
	char *values = strdup(setting->values), *rest = values, *value;
	struct option_values *target;
	char what[96];
	bool first = true;
	int rc = values ? 0 : -ENOMEM;

	snprintf(what, sizeof(what), "stressor %s", stressor->name);
	while (!rc && (value = strsep(&rest, ","))) {
		target = plan->points[index].parameters;
		if (!first) {
			rc = plan->point_count < POINTS_MAX
				     ? plan_add_point(plan, stressor, options_copy(target))
				     : -E2BIG;
			if (!rc)
				target = plan->points[plan->point_count - 1].parameters;
		}
		if (!rc)
			rc = options_set(target, what, setting->option, value, log);
		first = false;
	}
	if (rc == -E2BIG) {
		log_error(log, "the settings make more than %d points; give fewer values",
			  POINTS_MAX);
		rc = -EINVAL;
	}
	free(values);
	return rc;
}

static int say_unused_setting(const struct plan *plan, const struct setting *setting,
			      struct log *log)
{
	char what[96];

	for (unsigned int i = 0; i < plan->point_count; i++) {
		const struct stressor *stressor = plan->points[i].stressor;
		struct option_values *values;

		if (setting->stressor && strcmp(setting->stressor, stressor->name))
			continue;
		/* options_set() knows the words for it */
		snprintf(what, sizeof(what), "stressor %s", stressor->name);
		values = options_copy(plan->points[i].parameters);
		if (values)
			options_set(values, what, setting->option, "", log);
		options_free(values);
		return -EINVAL;
	}
	log_error(log, "--set names stressor \"%s\", which is not in this plan", setting->stressor);
	return -EINVAL;
}

static int apply_setting(struct plan *plan, const char *given, struct log *log)
{
	unsigned int count = plan->point_count;
	struct setting setting;
	char *text = strdup(given);
	bool used = false;
	int rc;

	if (!text)
		return -ENOMEM;
	rc = split_setting(text, &setting, log);
	for (unsigned int i = 0; !rc && i < count; i++) {
		if (!has_option(plan->points[i].stressor, &setting))
			continue;
		used = true;
		rc = check_setting(&plan->points[i], &setting, log);
		if (!rc)
			rc = multiply_point(plan, i, &setting, log);
	}
	if (!rc && !used)
		rc = say_unused_setting(plan, &setting, log);
	free(text);
	return rc;
}

/* Rounds of all points, the order within each round shuffled (Fisher-Yates). */
int plan_make_order(struct plan *plan, struct log *log)
{
	uint64_t state = plan->seed;
	unsigned int count = plan->point_count;

	if (!plan->repetitions || (uint64_t)count * plan->repetitions > STEPS_MAX) {
		log_error(
			log,
			"%u points x %u repetitions: a plan has 1 to %d steps; give fewer runs or values",
			count, plan->repetitions, STEPS_MAX);
		return -EINVAL;
	}
	plan->step_count = count * plan->repetitions;
	plan->order = calloc(plan->step_count, sizeof(*plan->order));
	if (!plan->order)
		return -ENOMEM;
	for (unsigned int round = 0; round < plan->repetitions; round++) {
		struct plan_step *steps = plan->order + round * count;

		for (unsigned int i = 0; i < count; i++) {
			unsigned int j = next_random(&state) % (i + 1);

			steps[i] = steps[j];
			steps[j] = (struct plan_step){ i, round + 1 };
		}
	}
	return 0;
}

static int say_conflict(const struct plan_point *first, const struct plan_point *second,
			const struct environment_row *knob, struct log *log)
{
	log_error(log,
		  "%s and %s cannot run at once%s: each needs another value of %s; leave one out, "
		  "or run them without --interleave",
		  first->stressor->name, second->stressor->name,
		  first->stressor == second->stressor ? " with these settings" : "", knob->path);
	return -EINVAL;
}

/* Points that run at once share the machine: no two may want different values of one knob. */
int plan_check_mix(const struct plan *plan, struct log *log)
{
	for (unsigned int i = 0; plan->interleave && i < plan->point_count; i++) {
		const struct plan_point *first = &plan->points[i];
		const struct point one = { .stressor = first->stressor,
					   .parameters = first->parameters };

		for (unsigned int j = 0; j < i; j++) {
			const struct plan_point *second = &plan->points[j];
			const struct point other = { .stressor = second->stressor,
						     .parameters = second->parameters };
			const struct environment_row *knob = environment_conflict(&other, &one);

			if (knob)
				return say_conflict(second, first, knob, log);
		}
	}
	return 0;
}

static const struct source *find_source(const char *name)
{
	for (unsigned int i = 0; all_sources[i]; i++)
		if (!strcmp(all_sources[i]->name, name))
			return all_sources[i];
	return NULL;
}

static bool wants_source(const struct source *source, const char *const *names,
			 const char *const *events)
{
	if (source->by_default || (source == &perf_source && events && *events))
		return true;
	for (; names && *names; names++)
		if (!strcmp(*names, source->name) || !strcmp(*names, "all"))
			return true;
	return false;
}

static void free_strings(char **strings)
{
	for (unsigned int i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

int plan_take_sources(struct plan *plan, const char *const *names, const char *const *events,
		      struct log *log)
{
	const char *known[32];
	unsigned int count = 0, used = 0;

	while (all_sources[count] && count < 31) {
		known[count] = all_sources[count]->name;
		count++;
	}
	known[count] = NULL;
	for (unsigned int i = 0; names && names[i]; i++) {
		if (!strcmp(names[i], "all") || find_source(names[i]))
			continue;
		say_unknown_name(log, names[i], known, "the man page lists them under COUNTERS",
				 "there is no counter \"%s\"", names[i]);
		return -EINVAL;
	}
	plan->sources = calloc(count + 1, sizeof(*plan->sources));
	if (!plan->sources)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		if (wants_source(all_sources[i], names, events))
			plan->sources[used++] = all_sources[i];
	return 0;
}

/* A fresh list of fresh strings, NULL at the end; NULL: no memory. */
static char **copy_strings(const char *const *strings)
{
	unsigned int count = 0;
	char **copy;

	while (strings && strings[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (unsigned int i = 0; copy && i < count; i++) {
		copy[i] = strdup(strings[i]);
		if (!copy[i]) {
			free_strings(copy);
			return NULL;
		}
	}
	return copy;
}

int plan_take_events(struct plan *plan, const char *const *events, struct log *log)
{
	for (unsigned int i = 0; events && events[i]; i++) {
		int rc = perf_event_check(events[i], log);

		for (unsigned int j = 0; !rc && j < i; j++) {
			if (strcmp(events[i], events[j]))
				continue;
			log_error(log, "event %s is given twice", events[i]);
			rc = -EINVAL;
		}
		if (rc)
			return rc;
	}
	plan->events = copy_strings(events);
	return plan->events ? 0 : -ENOMEM;
}

int plan_take_counters(struct plan *plan, const char *const *names)
{
	plan->counters = copy_strings(names);
	return plan->counters ? 0 : -ENOMEM;
}

int plan_take_cpu_list(struct plan *plan, const char *list, struct log *log)
{
	hwloc_bitmap_t cpus;
	int rc;

	if (!list)
		return 0;
	rc = cpus_parse(list, &cpus);
	if (rc) {
		log_error(log, "--cpus takes a list such as 0-3,8, not \"%s\"", list);
		return rc;
	}
	hwloc_bitmap_free(cpus);
	plan->cpu_list = strdup(list);
	return plan->cpu_list ? 0 : -ENOMEM;
}

void plan_request_from(const struct option_values *values, struct plan_request *request)
{
	request->settings = option_list(values, "set");
	request->sources = option_list(values, "counter");
	request->events = option_list(values, "event");
	request->repetitions = option_uint(values, "runs");
	request->duration_ns = option_uint(values, "duration");
	request->timeout_ns = option_uint(values, "timeout");
	request->seed = option_uint(values, "seed");
	request->interleave = option_flag(values, "interleave");
}

int plan_build(const struct plan_request *request, struct log *log, struct plan **out)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int rc = 0;

	if (!plan)
		return -ENOMEM;
	plan->repetitions = request->repetitions;
	plan->duration_ns = request->duration_ns;
	plan->timeout_ns = request->timeout_ns;
	plan->seed = request->seed;
	plan->interleave = request->interleave;
	for (unsigned int i = 0; !rc && request->stressors[i]; i++)
		rc = add_stressor(plan, request->stressors[i], log);
	if (!rc && !plan->point_count) {
		log_error(log,
			  "name at least one stressor, or \"all\"; \"shootdown list\" shows them");
		rc = -EINVAL;
	}
	for (unsigned int i = 0; !rc && request->settings && request->settings[i]; i++)
		rc = apply_setting(plan, request->settings[i], log);
	if (!rc)
		rc = plan_check_mix(plan, log);
	if (!rc)
		rc = plan_take_cpu_list(plan, request->cpu_list, log);
	if (!rc)
		rc = plan_take_sources(plan, request->sources, request->events, log);
	if (!rc)
		rc = plan_take_counters(plan, request->sources);
	if (!rc)
		rc = plan_take_events(plan, request->events, log);
	if (!rc)
		rc = plan_make_order(plan, log);
	if (rc)
		plan_free(plan);
	else
		*out = plan;
	return rc;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (unsigned int i = 0; i < plan->point_count; i++)
		options_free(plan->points[i].parameters);
	free_strings(plan->events);
	free_strings(plan->counters);
	free(plan->points);
	free(plan->order);
	free(plan->sources);
	free(plan->cpu_list);
	free(plan);
}
