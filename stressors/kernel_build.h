/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loads of kernel-build: make (kernel_build_make.c) in a kernel's tree
 * (kernel_build_tree.c), and jobs of shootdown's own that stand for it where there is no
 * compiler (kernel_build_jobs.c).
 */
#ifndef SHOOTDOWN_KERNEL_BUILD_H
#define SHOOTDOWN_KERNEL_BUILD_H

#include <stdatomic.h>
#include <sys/resource.h>

#include "helper.h"
#include "stressor.h"

/* What the target and the processes that it starts share. */
struct build_common {
	_Atomic uint64_t jobs_done; /* load=jobs */
};

struct build {
	const struct build_load *load;
	hwloc_bitmap_t cpus;
	unsigned int parallel; /* -j */
	int gate[2];	       /* what is started waits until [1] is closed */
	pid_t *pids;	       /* `started` of them, waited for in the window */
	unsigned int started;
	int status;		     /* the first that is not 0, of waitpid() */
	struct rusage before, after; /* of children that were waited for */
	uint64_t elapsed_ns;
	/* load=kernel */
	char *tree, *log;
	int lock; /* -1: none is needed */
	unsigned long source_version, objects_before;
	/* load=jobs */
	char *program;
	uint64_t job_bytes, job_count;
};

struct build_load {
	const char *name; /* of option load; NULL ends the table */
	/* makes all ready and starts what waits at the gate */
	int (*setup)(struct task *task, struct build *build);
	/* what went wrong with a status; the effect; metrics of its own */
	int (*verify)(struct task *task, struct build *build);
};

/* The kernel's version that the tree's Makefile tells: 7003004 is 7.3.4; 0: none. */
unsigned long build_source_version(const char *tree);

/*
 * The newest of the trees in the lab's cache, always the same; the caller frees. -ENOTUNIQ:
 * there is another of another version, *tree is set all the same. -ENOENT: there is none.
 */
int build_newest_tree(const char *cache, char **tree);

/* Finds what options say, and keeps the lab from it; or says why not. */
int build_find_tree(struct task *task, struct build *build);

int build_make_setup(struct task *task, struct build *build);
int build_make_verify(struct task *task, struct build *build);
int build_jobs_setup(struct task *task, struct build *build);
int build_jobs_verify(struct task *task, struct build *build);

#endif
