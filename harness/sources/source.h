/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measurement sources: each reads one kind of counter before and after the
 * measured window and turns the difference into samples. Neither start() nor
 * stop() allocates, logs, faults in new memory or opens anything: all that is
 * done in open(), and the arithmetic in read().
 */
#ifndef SHOOTDOWN_SOURCE_H
#define SHOOTDOWN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../lib/log.h"
#include "../../lib/status.h"

struct value {
	double value;
	enum value_status status;
	bool own;	    /* of this point's tasks alone, not of the whole machine */
	const char *reason; /* static or owned by the source until close(); NULL when ok */
};

/*
 * Where read() puts what it found. by_cpu (value by CPU number, cpu_count long, NAN
 * for a CPU that has none) may be NULL.
 */
struct sample_sink {
	void (*add)(struct sample_sink *sink, const char *metric, const char *unit,
		    const struct value *value, const double *by_cpu, unsigned int cpu_count);
};

struct source_setup {
	const char *root;	  /* "" or a fixture's folder */
	const unsigned int *cpus; /* CPUs of the run, by number */
	unsigned int cpu_count;
	/* the worker processes: [0] the target, [1] the driver (0: none), the rest neighbours */
	const pid_t *tasks;
	unsigned int task_count;
	const char *const *events; /* for the perf source; NULL at the end */
};

struct source_metric {
	const char *name; /* NULL ends the table */
	const char *unit;
	const char *better; /* as in struct metric_row (stressors/stressor.h) */
	const char *help;
};

struct source {
	const char *name;
	const char *summary;
	const struct source_metric *metrics; /* what it always reports */
	bool by_default;		     /* read in every run */
	/* Whether no kernel of this architecture counts it, so that nothing is predicted for it;
	 * NULL: all are counted somewhere. What a guest runs asks its own architecture. */
	bool (*foreign)(const char *metric);
	/*
	 * A counter that cannot be had is no error: open() succeeds and read()
	 * reports its status and reason. Only a lack of memory or of file
	 * descriptors is one.
	 */
	int (*open)(const struct source_setup *setup, struct log *log, void **state);
	int (*start)(void *state);
	int (*stop)(void *state);
	void (*read)(void *state, struct sample_sink *sink);
	void (*close)(void *state);
};

extern const struct source interrupts_source; /* remote_ipis, call_ipis */
extern const struct source
	vmstat_source; /* flushes, flushes_received, flushes_local, pswpout, pswpin, ... */
extern const struct source clocks_source;    /* wall_ms, cpu time by task */
extern const struct source perf_source;	     /* one metric an event asked for */
extern const struct source tlb_flush_source; /* tlb:tlb_flush by reason */
extern const struct source ipi_source;	     /* IPI tracepoints, where the kernel has them */

/*
 * All of them, NULL at the end, in the order in which they are started; they are
 * stopped in the reverse. Those whose start and stop interrupt other CPUs come
 * first, so that the window of the counters of interrupts is the innermost.
 */
extern const struct source *const all_sources[];

#endif
