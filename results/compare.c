// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of arms: loads them, has their samples gathered, describes each
 * arm, and has differences judged.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "arm.h"
#include "comparable.h"
#include "compare_private.h"

int compare_add_text(char ***list, size_t *count, char *text)
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

/* Primary metrics first, in their order; the others stay in theirs (qsort() would not promise it).
 */
static void sort_metrics(struct compared_point *point)
{
	struct compared_metric *metrics = point->metrics;

	for (size_t i = 1; i < point->metric_count; i++)
		for (size_t j = i;
		     j && compare_metric_rank(&metrics[j - 1]) > compare_metric_rank(&metrics[j]);
		     j--) {
			struct compared_metric moved = metrics[j];

			metrics[j] = metrics[j - 1];
			metrics[j - 1] = moved;
		}
}

/* The median of each boot's repetitions, and which of them are outliers. */
static int summarise_boot(struct compared_value *value, struct compared_boot *boot, bool *outlier)
{
	struct statistics of;
	int ret = statistics_of(value->samples + boot->first, boot->n, &of);

	if (!ret)
		ret = statistics_outliers(value->samples + boot->first, boot->n, outlier);
	boot->value = of.median;
	for (size_t i = 0; !ret && i < boot->n; i++)
		boot->strange += outlier[i];
	return ret;
}

static int summarise_boots(struct compared_value *value, double *values, bool *outlier)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < value->boot_count; i++) {
		ret = summarise_boot(value, &value->boots[i], outlier);
		values[i] = value->boots[i].value;
	}
	if (!ret)
		ret = statistics_of(values, value->boot_count, &value->by_boot);
	if (!ret)
		ret = statistics_outliers(values, value->boot_count, outlier);
	for (size_t i = 0; !ret && i < value->boot_count; i++)
		value->boots[i].outlier = outlier[i];
	return ret;
}

static int make_statistics(struct comparison *comparison, struct compared_metric *metric)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->arm_count; i++) {
		struct compared_value *value = &metric->values[i];
		double *values = calloc(value->boot_count + 1, sizeof(*values));
		/* a boot has no more samples than all have, and there are no more boots */
		bool *outlier = calloc(value->statistics.n + 1, sizeof(*outlier));

		ret = values && outlier ? statistics_of(value->samples, value->statistics.n,
							&value->statistics)
					: -ENOMEM;
		if (!ret)
			ret = summarise_boots(value, values, outlier);
		free(outlier);
		free(values);
	}
	return ret;
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
	return ret ? ret : compare_judge(comparison);
}

static char *copy_kernel(const struct loaded_run *run, const char *key)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(run->machine, "kernel"), key));

	return strdup(text ? text : "");
}

/* Repetitions that came to their end, of the point that has most of them. */
static unsigned int repetitions_made(const struct loaded_run *run)
{
	unsigned int most = 0, count = 0;

	for (size_t i = 0; i < run->outcome_count; i++) {
		const struct run_outcome *outcome = &run->outcomes[i];

		if (i && outcome->point != run->outcomes[i - 1].point)
			count = 0;
		if (outcome->outcome == OUTCOME_SKIP || outcome->outcome == OUTCOME_INTERRUPTED)
			continue;
		if (++count > most)
			most = count;
	}
	return most;
}

static void count_repetitions(struct compared_arm *to, const struct arm *from)
{
	for (size_t i = 0; i < from->run_count; i++) {
		unsigned int made = repetitions_made(from->runs[i]);

		if (!i || made < to->made_least)
			to->made_least = made;
		if (made > to->made_most)
			to->made_most = made;
	}
}

static int take_arm(struct compared_arm *to, const struct arm *from)
{
	int ret = 0;

	to->name = strdup(from->name);
	to->folder = strdup(from->folder);
	to->boots = from->boots;
	to->failed_boots = from->failed_boots;
	count_repetitions(to, from);
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
		ret = compare_add_text(&to->notes, &to->note_count, strdup(from->notes[i]));
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
			ret = compare_add_text(
				&comparison->notes, &comparison->note_count,
				format_string("%s of machine.json differs in %s and %s", keys[i],
					      first->folder, run->folder));
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
			ret = compare_add_text(&comparison->notes, &comparison->note_count,
					       format_string("%s and %s ran the same kernel",
							     first->name, arm->name));
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
		      const struct loaded_run *first, struct allowance *allowance, struct log *log)
{
	uint32_t *map;
	int ret = 0;

	for (size_t i = 0; !ret && i < arm->run_count; i++) {
		const struct loaded_run *run = arm->runs[i];

		map = calloc(run->point_count, sizeof(*map));
		ret = map ? runs_comparable_but(first, run, allowance, log, map) : -ENOMEM;
		comparison->interleaved |= comparison->point_count > 1 &&
					   json_is_true(json_object_get(run->plan, "interleave"));
		comparison->rebooted |= json_integer_value(json_object_get(run->machine, "boot")) >
					0;
		/* with --allow emulation the first run may be one of hardware */
		comparison->emulated_time |= json_is_true(
			json_object_get(json_object_get(run->machine, "guest"), "emulated_time"));
		if (!ret)
			ret = compare_gather(comparison, index, run, map, log);
		if (!ret)
			ret = take_seed(comparison, run);
		/* The boots of one arm ran on one machine: one note an arm is enough. */
		if (!ret && !i)
			ret = note_differences(comparison, first, run);
		free(map);
	}
	return ret;
}

static int make_comparison(const struct arms *arms, struct allowance *allowance, struct log *log,
			   struct comparison *comparison)
{
	const struct loaded_run *first = first_run(arms, log);
	int ret;

	if (!first)
		return -EINVAL;
	ret = take_arms(comparison, arms);
	if (!ret)
		ret = take_machine(comparison, first);
	if (!ret)
		ret = compare_take_points(comparison, first);
	for (size_t i = 0; !ret && i < arms->count; i++)
		ret = gather_arm(comparison, i, &arms->list[i], first, allowance, log);
	if (!ret)
		compare_drop_unsupported(comparison);
	if (!ret)
		ret = finish_points(comparison);
	if (!ret)
		ret = note_same_kernels(comparison);
	return ret;
}

/* allowance has, at the end, the differences that were met. */
static int compare_arms(const struct arms *arms, const struct compare_request *request,
			struct allowance *allowance, struct log *log, struct comparison **out)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int ret = comparison ? 0 : -ENOMEM;

	if (!ret) {
		comparison->paired = request->paired;
		comparison->factors = request->factors;
		ret = make_comparison(arms, allowance, log, comparison);
	}
	if (ret)
		comparison_free(comparison);
	else
		*out = comparison;
	return ret;
}

/* The A/A must have been made on the like of what is compared; its plan may have less. */
static int check_noise(const struct arms *arms, const struct arms *noise,
		       const struct allowance *allowance, struct log *log)
{
	static const char *const plan[] = { "plan", NULL };
	const struct loaded_run *first = first_run(arms, log), *other = first_run(noise, log);
	struct allowance wider = { .facts = allowance->facts };
	uint32_t *map = other ? calloc(other->point_count, sizeof(*map)) : NULL;
	int ret = first && other ? -ENOMEM : -EINVAL;

	if (first && map)
		ret = allowance_add(&wider, plan, log);
	if (!ret)
		ret = runs_comparable_but(first, other, &wider, log, map);
	allowance_release(&wider);
	free(map);
	return ret;
}

static int apply_noise(struct comparison *comparison, const struct arms *arms,
		       const struct compare_request *request, struct allowance *allowance,
		       struct log *log)
{
	struct compare_request plain = { .paired = request->paired };
	struct allowance within = { .facts = allowance->facts };
	struct comparison *noise = NULL;
	struct arms *loaded;
	int ret = arms_load(request->noise_floor, log, &loaded);

	if (ret)
		return ret;
	ret = check_noise(arms, loaded, allowance, log);
	if (!ret)
		ret = compare_arms(loaded, &plain, &within, log, &noise);
	if (!ret)
		ret = compare_apply_noise(comparison, noise, request->noise_floor[0], log);
	comparison_free(noise);
	allowance_release(&within);
	arms_free(loaded);
	return ret;
}

static int compare_least(const struct compare_request *request, size_t least, struct log *log,
			 struct comparison **out)
{
	struct allowance allowance = { 0 };
	struct comparison *comparison = NULL;
	struct arms *arms;
	int ret = allowance_add(&allowance, request->allow, log);

	if (!ret)
		ret = arms_load(request->folders, log, &arms);
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
	ret = compare_arms(arms, request, &allowance, log, &comparison);
	if (!ret && request->noise_floor && *request->noise_floor)
		ret = apply_noise(comparison, arms, request, &allowance, log);
	if (ret) {
		comparison_free(comparison);
		goto free_arms;
	}
	comparison->allowed = allowance.said;
	comparison->allowed_count = allowance.said_count;
	allowance = (struct allowance){ 0 };
	*out = comparison;
free_arms:
	allowance_release(&allowance);
	arms_free(arms);
	return ret;
}

int compare_with(const struct compare_request *request, struct log *log,
		 struct comparison **comparison)
{
	return compare_least(request, 2, log, comparison);
}

int compare_folders(const char *const *folders, struct log *log, struct comparison **comparison)
{
	return compare_least(&(struct compare_request){ .folders = folders }, 2, log, comparison);
}

int compare_single(const char *folder, struct log *log, struct comparison **comparison)
{
	const char *folders[] = { folder, NULL };

	return compare_least(&(struct compare_request){ .folders = folders }, 1, log, comparison);
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
		free(metric->values[i].boots);
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
	json_decref(point->units);
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
	free_texts(comparison->allowed, comparison->allowed_count);
	free(comparison->noise_source);
	free(comparison->points);
	free(comparison->arms);
	free(comparison->seeds);
	json_decref(comparison->machine);
	free(comparison);
}
