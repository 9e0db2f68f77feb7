/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One repetition of one point, from its needs to its samples, with everything
 * undone at its end.
 */
#ifndef SHOOTDOWN_POINT_H
#define SHOOTDOWN_POINT_H

#include "../lib/log.h"
#include "../results/record.h"
#include "environment.h"
#include "plan.h"

/* What the harness itself measures at every point. */
extern const struct source_metric window_metrics[];

struct repetition {
	const struct plan *plan;
	const struct point *point;
	unsigned int point_index; /* in the plan */
	unsigned int number;	  /* from 1 */
	struct environment *environment;
	struct record *record;
	struct log *log;
};

/*
 * Runs it and writes its samples and its outcome. 0, or a negative errno (said)
 * when the record cannot be written (-ENOSPC); the outcome is set either way.
 * *restored becomes false when the machine is not as it was found (said). Stop signals must be
 * blocked, and the calling thread be on the point's control CPU.
 */
int repetition_run(const struct repetition *repetition, enum outcome *outcome, bool *restored);

#endif
