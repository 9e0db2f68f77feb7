// SPDX-License-Identifier: GPL-2.0-only
/* SHA-256 of a run's files: written, compared, and the run's id made of them. */
#include "checksums.h"

#include <errno.h>
#include <pthread.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/fs.h"

#define HEX_LENGTH (SHA256_DIGEST_STRING_LENGTH - 1)

const char *const checksums_files[] = { "machine.json", "plan.json", "samples.jsonl", NULL };

struct checksums_check {
	char *folder;
	char *problem; /* what is wrong, in words */
	int ret;
	bool threaded;
	pthread_t thread;
};

/* hex of a regular file; anything else (a FIFO would block) is -EBADMSG. */
static int hash_file(const char *folder, const char *name, char hex[SHA256_DIGEST_STRING_LENGTH])
{
	char *path = format_string("%s/%s", folder, name);
	struct stat status;
	int ret = 0;

	if (!path)
		return -ENOMEM;
	if (lstat(path, &status))
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EBADMSG;
	else if (!SHA256File(path, hex))
		ret = -errno;
	free(path);
	return ret;
}

/* The text of the file as it would be written now. */
static int make_text(const char *folder, char **out)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	char *text = strdup(""), *longer;
	int ret = 0;

	for (const char *const *name = checksums_files; text && *name; name++) {
		ret = hash_file(folder, *name, hex);
		if (ret == -ENOENT)
			continue;
		if (ret)
			break;
		longer = format_string("%s%s  %s\n", text, hex, *name);
		free(text);
		text = longer;
	}
	if (ret == -ENOENT)
		ret = 0;
	if (!ret && text) {
		*out = text;
		return 0;
	}
	free(text);
	return ret ? ret : -ENOMEM;
}

int checksums_write(const char *folder)
{
	char *path = format_string("%s/checksums", folder), *text = NULL;
	int ret = path ? make_text(folder, &text) : -ENOMEM;

	if (!ret)
		ret = fs_replace(path, text, strlen(text));
	free(text);
	free(path);
	return ret;
}

static bool is_covered(const char *name)
{
	for (const char *const *known = checksums_files; *known; known++)
		if (!strcmp(*known, name))
			return true;
	return false;
}

/* One line "HEX  NAME"; NULL when it is as it should be, else what is wrong. */
static char *check_line(const char *folder, char *line)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	const char *name = line + HEX_LENGTH + 2;
	int ret;

	if (strlen(line) <= HEX_LENGTH + 2 || strspn(line, "0123456789abcdef") != HEX_LENGTH ||
	    memcmp(line + HEX_LENGTH, "  ", 2) || !is_covered(name))
		return format_string("%s/checksums has a line that is none: \"%.80s\"", folder,
				     line);
	ret = hash_file(folder, name, hex);
	if (ret)
		return format_string("%s/%s cannot be read: %s", folder, name, strerror(-ret));
	if (memcmp(hex, line, HEX_LENGTH))
		return format_string("%s/%s was changed after the run", folder, name);
	return NULL;
}

static void compare(struct checksums_check *check)
{
	char *path = format_string("%s/checksums", check->folder), *text, *line, *rest;
	unsigned int count = 0;
	struct stat status;

	check->ret = -ENOMEM;
	if (!path)
		return;
	if (lstat(path, &status)) {
		check->ret = errno == ENOENT ? 0 : -errno;
		goto out;
	}
	check->ret = S_ISREG(status.st_mode) ? fs_read("", path, &text, NULL) : -EBADMSG;
	if (check->ret)
		goto out;
	for (rest = text; !check->problem && (line = strsep(&rest, "\n")) && *line; count++)
		check->problem = check_line(check->folder, line);
	if (!check->problem && !count)
		check->problem = format_string("%s is empty", path);
	check->ret = check->problem ? -EBADMSG : 1;
	free(text);
out:
	if (check->ret < 0 && !check->problem)
		check->problem = format_string("%s cannot be read: %s", path,
					       strerror(-check->ret));
	free(path);
}

static void *compare_beside(void *context)
{
	compare(context);
	return NULL;
}

struct checksums_check *checksums_begin(const char *folder)
{
	struct checksums_check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->folder = strdup(folder);
	if (!check->folder) {
		free(check);
		return NULL;
	}
	check->threaded = !pthread_create(&check->thread, NULL, compare_beside, check);
	return check;
}

int checksums_end(struct checksums_check *check, struct log *log)
{
	int ret;

	if (!check)
		return -ENOMEM;
	if (check->threaded)
		pthread_join(check->thread, NULL);
	else
		compare(check);
	ret = check->ret;
	if (ret < 0 && log)
		log_error(log, "%s; leave this folder out, or take it from where it was copied",
			  check->problem ? check->problem : strerror(-ret));
	free(check->problem);
	free(check->folder);
	free(check);
	return ret;
}

int run_identity(const char *folder, char id[RUN_ID_LENGTH + 1])
{
	char *path = format_string("%s/checksums", folder), *text = NULL;
	char hex[SHA256_DIGEST_STRING_LENGTH];
	size_t length;
	int ret = path ? fs_read("", path, &text, &length) : -ENOMEM;

	if (ret == -ENOENT || ret == -ENOTDIR) {
		ret = make_text(folder, &text);
		length = text ? strlen(text) : 0;
	}
	if (!ret && !SHA256Data((const uint8_t *)text, length, hex))
		ret = -ENOMEM;
	if (!ret) {
		memcpy(id, hex, RUN_ID_LENGTH);
		id[RUN_ID_LENGTH] = '\0';
	}
	free(text);
	free(path);
	return ret;
}
