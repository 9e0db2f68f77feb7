/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "shootdown reproduce SERIES": runs a posting's tests in the lab and puts what
 * was published, what the kernel's rules predict and what was measured side by side.
 */
#ifndef SHOOTDOWN_REPRODUCE_H
#define SHOOTDOWN_REPRODUCE_H

#include <stdio.h>

#include "../../lib/log.h"
#include "../../lib/options.h"

extern const struct option_row reproduce_options[];

/* arguments: the series. The table goes to out, messages to log; returns an exit code
 * (lib/status.h). */
int reproduce_run(const struct option_values *values, const char *const *arguments,
		  unsigned int count, FILE *out, struct log *log);

#endif
