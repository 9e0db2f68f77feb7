// SPDX-License-Identifier: GPL-2.0-only
/* Small whole files, private folders, atomic replacement. */
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

char *format_string(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return length < 0 ? NULL : text;
}

static int open_under(const char *root, const char *path, int flags)
{
	char *full = format_string("%s%s", root, path);
	int fd;

	if (!full)
		return -ENOMEM;
	fd = open(full, flags | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(full);
	return fd;
}

/* Reads to the end: /proc and /sys files do not know their size beforehand. */
static int read_all(int fd, char **text, size_t *length)
{
	size_t used = 0, size = 4096;
	char *buffer = malloc(size), *larger;
	ssize_t got;

	while (buffer) {
		got = read(fd, buffer + used, size - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int rc = -errno;

			free(buffer);
			return rc;
		}
		if (!got) {
			buffer[used] = '\0';
			*text = buffer;
			if (length)
				*length = used;
			return 0;
		}
		used += got;
		if (size - used > 1)
			continue;
		size *= 2;
		larger = realloc(buffer, size);
		if (!larger)
			free(buffer);
		buffer = larger;
	}
	return -ENOMEM;
}

int fs_read(const char *root, const char *path, char **text, size_t *length)
{
	int fd = open_under(root, path, O_RDONLY);
	int rc;

	if (fd < 0)
		return fd;
	rc = read_all(fd, text, length);
	close(fd);
	return rc;
}

int fs_read_value(const char *root, const char *path, char **text)
{
	size_t length;
	int rc = fs_read(root, path, text, &length);

	if (rc)
		return rc;
	while (length && strchr(" \t\n", (*text)[length - 1]))
		(*text)[--length] = '\0';
	return 0;
}

int fs_read_u64(const char *root, const char *path, unsigned long long *value)
{
	unsigned long long number;
	char *text, *end;
	int rc = fs_read_value(root, path, &text);

	if (rc)
		return rc;
	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		rc = -EINVAL;
	else
		*value = number;
	free(text);
	return rc;
}

int fs_write(const char *root, const char *path, const char *text)
{
	int fd = open_under(root, path, O_WRONLY);
	size_t length = strlen(text);
	ssize_t put;
	int rc = 0;

	if (fd < 0)
		return fd;
	put = write(fd, text, length);
	if (put < 0)
		rc = -errno;
	else if ((size_t)put != length)
		rc = -EIO;
	close(fd);
	return rc;
}

bool fs_exists(const char *root, const char *path)
{
	char *full = format_string("%s%s", root, path);
	bool found = full && access(full, F_OK) == 0;

	free(full);
	return found;
}

int fs_make_folders(const char *path, mode_t mode)
{
	char *copy = strdup(path);
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	if (!*copy)
		rc = -ENOENT;
	for (char *at = copy + 1; !rc; at++) {
		char kept = *at;

		if (kept != '/' && kept != '\0')
			continue;
		*at = '\0';
		if (mkdir(copy, mode) && errno != EEXIST)
			rc = -errno;
		*at = kept;
		if (!kept)
			break;
	}
	free(copy);
	return rc;
}

int fs_open_private_folder(const char *path)
{
	struct stat status;
	int fd, rc;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR ? -ELOOP : -errno;
	rc = fstat(fd, &status) ? -errno : 0;
	if (!rc && (status.st_uid != geteuid() || (status.st_mode & 077)))
		rc = -EPERM;
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t put = write(fd, text, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		length -= put;
	}
	return 0;
}

/* Makes what was written to temporary durable, then puts it in path's place. */
static int put_in_place(int fd, int rc, const char *temporary, const char *path)
{
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	return rc;
}

static int create_beside(const char *path, mode_t mode, char **temporary)
{
	int fd, rc;

	*temporary = format_string("%s.%d.new", path, (int)getpid());
	if (!*temporary)
		return -ENOMEM;
	fd = open(*temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		rc = -errno;
		free(*temporary);
		return rc;
	}
	return fd;
}

int fs_replace(const char *path, const char *text, size_t length)
{
	char *temporary;
	int fd = create_beside(path, 0644, &temporary);
	int rc;

	if (fd < 0)
		return fd;
	rc = put_in_place(fd, write_all(fd, text, length), temporary, path);
	free(temporary);
	return rc;
}

int fs_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *temporary;
	int out, rc = 0;
	ssize_t moved;

	if (in < 0)
		return -errno;
	out = fstat(in, &status) ? -errno : create_beside(to, status.st_mode & 0777, &temporary);
	if (out < 0) {
		close(in);
		return out;
	}
	do {
		moved = sendfile(out, in, NULL, 1 << 24);
		if (moved < 0 && errno != EINTR)
			rc = -errno;
	} while (!rc && moved);
	rc = put_in_place(out, rc, temporary, to);
	free(temporary);
	close(in);
	return rc;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path) && errno != ENOENT ? -errno : 0;
}

int fs_remove_tree(const char *path)
{
	int rc = nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

	if (rc == -1)
		return errno == ENOENT ? 0 : -errno;
	return rc;
}
