/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that a target starts for its load: on CPUs of their own, the leader of a
 * process group, ended by the kernel when the target dies. They may wait at a gate
 * before they become the program, so that the window begins with the load. Unlike
 * lib/spawn.h nothing is waited for.
 */
#ifndef SHOOTDOWN_HELPER_H
#define SHOOTDOWN_HELPER_H

#include <hwloc.h>
#include <sys/types.h>

#include "stressor.h"

struct helper_request {
	const char *const *argv;	/* NULL at the end; argv[0] is looked up in PATH */
	hwloc_const_bitmap_t cpus;	/* where it may run */
	const char *const *environment; /* as of a spawn (lib/spawn.h) */
	const char *output_path;	/* both streams, replaced */
	int gate;	 /* it starts when this can be read, or is at its end; -1: at once */
	int gate_writer; /* the gate's other end, which it must not keep; -1: none */
};

/* *pid is the process, to be given to helper_end(). 0 or a negative errno. */
int helper_start(const struct helper_request *request, pid_t *pid);

/* Kills it and what it started, and waits for it. A pid of 0 is none. */
void helper_end(pid_t pid);

/* The CPUs of numbers[first], numbers[first + 1], ...; NULL: no memory. */
hwloc_bitmap_t helper_cpus(const unsigned int *numbers, unsigned int count);

/* OUTCOME_BROKEN: what went wrong, and the last lines of the program's log. -ECANCELED. */
int helper_say_log(struct task *task, const char *log, const char *what);

#endif
