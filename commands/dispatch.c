// SPDX-License-Identifier: GPL-2.0-only
/* From the words of the command line to a row of a command table. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/names.h"

static const struct command *find(const struct command *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static int say_unknown(const struct command *table, const char *what, const char *name,
		       struct log *log)
{
	const char **names = names_of_rows(table, sizeof(*table));

	say_unknown_name(log, name, names, "\"shootdown help\" lists them",
			 "%s has no command \"%s\"", what, name);
	free(names);
	return EXIT_USAGE;
}

static bool asks_for_help(int argc, char *const *argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

/* "run pageout --help" is about pageout. */
static bool help_about_argument(const struct command *command, int argc, char *const *argv,
				FILE *out)
{
	for (int i = 0; command->help && i < argc && strcmp(argv[i], "--"); i++)
		if (command->help(argv[i], out))
			return true;
	return false;
}

static int run_row(const struct command *command, const char *what, int argc, char *const *argv,
		   FILE *out, struct log *log)
{
	struct option_values *values = options_new(command->options);
	const char **rest;
	unsigned int count;
	int code;

	if (!values)
		return EXIT_BROKEN;
	if (options_parse(values, what, argc, argv, &rest, &count, log)) {
		options_free(values);
		return EXIT_USAGE;
	}
	code = command->run(values, rest, count, out, log);
	free(rest);
	options_free(values);
	return code;
}

int commands_dispatch(const struct command *table, const char *what, int argc, char *const *argv,
		      FILE *out, struct log *log)
{
	const struct command *command;
	char name[64];

	command = argc ? find(table, argv[0]) : NULL;
	if (argc && !command)
		return say_unknown(table, what, argv[0], log);
	if (!command) {
		log_error(log, "%s: name a command; \"shootdown help\" lists them", what);
		return EXIT_USAGE;
	}
	snprintf(name, sizeof(name), "%s %s", what, command->name);
	if (asks_for_help(argc - 1, argv + 1) && (!command->commands || argv[1][0] == '-')) {
		if (!help_about_argument(command, argc - 1, argv + 1, out))
			command_help(command, what, out);
		return EXIT_DONE;
	}
	if (command->commands)
		return commands_dispatch(command->commands, name, argc - 1, argv + 1, out, log);
	return run_row(command, name, argc - 1, argv + 1, out, log);
}
