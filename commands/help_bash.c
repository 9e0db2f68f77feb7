// SPDX-License-Identifier: GPL-2.0-only
/* The bash completion, from the tables of commands and stressors. */
#include "commands.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/data.h"
#include "../stressors/stressor.h"

static void print_options(FILE *out, const struct option_row *rows)
{
	for (; rows && rows->name; rows++)
		fprintf(out, " --%s", rows->name);
}

/* The bundled series: folders that hold a file arms. */
static void print_series(FILE *out)
{
	char *pattern = data_path(DATA_PATCHES, "*/*/arms");
	glob_t found;

	if (!pattern || glob(pattern, 0, NULL, &found))
		goto free_pattern;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *name = found.gl_pathv[i];

		*strrchr(name, '/') = '\0';
		fprintf(out, " %s", strrchr(name, '/') + 1);
	}
	globfree(&found);
free_pattern:
	free(pattern);
}

/* Which commands take stressors or a series as arguments is what their usage says. */
static void print_words(FILE *out, const struct command *row)
{
	for (const struct command *sub = row->commands; sub && sub->name; sub++)
		fprintf(out, " %s", sub->name);
	print_options(out, row->options);
	if (strstr(row->usage, "SERIES"))
		print_series(out);
	if (strstr(row->usage, "STRESSOR..."))
		fputs(" all", out);
	if (!strstr(row->usage, "STRESSOR"))
		return;
	for (unsigned int i = 0; all_stressors[i]; i++)
		fprintf(out, " %s", all_stressors[i]->name);
}

/* key: what a value is completed for; "|" between several. */
static void print_choices(FILE *out, const char *key, const struct option_row *row)
{
	if (row->type != OPTION_CHOICE)
		return;
	fprintf(out, "\t%s) words=\"", key);
	for (const char *const *choice = row->choices; *choice; choice++)
		fprintf(out, "%s%s", choice == row->choices ? "" : " ", *choice);
	fputs("\" ;;\n", out);
}

static void print_option_choices(FILE *out, const char *command, const struct option_row *rows)
{
	char key[128];

	for (; rows && rows->name; rows++) {
		snprintf(key, sizeof(key), "%s:--%s|%s:--%s=", command, rows->name, command,
			 rows->name);
		print_choices(out, key, rows);
	}
}

/* What --set takes, when the stressor is on the command line. */
static void print_settings(FILE *out, const struct stressor *stressor)
{
	char key[128];

	fprintf(out,
		"\tif [[ \" ${COMP_WORDS[*]} \" =~ \\ (%s|all)\\  ]]; then case $key in\n"
		"\t--set) compopt -o nospace 2> /dev/null; words+=\"",
		stressor->name);
	for (const struct option_row *row = stressor->options; row->name; row++)
		fprintf(out, " %s=", row->name);
	fputs("\" ;;\n", out);
	for (const struct option_row *row = stressor->options; row->name; row++) {
		snprintf(key, sizeof(key), "%s=", row->name);
		print_choices(out, key, row);
	}
	fputs("\tesac; fi\n", out);
}

static void print_command_words(FILE *out)
{
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
}

/* bash takes "OPTION=VALUE" apart at its '='; the key then ends in one. */
void help_bash(FILE *out)
{
	fputs("# bash completion for shootdown, made from its tables\n"
	      "_shootdown()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} key=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} words=\"\"\n"
	      "\tif [[ $key == = ]]; then key=${COMP_WORDS[COMP_CWORD-2]}=\n"
	      "\telif [[ $current == = ]]; then key+== current=\"\"; fi\n"
	      "\tcase $COMP_CWORD:$command in\n"
	      "\t1:*) words=\"",
	      out);
	for (const struct command *row = commands; row->name; row++)
		fprintf(out, "%s%s", row == commands ? "" : " ", row->name);
	fputs("\" ;;\n", out);
	print_command_words(out);
	fputs("\tesac\n\tcase $command:$key in\n\t*:--set|*=) words=\"\" ;;&\n", out);
	for (const struct command *row = commands; row->name; row++) {
		print_option_choices(out, row->name, row->options);
		for (const struct command *sub = row->commands; sub && sub->name; sub++)
			print_option_choices(out, row->name, sub->options);
	}
	fputs("\tesac\n", out);
	for (unsigned int i = 0; all_stressors[i]; i++)
		print_settings(out, all_stressors[i]);
	fputs("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\" | sort -u)\n"
	      "}\n"
	      "complete -o default -F _shootdown shootdown\n",
	      out);
}
