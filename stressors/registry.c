// SPDX-License-Identifier: GPL-2.0-only
/* The list of stressors: one line each. */
#include <string.h>

#include "stressor.h"

extern const struct stressor cow_snapshot_stressor;
extern const struct stressor demote_stressor;
extern const struct stressor dontneed_one_stressor;
extern const struct stressor dontneed_storm_stressor;
extern const struct stressor kernel_build_stressor;
extern const struct stressor migrate_active_stressor;
extern const struct stressor move_pages_stressor;
extern const struct stressor mprotect_storm_stressor;
extern const struct stressor munmap_storm_stressor;
extern const struct stressor null_stressor;
extern const struct stressor pageout_stressor;
extern const struct stressor redis_snapshot_stressor;
extern const struct stressor stale_hop_stressor;
extern const struct stressor stale_read_stressor;

const struct stressor *const all_stressors[] = {
	&null_stressor,
	&pageout_stressor,
	&demote_stressor,
	&move_pages_stressor,
	&migrate_active_stressor,
	&stale_read_stressor,
	&stale_hop_stressor,
	&dontneed_storm_stressor,
	&dontneed_one_stressor,
	&munmap_storm_stressor,
	&mprotect_storm_stressor,
	&cow_snapshot_stressor,
	&redis_snapshot_stressor,
	&kernel_build_stressor,
	NULL,
};

const struct stressor *stressor_find(const char *name)
{
	for (unsigned int i = 0; all_stressors[i]; i++)
		if (!strcmp(all_stressors[i]->name, name))
			return all_stressors[i];
	return NULL;
}
