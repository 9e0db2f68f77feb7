/* SPDX-License-Identifier: GPL-2.0-only */
/* Between load.c (folder, documents) and load_samples.c (samples.jsonl); for no one else. */
#ifndef SHOOTDOWN_LOAD_PRIVATE_H
#define SHOOTDOWN_LOAD_PRIVATE_H

#include "load.h"

/* Fills the run's texts, metrics, samples, outcomes and end from path; the points are known. */
int load_samples(struct loaded_run *run, const char *path, bool with_by_cpu, struct log *log);

/* "shootdown-samples" and this version, as a document's first keys say; said when not. */
int load_check_schema(const char *path, const char *wanted, const char *schema, double version,
		      struct log *log);

#endif
