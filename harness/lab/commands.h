/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of "shootdown lab" share: option rows, exit codes, choice of arms. */
#ifndef SHOOTDOWN_LAB_COMMANDS_H
#define SHOOTDOWN_LAB_COMMANDS_H

#include "lab.h"
#include "series.h"

/* clang-format off */
#define ROW_SOURCE                                                                                \
	{ .name = "source",                                                                       \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "SOURCE",                                                                    \
	  .help = "kernel source: debian:X.Y, a tarball, a tree or a git tree (default: the "     \
		  "newest Debian package in the series' range)" }
#define ROW_CACHE                                                                                 \
	{ .name = "cache",                                                                        \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "DIR",                                                                       \
	  .help = "where sources and kernels are kept (default: shootdown under "                 \
		  "XDG_CACHE_HOME)" }
#define ROW_ARCH                                                                                  \
	{ .name = "arch",                                                                         \
	  .type = OPTION_CHOICE,                                                                  \
	  .choices = lab_arch_choices,                                                            \
	  .metavar = "ARCH",                                                                      \
	  .help = "architecture (default: the series' own)" }
#define ROW_JOBS                                                                                  \
	{ .name = "jobs",                                                                         \
	  .type = OPTION_UINT,                                                                    \
	  .min = 1,                                                                               \
	  .max = 4096,                                                                            \
	  .metavar = "N",                                                                         \
	  .help = "compilers that run at once (default: one for each CPU)" }
#define ROW_CONFIG                                                                                \
	{ .name = "config",                                                                       \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "FILE",                                                                      \
	  .help = "kernel options added to the lab's own, for every arm",                         \
	  .many = true }
/* clang-format on */

/* The exit code for a negative errno (0: done): a wrong request, or a set-up that does not work. */
int lab_code_of(int error);

/* Are these arms of the series? -EINVAL, said with the nearest name, when not. */
int lab_check_arms(const struct lab_series *series, const char *const *names, struct log *log);

/* commands_boot.c */
extern const struct option_row lab_boot_options[];
int lab_boot(const struct option_values *values, const char *const *arguments,
	     unsigned int argument_count, FILE *out, struct log *log);

#endif
