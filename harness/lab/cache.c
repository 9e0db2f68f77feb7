// SPDX-License-Identifier: GPL-2.0-only
/* The cache's folder, content keys, locks. */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"

static char *default_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		return format_string("%s/shootdown", base);
	return format_string("%s/.cache/shootdown", home && *home == '/' ? home : "/root");
}

/* Programs and build rules are run from here: nobody else may write to it. */
static int check_owner(const char *folder, struct log *log)
{
	struct stat status;

	if (stat(folder, &status))
		return -errno;
	if (status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	log_error(log,
		  "the cache %s is not yours alone: own it, take write access from others "
		  "(chmod go-w), or give another folder with --cache",
		  folder);
	return -EPERM;
}

int cache_open(const char *given, struct log *log, char **folder)
{
	static const char *const parts[] = { "apt", "sources", "trees", "images", "initramfs" };
	char *path = given ? strdup(given) : default_folder();
	char *full = NULL;
	int rc = path ? fs_make_folders(path, 0700) : -ENOMEM;

	if (!rc) {
		full = realpath(path, NULL);
		rc = full ? check_owner(full, log) : -errno;
	}
	if (rc == -EPERM && full)
		goto out;
	for (size_t i = 0; !rc && i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *part = format_string("%s/%s", full, parts[i]);

		rc = part ? fs_make_folders(part, 0700) : -ENOMEM;
		free(part);
	}
	if (rc && path)
		cache_say(log, path, rc);
out:
	free(path);
	if (rc)
		free(full);
	else
		*folder = full;
	return rc;
}

char *cache_there(struct log *log)
{
	char *path = default_folder(), *full = path ? realpath(path, NULL) : NULL;

	free(path);
	if (full && !check_owner(full, log))
		return full;
	free(full);
	return NULL;
}

int cache_lock(const char *path, const char *what, struct log *log)
{
	char *name = format_string("%s.lock", path);
	int fd = -1, rc = name ? 0 : -ENOMEM;
	bool said = false;

	if (!rc) {
		fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		rc = fd < 0 ? cache_say(log, name, -errno) : 0;
	}
	while (!rc && flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			rc = cache_say(log, name, -errno);
		else if (spawn_interrupted())
			rc = -EINTR;
		if (!said)
			log_info(log, "waiting for another lab that uses %s", what);
		said = true;
		usleep(200000);
	}
	free(name);
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

void content_key_start(struct content_key *key)
{
	SHA256Init(&key->context);
}

static void add_header(struct content_key *key, const char *label, unsigned long long length)
{
	char header[256];
	int size = snprintf(header, sizeof(header), "%.200s %llu\n", label, length);

	SHA256Update(&key->context, (const uint8_t *)header, size);
}

void content_key_bytes(struct content_key *key, const char *label, const void *data, size_t length)
{
	add_header(key, label, length);
	SHA256Update(&key->context, data, length);
}

void content_key_text(struct content_key *key, const char *label, const char *text)
{
	content_key_bytes(key, label, text, strlen(text));
}

int content_key_file(struct content_key *key, const char *label, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat status;
	uint8_t buffer[65536];
	ssize_t got;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		rc = -errno;
	else
		add_header(key, label, status.st_size);
	while (!rc && (got = read(fd, buffer, sizeof(buffer)))) {
		if (got > 0)
			SHA256Update(&key->context, buffer, got);
		else if (errno != EINTR)
			rc = -errno;
	}
	close(fd);
	return rc;
}

void content_key_end(struct content_key *key, char hex[CONTENT_KEY_SIZE])
{
	SHA256End(&key->context, hex);
}

int cache_say(struct log *log, const char *path, int error)
{
	if (error == -ENOSPC || error == -EDQUOT)
		log_error(log,
			  "the disk that holds %s is full: make room there, or choose another disk "
			  "(--cache, --out)",
			  path);
	else if (error != -EINTR)
		log_error(log, "cannot write %s: %s", path, strerror(-error));
	return error;
}
