/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The undo journal: what a run is about to change on the machine, written down
 * before it is changed, so that whoever comes next can undo it after a SIGKILL.
 *
 * One file a run in a folder that only its owner can write: /run/shootdown for
 * root, else $XDG_RUNTIME_DIR/shootdown or /tmp/shootdown-<uid>. The owner holds
 * a lock on its file as long as it lives. Lines are JSON:
 *   {"boot":ID,"pid":P}                  first: a journal of another boot is void
 *   {"do":N,"kind":K,"facts":{..}}       before the change
 *   {"did":N,"facts":{..}}               after it, with what only then is known
 *   {"undone":N}
 */
#ifndef SHOOTDOWN_JOURNAL_H
#define SHOOTDOWN_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "../lib/log.h"

struct journal;

/* An entry that was begun and not undone. */
struct journal_entry {
	unsigned int number;
	char *kind;
	json_t *facts; /* those of "do", overlaid with those of "did" */
	bool done;     /* "did" was written: the change was made */
};

/* Opens a fresh journal for this process. Errors are said. */
int journal_open(struct log *log, struct journal **journal);

/* Says that a change is about to be made; *number names it from then on. Steals facts. */
int journal_begin(struct journal *journal, const char *kind, json_t *facts, unsigned int *number);
/* Says that it was made. facts may be NULL; stolen. */
int journal_done(struct journal *journal, unsigned int number, json_t *facts);
int journal_undone(struct journal *journal, unsigned int number);

/* The entries still to undo, oldest first; borrowed until the next call on the journal. */
const struct journal_entry *journal_entries(const struct journal *journal, unsigned int *count);

/* In a forked worker: lets go of the lock without touching the journal. */
void journal_forget(struct journal *journal);

/* Removes the file when nothing is left to undo, else leaves it for a later restore; frees. */
void journal_close(struct journal *journal);

/*
 * Calls visit for each journal whose owner is dead and that has something to undo,
 * with the lock taken; the journal is closed (journal_close()) afterwards. Returns the number
 * visited or a negative errno (no folder: 0).
 */
int journal_visit_dead(struct log *log, void (*visit)(struct journal *journal, void *context),
		       void *context);

/* How many journals have an owner that lives: runs of this user. Or a negative errno. */
int journal_count_live(struct log *log);

#endif
