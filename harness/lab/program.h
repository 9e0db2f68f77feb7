/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shootdown that runs in a guest: for guests of the architecture that this
 * program was built for itself, else one that was built for theirs. Not how it gets
 * in there (image.h).
 */
#ifndef SHOOTDOWN_PROGRAM_H
#define SHOOTDOWN_PROGRAM_H

#include "../../lib/log.h"
#include "arch.h"

/*
 * given: as --program names it; NULL: this program, or for guests of another
 * architecture ARCH/shootdown beside it, where ci/build puts it. The caller frees
 * path. -ENOENT when there is none and -EINVAL when it is for another
 * architecture, both said with what to do.
 */
int guest_program(const char *given, const struct lab_arch *arch, struct log *log, char **path);

/* The same beside the program self, whose architecture is own; for tests. */
int guest_program_beside(const char *self, const struct lab_arch *own, const char *given,
			 const struct lab_arch *arch, struct log *log, char **path);

#endif
