/* SPDX-License-Identifier: GPL-2.0-only */
/* From what sources and workers report to lines of the record (results/record.h). */
#ifndef SHOOTDOWN_SAMPLES_H
#define SHOOTDOWN_SAMPLES_H

#include "../results/record.h"
#include "sources/source.h"
#include "worker.h"

/* Writes the samples of one repetition of one point. */
struct samples {
	struct sample_sink sink; /* what sources are given */
	struct record *record;	 /* borrowed */
	unsigned int point, repetition;
	bool mixed; /* other points run at the same time: what is not a task's own is shared */
	int rc;	    /* the first failure to write; 0 */
};

void samples_open(struct samples *samples, struct record *record, unsigned int point,
		  unsigned int repetition, bool mixed);

/* What the workers reported, and the time of the window. */
void samples_write_reports(struct samples *samples, const struct stressor *stressor,
			   const struct shared *shared);

/* The outcome, last of all; reason may be empty. started_ns: CLOCK_REALTIME. */
void samples_write_outcome(struct samples *samples, enum outcome outcome, const char *reason,
			   uint64_t started_ns, double seconds);

/* What the harness itself measures at every point. */
extern const struct source_metric window_metrics[];

#endif
