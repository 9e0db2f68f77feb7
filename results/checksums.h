/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file "checksums" of a finished run's folder: one line a file, its SHA-256
 * in hexadecimal, two spaces and its name, so that "sha256sum -c checksums"
 * reads it as well. It shows damage and later changes; who may write to the
 * folder can also write a new one, so it is no signature.
 *
 * A run that was killed has none. It is accepted, and has its own note.
 */
#ifndef SHOOTDOWN_CHECKSUMS_H
#define SHOOTDOWN_CHECKSUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/log.h"

#define RUN_ID_LENGTH 12

/* The files that are covered: NULL at the end. */
extern const char *const checksums_files[];

/* Writes the file over those of checksums_files that are there. Negative errno. */
int checksums_write(const char *folder);

struct checksums_check;

/*
 * Begins to compare the files with the folder's checksums, beside what the caller
 * does (the hash of a long run takes as long as reading it). Never NULL unless
 * memory is out.
 */
struct checksums_check *checksums_begin(const char *folder);

/*
 * Waits for the result and frees; NULL is -ENOMEM. 1: all is as it was written; 0:
 * the folder has no such file; -EBADMSG: a file was changed or is missing, said by
 * its name. log NULL: nothing is said.
 */
int checksums_end(struct checksums_check *check, struct log *log);

/*
 * The run's id: the first RUN_ID_LENGTH hexadecimal digits of the SHA-256 of its
 * checksums (made on the way for a run without the file). Copies have one id.
 */
int run_identity(const char *folder, char id[RUN_ID_LENGTH + 1]);

#endif
