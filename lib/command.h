/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command (or a command of "shootdown lab") as one table row: its help, its
 * place in the man page and its completion derive from it.
 */
#ifndef SHOOTDOWN_COMMAND_H
#define SHOOTDOWN_COMMAND_H

#include <stdio.h>

#include "log.h"
#include "options.h"
#include "status.h"

struct command {
	const char *name;	 /* NULL ends a table */
	const char *usage;	 /* what follows the name: "STRESSOR...|all [OPTION]..." */
	const char *summary;	 /* one line */
	const char *description; /* paragraphs for the man page, apart by empty lines */
	const char *example;	 /* what follows "shootdown NAME" in a call that runs */
	const struct option_row *options;
	const struct command *commands; /* of a command that has its own, such as lab */
	/* Help about an argument, such as a stressor's name; false: there is none. May be NULL. */
	bool (*help)(const char *argument, FILE *out);
	/* Results go to out, messages to log; returns an exit code (lib/status.h). NULL with
	 * commands. */
	int (*run)(const struct option_values *values, const char *const *arguments,
		   unsigned int argument_count, FILE *out, struct log *log);
};

#endif
