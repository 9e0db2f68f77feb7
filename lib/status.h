/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of a value and of a run, and the exit codes. One owner for the words. */
#ifndef SHOOTDOWN_STATUS_H
#define SHOOTDOWN_STATUS_H

#include <stdbool.h>

/* Status of one value. Zero is a value; absence is not zero. */
enum value_status {
	VALUE_OK,
	VALUE_SHARED,	     /* a value, of all points that ran at once (--interleave) */
	VALUE_MULTIPLEXED,   /* a value, scaled up from the time the event was counted */
	VALUE_UNSUPPORTED,   /* this kernel, machine or build cannot have it */
	VALUE_NOT_PERMITTED, /* it could, with more rights */
	VALUE_FAILED,	     /* reading it went wrong */
};
#define VALUE_STATUS_COUNT (VALUE_FAILED + 1)

/* Outcome of one repetition of a point. */
enum outcome {
	OUTCOME_PASS,
	OUTCOME_FAIL,	     /* the kernel or the verification is wrong */
	OUTCOME_SKIP,	     /* a need is unmet */
	OUTCOME_BROKEN,	     /* set-up failed, or the stressor did not have its effect */
	OUTCOME_INTERRUPTED, /* stopped from outside before its end */
};
#define OUTCOME_COUNT (OUTCOME_INTERRUPTED + 1)

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* the kernel or a verification failed */
	EXIT_USAGE = 2,
	EXIT_BROKEN = 3,   /* broken set-up */
	EXIT_SKIPPED = 77, /* everything was skipped */
};

/* "ok", "multiplexed", "unsupported", "not-permitted", "failed" */
const char *value_status_name(enum value_status status);
/* Does a value of this status have a number? */
bool value_status_has_value(enum value_status status);
/* The reverse; -1 for an unknown word. */
int value_status_parse(const char *name);

/* "pass", "fail", "skip", "broken", "interrupted" */
const char *outcome_name(enum outcome outcome);
int outcome_parse(const char *name);

#endif
