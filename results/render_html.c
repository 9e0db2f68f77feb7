// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one self-contained page. It lays out and escapes; nothing is
 * computed here. A page asks no network for anything, and its policy forbids it.
 */
#include <ctype.h>
#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "html_page.h"
#include "render_gnuplot.h"
#include "report.h"

/* Cells longer than that may be broken. */
#define LONG_CELL 36

/* Text for an element or an attribute. Control signs have no place in either. */
static void escape(const char *text, FILE *out)
{
	static const struct {
		char sign;
		const char *entity;
	} entities[] = {
		{ '&', "&amp;" },  { '<', "&lt;" },   { '>', "&gt;" },
		{ '"', "&quot;" }, { '\'', "&#39;" },
	};

	for (; *text; text++) {
		const char *entity = NULL;

		for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
			if (*text == entities[i].sign)
				entity = entities[i].entity;
		if (entity)
			fputs(entity, out);
		else if (iscntrl((unsigned char)*text) && *text != '\n' && *text != '\t')
			fputs("&#xfffd;", out);
		else
			fputc(*text, out);
	}
}

static void element(const char *name, const char *attributes, const char *text, FILE *out)
{
	fprintf(out, "<%s%s>", name, attributes);
	escape(text, out);
	fprintf(out, "</%s>", name);
}

/* Within a script element only "<" can end it or begin a comment, and JSON has another form for it.
 */
static void print_data(const char *json, FILE *out)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	}
}

static void print_base64(const unsigned char *bytes, size_t length, FILE *out)
{
	static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		unsigned long part = (unsigned long)bytes[i] << 16;

		part |= i + 1 < length ? (unsigned long)bytes[i + 1] << 8 : 0;
		part |= i + 2 < length ? bytes[i + 2] : 0;
		fputc(signs[part >> 18 & 63], out);
		fputc(signs[part >> 12 & 63], out);
		fputc(i + 1 < length ? signs[part >> 6 & 63] : '=', out);
		fputc(i + 2 < length ? signs[part & 63] : '=', out);
	}
}

/* No source is allowed but what the page holds, and of scripts only the one that is known. */
static void print_policy(FILE *out)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const unsigned char *)html_script, strlen(html_script));
	SHA256Final(digest, &context);
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
	      "script-src 'sha256-",
	      out);
	print_base64(digest, sizeof(digest), out);
	fputs("'\">\n", out);
}

static void print_head(const struct report *report, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	print_policy(out);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n", out);
	fputs("<link rel=\"icon\" href=\"data:,\">\n", out);
	element("title", "", report->title, out);
	fprintf(out, "\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", html_style);
	element("h1", "", report->title, out);
	fputc('\n', out);
	element("p", "", report->lead, out);
	fputs("\n</header>\n<main>\n", out);
}

static void print_cell(const char *name, const char *scope, const struct table_column *column,
		       const char *text, bool verdict, FILE *out)
{
	bool is_long = strlen(text) > LONG_CELL;

	fprintf(out, "<%s%s class=\"%s%s%s\">", name, scope,
		column->align == TABLE_RIGHT ? "number" : "", is_long ? " long" : "",
		verdict ? " verdict" : "");
	fputs(verdict ? "<span>" : "", out);
	escape(text, out);
	fputs(verdict ? "</span>" : "", out);
	fprintf(out, "</%s>", name);
}

static void print_row(const struct table *table, size_t row, enum report_tone tone, bool tones,
		      FILE *out)
{
	static const char *const classes[] = { "", "better", "worse", "open" };

	fprintf(out, "<tr class=\"%s\">", classes[tone]);
	for (size_t i = 0; i < table->column_count; i++)
		print_cell(i ? "td" : "th", i ? "" : " scope=\"row\"", &table->columns[i],
			   table_at(table, row, i),
			   tones && !strcmp(table->columns[i].name, "verdict"), out);
	fputs("</tr>\n", out);
}

static void print_table(const struct table *table, const enum report_tone *tones,
			const char *heading, FILE *out)
{
	if (table->head_count)
		fputs("<dl>\n", out);
	for (size_t i = 0; i < table->head_count; i++) {
		element("dt", "", table->heads[i].label, out);
		element("dd", "", table->heads[i].text, out);
		fputc('\n', out);
	}
	fputs(table->head_count ? "</dl>\n" : "", out);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: ", out);
	escape(heading, out);
	fputs("\"><table>\n<thead><tr>", out);
	for (size_t i = 0; i < table->column_count; i++)
		print_cell("th", " scope=\"col\"", &table->columns[i], table->columns[i].name,
			   false, out);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t row = 0; row < table_rows(table); row++)
		print_row(table, row, tones ? tones[row] : TONE_NONE, tones != NULL, out);
	fputs("</tbody></table></div>\n", out);
	fputs(table->note_count ? "<ul class=\"notes\">\n" : "", out);
	for (size_t i = 0; i < table->note_count; i++) {
		element("li", "", table->notes[i].text, out);
		fputc('\n', out);
	}
	fputs(table->note_count ? "</ul>\n" : "", out);
}

static void print_figure(const struct plot *plot, size_t number, const char *drawing, FILE *out)
{
	bool wide = plot->shades.rows != 0;

	fprintf(out, "<figure%s>\n", wide ? " class=\"wide\"" : "");
	element("h3", "", plot->title, out);
	fputs(wide ? "\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figure\">"
		   : "\n",
	      out);
	fprintf(out,
		"<svg role=\"img\" aria-labelledby=\"f%zu-title f%zu-desc\" viewBox=\"0 0 %u %u\">\n",
		number, number, plot->width, plot->height);
	fprintf(out, "<title id=\"f%zu-title\">", number);
	escape(plot->title, out);
	fprintf(out, "</title><desc id=\"f%zu-desc\">", number);
	escape(plot->description, out);
	fprintf(out, "</desc>\n%s</svg>%s\n", drawing, wide ? "</div>" : "");
	element("figcaption", "", plot->caption, out);
	fputs("\n</figure>\n", out);
}

/* Marks as the figures have them; more arms than marks start again. */
static void print_legend(const struct report *report, FILE *out)
{
	static const char *const marks[PLOT_ARM_STYLES] = {
		"<circle cx=\"6\" cy=\"6\" r=\"4\"/>",
		"<path d=\"M2 2h8v8H2z\"/>",
		"<path d=\"M6 1l5 9H1z\"/>",
		"<path d=\"M6 1l5 5-5 5-5-5z\"/>",
		"<path d=\"M6 11L1 2h10z\"/>",
		"<path d=\"M6 2a4 4 0 100 8 4 4 0 000-8zm0 1a3 3 0 110 6 3 3 0 010-6z\"/>",
	};

	fputs("<ul class=\"legend\" aria-label=\"Legend of the figures\">\n", out);
	for (size_t i = 0; i < report->arm_count; i++) {
		fprintf(out,
			"<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" fill=\"var(--arm-%zu)\">%s"
			"</svg>",
			i % PLOT_ARM_STYLES, marks[i % PLOT_ARM_STYLES]);
		escape(report->arms[i], out);
		fputs("</li>\n", out);
	}
	if (report->predicted)
		fputs("<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" stroke=\"var(--predicted)\" "
		      "stroke-width=\"2\"><path d=\"M0 6h5m2 0h5\"/></svg>predicted</li>\n",
		      out);
	fputs("</ul>\n", out);
}

static void print_section(const struct report_section *section, size_t first, char **drawings,
			  FILE *out)
{
	fputs(section->folded ? "<details><summary>" : "<section>", out);
	element("h2", "", section->heading, out);
	fputs(section->folded ? "</summary>\n" : "\n", out);
	if (section->text)
		element("p", " class=\"soft\"", section->text, out);
	if (section->table)
		print_table(section->table, section->tones, section->heading, out);
	if (section->listing)
		element("pre", " tabindex=\"0\"", section->listing, out);
	if (drawings && section->plots.count) {
		fputs("<div class=\"figures\">\n", out);
		for (size_t i = 0; i < section->plots.count; i++)
			print_figure(&section->plots.list[i], first + i, drawings[i], out);
		fputs("</div>\n", out);
	}
	fputs(section->folded ? "</details>\n" : "</section>\n", out);
}

static void print_foot(const struct report *report, FILE *out)
{
	fputs("</main>\n<footer>\n<p class=\"soft\">The comparison and every sample are in this page: ",
	      out);
	fputs("<a id=\"download\" href=\"#data\" download=\"", out);
	escape(report->file, out);
	fputs("\">download them as JSON</a>.</p>\n</footer>\n", out);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	print_data(report->data, out);
	fprintf(out, "</script>\n<script>%s</script>\n</body>\n</html>\n", html_script);
}

/* All drawings of a report, section by section; NULL where there is none. */
static char ***draw(const struct report *report, struct log *log, int *ret)
{
	char ***drawings = calloc(report->section_count + 1, sizeof(*drawings));
	size_t first = 0;

	*ret = drawings ? 0 : -ENOMEM;
	for (size_t i = 0; !*ret && i < report->section_count; i++) {
		const struct plot_list *plots = &report->sections[i].plots;

		if (plots->count)
			*ret = render_plots(plots, first, log, &drawings[i]);
		first += plots->count;
	}
	return drawings;
}

static void free_drawings(const struct report *report, char ***drawings)
{
	for (size_t i = 0; drawings && i < report->section_count; i++) {
		for (size_t j = 0; drawings[i] && j < report->sections[i].plots.count; j++)
			free(drawings[i][j]);
		free(drawings[i]);
	}
	free(drawings);
}

static void print_figures_head(const struct report *report, int failed, FILE *out)
{
	if (!failed)
		print_legend(report, out);
	else
		element("p", " class=\"soft\"",
			failed == -ENOENT
				? "There are no figures: gnuplot is not installed. Install it (Debian: "
				  "gnuplot-nox) and make the report again."
				: "There are no figures: gnuplot failed, see what was said when the "
				  "report was made.",
			out);
	fputc('\n', out);
}

int render_html(const struct report *report, struct log *log, FILE *out)
{
	size_t first = 0;
	int failed;
	char ***drawings = draw(report, log, &failed);

	print_head(report, out);
	for (size_t i = 0; i < report->section_count; i++) {
		const struct report_section *section = &report->sections[i];

		print_section(section, first, drawings ? drawings[i] : NULL, out);
		if (!i)
			print_figures_head(report, failed, out);
		first += section->plots.count;
	}
	print_foot(report, out);
	free_drawings(report, drawings);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
