/* SPDX-License-Identifier: GPL-2.0-only */
/* What in a kernel's log is a failure, and its name. What a boot always prints is not. */
#ifndef SHOOTDOWN_CONSOLE_H
#define SHOOTDOWN_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#define CONSOLE_EXCERPT_LINES 12

struct console_finding {
	const char *name; /* static: "panic", "warning", "soft-lockup", ... */
	bool fatal;	  /* the guest does not go on after it */
	char *excerpt;	  /* the line and some after it; the caller frees */
};

/*
 * Looks for the first failure, and for a fatal one behind it (then fatal is set,
 * the name stays the first one's: a panic follows from what came before it).
 * 1: found; 0: none; -ENOMEM.
 */
int console_scan(const char *text, size_t length, struct console_finding *finding);

#endif
