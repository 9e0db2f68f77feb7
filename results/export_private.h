/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files of export; for no one else. */
#ifndef SHOOTDOWN_EXPORT_PRIVATE_H
#define SHOOTDOWN_EXPORT_PRIVATE_H

#include <stdio.h>

#include "checksums.h"
#include "export.h"
#include "load.h"

struct export_run {
	const struct loaded_run *run;
	char id[RUN_ID_LENGTH + 1];
	size_t index, total; /* of this run, from 0, among all */
	const struct export_request *request;
	void *state; /* of the format */
};

/*
 * One format: begin and end may be NULL. Each returns 0 or a negative errno. What
 * begin sets *state to, end frees; end is called whenever begin returned 0.
 */
struct export_format {
	const char *name;
	int (*begin)(const struct export_request *request, size_t total, FILE *out, void **state);
	int (*run)(const struct export_run *run, FILE *out);
	int (*end)(FILE *out, void *state);
};

extern const struct export_format export_ktap, export_kcidb;

/* pages=4096 contents=random: the parameters in the plan's order. NULL: no memory. */
char *export_parameters(const struct run_point *point);

/*
 * The run's samples in the order of points and repetitions: indices, the caller's to
 * free. NULL: no memory.
 */
size_t *export_order(const struct loaded_run *run);

#endif
