/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A patch series and its arms.
 *
 * A series is a folder patches/<arch>/<name> with
 *   cover   what it claims and where it comes from
 *   base    one line "X.Y..X.Z": the kernel versions it applies to, inclusive
 *   arms    one line an arm, the baseline first:
 *             NAME: [args: KERNEL ARGUMENTS] PATCH... -R PATCH...
 *           -R undoes a patch; args are added to that arm's kernel command line, so
 *           that one image can serve several arms; "#" starts a comment
 *   *.patch in git format-patch form
 */
#ifndef SHOOTDOWN_SERIES_H
#define SHOOTDOWN_SERIES_H

#include <stdbool.h>

#include "../../lib/log.h"
#include "arch.h"

struct lab_patch {
	char *path;
	bool reverse;
};

struct lab_arm {
	char *name;
	struct lab_patch *patches;
	unsigned int patch_count;
	unsigned int
		instrument_count; /* the first so many patches are instruments (instrument.h) */
	char *arguments;	  /* kernel arguments; NULL: none */
	char *git_ref;		  /* of the source tree; NULL: the source as it is */
	char *image;		  /* a kernel that is there already; NULL: built */
};

struct kernel_version {
	unsigned int major, minor;
};

struct lab_series {
	char *name;   /* "-" when there is none */
	char *folder; /* NULL when there is none */
	const struct lab_arch *arch;
	char *cover; /* NULL when there is none */
	bool has_base;
	struct kernel_version first, last;
	struct lab_arm *arms;
	unsigned int arm_count;
};

/*
 * Finds and reads a series by name or folder ("-": none). arch NULL: the series'
 * own, or this machine's. -ENOENT for an unknown one and -EINVAL for a bad file, said.
 */
int series_open(const char *name, const char *arch, struct log *log, struct lab_series *series);
void series_release(struct lab_series *series);

/* Adds "NAME=WHAT" as --arm has it. -EINVAL, said. */
int series_add_arm(struct lab_series *series, const char *text, struct log *log);

/* For an A/A: the first arm stays and gets a copy, "NAME-again"; the others go. -ENOMEM. */
int series_repeat_first(struct lab_series *series, struct log *log);

/* NULL when there is none. */
const struct lab_arm *series_arm(const struct lab_series *series, const char *name);

/* "7.3" or "7.3.4" at the start of text. */
bool kernel_version_parse(const char *text, struct kernel_version *version);
/* < 0, 0, > 0 */
int kernel_version_compare(struct kernel_version a, struct kernel_version b);

#endif
