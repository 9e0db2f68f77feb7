/* SPDX-License-Identifier: GPL-2.0-only */
/* What a lab's request needs before the first boot: cache, arms, source, kernels. */
#ifndef SHOOTDOWN_PREPARE_H
#define SHOOTDOWN_PREPARE_H

#include "build.h"
#include "cache.h"
#include "instrument.h"
#include "series.h"
#include "source.h"

struct lab_setup {
	const char *series_name; /* a series, a folder, or "-" */
	const char *const *arms; /* as --arm has them; NULL at the end */
	const char *source;	 /* NULL: the series' default */
	const char *const *configs;
	const char *const *instruments; /* as --instrument has them; NULL at the end */
	const char *arch;
	const char *cache;
	unsigned int jobs;
	bool twice; /* an A/A: the first arm two times */
};

struct lab_prepared {
	const struct lab_setup *setup;
	char *cache;
	struct lab_series series;	    /* with the arms given by hand, and with instruments */
	struct lab_instruments instruments; /* empty once it is known that they do not go */
	struct lab_source source;	    /* identity NULL: not needed yet */
	struct lab_kernel *kernels;	    /* one an arm; image NULL: not built yet */
};

/*
 * Reads the series and adds the arms. Without a series, one arm that is given
 * gets the plain source before it as "baseline". Negative errno, said. setup is
 * borrowed.
 */
int prepare_arms(const struct lab_setup *setup, struct log *log, struct lab_prepared *prepared);

/* Opens the source; fresh: ask the mirror even when the cache has one. */
int prepare_source(struct lab_prepared *prepared, bool fresh, struct log *log);

/*
 * Do the instruments go with every arm? When one is an image that is there already, when the
 * source is no kernel that they are made for, or when they do not apply together with an arm's
 * patches, all arms go without and it is said. -EINVAL, said, when they were asked for by name.
 * Opens the source; does nothing without instruments.
 */
int prepare_instruments(struct lab_prepared *prepared, struct log *log);

/* Can the arm's kernel be made: its commit is there, its patches apply? Asked before any is built.
 */
int prepare_check(struct lab_prepared *prepared, unsigned int index, struct log *log);

/* A key of the kernel options that were asked for: the lab's own and those of --config. Of no image
 * that was given as such. -errno, said. */
int prepare_options_key(const struct lab_prepared *prepared, struct log *log,
			char hex[CONTENT_KEY_SIZE]);

/* Builds one arm's kernel, or finds it. */
int prepare_kernel(struct lab_prepared *prepared, unsigned int index, struct log *log);
void prepare_release(struct lab_prepared *prepared);

#endif
