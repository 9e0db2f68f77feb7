// SPDX-License-Identifier: GPL-2.0-only
/* A run folder: its documents, and what belongs together of them. */
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/fs.h"
#include "checksums.h"
#include "load_private.h"
#include "record.h"

static const char *const run_files[] = { "machine.json", "plan.json", "samples.jsonl" };
#define RUN_FILE_COUNT (sizeof(run_files) / sizeof(run_files[0]))

static bool has_file(const char *folder, const char *name)
{
	char *path = format_string("%s/%s", folder, name);
	bool there = path && fs_exists("", path);

	free(path);
	return there;
}

bool run_folder_looks_like(const char *folder)
{
	for (size_t i = 0; i < RUN_FILE_COUNT; i++)
		if (has_file(folder, run_files[i]))
			return true;
	return false;
}

int load_check_schema(const char *path, const char *wanted, const char *schema, double version,
		      struct log *log)
{
	if (!schema || strcmp(schema, wanted)) {
		log_error(
			log,
			"%s is not a file of a run: its schema is %s%s%s, not \"%s\"; give a folder "
			"that shootdown run or shootdown lab has written",
			path, schema ? "\"" : "", schema ? schema : "missing", schema ? "\"" : "",
			wanted);
		return -EBADMSG;
	}
	if (version != RECORD_VERSION) {
		log_error(
			log,
			"%s has version %g of %s, this program reads version %d; read it with the "
			"shootdown that wrote it, or run again",
			path, version, wanted, RECORD_VERSION);
		return -EINVAL;
	}
	return 0;
}

static int load_document(const char *folder, const char *name, const char *schema, struct log *log,
			 json_t **document)
{
	char *path = format_string("%s/%s", folder, name);
	json_error_t error;
	json_t *json;
	int ret;

	if (!path)
		return -ENOMEM;
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json) {
		log_error(log,
			  "%s line %d: %s; the file is damaged, leave this folder out or run again",
			  path, error.line, error.text);
		ret = -EBADMSG;
		goto out;
	}
	ret = load_check_schema(path, schema, json_string_value(json_object_get(json, "schema")),
				json_number_value(json_object_get(json, "version")), log);
	if (ret)
		json_decref(json);
	else
		*document = json;
out:
	free(path);
	return ret;
}

/* What plan.json says of one point; false when a part is missing or of another type. */
static bool take_point(const json_t *json, struct run_point *point)
{
	const json_t *version = json_object_get(json, "stressor_version");

	point->stressor = json_string_value(json_object_get(json, "stressor"));
	point->parameters = json_object_get(json, "parameters");
	point->units = json_object_get(json, "units");
	point->metrics = json_object_get(json, "metrics");
	if (!point->stressor || !json_is_integer(version) || !json_is_object(point->parameters) ||
	    !json_is_object(point->metrics))
		return false;
	point->stressor_version = (unsigned int)json_integer_value(version);
	return true;
}

static int take_points(struct loaded_run *run, struct log *log)
{
	const json_t *points = json_object_get(run->plan, "points");
	size_t count = json_array_size(points);

	if (!count || count > UINT32_MAX) {
		log_error(
			log,
			"%s/plan.json has no points; the file is damaged, leave this folder out or run again",
			run->folder);
		return -EBADMSG;
	}
	run->points = calloc(count, sizeof(*run->points));
	if (!run->points)
		return -ENOMEM;
	run->point_count = (unsigned int)count;
	for (size_t i = 0; i < count; i++)
		if (!take_point(json_array_get(points, i), &run->points[i])) {
			log_error(
				log,
				"%s/plan.json: point %zu lacks its stressor, stressor_version, parameters "
				"or metrics; the file is damaged, leave this folder out or run again",
				run->folder, i);
			return -EBADMSG;
		}
	return 0;
}

static int check_machine(const struct loaded_run *run, struct log *log)
{
	const json_t *kernel = json_object_get(run->machine, "kernel");
	const json_t *cpus = json_object_get(run->machine, "cpus");

	if (json_is_string(json_object_get(run->machine, "arch")) &&
	    json_is_integer(json_object_get(run->machine, "page_size")) &&
	    json_is_string(json_object_get(kernel, "release")) &&
	    json_is_integer(json_object_get(cpus, "used")))
		return 0;
	log_error(log,
		  "%s/machine.json lacks arch, page_size, kernel.release or cpus.used; the file is "
		  "damaged, leave this folder out or run again",
		  run->folder);
	return -EBADMSG;
}

/* All three files, or what this folder is taken for. */
static int check_folder(const char *folder, struct log *log)
{
	struct stat status;

	if (stat(folder, &status)) {
		log_error(log, "cannot read the folder %s: %s", folder, strerror(errno));
		return -errno;
	}
	if (!S_ISDIR(status.st_mode)) {
		log_error(log, "%s is a file; give the run's folder", folder);
		return -EBADMSG;
	}
	if (!run_folder_looks_like(folder)) {
		log_error(
			log,
			"%s is no run folder: it has no machine.json, plan.json and samples.jsonl; "
			"give a folder that shootdown run or shootdown lab has written",
			folder);
		return -EBADMSG;
	}
	for (size_t i = 0; i < RUN_FILE_COUNT; i++)
		if (!has_file(folder, run_files[i])) {
			log_error(log,
				  "%s has no %s: the run ended before it began, or the file was "
				  "removed; leave this folder out or run again",
				  folder, run_files[i]);
			return -EBADMSG;
		}
	return 0;
}

static int load_all(struct loaded_run *run, bool with_by_cpu, struct log *log)
{
	char *path;
	int ret;

	ret = load_document(run->folder, "machine.json", "shootdown-machine", log, &run->machine);
	if (!ret)
		ret = check_machine(run, log);
	if (!ret)
		ret = load_document(run->folder, "plan.json", "shootdown-plan", log, &run->plan);
	if (!ret)
		ret = take_points(run, log);
	if (ret)
		return ret;
	/* The order of a long run is its largest part and no one here asks for it. */
	json_object_del(run->plan, "order");
	path = format_string("%s/samples.jsonl", run->folder);
	if (!path)
		return -ENOMEM;
	ret = load_samples(run, path, with_by_cpu, log);
	free(path);
	return ret;
}

int run_load(const char *folder, bool with_by_cpu, struct log *log, struct loaded_run **out)
{
	struct checksums_check *check;
	struct loaded_run *run;
	int ret = check_folder(folder, log), checked;

	if (ret)
		return ret;
	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->folder = strdup(folder);
	check = checksums_begin(folder);
	ret = run->folder ? load_all(run, with_by_cpu, log) : -ENOMEM;
	checked = checksums_end(check, ret ? NULL : log);
	run->verified = checked > 0;
	if (!ret && checked < 0)
		ret = checked;
	if (ret) {
		run_free(run);
		return ret;
	}
	*out = run;
	return 0;
}

void run_free(struct loaded_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->text_count; i++)
		free(run->texts[i]);
	free(run->texts);
	free(run->metrics);
	free(run->samples);
	free(run->by_cpu);
	free(run->outcomes);
	free(run->points);
	json_decref(run->plan);
	json_decref(run->machine);
	free(run->folder);
	free(run);
}

const struct run_outcome *run_find_outcome(const struct loaded_run *run, uint32_t point,
					   uint32_t repetition)
{
	size_t low = 0, high = run->outcome_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct run_outcome *outcome = &run->outcomes[middle];

		if (outcome->point == point && outcome->repetition == repetition)
			return outcome;
		if (outcome->point < point ||
		    (outcome->point == point && outcome->repetition < repetition))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
