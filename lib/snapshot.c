// SPDX-License-Identifier: GPL-2.0-only
/* Reads a /proc file twice into buffers made beforehand; see snapshot.h. */
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs.h"

/* Smaller files than this get buffers of this size all the same. */
#define SMALLEST_BUFFER_BYTES 16384

/*
 * A seq_file hands out about a page a call and goes on where the last call ended,
 * as long as the offsets follow each other.
 */
static int read_whole(int file, char *text, size_t size, size_t *length)
{
	size_t at = 0;
	ssize_t got;

	for (;;) {
		if (at == size - 1)
			return -EOVERFLOW;
		got = pread(file, text + at, size - 1 - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		at += (size_t)got;
	}
	text[at] = '\0';
	*length = at;
	return 0;
}

int snapshot_open(const char *root, const char *path, struct snapshot *snapshot)
{
	struct snapshot made = { .file = -1 };
	char *full, *text = NULL;
	size_t length;
	int err;

	err = fs_read(root, path, &text, &length);
	if (err)
		return err;
	free(text);
	err = -ENOMEM;
	full = format_string("%s%s", root, path);
	if (!full)
		return err;
	made.size = length * 2 > SMALLEST_BUFFER_BYTES ? length * 2 : SMALLEST_BUFFER_BYTES;
	made.text[SNAPSHOT_BEFORE] = malloc(made.size);
	made.text[SNAPSHOT_AFTER] = malloc(made.size);
	if (!made.text[SNAPSHOT_BEFORE] || !made.text[SNAPSHOT_AFTER])
		goto fail;
	/* a value other than zero, or the compiler makes a calloc() of it that touches nothing */
	memset(made.text[SNAPSHOT_BEFORE], '\n', made.size);
	memset(made.text[SNAPSHOT_AFTER], '\n', made.size);

	made.file = open(full, O_RDONLY | O_CLOEXEC);
	if (made.file < 0) {
		err = -errno;
		goto fail;
	}
	/* the first read of the descriptor makes the kernel allocate its side */
	err = snapshot_take(&made, SNAPSHOT_BEFORE);
	if (err)
		goto fail;
	free(full);
	*snapshot = made;
	return 0;

fail:
	snapshot_close(&made);
	free(full);
	return err;
}

int snapshot_take(struct snapshot *snapshot, enum snapshot_moment moment)
{
	return read_whole(snapshot->file, snapshot->text[moment], snapshot->size,
			  &snapshot->length[moment]);
}

void snapshot_close(struct snapshot *snapshot)
{
	if (snapshot->file >= 0)
		close(snapshot->file);
	free(snapshot->text[SNAPSHOT_BEFORE]);
	free(snapshot->text[SNAPSHOT_AFTER]);
	*snapshot = (struct snapshot){ .file = -1 };
}
