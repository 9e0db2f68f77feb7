/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report: what a page says of a comparison, in its order. Made here, laid out
 * by render_html.c, which computes nothing.
 */
#ifndef SHOOTDOWN_REPORT_H
#define SHOOTDOWN_REPORT_H

#include "plots.h"
#include "table.h"

/* How a row of a table is coloured. */
enum report_tone {
	TONE_NONE,
	TONE_BETTER,
	TONE_WORSE,
	TONE_OPEN, /* not decided */
};

struct report_section {
	char *heading;
	char *text; /* a paragraph; may be NULL */
	struct table *table;
	enum report_tone *tones; /* one a row; NULL: none */
	char *listing;		 /* preformatted text; may be NULL */
	struct plot_list plots;
	bool folded;
};

struct report {
	char *title;
	char *lead;  /* one sentence: what was compared, on what */
	char **arms; /* for the legend */
	size_t arm_count;
	bool predicted; /* some figure has a prediction */
	struct report_section *sections;
	size_t section_count;
	char *data; /* JSON text: the comparison and all that was read */
	char *file; /* the name that a download of data gets */
};

/* render_formats (table.h), "html" and "cover-letter"; NULL at the end. */
extern const char *const report_formats[];

/* report_print.c: the comparison in one of report_formats, to the file at path, or to out when
 * path is NULL. all: see comparison_render(). Negative errno, said. */
int report_print(const struct comparison *comparison, const char *format, bool all,
		 const char *path, struct log *log, FILE *out);

/* All that is to be said. Negative errno, said. */
int report_make(const struct comparison *comparison, struct log *log, struct report **report);
void report_free(struct report *report);

/* report_command.c: the command that makes the same records again, lines ending in " \". NULL: no
 * memory. */
char *report_command(const struct comparison *comparison, const struct report_runs *runs);

/* report_tables.c */

/* "pages=256": what the stressor's points differ in, with the stressor before it when there are
 * several; all: the stressor and every parameter. */
char *report_point_name(const struct comparison *comparison, size_t point, bool all);
/* "pageout contents=incompressible": the parameters that the stressor's points have in common. */
char *report_point_common(const struct comparison *comparison, size_t point);
/* One row a point, primary metric and arm; *tones has one a row. NULL: no memory. */
struct table *report_verdicts(const struct comparison *comparison, enum report_tone **tones);
/* What was measured where: one row a run. NULL: no memory. */
struct table *report_machines(const struct comparison *comparison, const struct report_runs *runs);

/* render_html.c: one self-contained page. 0 or -EIO. Without gnuplot it has no figures. */
int render_html(const struct report *report, struct log *log, FILE *out);

/* report_cover.c: the comparison as the table model of a cover letter. all: every metric. NULL: no
 * memory. */
struct table *cover_table(const struct comparison *comparison, bool all);
/* render_cover.c: plain ASCII within 72 columns. 0 or a negative errno. */
int render_cover(const struct table *table, FILE *out);

#endif
