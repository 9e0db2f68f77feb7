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
	int cgroup_folder;	 /* descriptor, -1 when the point has no cgroup */
	int zram;		 /* device number, -1 when it has none */
};

/*
 * Applies the rows of the point's stressor. On failure reason says what went
 * wrong (and what to do), and environment_undo() must still be called.
 */
int environment_apply(struct environment *environment, const struct point *point, char *reason,
		      size_t reason_size);

/* Undoes what is in the journal, newest first, and reads back. 0, or the first
 * negative errno (said); what could not be undone stays in the journal. */
int environment_undo(struct environment *environment);

/*
 * Undoes what dead runs left. Returns the number of journals that were found, or
 * a negative errno when something could not be undone (said).
 */
int environment_restore(struct log *log);

/* Where cgroup v2 is mounted with the memory controller at hand, under root
 * (lib/fs.h): a fresh string, or NULL with *reason (static) saying why not. */
char *environment_cgroup_mount(const char *root, const char **reason);

#endif
