/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small whole files: /proc and /sys readers under a root folder, knob writes,
 * folders that only their owner can write, and atomic replacement.
 *
 * root is "" for the running machine, or a folder that holds a recorded
 * machine's proc/ and sys/ (tests/fixtures/<machine>). Paths start with '/'.
 * All return 0 or a negative errno; outputs are set only on success.
 */
#ifndef SHOOTDOWN_FS_H
#define SHOOTDOWN_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads a whole file of any length, lines of any length. *text is NUL-terminated,
 * the caller frees it; length may be NULL. */
int fs_read(const char *root, const char *path, char **text, size_t *length);

/* As fs_read(), without white space at the end: for one-value files. */
int fs_read_value(const char *root, const char *path, char **text);

/* Reads one unsigned number in decimal or 0x form. -EINVAL when it is none. */
int fs_read_u64(const char *root, const char *path, unsigned long long *value);

/* Writes text in one write(2), as knobs want it; the file must exist. */
int fs_write(const char *root, const char *path, const char *text);

bool fs_exists(const char *root, const char *path);

/* Creates the folder and those above it (as mkdir -p). */
int fs_make_folders(const char *path, mode_t mode);

/*
 * Opens (creating when needed) a folder that only its owner can write, without
 * following a link at its last part: owner must be the effective user, mode
 * 0700. -ELOOP for a link, -EPERM for another owner or a wider mode. The parent
 * must exist. Returns a folder descriptor.
 */
int fs_open_private_folder(const char *path);

/* Replaces path by text as one step (temporary file, fsync, rename). */
int fs_replace(const char *path, const char *text, size_t length);

/* Copies the bytes of a file; the target is replaced as one step, mode kept. */
int fs_copy(const char *from, const char *to);

/* Removes a folder and all in it; does not follow links; a missing one is fine. */
int fs_remove_tree(const char *path);

/* printf into a fresh string; NULL when memory is out. */
__attribute__((format(printf, 1, 2))) char *format_string(const char *format, ...);

#endif
