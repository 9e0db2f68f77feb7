/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A /proc file that is read before and after a measured window: opened once, its
 * buffers made and touched beforehand, so that taking one is system calls only.
 */
#ifndef SHOOTDOWN_SNAPSHOT_H
#define SHOOTDOWN_SNAPSHOT_H

#include <stddef.h>

enum snapshot_moment {
	SNAPSHOT_BEFORE,
	SNAPSHOT_AFTER,
};

struct snapshot {
	int file;
	size_t size;   /* of each buffer */
	char *text[2]; /* by moment; NUL-terminated after snapshot_take() */
	size_t length[2];
};

/*
 * Opens root + path and makes buffers twice as long as the file is now. 0 or a
 * negative errno; on an error nothing is left to close.
 */
int snapshot_open(const char *root, const char *path, struct snapshot *snapshot);

/* Reads the file. -EOVERFLOW when it has outgrown the buffer; no allocation. */
int snapshot_take(struct snapshot *snapshot, enum snapshot_moment moment);

void snapshot_close(struct snapshot *snapshot);

#endif
