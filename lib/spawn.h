/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs other programs: no shell, output captured or sent to a log file, a time
 * limit, and an end for the whole process group on Ctrl-C.
 */
#ifndef SHOOTDOWN_SPAWN_H
#define SHOOTDOWN_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct spawn {
	const char *const *argv;	/* NULL at the end; argv[0] is looked up in PATH */
	const char *folder;		/* working folder, or NULL */
	const char *const *environment; /* as of spawn_set_environment() */
	const char *output_path; /* both streams appended to this file; or NULL: see output */
	char **output; /* standard output as text (caller frees); NULL with output_path NULL:
			  discarded */
	const char *input_path; /* standard input from this file; NULL: /dev/null */
	unsigned int timeout_s; /* 0: none */
	/* called about once a second while the program runs; may be NULL; non-zero ends the program
	 */
	int (*tick)(void *context);
	void *tick_context;
};

/*
 * Runs to the end. Returns the exit status (0..255), 128 + N for signal N,
 * -ENOENT when there is no such program, -ETIMEDOUT, -EINTR when
 * spawn_interrupted() became true or tick() asked for the end, or another
 * negative errno.
 */
int spawn_run(const struct spawn *spawn);

/*
 * Changes this process's environment: NAME=VALUE (borrowed) is set, NAME is taken out, and NAME*
 * are all that begin with NAME. NULL at the end; rows may be NULL. For a child before it becomes a
 * program.
 */
void spawn_set_environment(const char *const *rows);

/* Is there an executable of this name in PATH? *path (caller frees) may be NULL. */
bool spawn_find(const char *program, char **path);

/* The flag that signal handlers set; everything that waits looks at it. */
extern volatile int spawn_stop_signal;
static inline bool spawn_interrupted(void)
{
	return spawn_stop_signal != 0;
}

/* Installs handlers for SIGINT, SIGTERM and SIGHUP that set spawn_stop_signal. */
void spawn_catch_signals(void);

/* The last lines of a log file, as text (caller frees), NULL when unreadable. */
char *spawn_log_tail(const char *path, unsigned int lines);

#endif
