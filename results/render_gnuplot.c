// SPDX-License-Identifier: GPL-2.0-only
/* Plots through gnuplot: a script of numbers goes in, SVG comes out and is fitted to a page. */
#include "render_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/spawn.h"

#define TIMEOUT_S 120

/* Colours that gnuplot is told stand for variables of the page, which has a light and a dark form.
 */
#define COLOUR_ARM 16
static const struct {
	unsigned int number;
	const char *variable;
} colours[] = {
	{ 1, "var(--grid)" },
	{ 2, "var(--axis)" },
	{ 3, "var(--ink)" },
	{ 4, "var(--predicted)" },
	{ COLOUR_ARM + 0, "var(--arm-0)" },
	{ COLOUR_ARM + 1, "var(--arm-1)" },
	{ COLOUR_ARM + 2, "var(--arm-2)" },
	{ COLOUR_ARM + 3, "var(--arm-3)" },
	{ COLOUR_ARM + 4, "var(--arm-4)" },
	{ COLOUR_ARM + 5, "var(--arm-5)" },
};

/* Filled circle, square, triangle, diamond, triangle downwards, open circle. */
static const int marks[PLOT_ARM_STYLES] = { 7, 5, 9, 13, 11, 6 };

/*
 * A label within single quotes, where gnuplot knows no escapes but a doubled quote. What is not
 * a plain sign becomes '?': names reach the page by other ways, and nothing of them the script.
 */
static void print_label(const char *text, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789 _.,:()/%+-=";

	fputc('\'', out);
	for (; *text; text++)
		fputc(strchr(plain, *text) ? *text : '?', out);
	fputc('\'', out);
}

static void print_axis(char name, const struct plot_axis *axis, FILE *out)
{
	fprintf(out, "set %crange [%.12g:%.12g]\n", name, axis->low, axis->high);
	fprintf(out, "set %ctics nomirror scale 0.4 textcolor rgb 0x000003 (", name);
	for (size_t i = 0; i < axis->tick_count; i++) {
		fputs(i ? ", " : "", out);
		print_label(axis->ticks[i].label, out);
		fprintf(out, " %.12g", axis->ticks[i].at);
	}
	fputs(")\n", out);
	if (axis->label && name != 'c') {
		fprintf(out, "set %clabel ", name);
		print_label(axis->label, out);
		fputs(" textcolor rgb 0x000003\n", out);
	}
}

static void print_style(const struct plot_series *series, FILE *out)
{
	size_t style = series->arm % PLOT_ARM_STYLES;
	unsigned int colour = COLOUR_ARM + (unsigned int)style;

	switch (series->style) {
	case PLOT_POINTS:
		fprintf(out, "using 1:2 with points pt %d ps 0.5 lc rgb 0x%06x", marks[style],
			colour);
		break;
	case PLOT_LINE:
		fprintf(out, "using 1:2 with linespoints pt %d ps 0.5 lw 1.2 lc rgb 0x%06x",
			marks[style], colour);
		break;
	case PLOT_LEVEL:
		fprintf(out, "using 1:2 with lines lw 2 lc rgb 0x%06x", colour);
		break;
	case PLOT_INTERVAL:
		fprintf(out, "using 1:2:3:4 with yerrorbars pt %d ps 0.7 lw 1.5 lc rgb 0x%06x",
			marks[style], colour);
		break;
	case PLOT_PREDICTED:
		fputs("using 1:2 with lines dt (9,6) lw 2.5 lc rgb 0x000004", out);
		break;
	}
	fputs(" notitle", out);
}

static void print_series(const struct plot *plot, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < plot->series_count; i++) {
		fprintf(out, "$s%zu << END\n", i);
		for (size_t j = 0; j < plot->series[i].count; j++) {
			const struct plot_datum *datum = &plot->series[i].data[j];

			fprintf(out, "%.12g %.12g %.12g %.12g\n", datum->x, datum->y, datum->low,
				datum->high);
		}
		fputs("END\n", out);
	}
	fputs("plot ", out);
	/* The prediction lies under what was measured. */
	for (size_t i = 0; i < plot->series_count * 2; i++) {
		const struct plot_series *series = &plot->series[i % plot->series_count];
		bool predicted = series->style == PLOT_PREDICTED;

		if (!series->count || predicted != (i < plot->series_count))
			continue;
		fprintf(out, "%s$s%zu ", first ? "" : ", ", i % plot->series_count);
		print_style(series, out);
		first = false;
	}
	fputs(first ? "NaN notitle\n" : "\n", out);
}

/* Cividis (Nunez, Anderton, Renslow 2018): reads the same for colour-blind people and in grey. */
static void print_shades(const struct plot *plot, FILE *out)
{
	const struct plot_shades *shades = &plot->shades;

	fputs("set palette maxcolors 64 defined (0 '#00224e', 0.25 '#414d6b', 0.5 '#7c7b78', "
	      "0.75 '#bcae6c', 1 '#fee838')\n",
	      out);
	fputs("set cbrange [0:1]\nset colorbox noborder\nunset grid\nset border 0\n", out);
	fputs("set cbtics scale 0.3 textcolor rgb 0x000003 (", out);
	for (size_t i = 0; i < shades->axis.tick_count; i++) {
		fputs(i ? ", " : "", out);
		print_label(shades->axis.ticks[i].label, out);
		fprintf(out, " %.12g", shades->axis.ticks[i].at);
	}
	fputs(")\n$cells << END\n", out);
	for (size_t row = 0; row < shades->rows; row++)
		for (size_t column = 0; column < shades->columns; column++) {
			double shade = shades->values[row * shades->columns + column];

			fprintf(out, "%zu %zu ", column, row);
			if (isnan(shade))
				fputs("NaN\n", out);
			else
				fprintf(out, "%.5f\n", shade);
		}
	fputs("END\nplot $cells using 1:2:3 with image pixels notitle\n", out);
}

static void print_plot(const struct plot *plot, size_t index, FILE *out)
{
	fprintf(out,
		"reset\nset terminal svg size %u,%u dynamic noenhanced font 'sans-serif,13' "
		"name 'figure'\nset output '%zu.svg'\n",
		plot->width, plot->height, index);
	fputs("set border 3 lc rgb 0x000002\n"
	      "set grid ytics lt 1 lw 0.6 lc rgb 0x000001, lt 1 lw 0.6 lc rgb 0x000001\n"
	      "set key off\n",
	      out);
	print_axis('x', &plot->x, out);
	print_axis('y', &plot->y, out);
	if (plot->shades.rows)
		print_shades(plot, out);
	else
		print_series(plot, out);
	fputs("unset output\n", out);
}

/* "rgb(r, g, b)" at *text: printed as the page's variable or as it is; *text is moved behind it. */
static void print_colour(const char **text, FILE *out)
{
	const char *end = strchr(*text, ')');
	unsigned int red, green, blue;

	if (end && sscanf(*text, "rgb(%u,%u,%u)", &red, &green, &blue) == 3 && !red && !green)
		for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
			if (colours[i].number == blue) {
				fputs(colours[i].variable, out);
				*text = end + 1;
				return;
			}
	fputs("rgb(", out);
	*text += 4;
}

/* What is replaced in gnuplot's SVG; %zu: the figure's number, so that ids are unique in a page. */
static const struct {
	const char *from, *to;
} replacements[] = {
	{ " id='", " id='f%zu-" },
	{ " id=\"", " id=\"f%zu-" },
	{ "xlink:href='#", "href='#f%zu-" },
	{ "\"black\"", "\"currentColor\"" },
	{ "'black'", "'currentColor'" },
	{ " font-family=\"sans-serif\"", "" },
	{ "<title>", "<!-- " }, /* of a part: the figure has one of its own */
	{ "</title>", " -->" },
};

/* The length of an empty group "<g ..>\n</g>\n" at text; 0: there is none. */
static size_t empty_group(const char *text)
{
	const char *end;

	if (strncmp(text, "<g ", 3))
		return 0;
	end = strstr(text, ">\n");
	if (!end || memchr(text + 1, '<', (size_t)(end - text - 1)) ||
	    strncmp(end + 2, "</g>\n", 5))
		return 0;
	return (size_t)(end + 7 - text);
}

static bool print_replaced(const char **text, size_t number, FILE *out)
{
	for (size_t i = 0; i < sizeof(replacements) / sizeof(replacements[0]); i++) {
		size_t length = strlen(replacements[i].from);
		const char *mark = strstr(replacements[i].to, "%zu");

		if (strncmp(*text, replacements[i].from, length))
			continue;
		if (mark)
			fprintf(out, "%.*s%zu%s", (int)(mark - replacements[i].to),
				replacements[i].to, number, mark + 3);
		else
			fputs(replacements[i].to, out);
		*text += length;
		return true;
	}
	return false;
}

/* What gnuplot's document has within its canvas, fitted to the page. NULL: nothing usable. */
static char *fit(const char *document, size_t number)
{
	const char *text = strstr(document, "<g id=\"gnuplot_canvas\">");
	const char *end = text ? strstr(text, "</svg>") : NULL;
	char *svg = NULL;
	size_t length, empty;
	FILE *out;

	if (!end)
		return NULL;
	out = open_memstream(&svg, &length);
	if (!out)
		return NULL;
	while (text < end) {
		empty = empty_group(text);
		if (empty)
			text += empty;
		else if (!strncmp(text, "rgb(", 4))
			print_colour(&text, out);
		else if (!print_replaced(&text, number, out))
			fputc(*text++, out);
	}
	if (fclose(out)) {
		free(svg);
		svg = NULL;
	}
	return svg;
}

static int write_script(const struct plot_list *plots, const char *folder)
{
	char *path = format_string("%s/script", folder);
	FILE *out = path ? fopen(path, "we") : NULL;
	int ret = out ? 0 : path ? -errno : -ENOMEM;

	free(path);
	if (ret)
		return ret;
	for (size_t i = 0; i < plots->count; i++)
		print_plot(&plots->list[i], i, out);
	return fclose(out) ? -EIO : 0;
}

static int run_gnuplot(const char *folder, struct log *log)
{
	static const char *const argv[] = { "gnuplot", "-d", "script", NULL };
	static const char *const environment[] = { "LC_ALL=C", NULL };
	char *path = format_string("%s/said", folder), *tail;
	struct spawn spawn = {
		.argv = argv,
		.folder = folder,
		.environment = environment,
		.output_path = path,
		.timeout_s = TIMEOUT_S,
	};
	int ret = path ? spawn_run(&spawn) : -ENOMEM;

	if (ret > 0) {
		tail = spawn_log_tail(path, 3);
		log_warn(log, "gnuplot failed, the report has no figures: %s", tail ? tail : "");
		free(tail);
		ret = -EIO;
	} else if (ret && ret != -ENOENT) {
		log_warn(log, "gnuplot could not be run, the report has no figures: %s",
			 strerror(-ret));
	}
	free(path);
	return ret;
}

static int read_plots(const struct plot_list *plots, size_t first, const char *folder,
		      struct log *log, char **svgs)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < plots->count; i++) {
		char *path = format_string("%s/%zu.svg", folder, i), *document;

		ret = path ? fs_read("", path, &document, NULL) : -ENOMEM;
		if (!ret) {
			svgs[i] = fit(document, first + i);
			free(document);
			ret = svgs[i] ? 0 : -EBADMSG;
		}
		free(path);
	}
	if (ret)
		log_warn(log, "gnuplot left no figures that can be used: %s", strerror(-ret));
	return ret;
}

int render_plots(const struct plot_list *plots, size_t first, struct log *log, char ***out)
{
	const char *base = getenv("TMPDIR");
	char *folder, **svgs;
	int ret;

	if (!spawn_find("gnuplot", NULL))
		return -ENOENT;
	svgs = calloc(plots->count + 1, sizeof(*svgs));
	folder = format_string("%s/shootdown-XXXXXX", base && *base ? base : "/tmp");
	ret = svgs && folder ? 0 : -ENOMEM;
	if (!ret && !mkdtemp(folder)) {
		ret = -errno;
		log_warn(log, "cannot make the folder %s for figures: %s", folder, strerror(errno));
	}
	if (ret)
		goto free_folder;
	ret = write_script(plots, folder);
	if (!ret)
		ret = run_gnuplot(folder, log);
	if (!ret)
		ret = read_plots(plots, first, folder, log, svgs);
	fs_remove_tree(folder);
free_folder:
	free(folder);
	if (!ret) {
		*out = svgs;
		return 0;
	}
	for (size_t i = 0; svgs && i < plots->count; i++)
		free(svgs[i]);
	free(svgs);
	return ret;
}
