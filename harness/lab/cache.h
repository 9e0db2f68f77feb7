/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lab's cache: where things are, content keys, and locks.
 *
 *   apt/        package lists of the lab's own
 *   sources/    tarballs, read-only once they are there
 *   trees/<source>-<arch>/  one unpacked tree (src) and its objects (build)
 *   images/<key>/           image, config, build.log, key.json
 *   initramfs/<key>.cpio
 *   emulator/   a QEMU for guests with hundreds of CPUs, when ci/emulator built it
 *   ccache/     compiler results, when ccache is installed
 *
 * What is finished is renamed into place, so that a name that exists is whole.
 * Nothing is ever removed: the user may remove the folder when no lab runs.
 */
#ifndef SHOOTDOWN_CACHE_H
#define SHOOTDOWN_CACHE_H

#include <sha2.h>
#include <stddef.h>

#include "../../lib/log.h"

/*
 * The cache's folder (made when needed; caller frees): given, or shootdown under
 * $XDG_CACHE_HOME or ~/.cache. -EPERM, said, when others could write to it:
 * programs from it are run.
 */
int cache_open(const char *given, struct log *log, char **folder);

/* The default one when it is there and would be used; NULL: not. Makes nothing. Caller frees. */
char *cache_there(struct log *log);

/*
 * Takes the lock PATH.lock, waiting (said once) while another process has it; what
 * names it in the message. Returns a descriptor; close() gives it back. -EINTR.
 */
int cache_lock(const char *path, const char *what, struct log *log);

/* A content key: the parts, each with its label and length, in order. */
struct content_key {
	SHA2_CTX context;
};

#define CONTENT_KEY_SIZE SHA256_DIGEST_STRING_LENGTH

void content_key_start(struct content_key *key);
void content_key_text(struct content_key *key, const char *label, const char *text);
void content_key_bytes(struct content_key *key, const char *label, const void *data, size_t length);
/* The file's bytes, not its name. 0 or a negative errno. */
int content_key_file(struct content_key *key, const char *label, const char *path);
void content_key_end(struct content_key *key, char hex[CONTENT_KEY_SIZE]);

/* Says that writing path failed and what to do about it; returns error (negative). */
int cache_say(struct log *log, const char *path, int error);

#endif
