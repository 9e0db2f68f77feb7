// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown help": help from the tables. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text.h"
#include "../stressors/stressor.h"

static const char *const formats[] = { "text", "man", "bash", NULL };

const struct option_row help_options[] = {
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = formats,
	  .metavar = "FORMAT",
	  .help = "text, the man page, or the bash completion" },
	{ NULL },
};

static void print_wrapped(const char *text, FILE *out)
{
	text_wrap(out, text, 0, 0, TEXT_PROSE_COLUMNS);
}

static void print_exits(FILE *out)
{
	fputs("\nExit status: 0 done, 1 the kernel or a verification failed, 2 usage, 3 broken\n"
	      "set-up, 77 everything was skipped, 128 + N stopped by signal N.\n",
	      out);
}

static void print_all(FILE *out)
{
	fputs("shootdown causes TLB shootdowns on purpose, counts them, and compares kernels.\n\n"
	      "Usage: shootdown COMMAND [ARGUMENT]...\n\n",
	      out);
	for (const struct command *row = commands; row->name; row++) {
		fprintf(out, "  %-12s %s\n", row->name, row->summary);
		for (const struct command *sub = row->commands; sub && sub->name; sub++)
			fprintf(out, "    %s %-8s %s\n", row->name, sub->name, sub->summary);
	}
	fputs("\n\"shootdown help COMMAND\" or \"shootdown help STRESSOR\" says more.\n", out);
	print_exits(out);
}

void command_help(const struct command *command, const char *what, FILE *out)
{
	fprintf(out, "Usage: %s %s %s\n\n", what, command->name, command->usage);
	print_wrapped(command->description ? command->description : command->summary, out);
	for (const struct command *sub = command->commands; sub && sub->name; sub++)
		fprintf(out, "  %-10s %s\n", sub->name, sub->summary);
	if (command->options && command->options->name) {
		fputs("\nOptions:\n", out);
		options_help(out, command->options, "--");
	}
	if (command->example)
		fprintf(out, "\nExample:\n  %s %s %s\n", what, command->name, command->example);
	print_exits(out);
}

bool stressor_help(const char *name, FILE *out)
{
	const struct stressor *stressor = stressor_find(name);
	char help[1024];

	if (!stressor)
		return false;
	fprintf(out, "Stressor %s: %s\n\n", stressor->name, stressor->summary);
	print_wrapped(stressor->description, out);
	fputs("\nOptions (--set NAME=VALUE):\n", out);
	options_help(out, stressor->options, "");
	fputs("\nMetrics of its own:\n", out);
	for (const struct metric_row *row = stressor->metrics; row->name; row++) {
		snprintf(help, sizeof(help), "%s (%s)", row->help, row->unit);
		text_row(out, row->name, help);
	}
	fprintf(out, "\nExample:\n  shootdown run %s\n", stressor->example);
	return true;
}

static const struct command *find(const struct command *table, const char *name)
{
	for (; table && table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static int help_about(const char *const *words, unsigned int count, FILE *out, struct log *log)
{
	const struct command *command = find(commands, words[0]), *sub;

	if (command && count > 1) {
		sub = find(command->commands, words[1]);
		if (sub) {
			char what[64];

			snprintf(what, sizeof(what), "shootdown %s", command->name);
			command_help(sub, what, out);
			return EXIT_DONE;
		}
	} else if (command) {
		command_help(command, "shootdown", out);
		return EXIT_DONE;
	} else if (stressor_help(words[0], out)) {
		return EXIT_DONE;
	}
	log_error(log,
		  "there is no help about \"%s\"; \"shootdown help\" lists the commands and "
		  "\"shootdown list\" the stressors",
		  words[count - 1]);
	return EXIT_USAGE;
}

int help_command(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	const char *format = option_string(values, "format");

	if (!strcmp(format, "man"))
		help_man(out);
	else if (!strcmp(format, "bash"))
		help_bash(out);
	else if (argument_count)
		return help_about(arguments, argument_count, out, log);
	else
		print_all(out);
	return EXIT_DONE;
}
