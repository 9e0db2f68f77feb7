/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index over run folders: an SQLite file that finds runs by machine, kernel,
 * series, stressor, parameters and date, and keeps each run's medians for trends.
 * The folders are the truth; the index holds nothing that they do not, and may be
 * removed or made anew at any time.
 *
 * Any number of processes may read and write one index at once (write-ahead log,
 * one short transaction a run, others wait). A process that is killed leaves the
 * index as it was before the run it was adding.
 *
 * Without SQLite (lib/features.h) opening it says what to install.
 */
#ifndef SHOOTDOWN_STORE_H
#define SHOOTDOWN_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/log.h"
#include "checksums.h"

struct store;

/* One run as the index has it; strings live as long as the callback that shows it. */
struct store_run {
	const char *id, *folder;
	int64_t started_ns;  /* real time of its first repetition; 0: none was finished */
	const char *machine; /* see store_machine() */
	const char *arch, *kernel, *kernel_version;
	const char *series;    /* of the lab's A/B; NULL: none */
	const char *arm;       /* NULL: none */
	const char *stressors; /* "pageout, null" */
	const char *outcome;   /* of the whole run; "unfinished" without its end line */
	const char *failure;   /* of the lab's boot; NULL: none */
	int64_t cpus, page_bytes;
	int64_t boot; /* 0: none */
	int64_t sample_count;
	bool verified; /* it had checksums, and they were right */
};

/* What runs are wanted. NULL or 0: any. Names are exact, or patterns with * and ?. */
struct store_filter {
	const char *machine, *kernel, *series, *arm, *stressor;
	const char *const *parameters; /* NAME=VALUE as recorded; NULL at the end */
	int64_t since_ns, until_ns;    /* real time, until is exclusive */
	unsigned int limit;	       /* the newest so many */
};

/* The median of one metric over the passed repetitions of one point of a run. */
struct store_value {
	const char *run; /* id */
	const char *machine, *arch, *arm, *kernel;
	const char *stressor, *parameters; /* JSON object with sorted names */
	const char *unit, *better;	   /* better NULL: no plan says */
	int64_t stressor_version, cpus, page_bytes;
	int64_t started_ns;
	int64_t n; /* repetitions */
	double median;
};

enum store_added {
	STORE_NEW,
	STORE_CHANGED, /* its row was there and is replaced */
	STORE_KNOWN,   /* nothing to do; the files were not read again */
};

/* $XDG_DATA_HOME/shootdown/NAME, a fresh string; NULL: no memory, or no home. */
char *store_path(const char *name);

/*
 * Opens the index, making it and its folder when they are not there. path NULL:
 * store_path("index.db"). Negative errno, said: -EOPNOTSUPP without SQLite, -EBADMSG
 * for what is no index or is damaged, -EINVAL for one of a newer program.
 */
int store_open(const char *path, struct log *log, struct store **store);
/* The same for an index that is damaged: it is put aside as PATH.damaged. */
int store_open_anew(const char *path, struct log *log, struct store **store);
void store_close(struct store *store); /* NULL is fine */

/* Reads, verifies and adds the run in this folder. Errors as run_load(), said. */
int store_add(struct store *store, const char *folder, enum store_added *added);

/* Remembers a folder that "db rebuild" looks through. */
int store_add_root(struct store *store, const char *folder);
/* The remembered ones, NULL at the end; free with store_free_list(). */
int store_roots(struct store *store, char ***roots);
void store_free_list(char **list);

/* Shows the runs, newest first, until take returns non-zero, which is returned. */
int store_select(struct store *store, const struct store_filter *filter,
		 int (*take)(void *context, const struct store_run *run), void *context);

/*
 * The run of this id or beginning of one (four digits at least): its id and folder.
 * -ENOENT, -EEXIST when several begin so, said. folder may be NULL.
 */
int store_find(struct store *store, const char *id, char full[RUN_ID_LENGTH + 1], char **folder);

/* Takes the run's rows out; -ENOENT when there is none. */
int store_remove(struct store *store, const char *id);

/* Drops the rows whose folder is gone; the number of them, or a negative errno. */
int store_gc(struct store *store);

/*
 * Makes all rows anew from the runs in folders (NULL at the end) in one step: until
 * then the old rows are there, and they stay when it fails. *damaged counts runs that
 * could not be read and were left out, each said. The number of runs, or a negative errno.
 */
int store_rebuild(struct store *store, const char *const *folders, unsigned int *damaged);

/* Shows values of a metric of runs whose boot did not fail, oldest first; as store_select(). */
int store_values(struct store *store, const struct store_filter *filter, const char *metric,
		 int (*take)(void *context, const struct store_value *value), void *context);

/* An id rather than the name of a folder? Four to RUN_ID_LENGTH hexadecimal digits. */
bool store_looks_like_id(const char *text);

/*
 * What compare and export take: a folder as it is, or the id of a run in the index
 * (path NULL: the default one). A fresh string. A folder of that name comes first.
 */
int store_resolve(const char *path, const char *folder_or_id, struct log *log, char **folder);

/*
 * "2026-11-30", "2026-11-30 22:00" (local time) or an age such as "7d", "12h" before
 * now, in nanoseconds since 1970. -EINVAL when it is none.
 */
int store_parse_time(const char *text, int64_t now_ns, int64_t *time_ns);

/*
 * The machine's name for selecting: "host" of machine.json, else its CPU model, else the
 * architecture; "NAME (ACCEL)" for a guest. A fresh string, NULL: no memory.
 */
char *store_machine(const json_t *machine);

#endif
