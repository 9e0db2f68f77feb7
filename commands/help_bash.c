// SPDX-License-Identifier: GPL-2.0-only
/* The bash completion, from the tables of commands and stressors. */
#include "commands.h"

#include <string.h>

#include "../stressors/stressor.h"

static void print_options(FILE *out, const struct option_row *rows)
{
	for (; rows && rows->name; rows++)
		fprintf(out, " --%s", rows->name);
}

/* Which commands take stressors (or a series) as arguments is what their usage says. */
static void print_words(FILE *out, const struct command *row)
{
	for (const struct command *sub = row->commands; sub && sub->name; sub++)
		fprintf(out, " %s", sub->name);
	print_options(out, row->options);
	if (!strstr(row->usage, "STRESSOR"))
		return;
	for (unsigned int i = 0; all_stressors[i]; i++)
		fprintf(out, " %s", all_stressors[i]->name);
}

static void print_choices(FILE *out, const struct option_row *rows)
{
	for (; rows && rows->name; rows++) {
		if (rows->type != OPTION_CHOICE)
			continue;
		fprintf(out, "\t--%s) words=\"", rows->name);
		for (const char *const *choice = rows->choices; *choice; choice++)
			fprintf(out, "%s%s", choice == rows->choices ? "" : " ", *choice);
		fputs("\" ;;\n", out);
	}
}

void help_bash(FILE *out)
{
	fputs("# bash completion for shootdown, made from its tables\n"
	      "_shootdown()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} words=\"\"\n"
	      "\tcase $COMP_CWORD:$command in\n"
	      "\t1:*) words=\"",
	      out);
	for (const struct command *row = commands; row->name; row++)
		fprintf(out, "%s%s", row == commands ? "" : " ", row->name);
	fputs("\" ;;\n", out);
	for (const struct command *row = commands; row->name; row++) {
		for (const struct command *sub = row->commands; sub && sub->name; sub++) {
			fprintf(out,
				"\t[3-9]*:%s|[1-9][0-9]*:%s) [[ ${COMP_WORDS[2]} == %s ]] && words=\"",
				row->name, row->name, sub->name);
			print_words(out, sub);
			fputs("\" ;;&\n", out);
		}
		fprintf(out, "\t%s:%s) words=\"", row->commands ? "2" : "*", row->name);
		print_words(out, row);
		fputs("\" ;;\n", out);
	}
	fputs("\tesac\n\tcase $previous in\n", out);
	for (const struct command *row = commands; row->name; row++) {
		print_choices(out, row->options);
		for (const struct command *sub = row->commands; sub && sub->name; sub++)
			print_choices(out, sub->options);
	}
	fputs("\tesac\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
	      "}\n"
	      "complete -o default -F _shootdown shootdown\n",
	      out);
}
