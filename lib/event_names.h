/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of perf events and what they stand for, by libpfm4: event_names.c with
 * it, event_names_without.c in a build that does not have it.
 */
#ifndef SHOOTDOWN_EVENT_NAMES_H
#define SHOOTDOWN_EVENT_NAMES_H

#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Fills type, config and modes of attr. -ENOENT: no unit of this machine has the
 * event; -EINVAL: the event is known, what follows its name is not (*why, static,
 * says what); -ENOSYS: built without libpfm4.
 */
int event_name_encode(const char *name, struct perf_event_attr *attr, const char **why);

/* Does any machine that libpfm4 knows have an event of this name? */
bool event_name_known(const char *name);

/* The nearest name of an event, a fresh string; NULL when none is near. */
char *event_name_nearest(const char *name);

/* How many units of this machine's CPUs libpfm4 knows, and the name of the first. */
unsigned int event_name_units(const char **first);

#endif
