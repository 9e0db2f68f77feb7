/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of a stressor: one cause of TLB shootdowns, as one const struct
 * at the end of its file.
 *
 * The harness makes the processes. In each repetition of a point:
 *
 *   supervisor   environment from `environment` rows, sources opened
 *   neighbours   forked, pinned one to each CPU but the control CPU and those that
 *                the target's own threads run on (own_cpus)
 *   target       forked: enter the cgroup, setup(); then it blocks and does
 *                nothing, so that its mm_cpumask stays as setup() left it
 *   driver       forked: pinned to the control CPU; arm() before the window
 *   ---- sources start ---- window: run() ---- sources stop ----
 *   target       verify(), teardown()
 *
 * run() is called in the driver, or in the target when run_in_target says so:
 * then target and window share one mm. Neither allocates, logs, opens files or
 * touches new memory in run(); all that is made ready in setup() or arm().
 *
 * Callbacks return 0, or a negative errno after task_say() has said why.
 */
#ifndef SHOOTDOWN_STRESSOR_H
#define SHOOTDOWN_STRESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../lib/options.h"
#include "../lib/spin.h"
#include "../lib/status.h"

/* What a stressor wants of the machine, as data; harness/needs.c checks it. */
enum need_kind {
	NEED_END,
	NEED_ROOT,
	NEED_CPUS,	     /* at least `number` usable CPUs */
	NEED_FILE,	     /* `path` exists; `words` say what it is */
	NEED_CGROUP_RECLAIM, /* cgroup v2 with the memory controller and memory.reclaim */
	NEED_ZRAM,	     /* zram devices can be added */
	NEED_MEMORY,	     /* free memory for the point, see memory_bytes() */
	NEED_NODES,	     /* two NUMA nodes with room, see placement.h */
	NEED_PROGRAM,	     /* `path` is a program in PATH; `words` say what has it */
	NEED_DEMOTION,	     /* a kernel that demotes, and a lower memory tier with room */
};

struct need {
	enum need_kind kind;
	unsigned int number;
	const char *path, *words;
	/* only when option `option` has the value `value`; NULL: always */
	const char *option, *value;
};

/* Changes to the machine, made by harness/environment.c and undone by its journal. */
enum environment_kind {
	ENVIRONMENT_END,
	ENVIRONMENT_ZRAM_SWAP, /* options zram-size, zram-algorithm */
	ENVIRONMENT_CGROUP,    /* a cgroup v2 of the point's own; the target enters it. It has the
				* memory controller, and that which `text` names, where the
				* machine has it */
	ENVIRONMENT_FOLDER, /* task->folder, in memory where there is a tmpfs; the undo removes it
			     */
	ENVIRONMENT_KNOB,   /* `text` written to `path`, unless it reads so; a kernel without that
			     * file is left. Who may not write it has an unmet need. */
};

struct environment_row {
	enum environment_kind kind;
	const char *option, *value; /* as in struct need */
	const char *path, *text;    /* ENVIRONMENT_KNOB; ENVIRONMENT_CGROUP: text */
};

struct metric_row {
	const char *name; /* NULL ends the table */
	const char *unit;
	const char *better; /* "less", "more" or "same"; "fixed": a run with another value did other
			       work, and is not compared */
	const char *help;
};

/* What the kernel's rules imply, for the numbers that can be known. */
struct prediction {
	const char *metric; /* NULL ends the list */
	double value;
};
#define PREDICTION_MAX 8

/* One point of a plan: a stressor and its parameters on a set of CPUs. */
struct point {
	const struct stressor *stressor;
	const struct option_values *parameters;
	const unsigned int *cpus; /* by number, ascending; [0] is the control CPU */
	unsigned int cpu_count;
	size_t page_bytes;
	uint64_t seed; /* of this repetition */
	bool emulated; /* its CPUs are an emulator's: they take turns as it pleases */
};

struct shared;

/* One worker's view. Everything in it is ready before setup(). */
struct task {
	const struct point *point;
	pid_t target;	       /* known in the driver */
	int cgroup_folder;     /* descriptor of the point's cgroup, -1 when it has none */
	const char *folder;    /* the point's own (ENVIRONMENT_FOLDER), NULL when it has none */
	struct shared *shared; /* memory common to the supervisor and all workers */
	void *common; /* common_bytes of the stressor's own, zeroed, shared by all workers */
	void *state;  /* the stressor's own, in this process */
};

struct stressor {
	const char *name;
	unsigned int version;	 /* raise when its meaning changes: results stop being comparable */
	const char *summary;	 /* one line */
	const char *description; /* paragraphs for the man page */
	const char *example;	 /* arguments of "shootdown run" that work anywhere it can */
	const struct need *needs;
	const struct environment_row *environment;
	const struct option_row *options;
	const struct metric_row *metrics; /* those it reports itself with task_report() */
	const char *primary;		  /* the metric a reader looks at first */

	bool (*run_in_target)(const struct point *point); /* NULL: never */
	bool (*neighbours)(const struct point *point);	  /* NULL: one on every other CPU */
	/* how many CPUs after the control CPU the target's threads have to themselves; NULL: 0.
	 * setup() skips a point that has fewer. */
	unsigned int (*own_cpus)(const struct point *point);
	size_t common_bytes;				     /* of task->common */
	uint64_t (*memory_bytes)(const struct point *point); /* peak need; NULL: little */
	unsigned int (*predict)(const struct point *point,
				struct prediction *list); /* count, <= PREDICTION_MAX */

	int (*setup)(struct task *task); /* target */
	int (*arm)(struct task *task);	 /* where run() will be; may be NULL */
	int (*run)(struct task *task);
	int (*verify)(struct task *task);    /* target; may be NULL */
	void (*teardown)(struct task *task); /* target; may be NULL */
};

/* For run_in_target and neighbours, where nothing depends on the point. */
static inline bool point_always(const struct point *point)
{
	(void)point;
	return true;
}

static inline bool point_never(const struct point *point)
{
	(void)point;
	return false;
}

/* Reports one number; name is in the stressor's metrics. From any worker, outside the window. */
void task_report(struct task *task, const char *metric, double value);

/* Says what became of this repetition, with the reason; the first call of the
 * worst outcome stands. Returns -ECANCELED, to be returned by the caller. */
__attribute__((format(printf, 3, 4))) int task_say(struct task *task, enum outcome outcome,
						   const char *format, ...);

/* Says what it means that one of a worker's own processes ended although nobody asked it to:
 * its wait status is judged as that of a worker. Returns -ECANCELED. */
int task_say_end(struct task *task, const char *who, int status);

/* Pins the calling thread to one CPU. 0 or a negative errno. */
int task_pin(unsigned int cpu);

/* Options by name, of the task's point. */
uint64_t task_uint(const struct task *task, const char *option);
const char *task_string(const struct task *task, const char *option);

/* registry.c: all stressors, NULL at the end; and one by name, NULL when there is none. */
extern const struct stressor *const all_stressors[];
const struct stressor *stressor_find(const char *name);

#endif
