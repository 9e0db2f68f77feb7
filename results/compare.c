// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of arms: gathers the samples of passed repetitions by point,
 * metric and arm, and has statistics made of them.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "arm.h"
#include "comparable.h"

/* What a reader looks at first, in this order. */
static const char *const primary_metrics[] = {
	"remote_ipis",
	"time_ms",
	"flushes",
	"pages_reclaimed",
};
#define PRIMARY_COUNT (sizeof(primary_metrics) / sizeof(primary_metrics[0]))

static size_t primary_rank(const char *name)
{
	size_t rank = 0;

	while (rank < PRIMARY_COUNT && strcmp(primary_metrics[rank], name))
		rank++;
	return rank;
}

static int add_text(char ***list, size_t *count, char *text)
{
	char **grown = text ? reallocarray(*list, *count + 1, sizeof(*grown)) : NULL;

	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	*list = grown;
	grown[(*count)++] = text;
	return 0;
}

/* The point's metric of this name, made when it is new. NULL: no memory. */
static struct compared_metric *get_metric(struct comparison *comparison,
					  struct compared_point *point, const char *name,
					  const char *unit)
{
	struct compared_metric *metrics, *metric;

	for (size_t i = 0; i < point->metric_count; i++)
		if (!strcmp(point->metrics[i].name, name))
			return &point->metrics[i];
	metrics = reallocarray(point->metrics, point->metric_count + 1, sizeof(*metrics));
	if (!metrics)
		return NULL;
	point->metrics = metrics;
	metric = &metrics[point->metric_count];
	*metric = (struct compared_metric){
		.name = strdup(name),
		.unit = strdup(unit),
		.predicted = NAN,
		.primary = primary_rank(name) < PRIMARY_COUNT,
		.values = calloc(comparison->arm_count, sizeof(*metric->values)),
	};
	point->metric_count++;
	if (!metric->name || !metric->unit || !metric->values)
		return NULL;
	for (size_t i = 0; i < comparison->arm_count; i++)
		metric->values[i].status = -1;
	return metric;
}

/* What the plan says of the point's metrics; they are rows even where nothing was measured. */
static int take_planned_metrics(struct comparison *comparison, struct compared_point *point,
				const json_t *planned)
{
	const char *name, *better;
	json_t *row;

	json_object_foreach((json_t *)planned, name, row) {
		const char *unit = json_string_value(json_object_get(row, "unit"));
		const json_t *predicted = json_object_get(row, "predicted");
		struct compared_metric *metric = get_metric(comparison, point, name,
							    unit ? unit : "");

		if (!metric)
			return -ENOMEM;
		if (json_is_number(predicted))
			metric->predicted = json_number_value(predicted);
		better = json_string_value(json_object_get(row, "better"));
		metric->better = better ? strdup(better) : NULL;
		if (better && !metric->better)
			return -ENOMEM;
	}
	return 0;
}

static int take_points(struct comparison *comparison, const struct loaded_run *run)
{
	comparison->points = calloc(run->point_count, sizeof(*comparison->points));
	if (!comparison->points)
		return -ENOMEM;
	comparison->point_count = run->point_count;
	for (size_t i = 0; i < run->point_count; i++) {
		struct compared_point *point = &comparison->points[i];

		point->stressor = strdup(run->points[i].stressor);
		point->stressor_version = run->points[i].stressor_version;
		point->parameters = json_deep_copy(run->points[i].parameters);
		point->outcomes = calloc(comparison->arm_count, sizeof(*point->outcomes));
		if (!point->stressor || !point->parameters || !point->outcomes ||
		    take_planned_metrics(comparison, point, run->points[i].metrics))
			return -ENOMEM;
	}
	return 0;
}

/* Where one run's samples go: a slot for each of its points and metrics. */
struct gathering {
	struct comparison *comparison;
	const struct loaded_run *run;
	struct log *log;
	const uint32_t *map; /* the run's points -> comparison's points */
	size_t arm;
	uint32_t *metrics; /* by the run's point and metric: index + 1 in the point; 0: not known
			      yet */
	size_t *room;	   /* likewise: allocated samples */
	const struct run_outcome
		*last; /* of the sample before: samples of a repetition come together */
	uint32_t last_point, last_repetition;
};

static bool passed(struct gathering *gathering, const struct run_sample *sample)
{
	if (sample->point != gathering->last_point ||
	    sample->repetition != gathering->last_repetition) {
		gathering->last_point = sample->point;
		gathering->last_repetition = sample->repetition;
		gathering->last = run_find_outcome(gathering->run, sample->point,
						   sample->repetition);
	}
	return gathering->last && gathering->last->outcome == OUTCOME_PASS;
}

static int add_value(struct compared_value *value, size_t *room, double number)
{
	size_t n = value->statistics.n;
	double *samples;

	if (n >= *room) {
		/* The room of a boot before is not known here: it was n at least. */
		*room = n + n / 2 + 8;
		samples = reallocarray(value->samples, *room, sizeof(*samples));
		if (!samples)
			return -ENOMEM;
		value->samples = samples;
	}
	value->samples[value->statistics.n++] = number;
	return 0;
}

/* enum value_status is in the order from good to bad. */
static int add_status(struct compared_value *value, int status, const char *reason)
{
	char *copy = NULL;

	if (status <= value->status)
		return 0;
	if (*reason) {
		copy = strdup(reason);
		if (!copy)
			return -ENOMEM;
	}
	free(value->reason);
	value->reason = copy;
	value->status = status;
	return 0;
}

/* The point's metric for one of the run's; units must be the same for numbers to be. */
static int find_slot(struct gathering *gathering, struct compared_point *point,
		     const struct run_metric *wanted, uint32_t *slot)
{
	struct compared_metric *metric = get_metric(gathering->comparison, point, wanted->name,
						    wanted->unit);

	if (!metric)
		return -ENOMEM;
	if (strcmp(metric->unit, wanted->unit)) {
		log_error(
			gathering->log,
			"these runs cannot be compared: metric %s of %s has the unit \"%s\" in %s and "
			"\"%s\" elsewhere; run both with the same shootdown",
			wanted->name, point->stressor, wanted->unit, gathering->run->folder,
			metric->unit);
		return -EINVAL;
	}
	*slot = (uint32_t)(metric - point->metrics) + 1;
	return 0;
}

static int add_sample(struct gathering *gathering, const struct run_sample *sample)
{
	const struct loaded_run *run = gathering->run;
	struct compared_point *point =
		&gathering->comparison->points[gathering->map[sample->point]];
	size_t slot = sample->point * run->metric_count + sample->metric;
	struct compared_value *value;
	int ret = 0;

	if (!gathering->metrics[slot])
		ret = find_slot(gathering, point, &run->metrics[sample->metric],
				&gathering->metrics[slot]);
	if (ret)
		return ret;
	value = &point->metrics[gathering->metrics[slot] - 1].values[gathering->arm];
	ret = add_status(value, sample->status, run->texts[sample->reason]);
	if (!ret && !isnan(sample->value))
		ret = add_value(value, &gathering->room[slot], sample->value);
	return ret;
}

static int count_outcome(struct compared_outcomes *outcomes, enum outcome outcome,
			 const char *reason)
{
	if (!outcomes->counts[outcome]++ && *reason) {
		outcomes->reasons[outcome] = strdup(reason);
		if (!outcomes->reasons[outcome])
			return -ENOMEM;
	}
	return 0;
}

static int gather_outcomes(struct gathering *gathering)
{
	const struct loaded_run *run = gathering->run;
	int ret = 0;

	for (size_t i = 0; !ret && i < run->outcome_count; i++) {
		const struct run_outcome *outcome = &run->outcomes[i];
		struct compared_point *point =
			&gathering->comparison->points[gathering->map[outcome->point]];

		ret = count_outcome(&point->outcomes[gathering->arm], outcome->outcome,
				    run->texts[outcome->reason]);
	}
	return ret;
}

static int gather_run(struct comparison *comparison, size_t arm, const struct loaded_run *run,
		      const uint32_t *map, struct log *log)
{
	size_t slots = run->point_count * run->metric_count;
	struct gathering gathering = {
		.comparison = comparison,
		.run = run,
		.log = log,
		.map = map,
		.arm = arm,
		.metrics = calloc(slots ? slots : 1, sizeof(*gathering.metrics)),
		.room = calloc(slots ? slots : 1, sizeof(*gathering.room)),
		.last_point = UINT32_MAX,
	};
	int ret = gathering.metrics && gathering.room ? gather_outcomes(&gathering) : -ENOMEM;

	for (size_t i = 0; !ret && i < run->sample_count; i++)
		if (passed(&gathering, &run->samples[i]))
			ret = add_sample(&gathering, &run->samples[i]);
	free(gathering.room);
	free(gathering.metrics);
	return ret;
}

/* Primary metrics first, in their order; the others stay in theirs (qsort() would not promise it).
 */
static void sort_metrics(struct compared_point *point)
{
	struct compared_metric *metrics = point->metrics;

	for (size_t i = 1; i < point->metric_count; i++)
		for (size_t j = i;
		     j && primary_rank(metrics[j - 1].name) > primary_rank(metrics[j].name); j--) {
			struct compared_metric moved = metrics[j];

			metrics[j] = metrics[j - 1];
			metrics[j - 1] = moved;
		}
}

static int make_statistics(struct comparison *comparison, struct compared_metric *metric)
{
	for (size_t i = 0; i < comparison->arm_count; i++) {
		struct compared_value *value = &metric->values[i];
		int ret = statistics_of(value->samples, value->statistics.n, &value->statistics);

		if (ret)
			return ret;
		value->change = i ? change_ratio(metric->values[0].statistics.mean,
						 value->statistics.mean)
				  : NAN;
	}
	return 0;
}

static int finish_points(struct comparison *comparison)
{
	int ret = 0;

	for (size_t i = 0; i < comparison->point_count; i++) {
		struct compared_point *point = &comparison->points[i];

		sort_metrics(point);
		for (size_t j = 0; !ret && j < point->metric_count; j++)
			ret = make_statistics(comparison, &point->metrics[j]);
	}
	return ret;
}

static char *copy_kernel(const struct loaded_run *run, const char *key)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(run->machine, "kernel"), key));

	return strdup(text ? text : "");
}

static int take_arm(struct compared_arm *to, const struct arm *from)
{
	int ret = 0;

	to->name = strdup(from->name);
	to->folder = strdup(from->folder);
	to->boots = from->boots;
	to->failed_boots = from->failed_boots;
	if (!to->name || !to->folder)
		return -ENOMEM;
	if (from->run_count) {
		to->kernel = copy_kernel(from->runs[0], "release");
		to->kernel_version = copy_kernel(from->runs[0], "version");
		if (!to->kernel || !to->kernel_version)
			return -ENOMEM;
		to->repetitions = (unsigned int)json_integer_value(
			json_object_get(from->runs[0]->plan, "repetitions"));
		if (json_number_value(json_object_get(from->runs[0]->plan, "duration_s")) > 0)
			to->repetitions = 0;
	}
	for (size_t i = 0; !ret && i < from->note_count; i++)
		ret = add_text(&to->notes, &to->note_count, strdup(from->notes[i]));
	return ret;
}

static int take_arms(struct comparison *comparison, const struct arms *arms)
{
	int ret = 0;

	comparison->arms = calloc(arms->count, sizeof(*comparison->arms));
	if (!comparison->arms)
		return -ENOMEM;
	comparison->arm_count = arms->count;
	for (size_t i = 0; !ret && i < arms->count; i++)
		ret = take_arm(&comparison->arms[i], &arms->list[i]);
	return ret;
}

/* The machine as all runs have it: the kernel and what belongs to one boot are left out. */
static int take_machine(struct comparison *comparison, const struct loaded_run *run)
{
	static const char *const common[] = {
		"arch", "page_size", "cpus", "cpu_model", "nodes", "memory_bytes", "guest",
	};
	const json_t *guest = json_object_get(run->machine, "guest");

	comparison->machine = json_object();
	if (!comparison->machine)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		json_t *value = json_object_get(run->machine, common[i]);

		if (value && json_object_set(comparison->machine, common[i], value))
			return -ENOMEM;
	}
	comparison->guest = json_is_object(guest);
	comparison->emulated_time = json_is_true(json_object_get(guest, "emulated_time"));
	comparison->cpus = (unsigned int)json_integer_value(
		json_object_get(json_object_get(run->machine, "cpus"), "used"));
	return 0;
}

static int take_seed(struct comparison *comparison, const struct loaded_run *run)
{
	uint64_t seed = (uint64_t)json_integer_value(json_object_get(run->plan, "seed"));
	uint64_t *seeds;

	for (size_t i = 0; i < comparison->seed_count; i++)
		if (comparison->seeds[i] == seed)
			return 0;
	seeds = reallocarray(comparison->seeds, comparison->seed_count + 1, sizeof(*seeds));
	if (!seeds)
		return -ENOMEM;
	comparison->seeds = seeds;
	seeds[comparison->seed_count++] = seed;
	return 0;
}

/* Differences that do not forbid a comparison, but that a reader must know. */
static int note_differences(struct comparison *comparison, const struct loaded_run *first,
			    const struct loaded_run *run)
{
	static const char *const keys[] = { "cpu_model", "nodes" };
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *one = json_object_get(first->machine, keys[i]);
		const json_t *other = json_object_get(run->machine, keys[i]);

		if (one && other && !json_equal(one, other))
			ret = add_text(&comparison->notes, &comparison->note_count,
				       format_string("%s of machine.json differs in %s and %s",
						     keys[i], first->folder, run->folder));
	}
	return ret;
}

static int note_same_kernels(struct comparison *comparison)
{
	const struct compared_arm *first = &comparison->arms[0];
	int ret = 0;

	for (size_t i = 1; !ret && i < comparison->arm_count; i++) {
		const struct compared_arm *arm = &comparison->arms[i];

		if (first->kernel && arm->kernel && !strcmp(first->kernel, arm->kernel) &&
		    !strcmp(first->kernel_version, arm->kernel_version))
			ret = add_text(&comparison->notes, &comparison->note_count,
				       format_string("%s and %s ran the same kernel", first->name,
						     arm->name));
	}
	return ret;
}

static const struct loaded_run *first_run(const struct arms *arms, struct log *log)
{
	for (size_t i = 0; i < arms->count; i++)
		if (arms->list[i].run_count)
			return arms->list[i].runs[0];
	log_error(
		log,
		"no boot of any arm left results that can be used; see the consoles of the boots named above");
	return NULL;
}

static int gather_arm(struct comparison *comparison, size_t index, const struct arm *arm,
		      const struct loaded_run *first, struct log *log)
{
	uint32_t *map;
	int ret = 0;

	for (size_t i = 0; !ret && i < arm->run_count; i++) {
		const struct loaded_run *run = arm->runs[i];

		map = calloc(run->point_count, sizeof(*map));
		ret = map ? runs_comparable(first, run, log, map) : -ENOMEM;
		if (!ret)
			ret = gather_run(comparison, index, run, map, log);
		if (!ret)
			ret = take_seed(comparison, run);
		/* The boots of one arm ran on one machine: one note an arm is enough. */
		if (!ret && !i)
			ret = note_differences(comparison, first, run);
		free(map);
	}
	return ret;
}

static int make_comparison(const struct arms *arms, struct log *log, struct comparison *comparison)
{
	const struct loaded_run *first = first_run(arms, log);
	int ret;

	if (!first)
		return -EINVAL;
	ret = take_arms(comparison, arms);
	if (!ret)
		ret = take_machine(comparison, first);
	if (!ret)
		ret = take_points(comparison, first);
	for (size_t i = 0; !ret && i < arms->count; i++)
		ret = gather_arm(comparison, i, &arms->list[i], first, log);
	if (!ret)
		ret = finish_points(comparison);
	if (!ret)
		ret = note_same_kernels(comparison);
	return ret;
}

static int compare_least(const char *const *folders, size_t least, struct log *log,
			 struct comparison **out)
{
	struct comparison *comparison = NULL;
	struct arms *arms;
	int ret = arms_load(folders, log, &arms);

	if (ret)
		return ret;
	if (arms->count < least) {
		log_error(
			log,
			"%zu arm to compare; give two or more run folders, the first is the baseline, "
			"or one folder of shootdown lab ab",
			arms->count);
		ret = -EINVAL;
		goto free_arms;
	}
	comparison = calloc(1, sizeof(*comparison));
	ret = comparison ? make_comparison(arms, log, comparison) : -ENOMEM;
	if (ret)
		comparison_free(comparison);
	else
		*out = comparison;
free_arms:
	arms_free(arms);
	return ret;
}

int compare_folders(const char *const *folders, struct log *log, struct comparison **comparison)
{
	return compare_least(folders, 2, log, comparison);
}

int compare_single(const char *folder, struct log *log, struct comparison **comparison)
{
	const char *folders[] = { folder, NULL };

	return compare_least(folders, 1, log, comparison);
}

const struct compared_metric *comparison_metric(const struct compared_point *point,
						const char *name)
{
	for (size_t i = 0; i < point->metric_count; i++)
		if (!strcmp(point->metrics[i].name, name))
			return &point->metrics[i];
	return NULL;
}

static void free_texts(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static void free_metric(struct compared_metric *metric, size_t arm_count)
{
	for (size_t i = 0; metric->values && i < arm_count; i++) {
		free(metric->values[i].samples);
		free(metric->values[i].reason);
	}
	free(metric->values);
	free(metric->name);
	free(metric->unit);
	free(metric->better);
}

static void free_point(struct compared_point *point, size_t arm_count)
{
	for (size_t i = 0; i < point->metric_count; i++)
		free_metric(&point->metrics[i], arm_count);
	for (size_t i = 0; point->outcomes && i < arm_count; i++)
		for (size_t j = 0; j < OUTCOME_COUNT; j++)
			free(point->outcomes[i].reasons[j]);
	free(point->outcomes);
	free(point->metrics);
	free(point->stressor);
	json_decref(point->parameters);
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (size_t i = 0; i < comparison->point_count; i++)
		free_point(&comparison->points[i], comparison->arm_count);
	for (size_t i = 0; comparison->arms && i < comparison->arm_count; i++) {
		free_texts(comparison->arms[i].notes, comparison->arms[i].note_count);
		free(comparison->arms[i].name);
		free(comparison->arms[i].folder);
		free(comparison->arms[i].kernel);
		free(comparison->arms[i].kernel_version);
	}
	free_texts(comparison->notes, comparison->note_count);
	free(comparison->points);
	free(comparison->arms);
	free(comparison->seeds);
	json_decref(comparison->machine);
	free(comparison);
}
