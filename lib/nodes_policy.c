// SPDX-License-Identifier: GPL-2.0-only
/* What memory policy allows, by libnuma; see nodes.h. */
#include <errno.h>
#include <numa.h>

#include "nodes.h"

int nodes_policy(hwloc_bitmap_t *allowed)
{
	struct bitmask *mask;
	hwloc_bitmap_t list;
	unsigned int i;

	errno = 0;
	if (numa_available() < 0)
		return errno == EPERM ? -EPERM : -ENOSYS;
	mask = numa_get_mems_allowed();
	if (!mask)
		return -ENOMEM;
	list = hwloc_bitmap_alloc();
	for (i = 0; list && i < mask->size; i++)
		if (numa_bitmask_isbitset(mask, i))
			hwloc_bitmap_set(list, i);
	numa_bitmask_free(mask);
	if (!list)
		return -ENOMEM;
	*allowed = list;
	return 0;
}
