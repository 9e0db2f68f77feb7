// SPDX-License-Identifier: GPL-2.0-only
/* The man page, from the tables of commands, stressors and sources. */
#include "config.h"

#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "../harness/needs.h"
#include "../harness/samples.h"
#include "../harness/sources/source.h"
#include "../lib/quantity.h"
#include "../stressors/stressor.h"

/* Text with what roff would take for its own escaped; an empty line ends a paragraph. */
static void print_roff(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", out);
			text++;
			line_start = true;
			continue;
		}
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		line_start = *text == '\n';
	}
}

static void print_options(FILE *out, const struct option_row *rows, const char *prefix)
{
	char range[512];

	for (; rows && rows->name; rows++) {
		fputs(".TP\n.B ", out);
		print_roff(out, prefix);
		print_roff(out, rows->name);
		if (rows->type != OPTION_FLAG)
			fprintf(out, "\\fR%s\\fI%s\\fR", *prefix ? " " : "=",
				rows->metavar ? rows->metavar : "VALUE");
		fputc('\n', out);
		print_roff(out, rows->help);
		option_range(rows, range, sizeof(range));
		if (*range) {
			fputs("; ", out);
			print_roff(out, range);
		}
		if (rows->many)
			fputs("; may be repeated", out);
		if (rows->fallback && *rows->fallback) {
			fputs(" (default: ", out);
			print_roff(out, rows->fallback);
			fputc(')', out);
		}
		fputs(".\n", out);
	}
}

static void print_example(FILE *out, const char *call)
{
	fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", out);
	print_roff(out, call);
	fputs("\n.RE\n.fi\n", out);
}

static void print_command(FILE *out, const char *parent, const struct command *row)
{
	char call[512];

	fputs(".SS ", out);
	fprintf(out, "\"%s%s ", parent, row->name);
	print_roff(out, row->usage);
	fputs("\"\n", out);
	print_roff(out, row->description ? row->description : row->summary);
	fputc('\n', out);
	print_options(out, row->options, "--");
	if (row->example) {
		snprintf(call, sizeof(call), "shootdown %s%s %s", parent, row->name, row->example);
		print_example(out, call);
	}
}

static void print_commands(FILE *out)
{
	char parent[64];

	fputs(".SH COMMANDS\n", out);
	for (const struct command *row = commands; row->name; row++) {
		print_command(out, "", row);
		snprintf(parent, sizeof(parent), "%s ", row->name);
		for (const struct command *sub = row->commands; sub && sub->name; sub++)
			print_command(out, parent, sub);
	}
}

static void print_stressors(FILE *out)
{
	char needs[256], call[256];

	fputs(".SH STRESSORS\n", out);
	for (unsigned int i = 0; all_stressors[i]; i++) {
		const struct stressor *stressor = all_stressors[i];

		needs_describe(stressor, needs, sizeof(needs));
		fputs(".SS ", out);
		print_roff(out, stressor->name);
		fputc('\n', out);
		print_roff(out, stressor->summary);
		fputs(".\n.PP\n", out);
		print_roff(out, stressor->description);
		fprintf(out, "\n.PP\nNeeds: %s.\n", needs);
		print_options(out, stressor->options, "");
		for (const struct metric_row *row = stressor->metrics; row->name; row++) {
			fprintf(out, ".TP\nmetric \\fB%s\\fR (%s)\n", row->name, row->unit);
			print_roff(out, row->help);
			fputs(".\n", out);
		}
		snprintf(call, sizeof(call), "shootdown run %s", stressor->example);
		print_example(out, call);
	}
}

static void print_metrics(FILE *out, const struct source_metric *row)
{
	for (; row && row->name; row++) {
		fprintf(out, ".TP\n\\fB%s\\fR (%s)\n", row->name, row->unit);
		print_roff(out, row->help);
		fputs(".\n", out);
	}
}

static void print_counters(FILE *out)
{
	fputs(".SH COUNTERS\nWhat every run measures itself:\n", out);
	print_metrics(out, window_metrics);
	for (unsigned int i = 0; all_sources[i]; i++) {
		fputs(".SS ", out);
		print_roff(out, all_sources[i]->name);
		fputc('\n', out);
		print_roff(out, all_sources[i]->summary);
		fprintf(out, "%s.\n", all_sources[i]->by_default ? "; read in every run" : "");
		print_metrics(out, all_sources[i]->metrics);
	}
}

static void print_numbers(FILE *out)
{
	static const struct {
		const char *what, *words;
		enum quantity quantity;
	} rows[] = {
		{ "a count", "powers of 1,000", QUANTITY_COUNT },
		{ "a size", "powers of 1,024; bytes without a suffix", QUANTITY_BYTES },
		{ "a time", "seconds without a suffix", QUANTITY_TIME },
	};

	fputs(".SH NUMBERS\nWith a suffix a number may have a fraction (1.5G).\n", out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *suffixes = quantity_suffixes(rows[i].quantity);

		if (suffixes)
			fprintf(out, ".TP\n%s\n%s (%s)\n", rows[i].what, suffixes, rows[i].words);
		free(suffixes);
	}
}

static void print_tail(FILE *out)
{
	fputs(".SH EXIT STATUS\n"
	      ".TP\n0\ndone\n"
	      ".TP\n1\nthe kernel or a verification failed; of trend: something moved\n"
	      ".TP\n2\nusage\n"
	      ".TP\n3\nbroken set\\-up: nothing can be said about the kernel\n"
	      ".TP\n77\neverything was skipped\n"
	      ".TP\n128+N\nstopped by signal N, with the machine restored and the samples kept\n"
	      ".SH FILES\n"
	      ".TP\n/run/shootdown\nthe undo journals of root's runs, one file a run that lives or was "
	      "killed; $XDG_RUNTIME_DIR/shootdown for others\n"
	      ".TP\n$XDG_CACHE_HOME/shootdown\nkernel sources, build trees and images of the lab; it may "
	      "be removed at any time\n"
	      ".TP\n$XDG_DATA_HOME/shootdown/index.db\nthe index of runs; it may be removed, and made anew "
	      "from the folders with db rebuild\n"
	      ".TP\n$XDG_DATA_HOME/shootdown/runs\nruns that were imported from other machines\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\nSHOOTDOWN_PATCHES, SHOOTDOWN_REFERENCE\nfolders to take the bundled patches and the "
	      "published tables from\n",
	      out);
}

void help_man(FILE *out)
{
	fprintf(out, ".TH SHOOTDOWN 1 \"\" \"shootdown %s\" \"User Commands\"\n", PACKAGE_VERSION);
	fputs(".SH NAME\nshootdown \\- stress and benchmark TLB invalidation in the Linux kernel\n"
	      ".SH SYNOPSIS\n.B shootdown\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
	      ".SH DESCRIPTION\nshootdown causes TLB shootdowns in the ways that real kernels suffer "
	      "them, counts and times them, and compares two or more kernels. On the running kernel "
	      "\\fBrun\\fR measures; the \\fBlab\\fR builds the kernels of a patch series, boots each in "
	      "a guest and runs the same plan in all.\n",
	      out);
	print_commands(out);
	print_stressors(out);
	print_counters(out);
	print_numbers(out);
	print_tail(out);
}
