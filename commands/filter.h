/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that select runs of the index, for db ls and trend. */
#ifndef SHOOTDOWN_FILTER_H
#define SHOOTDOWN_FILTER_H

#include "../lib/log.h"
#include "../lib/options.h"
#include "../results/store.h"

/* clang-format off */
#define DB_OPTION								\
	{ .name = "db", .type = OPTION_STRING, .metavar = "FILE",		\
	  .help = "use this index (default: $XDG_DATA_HOME/shootdown/index.db)" }
#define FILTER_OPTIONS								\
	{ .name = "machine", .type = OPTION_STRING, .metavar = "NAME",		\
	  .help = "only runs of this machine, as db ls names it; * and ? match as in the shell" },	\
	{ .name = "kernel", .type = OPTION_STRING, .metavar = "RELEASE",	\
	  .help = "only runs of this kernel release; * and ? as above" },	\
	{ .name = "series", .type = OPTION_STRING, .metavar = "NAME",		\
	  .help = "only runs of the lab with this patch series" },		\
	{ .name = "arm", .type = OPTION_STRING, .metavar = "NAME",		\
	  .help = "only runs of this arm" },					\
	{ .name = "stressor", .type = OPTION_STRING, .metavar = "NAME",		\
	  .help = "only runs with this stressor" },				\
	{ .name = "set", .type = OPTION_STRING, .metavar = "NAME=VALUE", .many = true,	\
	  .help = "only where this parameter has this value, as recorded in plan.json" },	\
	{ .name = "since", .type = OPTION_STRING, .metavar = "DATE",		\
	  .help = "only runs from then on: 2026-11-30, \"2026-11-30 22:00\", or an age such as 7d" },	\
	{ .name = "until", .type = OPTION_STRING, .metavar = "DATE",		\
	  .help = "only runs before then" }
/* clang-format on */

/* Strings are borrowed from values. -EINVAL, said. */
int filter_from(const struct option_values *values, struct store_filter *filter, struct log *log);

#endif
