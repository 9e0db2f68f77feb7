// SPDX-License-Identifier: GPL-2.0-only
/* Runs from elsewhere: staged, checked, moved into the store. */
#include "import.h"

#include <dirent.h>
#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/spawn.h"
#include "checksums.h"
#include "load.h"
#include "run_folders.h"

#define TAR_TIMEOUT_S 3600
#define STAGING	      ".import-"

struct import {
	const char *source;
	struct log *log;
	char *staging; /* within the store, so that a rename takes it to its place */
	SHA2_CTX ids;
	unsigned int runs;
	char only[RUN_ID_LENGTH + 1]; /* id of the last run */
};

static int refuse(struct log *log, const char *archive, const char *member, const char *why)
{
	log_error(log, "%s is refused, and nothing of it was taken: its member \"%.200s\" %s",
		  archive, member, why);
	return -EBADMSG;
}

/* What is wrong with a member's name, or NULL. name is changed. */
static const char *bad_name(char *name, bool folder)
{
	char *part, *rest = name, *last = NULL;
	unsigned int depth = 0;

	if (*name == '/')
		return "has an absolute name";
	if (strchr(name, '\\'))
		return "has characters that no run's file has";
	while ((part = strsep(&rest, "/"))) {
		if (!strcmp(part, ".."))
			return "leads out of its folder";
		if (!*part || !strcmp(part, "."))
			continue;
		if (*part == '.')
			return "is hidden";
		last = part;
		depth++;
	}
	/* A file is one level deeper than its folder, and an archive has one folder around all. */
	if (depth > RUN_FOLDERS_DEPTH + 1)
		return "lies too deep";
	if (!folder && (!last || !run_folders_known_file(last)))
		return "is no file of a run";
	return NULL;
}

/* One line: "-rw-r--r-- 0/0 123 2026-11-30 20:47:20 NAME". */
static int check_member(const char *archive, char *line, unsigned long long *bytes, struct log *log)
{
	/* mode, owner, size (a device's is two numbers), date, time */
	static const char *const field_characters[5] = { "-dlhcbpsrwxtST+.", "0123456789/",
							 "0123456789,", "0123456789-",
							 "0123456789:." };
	char kind = *line, *fields[5], *name = line;
	const char *why;

	for (size_t i = 0; i < 5; i++) {
		name += strspn(name, " ");
		fields[i] = name;
		name += strcspn(name, " ");
		if (!*name)
			return refuse(log, archive, line, "is not listed as tar lists members");
		*name++ = '\0';
		if (strspn(fields[i], field_characters[i]) != strlen(fields[i]))
			return refuse(log, archive, line, "is not listed as tar lists members");
	}
	if (kind != '-' && kind != 'd')
		return refuse(log, archive, name, "is neither a plain file nor a folder");
	*bytes += strtoull(fields[2], NULL, 10);
	if (*bytes > IMPORT_BYTES_MAX)
		return refuse(log, archive, name, "makes it too large");
	line = strdup(name);
	why = line ? bad_name(line, kind == 'd') : "could not be looked at for lack of memory";
	free(line);
	return why ? refuse(log, archive, name, why) : 0;
}

int import_check_list(const char *archive, char *list, struct log *log)
{
	unsigned long long bytes = 0;
	unsigned int count = 0;
	char *line;
	int ret = 0;

	while (!ret && (line = strsep(&list, "\n"))) {
		if (!*line)
			continue;
		ret = check_member(archive, line, &bytes, log);
		if (!ret && ++count > IMPORT_FILES_MAX)
			ret = refuse(log, archive, line, "is one too many");
	}
	return ret;
}

static int run_tar(struct import *import, const char *const *argv, char **output)
{
	static const char *const environment[] = { "LC_ALL=C", "TAR_OPTIONS=", "TZ=UTC", NULL };
	struct spawn spawn = {
		.argv = argv,
		.environment = environment,
		.output = output,
		.timeout_s = TAR_TIMEOUT_S,
	};
	int ret = spawn_run(&spawn);

	if (ret == -ENOENT)
		log_error(import->log,
			  "there is no tar program; install tar, or unpack %s yourself and import "
			  "the folder",
			  import->source);
	else if (ret > 0)
		log_error(import->log, "tar cannot read %s: it is no archive, or it is damaged",
			  import->source);
	else if (ret < 0)
		log_error(import->log, "tar did not read %s to its end: %s", import->source,
			  strerror(-ret));
	return ret > 0 ? -EBADMSG : ret;
}

static int unpack(struct import *import)
{
	char *file = format_string("--file=%s", import->source);
	char *folder = format_string("--directory=%s", import->staging), *list = NULL;
	const char *const list_argv[] = { "tar",
					  "--list",
					  "--verbose",
					  "--numeric-owner",
					  "--full-time",
					  "--quoting-style=escape",
					  "--force-local",
					  file,
					  NULL };
	const char *const extract_argv[] = { "tar",
					     "--extract",
					     "--no-same-owner",
					     "--no-same-permissions",
					     "--keep-old-files",
					     "--delay-directory-restore",
					     "--force-local",
					     folder,
					     file,
					     NULL };
	int ret = file && folder ? run_tar(import, list_argv, &list) : -ENOMEM;

	if (!ret)
		ret = import_check_list(import->source, list, import->log);
	if (!ret)
		ret = run_tar(import, extract_argv, NULL);
	free(list);
	free(folder);
	free(file);
	return ret;
}

static int copy_folder(struct import *import, const char *from, const char *to, unsigned int depth);

/* One entry: a folder that has runs below, or a known file; what else is there is left out. */
static int copy_entry(struct import *import, const char *from, const char *to, const char *name,
		      unsigned int depth)
{
	struct stat status;

	if (lstat(from, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return depth ? copy_folder(import, from, to, depth - 1) : 0;
	if (S_ISREG(status.st_mode) && run_folders_known_file(name))
		return fs_copy(from, to);
	log_debug(import->log, "%s is no file of a run; it is left out", from);
	return 0;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int copy_folder(struct import *import, const char *from, const char *to, unsigned int depth)
{
	struct dirent **entries;
	int count, ret = mkdir(to, 0755) && errno != EEXIST ? -errno : 0;

	if (ret)
		return ret;
	count = scandir(from, &entries, visible, versionsort);
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *source = format_string("%s/%s", from, name);
		char *target = format_string("%s/%s", to, name);

		if (!ret)
			ret = source && target ? copy_entry(import, source, target, name, depth)
					       : -ENOMEM;
		free(target);
		free(source);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

/* After tar: nothing but folders and known plain files, whatever the list said. */
static int check_tree(struct import *import, const char *folder, unsigned int depth)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, NULL), ret = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = format_string("%s/%s", folder, name);
		struct stat status;

		if (!path || (!ret && lstat(path, &status)))
			ret = path ? -errno : -ENOMEM;
		else if (ret || !strcmp(name, ".") || !strcmp(name, ".."))
			;
		else if (S_ISDIR(status.st_mode) && depth)
			ret = check_tree(import, path, depth - 1);
		else if (!S_ISREG(status.st_mode) || !run_folders_known_file(name))
			ret = refuse(import->log, import->source, name, "is no file of a run");
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

/* Each run must be readable and as its checksums say; its id goes into the whole's. */
static int take_run(void *context, const char *folder)
{
	struct import *import = context;
	struct loaded_run *run;
	int ret = run_load(folder, false, import->log, &run);

	if (ret)
		return ret;
	if (!run->verified)
		log_warn(import->log, "run %s has no checksums, so a change could not be seen: %s",
			 strrchr(folder, '/') + 1,
			 run->complete ? "an older shootdown wrote it"
				       : "it did not come to its end");
	run_free(run);
	ret = run_identity(folder, import->only);
	if (ret)
		return ret;
	SHA256Update(&import->ids, (const uint8_t *)import->only, RUN_ID_LENGTH);
	import->runs++;
	return 0;
}

/* Archives often have one folder around all: it is what is taken. A fresh string. */
static char *inner_folder(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, visible, NULL);
	char *inner = NULL;
	struct stat status;

	if (count < 0)
		return NULL;
	if (count == 1) {
		inner = format_string("%s/%s", folder, entries[0]->d_name);
		if (inner && (lstat(inner, &status) || !S_ISDIR(status.st_mode))) {
			free(inner);
			inner = NULL;
		}
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return inner ? inner : strdup(folder);
}

/* One run has its id for a name; several have the hash of their ids. */
static void name_whole(struct import *import, char name[RUN_ID_LENGTH + 1])
{
	char hex[SHA256_DIGEST_STRING_LENGTH];

	SHA256End(&import->ids, hex);
	memcpy(name, import->runs == 1 ? import->only : hex, RUN_ID_LENGTH);
	name[RUN_ID_LENGTH] = '\0';
}

static int settle(struct import *import, const char *store, char **folder, bool *known)
{
	char *inner = inner_folder(import->staging), *target = NULL;
	char name[RUN_ID_LENGTH + 1];
	int ret = inner ? run_folders_walk(inner, take_run, import) : -ENOMEM;

	if (!ret && !import->runs) {
		log_error(import->log,
			  "%s holds no runs: no folder in it has a samples.jsonl; give what "
			  "shootdown run or shootdown lab has written",
			  import->source);
		ret = -EBADMSG;
	}
	if (ret)
		goto out;
	name_whole(import, name);
	target = format_string("%s/%s", store, name);
	ret = target ? 0 : -ENOMEM;
	*known = false;
	if (!ret && chmod(inner, 0755))
		ret = -errno;
	/* rename() puts a folder over an empty one only, so of two imports one wins. */
	if (!ret && rename(inner, target)) {
		*known = errno == EEXIST || errno == ENOTEMPTY;
		ret = *known ? 0 : -errno;
	}
	if (!ret) {
		*folder = target;
		target = NULL;
	}
out:
	free(target);
	free(inner);
	return ret;
}

/* What imports left that were killed more than a day ago. */
static void sweep(const char *store)
{
	struct dirent **entries;
	int count = scandir(store, &entries, NULL, NULL);
	time_t now = time(NULL);

	for (int i = 0; i < count; i++) {
		char *path = format_string("%s/%s", store, entries[i]->d_name);
		struct stat status;

		if (path && !strncmp(entries[i]->d_name, STAGING, strlen(STAGING)) &&
		    !lstat(path, &status) && now - status.st_mtime > 86400)
			fs_remove_tree(path);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static int make_staging(struct import *import, const char *store)
{
	int ret = fs_make_folders(store, 0755);

	if (!ret)
		sweep(store);

	import->staging = format_string("%s/" STAGING "XXXXXX", store);
	if (!import->staging)
		return -ENOMEM;
	if (!ret && !mkdtemp(import->staging))
		ret = -errno;
	if (ret) {
		log_error(import->log,
			  "cannot write to the store %s: %s; give another with --store", store,
			  strerror(-ret));
		free(import->staging);
		import->staging = NULL;
	}
	return ret;
}

static int stage(struct import *import)
{
	struct stat status;
	char *target;
	int ret;

	if (stat(import->source, &status)) {
		ret = -errno;
		log_error(import->log, "cannot read %s: %s", import->source, strerror(errno));
		return ret;
	}
	if (!S_ISDIR(status.st_mode)) {
		ret = unpack(import);
		return ret ? ret : check_tree(import, import->staging, RUN_FOLDERS_DEPTH + 1);
	}
	target = format_string("%s/copy", import->staging);
	ret = target ? copy_folder(import, import->source, target, RUN_FOLDERS_DEPTH) : -ENOMEM;
	free(target);
	if (ret)
		log_error(import->log, "cannot copy %s: %s", import->source, strerror(-ret));
	return ret;
}

int import_into(const char *source, const char *store, struct log *log, char **folder, bool *known)
{
	struct import import = { .source = source, .log = log };
	int ret = make_staging(&import, store);

	if (ret)
		return ret;
	SHA256Init(&import.ids);
	ret = stage(&import);
	if (!ret)
		ret = settle(&import, store, folder, known);
	fs_remove_tree(import.staging);
	free(import.staging);
	return ret;
}
