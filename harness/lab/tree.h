/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A work tree: one source unpacked for one architecture, whose paths stay the
 * same from arm to arm, so that a patch that touches few files rebuilds few.
 *
 *   work/<key>/src         the files
 *   work/<key>/build       make's output
 *   work/<key>/originals/  every file that was ever patched, as the source has it
 *   work/<key>/originals.list   their names ("+name": it exists, "-name": it does not)
 *
 * Patches are applied to copies; then only files whose contents change are
 * replaced. A patch that does not apply touches nothing, and a killed lab leaves
 * nothing that the next tree_set() does not put right.
 */
#ifndef SHOOTDOWN_TREE_H
#define SHOOTDOWN_TREE_H

#include "../../lib/log.h"
#include "series.h"
#include "source.h"

struct work_tree {
	char *folder, *src, *build;
	char *version; /* the source's own, "7.3.4"; for messages */
	int lock;
};

/* Opens the work tree, unpacking the source when it is new; holds its lock. Negative errno, said.
 */
int tree_open(const struct lab_source *source, const struct lab_arch *arch, const char *cache,
	      struct log *log, struct work_tree *tree);
void tree_close(struct work_tree *tree);

/*
 * Makes src the source with exactly the arm's patches. -EINVAL for a patch that
 * does not apply: which patch, which file, which kernel was said.
 */
int tree_set(struct work_tree *tree, const struct lab_arm *arm, struct log *log);

/* Would tree_set() work? src stays as it is. */
int tree_check(struct work_tree *tree, const struct lab_arm *arm, struct log *log);

#endif
