/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages and progress for people: what a function cannot say with an errno.
 *
 * Everything goes to one stream (standard error in the command). On a terminal
 * the progress is one line that is rewritten; elsewhere it is a plain line at
 * each change of phase and at most one every ten seconds. Not thread-safe; a
 * forked worker must not use its parent's log (it reports through its task).
 */
#ifndef SHOOTDOWN_LOG_H
#define SHOOTDOWN_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

struct log {
	FILE *stream;	      /* borrowed */
	enum log_level level; /* the most talkative level that is shown */
	bool terminal;	      /* rewrite the progress line */
	/* private to log.c */
	char phase[96];
	char detail[64];
	uint64_t phase_started_ns;
	uint64_t shown_ns;
	bool line_open;
};

/* Sets *log up to write to stream (borrowed, must outlive the log). */
void log_open(struct log *log, FILE *stream, enum log_level level);

/* Prints "shootdown: MESSAGE" with "error: " or "warning: " in front where due. */
__attribute__((format(printf, 3, 4))) void log_print(struct log *log, enum log_level level,
						     const char *format, ...);

#define log_error(log, ...) log_print(log, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(log, ...)  log_print(log, LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(log, ...)  log_print(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_print(log, LOG_LEVEL_DEBUG, __VA_ARGS__)

/*
 * Shows that done of total steps of a phase are over, with an estimate of what
 * is left once there is something to base it on. total 0: length unknown.
 * A new phase name starts a new clock.
 */
void log_progress(struct log *log, const char *phase, uint64_t done, uint64_t total);

/* What follows the next progress lines of this phase, such as the last value; no clock starts. */
__attribute__((format(printf, 2, 3))) void log_progress_detail(struct log *log, const char *format,
							       ...);

/* Ends the progress line, so that what follows starts on a line of its own. */
void log_progress_end(struct log *log);

#endif
