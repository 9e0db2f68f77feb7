/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a plan on the running kernel: needs, environment, workers, sources,
 * samples. Whatever happens, the environment is as found when it returns.
 */
#ifndef SHOOTDOWN_RUN_H
#define SHOOTDOWN_RUN_H

#include <jansson.h>

#include "../lib/log.h"
#include "../lib/status.h"
#include "../results/record.h"
#include "plan.h"

struct run_result {
	unsigned int counts[OUTCOME_COUNT]; /* repetitions by outcome */
	bool gave_up;			    /* too many in a row were broken or skipped */
	bool restored;			    /* everything was undone and read back */
};

/*
 * Writes machine (borrowed), the plan and all samples to the record as they come.
 * 0 when the plan was run to its end or stopped by a signal (see result); a
 * negative errno, said, when it could not go on (a full disk: -ENOSPC).
 */
int run_plan(const struct plan *plan, json_t *machine, struct record *record, struct log *log,
	     struct run_result *result);

/* The exit code that these results call for. */
enum exit_code run_exit_code(const struct run_result *result);

/* In a lab's guest: what its host says of it, an object with machine.json's arm, boot and guest. */
#define MACHINE_LAB_PATH "/run/shootdown-machine.json"

/* machine.json of the running machine (results/record.h); a new reference. root as in lib/fs.h. */
json_t *machine_describe(const char *root);

#endif
