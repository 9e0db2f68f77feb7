/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said to somebody who gave a name that there is not. */
#ifndef SHOOTDOWN_NAMES_H
#define SHOOTDOWN_NAMES_H

#include <stddef.h>

#include "log.h"

/*
 * The candidate nearest to name by edit distance, when it is near enough to be
 * a likely slip (at most a third of its length, two at least); else NULL.
 */
const char *nearest_name(const char *name, const char *const *candidates);

/*
 * An error: the sentence that format makes, then "did you mean ...?" when a
 * candidate is near to name, else what to do instead.
 */
__attribute__((format(printf, 5, 6))) void say_unknown_name(struct log *log, const char *name,
							    const char *const *candidates,
							    const char *otherwise,
							    const char *format, ...);

/*
 * The names of a table whose rows are stride bytes apart and begin with their
 * name, NULL at its end; the caller frees the array. NULL: no memory.
 */
const char **names_of_rows(const void *rows, size_t stride);

#endif
