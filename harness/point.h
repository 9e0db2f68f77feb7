/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One repetition of one point, or of several at once, from needs to samples, with
 * everything undone at its end.
 */
#ifndef SHOOTDOWN_POINT_H
#define SHOOTDOWN_POINT_H

#include "../lib/log.h"
#include "../results/record.h"
#include "journal.h"
#include "plan.h"

/* What a round works with; all borrowed. */
struct round {
	const struct plan *plan;
	struct journal *journal;
	struct record *record;
	struct log *log;
	unsigned int number; /* of the repetition, from 1 */
	bool settled;	     /* these participants ran together before: one less is another mix */
};

/* One point in a round. */
struct participant {
	const struct point *point;
	unsigned int index; /* in the plan */
	/*
	 * CPUs at the head of the point's list that get no neighbour; 0: the point's
	 * own. In a mix the first that wants neighbours has those of all, and the
	 * others have none.
	 */
	unsigned int reserved_cpus;
	bool without_neighbours;
	/* Both are set by round_run(). held: it was not measured, and nothing was written of it. */
	enum outcome outcome;
	bool held;
};

/*
 * Gives the participants whose needs are unmet their outcome, OUTCOME_SKIP, and writes
 * it. For a mix, before its CPUs are shared out. 0 or as round_run().
 */
int round_check(const struct round *round, struct participant *participants, unsigned int count);

/*
 * Runs the participants, all windows at once, and writes their samples and outcomes.
 * They run all or none, since values of a smaller mix are not those of this one: when
 * some are skipped, the others are held, to be placed and run again without them; or
 * broken, when the mix is settled or one of them is broken before the window.
 * 0, or a negative errno (said) when the record cannot be written (-ENOSPC); the
 * outcomes are set either way. *restored becomes false when the machine is not as
 * it was found (said). Stop signals must be blocked, and the calling thread be on
 * the first participant's control CPU.
 */
int round_run(const struct round *round, struct participant *participants, unsigned int count,
	      bool *restored);

#endif
