/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts events with perf_event_open(2), on every CPU of a set or by task.
 *
 * An event is asked for as text:
 *
 *   NAME[@cpu|@task]
 *	a name that libpfm4 knows ("page-faults", "INST_RETIRED:ANY_P:u", raw "r01c2")
 *   SYSTEM:NAME[/FILTER/][@cpu|@task]
 *	a tracepoint, with a filter as in the kernel's Documentation/trace/events.rst
 *	("tlb:tlb_flush/reason==4/")
 *
 * @cpu (the default) counts everything on the CPUs of the run, @task the tasks of
 * the run and the threads and children they make after it was opened. Events are
 * never grouped. What was counted for a part of the time only is scaled up by
 * time_enabled/time_running, and says so.
 */
#ifndef SHOOTDOWN_PERF_H
#define SHOOTDOWN_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log.h"
#include "status.h"

struct perf_event {
	char *text; /* as asked for */
	bool by_task;
	struct perf_event_attr attr;
	/* of a tracepoint; NULL for other events */
	char *system, *name;
	char *filter; /* NULL: none */
	/* VALUE_UNSUPPORTED or VALUE_NOT_PERMITTED, with the reason, when it cannot be counted */
	enum value_status status;
	char *reason;
};

/*
 * Takes the text apart. An event that is well-formed but that this machine cannot
 * count is no error: see status. -EINVAL, said through log (which may be NULL),
 * for a text that cannot be an event anywhere.
 */
int perf_event_parse(const char *text, struct log *log, struct perf_event *event);
void perf_event_release(struct perf_event *event);

/*
 * For a plan: can this text be an event on some machine? -EINVAL, said with the
 * nearest name, when it cannot. A tracepoint that the running kernel does not
 * have is a warning only, since the plan may be for another kernel.
 */
int perf_event_check(const char *text, struct log *log);

/* What to count on. Arrays are borrowed until perf_counter_close(). */
struct perf_targets {
	const unsigned int *cpus; /* by number */
	unsigned int cpu_count;
	const pid_t *tasks; /* zeroes are skipped */
	unsigned int task_count;
};

struct perf_reading {
	uint64_t value, enabled_ns, running_ns;
};

/* One event on all its targets. */
struct perf_counter {
	int *files;
	int *cpus;		     /* by file: CPU number, -1 for a task */
	struct perf_reading *before; /* by file: readings at the end of the last window */
	unsigned int count;
	/* VALUE_OK when it is being counted; else what is wrong, with the reason */
	enum value_status status;
	char *reason;
};

/*
 * Opens an event, stopped. An event that cannot be had is no error: see status.
 * -ENOMEM, or -EMFILE when the files it needs are more than the limit allows.
 */
int perf_counter_open(const struct perf_event *event, const struct perf_targets *targets,
		      struct perf_counter *counter);

/* One system call a file; no allocation. 0 or a negative errno. */
int perf_counter_start(struct perf_counter *counter);
int perf_counter_stop(struct perf_counter *counter);

/*
 * What was counted between the last start and stop, scaled. by_cpu (by CPU number,
 * cpu_count long, may be NULL) gets the counts of CPUs and NAN elsewhere; it is not
 * touched when counting by task. Returns the status; *reason is the counter's own.
 */
enum value_status perf_counter_read(struct perf_counter *counter, double *value, double *by_cpu,
				    unsigned int cpu_count, const char **reason);

void perf_counter_close(struct perf_counter *counter);

/* Raises RLIMIT_NOFILE so that more files can be opened: 0, or -EMFILE. */
int perf_need_files(unsigned int more);

/* /proc/sys/kernel/perf_event_paranoid under root. -ENOENT: a kernel without perf events. */
int perf_paranoid(const char *root, int *level);

#endif
