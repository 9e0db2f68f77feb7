/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands do, one file each. The table of them is in shootdown.c;
 * those of the lab are in harness/lab.
 */
#ifndef SHOOTDOWN_COMMANDS_H
#define SHOOTDOWN_COMMANDS_H

#include "../lib/command.h"

/* shootdown.c: NULL name at the end. */
extern const struct command commands[];

#define COMMAND(name)                                                                              \
	extern const struct option_row name##_options[];                                           \
	int name##_command(const struct option_values *values, const char *const *arguments,       \
			   unsigned int argument_count, FILE *out, struct log *log)

COMMAND(check);
COMMAND(compare);
COMMAND(export);
COMMAND(help);
COMMAND(import);
COMMAND(list);
COMMAND(restore);
COMMAND(run);
COMMAND(trend);

/* db.c */
extern const struct command db_commands[];

/*
 * Finds and runs what argv (without the program's name) asks for. what is
 * "shootdown", or "shootdown lab" one level down. Returns an exit code.
 */
int commands_dispatch(const struct command *table, const char *what, int argc, char *const *argv,
		      FILE *out, struct log *log);

/* The help of one command: usage, summary, options, example. what: as above. */
/* Help about the stressor of this name; false: there is none. */
bool stressor_help(const char *name, FILE *out);
void command_help(const struct command *command, const char *what, FILE *out);

/* help_man.c, help_bash.c: the man page and the completion, from the tables. */
void help_man(FILE *out);
void help_bash(FILE *out);

#endif
