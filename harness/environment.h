/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine as a point needs it: a zram device with swap on it, a cgroup, knobs.
 * Every change goes through the journal and is undone in reverse. Nothing that
 * was there before is touched, but for a knob, which gets its old value back unless somebody
 * else has set it in between.
 */
#ifndef SHOOTDOWN_ENVIRONMENT_H
#define SHOOTDOWN_ENVIRONMENT_H

#include "../lib/log.h"
#include "../stressors/stressor.h"
#include "journal.h"

struct environment {
	struct journal *journal; /* borrowed */
	struct log *log;	 /* borrowed */
	unsigned int index;	 /* tells those of one process apart */
	int cgroup_folder;	 /* descriptor, -1 when the point has no cgroup */
	int zram;		 /* device number, -1 when it has none */
	char *folder;		 /* path, NULL when the point has none */
};

/*
 * Applies the rows of the point's stressor. On failure reason says what went
 * wrong (and what to do); what was changed until then is in the journal.
 */
int environment_apply(struct environment *environment, const struct point *point, char *reason,
		      size_t reason_size);

/* A knob that both points set, each to another value; NULL: none. Pure. */
const struct environment_row *environment_conflict(const struct point *first,
						   const struct point *second);

/* Lets go of what it has open; undoing is undo.h's. */
void environment_release(struct environment *environment);

/* Where cgroup v2 is mounted with the memory controller at hand, under root
 * (lib/fs.h): a fresh string, or NULL with *reason (static) saying why not. */
char *environment_cgroup_mount(const char *root, const char **reason);

#endif
