// SPDX-License-Identifier: GPL-2.0-only
/*
 * Huge pages for cow-snapshot. A copy on write splits the one that it is in, so after a
 * snapshot there are few left, and the next fork would be one of small pages.
 */
#include "cow_snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define LEAST_SHARE 0.95
#define TRIES	    3 /* a page that somebody else looks at cannot be collapsed then */

uint64_t cow_huge_bytes(const char *smaps, uintptr_t from, uintptr_t to)
{
	static const char label[] = "AnonHugePages:";
	uint64_t bytes = 0;
	bool within = false;

	for (const char *line = smaps; *line; line += *line == '\n') {
		char *rest;
		uintptr_t first = strtoull(line, &rest, 16);

		if (rest > line && *rest == '-')
			within = first < to && strtoull(rest + 1, NULL, 16) > from;
		else if (within && !strncmp(line, label, strlen(label)))
			bytes += strtoull(line + strlen(label), NULL, 10) << 10;
		line += strcspn(line, "\n");
	}
	return bytes;
}

bool cow_huge_again(void)
{
	return !madvise(NULL, 0, MADV_COLLAPSE);
}

static int look(struct cow_state *state)
{
	uintptr_t from = (uintptr_t)state->writer->data.base;
	int rc = snapshot_take(&state->smaps, SNAPSHOT_AFTER);

	if (!rc)
		state->huge_bytes = cow_huge_bytes(state->smaps.text[SNAPSHOT_AFTER], from,
						   from + state->bytes);
	return rc;
}

static bool are_huge(const struct cow_state *state)
{
	return state->huge_bytes >= state->bytes * LEAST_SHARE;
}

bool cow_huge_make(struct cow_state *state)
{
	size_t bytes = (state->bytes + COW_HUGE_BYTES - 1) / COW_HUGE_BYTES * COW_HUGE_BYTES;
	int rc = look(state);

	for (unsigned int i = 0; !rc && !are_huge(state) && i < TRIES; i++) {
		madvise(state->writer->data.base, bytes, MADV_COLLAPSE);
		rc = look(state);
	}
	return !rc && are_huge(state);
}
