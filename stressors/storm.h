/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Storms: workers that make the same call again and again, each on a CPU of its own,
 * and bystanders that make none. What the stressors dontneed-storm, dontneed-one,
 * munmap-storm and mprotect-storm share: CPUs, threads or processes, the start, the
 * rates and the predictions. It does not count flushes: the sources do.
 *
 * Worker 0 is the target's main thread, on the control CPU. The others are threads of
 * its mm, or (mode=processes) processes whose mms have never run anywhere but on their
 * own CPU, so that such a mm is local to it. Workers and bystanders spin in user space
 * until the window begins. A worker that is done goes on spinning until all are and the
 * readers' speed was taken again: its CPU runs the mm, and is interrupted, for as long as
 * anybody flushes, and is as busy after the storm as before it.
 */
#ifndef SHOOTDOWN_STORM_H
#define SHOOTDOWN_STORM_H

#include <stdatomic.h>

#include "storm_area.h"
#include "storm_readers.h"

/* What a worker tells, in memory that processes share. */
struct storm_slot {
	_Alignas(128) struct storm_reader reader; /* of a bystander */
	uint64_t start_ns, end_ns, cpu_ns;	  /* of the loop */
	uint64_t damaged;			  /* units that did not hold what they must */
	long faults;				  /* in the loop */
	long fill_faults;			  /* when every base page was first written */
	const char *call;			  /* that failed, with the errno in error */
	int error;
	const char *wrong; /* what the kernel did wrong, in words; NULL: nothing */
	int end;	   /* wait status of a process that is no more */
};

/* In memory that processes share. */
struct storm_shared {
	_Atomic bool go, over; /* the window begins; nobody looks at the CPUs any more */
	_Atomic unsigned int ready, finished, proved;
	_Atomic unsigned int mark; /* what readers are asked for */
	struct storm_slot slots[];
};

struct storm;

/* Private to the worker, but for the slot. */
struct storm_worker {
	struct storm *storm;
	unsigned int index;
	pid_t pid; /* of its process's parent, which is ours; 0: a thread */
	struct storm_slot *slot;
	struct storm_area area;
	uint64_t visit; /* that is next */
};

/* What tells one storm from another. */
struct storm_cause {
	const char *call; /* for messages */
	bool refaults;	  /* every unit faults again after a call */
	/* before the window, in the worker, its area filled: proves that the call works, and
	 * makes it ready. 0, or -1 after storm_failed() or storm_wrong(). */
	int (*prepare)(struct storm_worker *worker);
	/* the calls, storm->ops of them; writes before each with storm_area_write() */
	void (*loop)(struct storm_worker *worker);
	/* after the window, in the worker: proves that its last call is in force. As prepare();
	 * NULL: what the loop's writes find is proof. */
	int (*prove)(struct storm_worker *worker);
};

/* Who takes part. */
struct storm_crowd {
	unsigned int workers, bystanders;
	bool processes;
	bool readers; /* bystanders read memory of their own; else they only spin */
};

struct storm {
	struct task *task;
	const struct storm_cause *cause;
	struct storm_memory memory;
	uint64_t ops; /* of each worker */
	struct storm_crowd crowd;
	struct storm_shared *shared;
	size_t shared_bytes;
	struct storm_worker *all; /* the workers, and behind them the bystanders */
	void *own;		  /* the stressor's */
};

/* Option and metric rows; used inside tables. */
/* clang-format off */
#define STORM_OPTION_THREADS                                                                      \
	{ .name = "threads", .type = OPTION_UINT, .fallback = "0", .min = 0, .max = 1 << 20,      \
	  .metavar = "N", .help = "threads (or processes) in all, each on its own CPU; 0: as "    \
				  "many as there are CPUs for" }
#define STORM_OPTIONS(count)                                                                      \
	STORM_OPTION_THREADS,                                                                     \
	{ .name = "mode", .type = OPTION_CHOICE, .fallback = "threads", .choices = storm_modes,   \
	  .metavar = "MODE",                                                                      \
	  .help = "threads of one mm, or processes, each with a mm that no other CPU has run" },  \
	{ .name = "ops", .type = OPTION_UINT, .fallback = count, .min = 1, .max = 1ULL << 40,     \
	  .metavar = "OPS", .help = "operations of each thread" },                                \
	{ .name = "readers", .type = OPTION_UINT, .fallback = "0", .min = 0, .max = 1 << 20,      \
	  .metavar = "R", .help = "threads (or processes) beside them that only read memory of "  \
				  "their own, each on its own CPU, and suffer" }
#define STORM_METRICS                                                                             \
	{ "ops_per_s", "ops/s", "more",                                                           \
	  "operations of all threads, by the time from the first's start to the last's end" },    \
	{ "ops_per_cpu_s", "ops/s", "more",                                                       \
	  "the same, by the CPU time (user and system) that the threads spent on them" },         \
	{ "reader_ratio", "relative speed", "more",                                               \
	  "reads a second of the readers in the storm, by their rate before and after it, in the " \
	  "time that no other task had their CPUs; mode=processes is the control, without any "   \
	  "flush but with the same load on caches and memory; not in emulated guests" }
/* clang-format on */

extern const char *const storm_modes[];

/* The crowd that STORM_OPTIONS ask for. */
struct storm_crowd storm_crowd_of(const struct point *point);
/* Option threads, or the CPUs that `others` leave. */
unsigned int storm_threads(const struct point *point, unsigned int others);
/* struct stressor's callbacks for stressors with STORM_OPTIONS. */
unsigned int storm_own_cpus(const struct point *point);
uint64_t storm_bytes(const struct point *point); /* areas of one call */
int storm_arm(struct task *task);
int storm_run(struct task *task);
int storm_verify(struct task *task); /* storm_check(), and reports STORM_METRICS */
void storm_teardown(struct task *task);

/* What each worker's calls need of the kernel. */
struct storm_cost {
	double calls;
	double flushes; /* a call, 0: not known */
	double tlbis;	/* TLBI instructions a call, 0: not known */
	bool sleeps;	/* workers wait for each other: whose CPU is idle then is not told */
};

/* How many predictions that makes. */
unsigned int storm_predict(const struct point *point, struct storm_crowd crowd,
			   struct storm_cost cost, struct prediction *list);

/* A fresh storm as task->state, each worker to make option "ops" calls; NULL after task_say(). */
struct storm *storm_new(struct task *task, const struct storm_cause *cause,
			struct storm_crowd crowd);
/*
 * The rest of setup(), for what storm_new() and the stressor chose: starts everybody,
 * and waits until all are ready. unit_bytes and map_bytes as for storm_memory_open().
 */
int storm_start(struct storm *storm, size_t unit_bytes, size_t map_bytes);

/* After the window: OUTCOME_PASS and 0, or what is wrong was said. */
int storm_check(struct storm *storm);

/* Notes the call that failed, with errno; -1. */
int storm_failed(struct storm_worker *worker, const char *call);
/* Notes, in static words, what the kernel did wrong; -1. */
int storm_wrong(struct storm_worker *worker, const char *words);

#endif
