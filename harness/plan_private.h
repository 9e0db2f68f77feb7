/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes a plan (plan.c), for one that comes as JSON (plan_json.c), too. All return 0
 * or a negative errno; -EINVAL was said.
 */
#ifndef SHOOTDOWN_PLAN_PRIVATE_H
#define SHOOTDOWN_PLAN_PRIVATE_H

#include "plan.h"

/* -EINVAL, always. */
int plan_unknown_stressor(const char *name, struct log *log);
/* parameters are taken over, also on failure; NULL: no memory. */
int plan_add_point(struct plan *plan, const struct stressor *stressor,
		   struct option_values *parameters);
/* Lists of names end with NULL; NULL: none. */
int plan_take_sources(struct plan *plan, const char *const *names, const char *const *events,
		      struct log *log);
int plan_take_events(struct plan *plan, const char *const *events, struct log *log);
int plan_take_counters(struct plan *plan, const char *const *names);
int plan_take_cpu_list(struct plan *plan, const char *list, struct log *log);
/* What cannot run at once; for a plan with interleave. */
int plan_check_mix(const struct plan *plan, struct log *log);
int plan_make_order(struct plan *plan, struct log *log);

#endif
