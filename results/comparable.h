/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that decides whether runs may be put side by side: same points
 * (stressor, its version, parameters), architecture, page size, number of CPUs,
 * kernel options, kind of machine, and what a stressor found to work on: its metrics
 * that are "fixed". It does not ask whether the kernels differ.
 * A difference can be allowed by its name; then it is put into words.
 */
#ifndef SHOOTDOWN_COMPARABLE_H
#define SHOOTDOWN_COMPARABLE_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/log.h"
#include "load.h"

/* What may differ: "cpus", "plan", ... and "all"; NULL at the end. */
extern const char *const comparable_names[];

struct allowance {
	unsigned int facts; /* a bit for each of comparable_names */
	char **said;	    /* each difference that was met, once */
	size_t said_count;
};

/* Adds names (NULL at the end, may be NULL) to the allowance. -EINVAL, said, for an unknown one. */
int allowance_add(struct allowance *allowance, const char *const *names, struct log *log);
void allowance_release(struct allowance *allowance);

/*
 * 0, or -EINVAL after saying which fact differs, its two values and the two
 * folders. On success map[i] is the first run's point that is the second run's
 * point i; map has room for the second run's points. With "plan" allowed it is UINT32_MAX
 * for a point that the first run does not have, and only a run without any such point is refused.
 */
int runs_comparable_but(const struct loaded_run *first, const struct loaded_run *second,
			struct allowance *allowance, struct log *log, uint32_t *map);

/* The same with nothing allowed. */
int runs_comparable(const struct loaded_run *first, const struct loaded_run *second,
		    struct log *log, uint32_t *map);

#endif
