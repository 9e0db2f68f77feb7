/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arms: what is compared. An arm is a run folder, or a folder whose direct
 * subfolders are run folders (one a boot, as the lab writes them). A lab folder
 * (it has lab.json) stands for all its arms, in the order that lab.json names. The
 * id of a run in the default index (results/store.h) stands for its folder.
 *
 * It loads and names arms; whether they may be compared is comparable.c's.
 */
#ifndef SHOOTDOWN_ARM_H
#define SHOOTDOWN_ARM_H

#include <stddef.h>

#include "../lib/log.h"
#include "load.h"

struct arm {
	char *name; /* machine.json's "arm", else the folder's own name */
	char *folder;
	struct loaded_run **runs; /* those whose numbers count: all, less failed boots */
	size_t run_count;
	unsigned int boots; /* boot folders, the failed ones included; 1 for a run folder */
	unsigned int failed_boots;
	char **notes; /* what a reader must know: failed boots, runs cut short */
	size_t note_count;
};

struct arms {
	struct arm *list;
	size_t count;
};

/* Loads the folders in their order, NULL at the end. Errors as run_load(), all said. */
int arms_load(const char *const *folders, struct log *log, struct arms **arms);
void arms_free(struct arms *arms);

#endif
