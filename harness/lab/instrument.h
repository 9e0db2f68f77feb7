/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruments: series that make a kernel count what it does. They are applied to
 * every arm alike, before the arm's own patches, so that all arms carry the same
 * cost; what an instrument adds is the last arm of its series, its kernel arguments
 * switch it on.
 *
 * patches/config/<arch>.instruments names an architecture's, one a line, "#" starts a
 * comment; without the file it has none. Whether they go with a source is decided in
 * prepare.h.
 */
#ifndef SHOOTDOWN_INSTRUMENT_H
#define SHOOTDOWN_INSTRUMENT_H

#include <stdbool.h>

#include "../../lib/log.h"
#include "series.h"

#define LAB_INSTRUMENTS_MAX 4

struct lab_instruments {
	struct lab_series series[LAB_INSTRUMENTS_MAX];
	unsigned int count;
	char *names;	 /* with ", " between; NULL: there are none */
	char *arguments; /* kernel arguments that switch them on; NULL: none */
	bool given;	 /* asked for by name: then they must go with every arm */
};

/*
 * wanted: as --instrument names them, NULL at the end; NULL or empty: the
 * architecture's; "none" alone: none. A series that is being measured itself is no
 * instrument. Negative errno, said.
 */
int instruments_open(const char *const *wanted, const struct lab_series *measured, struct log *log,
		     struct lab_instruments *instruments);
void instruments_release(struct lab_instruments *instruments);

/* Are they made for this kernel? Else *which is the name of one that is not. */
bool instruments_cover(const struct lab_instruments *instruments, struct kernel_version version,
		       const char **which);

/* Puts their patches before the arm's own. -ENOMEM. */
int instruments_add(const struct lab_instruments *instruments, struct lab_arm *arm);
/* Takes them out again. */
void instruments_remove(struct lab_arm *arm);

/* The arm without them: borrows everything of arm. */
struct lab_arm instruments_without(const struct lab_arm *arm);

#endif
