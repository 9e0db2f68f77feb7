/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws the plot model with gnuplot, which is a program of its own: there is
 * nothing to link, and a machine without it gets a report without figures.
 */
#ifndef SHOOTDOWN_RENDER_GNUPLOT_H
#define SHOOTDOWN_RENDER_GNUPLOT_H

#include "../lib/log.h"
#include "plots.h"

/*
 * What is within one svg element a plot (0 0 width height), to be put into a page as
 * it is: ids begin with "f" and the index plus first, colours are the page's variables (--grid,
 * --axis, --ink,
 * --predicted, --arm-0 to --arm-5). -ENOENT: there is no gnuplot; other errors
 * are said. The caller frees the strings and the list.
 */
int render_plots(const struct plot_list *plots, size_t first, struct log *log, char ***svgs);

/* How many different colours and marks arms have; then they start again. */
#define PLOT_ARM_STYLES 6

#endif
