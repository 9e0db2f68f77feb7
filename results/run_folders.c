// SPDX-License-Identifier: GPL-2.0-only
/* Run folders: found, known, removed. */
#include "run_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/fs.h"

static const char *const known_files[] = {
	"machine.json", "plan.json", "samples.jsonl", "checksums", "boot.json",
	"console.log",	"dmesg.log", "emulator.log",  "lab.json",
};

bool run_folders_known_file(const char *name)
{
	for (size_t i = 0; i < sizeof(known_files) / sizeof(known_files[0]); i++)
		if (!strcmp(name, known_files[i]))
			return true;
	return false;
}

static bool is_kind(const char *path, mode_t kind)
{
	struct stat status;

	return !lstat(path, &status) && (status.st_mode & S_IFMT) == kind;
}

static bool is_run(const char *folder)
{
	char *path = format_string("%s/samples.jsonl", folder);
	bool run = path && is_kind(path, S_IFREG);

	free(path);
	return run;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int walk(const char *top, unsigned int depth, int (*take)(void *context, const char *folder),
		void *context)
{
	struct dirent **entries;
	int count, ret = 0;

	if (is_run(top))
		return take(context, top);
	if (!depth)
		return 0;
	count = scandir(top, &entries, visible, versionsort);
	if (count < 0)
		return errno == ENOTDIR ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		char *path = format_string("%s/%s", top, entries[i]->d_name);

		if (!path)
			ret = ret ? ret : -ENOMEM;
		else if (!ret && is_kind(path, S_IFDIR))
			ret = walk(path, depth - 1, take, context);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int run_folders_walk(const char *top, int (*take)(void *context, const char *folder), void *context)
{
	return walk(top, RUN_FOLDERS_DEPTH, take, context);
}

/* Is each entry a regular file with a known name? entries as scandir() gave them. */
static int check_entries(const char *folder, struct dirent **entries, int count, struct log *log)
{
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path;
		bool fine;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		path = format_string("%s/%s", folder, name);
		fine = path && run_folders_known_file(name) && is_kind(path, S_IFREG);
		free(path);
		if (!fine) {
			log_error(log,
				  "%s holds %s, which no run writes, so nothing of it is removed; "
				  "remove the folder yourself",
				  folder, name);
			return -EINVAL;
		}
	}
	return 0;
}

static int remove_entries(const char *folder, struct dirent **entries, int count)
{
	int ret = 0;

	for (int i = 0; i < count; i++) {
		char *path = format_string("%s/%s", folder, entries[i]->d_name);

		if (!path)
			ret = -ENOMEM;
		else if (run_folders_known_file(entries[i]->d_name) && unlink(path) && !ret)
			ret = -errno;
		free(path);
	}
	return !ret && rmdir(folder) ? -errno : ret;
}

int run_folders_remove(const char *folder, struct log *log)
{
	struct dirent **entries;
	int count, ret;

	if (!is_kind(folder, S_IFDIR) || !is_run(folder)) {
		log_error(log, "%s is no run folder; nothing is removed", folder);
		return -EINVAL;
	}
	count = scandir(folder, &entries, NULL, NULL);
	if (count < 0)
		return -errno;
	ret = check_entries(folder, entries, count, log);
	if (!ret) {
		ret = remove_entries(folder, entries, count);
		if (ret)
			log_error(log, "cannot remove %s: %s", folder, strerror(-ret));
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return ret;
}
