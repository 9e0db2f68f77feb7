/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the data files are that come with shootdown: the folder that the
 * environment names; for a program run from its build folder, the source it was
 * built from; else what was installed.
 */
#ifndef SHOOTDOWN_DATA_H
#define SHOOTDOWN_DATA_H

enum data_kind {
	DATA_PATCHES,	/* SHOOTDOWN_PATCHES */
	DATA_REFERENCE, /* SHOOTDOWN_REFERENCE */
};

/* The path of name within the folder of a kind; a fresh string, NULL: no memory. */
char *data_path(enum data_kind kind, const char *name);

#endif
