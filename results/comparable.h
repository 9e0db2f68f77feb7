/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that decides whether runs may be put side by side: same points
 * (stressor, its version, parameters), architecture, page size, number of CPUs
 * and kind of machine. It does not ask whether the kernels differ.
 */
#ifndef SHOOTDOWN_COMPARABLE_H
#define SHOOTDOWN_COMPARABLE_H

#include <stdint.h>

#include "../lib/log.h"
#include "load.h"

/*
 * 0, or -EINVAL after saying which fact differs, its two values and the two
 * folders. On success map[i] is the first run's point that is the second run's
 * point i; map has room for the second run's points.
 */
int runs_comparable(const struct loaded_run *first, const struct loaded_run *second,
		    struct log *log, uint32_t *map);

#endif
