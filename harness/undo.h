/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Undoes what journals say was changed on the machine, and nothing else. How the
 * changes are made is environment.c's; what both must know of the machine is here.
 */
#ifndef SHOOTDOWN_UNDO_H
#define SHOOTDOWN_UNDO_H

#include <jansson.h>
#include <stdbool.h>

#include "../lib/log.h"
#include "journal.h"

/*
 * Undoes what is in the journal, newest first, and reads back. 0, or the first
 * negative errno (said); what could not be undone stays in the journal.
 */
int undo_journal(struct journal *journal, struct log *log);

/*
 * Undoes what dead runs left. Returns the number of journals that had something to
 * undo, or a negative errno when it could not be undone (said).
 */
int undo_dead_journals(struct log *log);

/* The numbers of the zram devices that there are; a new reference. */
json_t *zram_devices(void);

/*
 * Numbers of devices are used again, a disk's sequence number is not (diskseq,
 * Linux 5.15). -1 when this kernel has none.
 */
long long zram_sequence(long long number);

/* Does this file, a cgroup.subtree_control or cgroup.controllers, name the controller? */
bool controller_is_on(const char *path, const char *controller);

#endif
