/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the machine meets a stressor's needs: the one place that enforces them. */
#ifndef SHOOTDOWN_NEEDS_H
#define SHOOTDOWN_NEEDS_H

#include <stddef.h>

#include "../stressors/stressor.h"

/*
 * 0 when every need of the point is met under root (lib/fs.h) and every knob that it turns
 * can be turned; else 1, and reason says the first that is not and what to do. Reads only.
 */
int needs_unmet(const char *root, const struct point *point, char *reason, size_t reason_size);

/* The needs of a stressor in words, for list and the man page: "root, 2 CPUs, zram". */
void needs_describe(const struct stressor *stressor, char *text, size_t size);

#endif
