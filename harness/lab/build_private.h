/* SPDX-License-Identifier: GPL-2.0-only */
/* What build.c and build_config.c share: one build under way. */
#ifndef SHOOTDOWN_BUILD_PRIVATE_H
#define SHOOTDOWN_BUILD_PRIVATE_H

#include "build.h"
#include "cache.h"
#include "tree.h"

struct build {
	const struct build_request *request;
	struct log *log;
	struct work_tree tree;
	char key[CONTENT_KEY_SIZE];
	char *fragments; /* all option text */
	char *compiler;	 /* first line of its --version */
	char *cc;	 /* CC= */
	char *log_path;
	char *phase;
	uint64_t expected; /* objects; 0: unknown */
	size_t counted_to; /* how far log_path was counted */
	uint64_t objects;
	double started_s;
};

/* Runs make in the work tree; its output goes to the build's log. 0, make's status or -errno. */
int build_make(struct build *build, const char *target, const char *jobs, bool count);

/* Says what make said last, where the rest is, and what to do; returns a negative errno. */
int build_say_failed(struct build *build, const char *what, int status);

/* build_config.c: the configuration is made anew only when something that decides it changed. */
int build_configure(struct build *build);

#endif
