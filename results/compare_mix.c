// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points that ran at once (--interleave): which they were, and what a reader must know of
 * the values that they share. Those are of the whole mix, and each of its points has them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "compare_private.h"
#include "format.h"

bool compared_shares(const struct compared_point *point, size_t arm)
{
	return point->outcomes[arm].shared > 0;
}

char *compared_label(const struct comparison *comparison, const struct compared_metric *metric)
{
	bool emulated = comparison->emulated_time && unit_depends_on_time(metric->unit);

	return format_string("%s%s%s", metric->name, emulated ? " (emulated)" : "",
			     metric->shared ? " (shared)" : "");
}

/* Were the same points in all boots of the arm? */
static bool is_even(const struct comparison *comparison, size_t arm)
{
	unsigned int boots = 0;

	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		if (!compared_shares(point, arm))
			continue;
		if (boots && point->outcomes[arm].shared != boots)
			return false;
		boots = point->outcomes[arm].shared;
		for (size_t j = 0; j < point->metric_count; j++)
			if (point->metrics[j].shared &&
			    point->metrics[j].values[arm].boot_count > boots)
				return false;
	}
	return true;
}

bool compare_ran_same_mix(const struct comparison *comparison, size_t arm)
{
	if (!comparison->arms[0].kernel || !comparison->arms[arm].kernel)
		return true; /* nothing of it could be read */
	for (size_t i = 0; i < comparison->point_count; i++) {
		const struct compared_point *point = &comparison->points[i];

		if (compared_shares(point, 0) != compared_shares(point, arm))
			return false;
	}
	return is_even(comparison, 0) && is_even(comparison, arm);
}

/* "pageout, move-pages"; "" when the arm ran no mix. NULL: no memory. */
static char *members(const struct comparison *comparison, size_t arm)
{
	char *text = strdup("");

	for (size_t i = 0; text && i < comparison->point_count; i++) {
		char *name, *longer;

		if (!compared_shares(&comparison->points[i], arm))
			continue;
		name = compare_point_text(comparison, &comparison->points[i], false);
		longer = name ? format_string("%s%s%s", text, *text ? ", " : "", name) : NULL;
		free(name);
		free(text);
		text = longer;
	}
	return text;
}

/* One note where all arms ran one mix, else one an arm. */
void comparison_note_mixes(struct table *table, const struct comparison *comparison)
{
	bool same = true;

	for (size_t i = 1; i < comparison->arm_count; i++)
		if (!compare_ran_same_mix(comparison, i)) {
			table_note(table,
				   "%s and %s did not run the same points at once in all boots: "
				   "there are no verdicts",
				   comparison->arms[0].name, comparison->arms[i].name);
			same = false;
		}
	for (size_t i = 0; i < (same ? 1 : comparison->arm_count); i++) {
		char *names = members(comparison, i);

		if (!names)
			table->error = -ENOMEM;
		else if (*names)
			table_note(table,
				   "%s%s(shared): of all points that ran at once (%s), not of one "
				   "of them alone",
				   same ? "" : comparison->arms[i].name, same ? "" : ", ", names);
		free(names);
	}
}
