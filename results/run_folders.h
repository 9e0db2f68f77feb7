/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run folders on disk: found below a folder, known by their file names, removed.
 * It reads no contents and follows no links.
 */
#ifndef SHOOTDOWN_RUN_FOLDERS_H
#define SHOOTDOWN_RUN_FOLDERS_H

#include <stdbool.h>

#include "../lib/log.h"

/* How deep below a folder runs are looked for: OUT/ARM/BOOT, and that in a store. */
#define RUN_FOLDERS_DEPTH 5

/* Is it the name of a file that shootdown writes into a run's, a boot's or a lab's folder? */
bool run_folders_known_file(const char *name);

/*
 * Calls take for each run folder (one with samples.jsonl) at or below top, by name, until it
 * returns non-zero, which is returned. Names that begin with a dot are left out.
 */
int run_folders_walk(const char *top, int (*take)(void *context, const char *folder),
		     void *context);

/*
 * Removes a run's folder: its known files, then itself. -EINVAL, said and nothing
 * removed, when it is no run folder or holds anything else.
 */
int run_folders_remove(const char *folder, struct log *log);

#endif
