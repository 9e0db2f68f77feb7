// SPDX-License-Identifier: GPL-2.0-only
/* Arms: folders found, loaded and named. */
#include "arm.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "store.h"

static int add_note(struct arm *arm, char *text)
{
	char **notes = text ? reallocarray(arm->notes, arm->note_count + 1, sizeof(*notes)) : NULL;

	if (!notes) {
		free(text);
		return -ENOMEM;
	}
	arm->notes = notes;
	notes[arm->note_count++] = text;
	return 0;
}

/* The last part of the folder's real name, so that "." and "x/" have one too. */
static char *base_name(const char *folder)
{
	char *real = realpath(folder, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	char *name = strdup(slash && slash[1] ? slash + 1 : folder);

	free(real);
	return name;
}

/* What a reader of this run's numbers must know. */
static int note_run(struct arm *arm, const struct loaded_run *run)
{
	char *name = base_name(run->folder);
	int ret = 0;

	if (!name)
		return -ENOMEM;
	if (!run->complete)
		ret = add_note(
			arm,
			format_string(
				"%s was cut short; the repetitions that were finished are used",
				name));
	else if (run->end == OUTCOME_INTERRUPTED)
		ret = add_note(arm, format_string("%s was interrupted%s%s", name,
						  *run->end_reason ? ": " : "", run->end_reason));
	else if (*run->end_reason)
		ret = add_note(arm, format_string("%s: %s", name, run->end_reason));
	if (!ret && run->complete && !run->restored)
		ret = add_note(arm,
			       format_string("%s did not restore the machine as it was", name));
	free(name);
	return ret;
}

static const char *kernel_fact(const struct loaded_run *run, const char *fact)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(run->machine, "kernel"), fact));

	return text ? text : "";
}

/* An arm is one kernel. */
static int check_kernel(const struct arm *arm, const struct loaded_run *run, struct log *log)
{
	static const char *const facts[] = { "release", "version" };
	const struct loaded_run *first = arm->run_count ? arm->runs[0] : run;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(kernel_fact(first, facts[i]), kernel_fact(run, facts[i]))) {
			log_error(
				log,
				"the boots in %s did not run one kernel: %s in %s, %s in %s; an arm is "
				"one kernel, so give each its own folder",
				arm->folder, kernel_fact(first, facts[i]), first->folder,
				kernel_fact(run, facts[i]), run->folder);
			return -EINVAL;
		}
	return 0;
}

static int add_run(struct arm *arm, const char *folder, struct log *log)
{
	struct loaded_run **runs, *run;
	int ret = run_load(folder, false, log, &run);

	if (ret)
		return ret;
	ret = check_kernel(arm, run, log);
	if (ret)
		goto free_run;
	ret = -ENOMEM;
	runs = reallocarray(arm->runs, arm->run_count + 1, sizeof(struct loaded_run *));
	if (!runs)
		goto free_run;
	arm->runs = runs;
	runs[arm->run_count++] = run;
	return note_run(arm, run);

free_run:
	run_free(run);
	return ret;
}

static bool has_file(const char *folder, const char *name)
{
	char *path = format_string("%s/%s", folder, name);
	bool there = path && fs_exists("", path);

	free(path);
	return there;
}

/* What boot.json says of a boot that failed: a fresh string; NULL: it did not fail, or there is
 * none. */
static char *boot_failure(const char *folder)
{
	char *path = format_string("%s/boot.json", folder), *text = NULL;
	json_t *boot = path ? json_load_file(path, 0, NULL) : NULL;
	const json_t *failure = json_object_get(boot, "failure");
	const char *detail = json_string_value(json_object_get(boot, "detail"));

	if (json_is_string(failure))
		text = format_string("%s%s%s", json_string_value(failure), detail ? ": " : "",
				     detail ? detail : "");
	else if (has_file(folder, "boot.json") && !json_is_null(failure))
		text = strdup("its boot.json is damaged");
	else if (!has_file(folder, "machine.json") || !has_file(folder, "plan.json") ||
		 !has_file(folder, "samples.jsonl"))
		text = strdup("it left no results");
	json_decref(boot);
	free(path);
	return text;
}

/*
 * One boot's folder. The numbers of a boot whose kernel oopsed, warned or hung are
 * not used, but that it did is part of the arm's result.
 */
static int add_boot(struct arm *arm, const char *folder, const char *name, struct log *log)
{
	char *failure = boot_failure(folder);
	int ret;

	arm->boots++;
	if (!failure)
		return add_run(arm, folder, log);
	arm->failed_boots++;
	ret = add_note(arm,
		       format_string("%s failed (%s); its numbers are not used, see %s/console.log",
				     name, failure, folder));
	if (!ret)
		log_warn(log, "%s: %s", arm->folder, arm->notes[arm->note_count - 1]);
	free(failure);
	return ret;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int add_boots(struct arm *arm, struct log *log)
{
	struct dirent **entries;
	int count = scandir(arm->folder, &entries, visible, versionsort);
	int ret = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = format_string("%s/%s", arm->folder, name);

		if (!path)
			ret = -ENOMEM;
		else if (!ret && (run_folder_looks_like(path) || has_file(path, "boot.json")))
			ret = add_boot(arm, path, name, log);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

static int name_arm(struct arm *arm)
{
	const char *name = NULL;

	if (arm->run_count)
		name = json_string_value(json_object_get(arm->runs[0]->machine, "arm"));
	arm->name = name ? strdup(name) : base_name(arm->folder);
	return arm->name ? 0 : -ENOMEM;
}

static int load_arm(struct arm *arm, const char *folder, struct log *log)
{
	int ret = -ENOMEM;

	arm->folder = strdup(folder);
	if (!arm->folder)
		return ret;
	if (run_folder_looks_like(folder)) {
		arm->boots = 1;
		ret = add_run(arm, folder, log);
	} else {
		ret = add_boots(arm, log);
		if (ret == -ENOENT || ret == -ENOTDIR || (!ret && !arm->boots))
			/* Neither kind: run_load() says what it lacks. */
			ret = add_run(arm, folder, log);
	}
	return ret ? ret : name_arm(arm);
}

static int add_arm(struct arms *arms, const char *folder, struct log *log)
{
	struct arm *list = reallocarray(arms->list, arms->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	arms->list = list;
	list[arms->count] = (struct arm){ 0 };
	return load_arm(&list[arms->count++], folder, log);
}

static int add_lab(struct arms *arms, const char *folder, struct log *log)
{
	char *path = format_string("%s/lab.json", folder);
	json_t *lab, *entry;
	json_error_t error;
	size_t i;
	int ret = 0;

	if (!path)
		return -ENOMEM;
	lab = json_load_file(path, 0, &error);
	if (!lab)
		log_error(log, "%s line %d: %s; give the arms' folders one by one", path,
			  error.line, error.text);
	else if (!json_array_size(json_object_get(lab, "arms")))
		log_error(log, "%s names no arms; give the arms' folders one by one", path);
	if (!json_array_size(json_object_get(lab, "arms")))
		ret = -EBADMSG;
	json_array_foreach(json_object_get(lab, "arms"), i, entry) {
		const char *name = json_string_value(
			json_is_object(entry) ? json_object_get(entry, "name") : entry);
		char *arm = name ? format_string("%s/%s", folder, name) : NULL;

		if (!ret && !name) {
			log_error(log, "%s: an arm has no name; give the arms' folders one by one",
				  path);
			ret = -EBADMSG;
		} else if (!ret && !arm) {
			ret = -ENOMEM;
		}
		if (!ret)
			ret = add_arm(arms, arm, log);
		free(arm);
	}
	json_decref(lab);
	free(path);
	return ret;
}

/* Two arms of one name are told apart by their folders. */
static int make_names_unique(struct arms *arms)
{
	for (size_t i = 0; i < arms->count; i++)
		for (size_t j = 0; j < i; j++) {
			struct arm *arm = &arms->list[i];
			char *name;

			if (strcmp(arm->name, arms->list[j].name))
				continue;
			name = format_string("%s (%s)", arm->name, arm->folder);
			if (!name)
				return -ENOMEM;
			free(arm->name);
			arm->name = name;
		}
	return 0;
}

/* A folder, or the id of a run in the index. */
static int add_argument(struct arms *arms, const char *argument, struct log *log)
{
	char *folder;
	int ret = store_resolve(NULL, argument, log, &folder);

	if (ret)
		return ret;
	ret = has_file(folder, "lab.json") ? add_lab(arms, folder, log)
					   : add_arm(arms, folder, log);
	free(folder);
	return ret;
}

int arms_load(const char *const *folders, struct log *log, struct arms **out)
{
	struct arms *arms = calloc(1, sizeof(*arms));
	int ret = arms ? 0 : -ENOMEM;

	for (; !ret && *folders; folders++)
		ret = add_argument(arms, *folders, log);
	if (!ret)
		ret = make_names_unique(arms);
	if (ret)
		arms_free(arms);
	else
		*out = arms;
	return ret;
}

static void free_arm(struct arm *arm)
{
	for (size_t i = 0; i < arm->run_count; i++)
		run_free(arm->runs[i]);
	for (size_t i = 0; i < arm->note_count; i++)
		free(arm->notes[i]);
	free(arm->runs);
	free(arm->notes);
	free(arm->name);
	free(arm->folder);
}

void arms_free(struct arms *arms)
{
	if (!arms)
		return;
	for (size_t i = 0; i < arms->count; i++)
		free_arm(&arms->list[i]);
	free(arms->list);
	free(arms);
}
