/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a run folder (results/record.h) into typed samples and outcomes. It
 * checks everything it takes over; it neither computes nor compares.
 *
 * samples.jsonl is read line by line and may hold millions of lines: a sample
 * takes 32 bytes, names and reasons are kept once.
 */
#ifndef SHOOTDOWN_LOAD_H
#define SHOOTDOWN_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/log.h"
#include "../lib/status.h"

struct run_sample {
	double value;	       /* NAN when its status has no value */
	uint32_t point;	       /* from 0 */
	uint32_t repetition;   /* from 1 */
	uint32_t reason;       /* index into texts; 0: none */
	uint32_t by_cpu;       /* first entry in by_cpu */
	uint32_t by_cpu_count; /* 0: none, or not asked for */
	uint16_t metric;       /* index into metrics */
	uint8_t status;	       /* enum value_status */
};

struct run_cpu_value {
	double value;
	unsigned int cpu;
};

struct run_outcome {
	double seconds;
	uint64_t started_ns;	    /* real time */
	uint32_t point, repetition; /* a skipped point may have repetition 0 or 1 */
	uint32_t reason;	    /* index into texts; 0: none */
	enum outcome outcome;
};

struct run_metric {
	const char *name, *unit; /* in texts */
};

struct run_point {
	const char *stressor; /* borrowed from plan */
	unsigned int stressor_version;
	const json_t *parameters; /* object, borrowed from plan */
	const json_t *units;	  /* of its numbers, quantity_unit()'s; NULL: not known */
	const json_t *metrics;	  /* object by metric name, borrowed from plan */
};

struct loaded_run {
	char *folder;	 /* as it was given */
	json_t *machine; /* machine.json */
	json_t *plan;	 /* plan.json without its order */
	struct run_point *points;
	unsigned int point_count;

	char **texts; /* texts[0] is "" */
	size_t text_count;
	struct run_metric *metrics;
	size_t metric_count;
	struct run_sample *samples; /* in the file's order */
	size_t sample_count;
	struct run_cpu_value *by_cpu;
	size_t by_cpu_count;
	struct run_outcome *outcomes; /* by point, then repetition */
	size_t outcome_count;

	bool verified;		/* its checksums were there and right */
	bool complete;		/* the end line is there and the last line is whole */
	enum outcome end;	/* valid when complete */
	bool restored;		/* valid when complete: the machine is as it was */
	const char *end_reason; /* in texts, "" for none */
};

/*
 * A last line without its newline (a killed writer) and a missing end line are
 * accepted with a warning; then complete is false. Else -EBADMSG for what is no
 * run folder or is damaged, -EINVAL for another version of the format, -ENOENT
 * for a folder that is not there; the file, the line and what to do were said. A
 * file that differs from the run's checksums is -EBADMSG and named.
 */
int run_load(const char *folder, bool with_by_cpu, struct log *log, struct loaded_run **run);
void run_free(struct loaded_run *run);

/* The outcome of a repetition; NULL when it did not come to its end. */
const struct run_outcome *run_find_outcome(const struct loaded_run *run, uint32_t point,
					   uint32_t repetition);

/* Does the folder hold one of the files of a run? Says nothing of their contents. */
bool run_folder_looks_like(const char *folder);

#endif
