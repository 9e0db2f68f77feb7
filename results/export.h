/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs in the formats of other programs:
 *
 * csv    one line a sample (RFC 4180 with a header line); a repetition without
 *        samples, such as a skip, has one line without metric
 * json   {"schema":"shootdown-export","version":1,"runs":[{"id","folder","complete",
 *        "verified","end","machine","plan","outcomes":[..],"samples":[..]}]}; samples with
 *        their values by CPU, all as in results/record.h
 * ktap   version 1 of the kernel's Documentation/dev-tools/ktap.rst: runs, points and
 *        repetitions as nested tests, values as diagnostics. A broken or interrupted
 *        repetition is "not ok" with the ERROR directive
 * kcidb  a submission by version 5.3 of the I/O schema of github.com/kernelci/kcidb-io:
 *        one checkout and build a kernel; a test a repetition with its outcome, and one
 *        a value with status DONE and "number"
 *
 * Each run is loaded, written and freed in turn.
 */
#ifndef SHOOTDOWN_EXPORT_H
#define SHOOTDOWN_EXPORT_H

#include <stdio.h>

#include "../lib/log.h"

/* "csv", "json", "ktap", "kcidb", NULL */
extern const char *const export_formats[];

struct export_request {
	const char *const *folders; /* of runs; NULL at the end */
	const char *format;
	const char *origin; /* kcidb: the name of the submitting system, of a-z, 0-9 and _ */
};

/* Errors as run_load(), said; -EINVAL for an origin that KCIDB would refuse; -EIO for out. */
int export_runs(const struct export_request *request, FILE *out, struct log *log);

#endif
