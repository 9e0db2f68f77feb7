// SPDX-License-Identifier: GPL-2.0-only
/* Gathers the samples of passed repetitions by point, metric, arm and boot. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"

/* What a reader looks at first, in this order, after the one that the plan calls primary. */
static const char *const primary_metrics[] = {
	"stale_reads", "remote_ipis", "tlbi_broadcast",	 "time_ms",
	"pages_per_s", "flushes",     "pages_reclaimed",
};
#define PRIMARY_COUNT (sizeof(primary_metrics) / sizeof(primary_metrics[0]))

static size_t listed_at(const char *name)
{
	size_t rank = 0;

	while (rank < PRIMARY_COUNT && strcmp(primary_metrics[rank], name))
		rank++;
	return rank;
}

size_t compare_metric_rank(const struct compared_metric *metric)
{
	size_t rank = listed_at(metric->name);

	if (!metric->primary)
		return PRIMARY_COUNT + 1;
	return rank < PRIMARY_COUNT ? rank + 1 : 0;
}

static bool has_values(const struct compared_metric *metric, size_t arm_count)
{
	for (size_t i = 0; i < arm_count; i++)
		if (metric->values[i].boot_count)
			return true;
	return false;
}

/* What no kernel or machine of these can have; a right that is missing can be given. */
static bool cannot_be_had(const struct compared_metric *metric, size_t arm_count)
{
	for (size_t i = 0; i < arm_count; i++)
		if (metric->values[i].status > VALUE_UNSUPPORTED)
			return false;
	return !has_values(metric, arm_count);
}

void compare_drop_unsupported(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->point_count; i++) {
		struct compared_point *point = &comparison->points[i];
		bool measured = false;

		for (size_t j = 0; j < point->metric_count; j++)
			measured |= point->metrics[j].primary &&
				    has_values(&point->metrics[j], comparison->arm_count);
		for (size_t j = 0; measured && j < point->metric_count; j++)
			if (cannot_be_had(&point->metrics[j], comparison->arm_count))
				point->metrics[j].primary = false;
	}
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
		.primary = listed_at(name) < PRIMARY_COUNT,
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
		metric->primary |= json_is_true(json_object_get(row, "primary"));
		better = json_string_value(json_object_get(row, "better"));
		metric->better = better ? strdup(better) : NULL;
		if (better && !metric->better)
			return -ENOMEM;
	}
	return 0;
}

int compare_take_points(struct comparison *comparison, const struct loaded_run *run)
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
		point->units = json_incref((json_t *)run->points[i].units);
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

/* The run becomes a boot of the value with the first sample that it has for it. */
static int add_boot(struct compared_value *value, const struct loaded_run *run)
{
	const json_t *number = json_object_get(run->machine, "boot");
	struct compared_boot *boots = reallocarray(value->boots, value->boot_count + 1,
						   sizeof(*boots));

	if (!boots)
		return -ENOMEM;
	value->boots = boots;
	boots[value->boot_count++] = (struct compared_boot){
		.value = NAN,
		.first = value->statistics.n,
		.number = (unsigned int)json_integer_value(number),
		.started_ns = run->outcome_count ? run->outcomes[0].started_ns : 0,
	};
	return 0;
}

static int add_value(struct compared_value *value, const struct loaded_run *run, size_t *room,
		     double number)
{
	size_t n = value->statistics.n;
	double *samples;

	/* No room is known yet: this is the run's first sample here. */
	if (!*room && add_boot(value, run))
		return -ENOMEM;
	if (n >= *room) {
		/* The room of a boot before is not known here: it was n at least. */
		*room = n + n / 2 + 8;
		samples = reallocarray(value->samples, *room, sizeof(*samples));
		if (!samples)
			return -ENOMEM;
		value->samples = samples;
	}
	value->samples[value->statistics.n++] = number;
	value->boots[value->boot_count - 1].n++;
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
	struct compared_metric *metric;
	struct compared_value *value;
	int ret = 0;

	if (!gathering->metrics[slot])
		ret = find_slot(gathering, point, &run->metrics[sample->metric],
				&gathering->metrics[slot]);
	if (ret)
		return ret;
	metric = &point->metrics[gathering->metrics[slot] - 1];
	metric->shared |= sample->status == VALUE_SHARED;
	value = &metric->values[gathering->arm];
	ret = add_status(value, sample->status, run->texts[sample->reason]);
	if (!ret && !isnan(sample->value))
		ret = add_value(value, run, &gathering->room[slot], sample->value);
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
		uint32_t at = gathering->map[outcome->point];
		struct compared_point *point = &gathering->comparison->points[at];

		if (at == UINT32_MAX)
			continue;
		ret = count_outcome(&point->outcomes[gathering->arm], outcome->outcome,
				    run->texts[outcome->reason]);
	}
	return ret;
}

/* Also repetitions that did not pass were part of the mix. */
static int count_shared(struct gathering *gathering)
{
	const struct loaded_run *run = gathering->run;
	bool *shared = calloc(run->point_count + 1, sizeof(*shared));

	if (!shared)
		return -ENOMEM;
	for (size_t i = 0; i < run->sample_count; i++)
		shared[run->samples[i].point] |= run->samples[i].status == VALUE_SHARED;
	for (size_t i = 0; i < run->point_count; i++) {
		uint32_t at = gathering->map[i];

		if (shared[i] && at != UINT32_MAX)
			gathering->comparison->points[at].outcomes[gathering->arm].shared++;
	}
	free(shared);
	return 0;
}

int compare_gather(struct comparison *comparison, size_t arm, const struct loaded_run *run,
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

	if (!ret)
		ret = count_shared(&gathering);
	for (size_t i = 0; !ret && i < run->sample_count; i++)
		if (map[run->samples[i].point] != UINT32_MAX &&
		    passed(&gathering, &run->samples[i]))
			ret = add_sample(&gathering, &run->samples[i]);
	free(gathering.room);
	free(gathering.metrics);
	return ret;
}
