/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel sources: found, identified, unpacked. What an arm's patches do to an
 * unpacked tree is tree.c's.
 *
 * Identity, the part of a kernel's content key that says which source it is:
 *   Debian package  name and version
 *   tarball         SHA-256 of its bytes
 *   git tree        commit id
 *   plain tree      SHA-256 of the list of its files with sizes and modification
 *                   times: an edit that keeps both goes unnoticed
 */
#ifndef SHOOTDOWN_LAB_SOURCE_H
#define SHOOTDOWN_LAB_SOURCE_H

#include "../../lib/log.h"
#include "series.h"

enum lab_source_kind {
	LAB_SOURCE_TARBALL, /* Debian's too */
	LAB_SOURCE_TREE,
	LAB_SOURCE_GIT,
};

struct lab_source {
	enum lab_source_kind kind;
	char *path; /* the tarball, the tree, or for git the repository's .git folder */
	char *identity;
	char *commit; /* git only */
	char *label;  /* for messages: "linux-source-7.3 7.3.4-1" */
	char *key;    /* names the work tree: a git repository has one for all its commits */
};

/*
 * spec: debian:X.Y, a tarball, a tree, a git tree (its HEAD); NULL: the newest
 * linux-source package within series' base, from the cache when one is there,
 * else from the Debian mirror. fresh asks the mirror in any case. Negative errno, said.
 */
int source_open(const char *spec, const struct lab_series *series, const char *cache, bool fresh,
		struct log *log, struct lab_source *source);
/* A commit of a source that is a git tree. -EINVAL, said, when it is none or has no such commit. */
int source_open_commit(const struct lab_source *tree, const char *ref, struct log *log,
		       struct lab_source *source);
void source_release(struct lab_source *source);

/* Fills the empty folder with the source's files. For git: with those of its commit, later calls
 * change only what differs (index: a file of the work tree's own that remembers). */
int source_unpack(const struct lab_source *source, const char *folder, const char *index,
		  struct log *log);

/* debian.c: the tarball in the cache, its package and version (caller frees all three). */
int debian_source(struct kernel_version first, struct kernel_version last, const char *cache,
		  bool fresh, struct log *log, char **tarball, char **package, char **version);

#endif
