/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracepoint.c asks of libtracefs and libtraceevent: tracepoint_format.c
 * with them, tracepoint_format_without.c in a build that has neither.
 */
#ifndef SHOOTDOWN_TRACEPOINT_FORMAT_H
#define SHOOTDOWN_TRACEPOINT_FORMAT_H

#include <stddef.h>

#include "tracepoint.h"

/* The names of a field's values in the text of a format file; errors as tracepoint_symbols(). */
int tracepoint_format_symbols(const char *text, size_t length, const char *system,
			      const char *field, struct tracepoint_symbol **symbols);

/* A tracefs that is mounted in an unusual place (never mounts it). -ENOENT or -ENOSYS. */
int tracepoint_mounted_elsewhere(char **path);

#endif
