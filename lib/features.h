/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which optional libraries this build has: the one place that looks at config.h
 * for them. Code that needs such a library is a file of its own that the build
 * leaves out (lib/Makemodule.am), with a *_without.c file in its place.
 */
#ifndef SHOOTDOWN_FEATURES_H
#define SHOOTDOWN_FEATURES_H

#include <stdbool.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#ifdef HAVE_LIBPFM
#define FEATURE_LIBPFM true
#else
#define FEATURE_LIBPFM false
#endif
#ifdef HAVE_LIBTRACEFS
#define FEATURE_LIBTRACEFS true
#else
#define FEATURE_LIBTRACEFS false
#endif
#ifdef HAVE_NUMA
#define FEATURE_NUMA true
#else
#define FEATURE_NUMA false
#endif
#ifdef HAVE_LIBCXL
#define FEATURE_LIBCXL true
#else
#define FEATURE_LIBCXL false
#endif

#ifdef HAVE_CXL_RAM_REGION
#define FEATURE_CXL_RAM_REGION true
#else
#define FEATURE_CXL_RAM_REGION false
#endif
#ifdef HAVE_RMATH
#define FEATURE_RMATH true
#else
#define FEATURE_RMATH false
#endif

#ifdef HAVE_LIBURING
#define FEATURE_LIBURING true
#else
#define FEATURE_LIBURING false
#endif

#ifdef HAVE_SQLITE
#define FEATURE_SQLITE true
#else
#define FEATURE_SQLITE false
#endif

struct feature {
	const char *name; /* the library; NULL ends the table */
	bool built;
	const char *gives;   /* what it is for */
	const char *without; /* what happens when it is missing */
	const char *package; /* Debian package to install before configuring again */
};

extern const struct feature features[];

#endif
