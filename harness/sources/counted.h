/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events counted by perf, each as one metric: what the sources perf, tlb_flush,
 * ipi and vmstat have in common. Not a source of its own.
 */
#ifndef SHOOTDOWN_COUNTED_H
#define SHOOTDOWN_COUNTED_H

#include "../../lib/perf.h"
#include "source.h"

struct counted_event {
	char *metric;
	struct perf_counter counter;
};

struct counted {
	struct perf_targets targets; /* the arrays are copies of the set-up's */
	bool recorded;		     /* a recorded machine: nothing can be counted */
	const char *unit;
	struct counted_event *list;
	unsigned int count;
	double *by_cpu;		/* room for the CPUs of any event */
	unsigned int cpu_limit; /* its length */
};

/* Makes an empty list; unit is static. 0 or -ENOMEM. */
int counted_open(const struct source_setup *setup, const char *unit, struct counted *counted);

/*
 * Adds an event (lib/perf.h has the syntax) under the metric's name. An event that
 * cannot be counted is added with its status. -ENOMEM, or -EMFILE, said.
 */
int counted_add(struct counted *counted, const char *metric, const char *event, struct log *log);

/* Adds a metric that cannot be had, with the reason. 0 or -ENOMEM. */
int counted_add_missing(struct counted *counted, const char *metric, const char *reason);

int counted_start(struct counted *counted);
int counted_stop(struct counted *counted);
void counted_read(struct counted *counted, struct sample_sink *sink);
void counted_close(struct counted *counted);

/*
 * Whether kernels of this architecture pass the tracepoint tlb:tlb_flush. Only x86
 * ones do (arch/x86/mm/tlb.c); elsewhere it would count nothing and look like zero.
 */
extern const bool tlb_flush_traced;
#define TLB_FLUSH_NOT_TRACED                                                                       \
	"kernels of this architecture do not report TLB flushes to tlb:tlb_flush"

#endif
