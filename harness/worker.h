/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of one repetition: target, driver, neighbours. Each dies with
 * the supervisor. Target and driver obey one command at a time over a pipe and
 * answer with the callback's result.
 */
#ifndef SHOOTDOWN_WORKER_H
#define SHOOTDOWN_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../stressors/stressor.h"

#define REPORTS_MAX 32

/* One neighbour's or reader's sign of life, on a cache line of its own. */
struct turns {
	_Alignas(64) _Atomic uint64_t count;
};

/* Memory that the supervisor and all workers of a repetition share. */
struct shared {
	_Atomic uint32_t saying; /* lock of outcome and reason */
	_Atomic int outcome;	 /* the worst so far */
	char reason[512];
	struct {
		double value;
		_Atomic bool set;
	} reports[REPORTS_MAX];			 /* by row of the stressor's metrics */
	uint64_t window_start_ns, window_end_ns; /* CLOCK_MONOTONIC, around run() */
	_Atomic bool stop;			 /* neighbours end */
	struct turns neighbours[];		 /* by CPU; then the stressor's own */
};

enum worker_command {
	WORKER_SETUP,
	WORKER_ARM,
	WORKER_RUN,
	WORKER_VERIFY,
	WORKER_TEARDOWN,
};

struct worker {
	pid_t pid;	       /* 0: not running */
	int commands, answers; /* pipe ends, -1 for neighbours */
	const char *role;      /* "target", "driver", "neighbour" */
};

struct crew {
	const struct point *point;
	struct shared *shared;
	size_t shared_bytes;
	int cgroup_folder;  /* borrowed, -1: none */
	const char *folder; /* the point's own; borrowed, NULL: none */
	struct worker target, driver;
	struct worker *neighbours; /* [i] is on point->cpus[first_neighbour + i] */
	unsigned int neighbour_count, first_neighbour;
	/* in a forked worker: what the supervisor has open and a worker must not keep; may be NULL
	 */
	void (*forget)(void *context);
	void *forget_context;
};

/* Maps the shared memory; starts nothing. cgroup_folder is borrowed. */
int crew_open(struct crew *crew, const struct point *point, int cgroup_folder,
	      void (*forget)(void *context), void *forget_context);

int crew_start_target(struct crew *crew);
int crew_start_driver(struct crew *crew);
/* Starts them and waits until each has run on its CPU. -ETIMEDOUT, -EINTR. */
int crew_start_neighbours(struct crew *crew, uint64_t deadline_ns);

/* How often a neighbour, counted from 0, has been round its loop. */
uint64_t crew_turns(const struct crew *crew, unsigned int neighbour);
/* Waits until that is no longer `seen`. -ETIMEDOUT, with a deadline of 0 at once; -EINTR. */
int crew_await_turn(const struct crew *crew, unsigned int neighbour, uint64_t seen,
		    uint64_t deadline_ns);

/*
 * Sends a command and waits for the answer, which is returned: 0 or the
 * callback's negative errno. -ETIMEDOUT after deadline_ns (CLOCK_MONOTONIC);
 * -EINTR when a stop signal came; -ESRCH when the worker died, which is said in
 * shared->reason. Stop signals must be blocked and SIGPIPE ignored by the caller.
 */
int crew_command(struct crew *crew, struct worker *worker, enum worker_command command,
		 uint64_t deadline_ns);

/* Its two halves, for several workers that are to act at the same time. */
int crew_send(struct crew *crew, struct worker *worker, enum worker_command command);
int crew_await(struct crew *crew, struct worker *worker, uint64_t deadline_ns);

/* The pids of all workers: target, driver, neighbours. The caller frees. */
pid_t *crew_pids(const struct crew *crew, unsigned int *count);

/* Kills what still runs, reaps all, unmaps. */
void crew_close(struct crew *crew);

/* Says an outcome for the repetition; as task_say() for the supervisor. */
__attribute__((format(printf, 3, 4))) void shared_say(struct shared *shared, enum outcome outcome,
						      const char *format, ...);

#endif
