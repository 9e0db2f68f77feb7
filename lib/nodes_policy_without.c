// SPDX-License-Identifier: GPL-2.0-only
/* For a build without libnuma; see nodes.h. */
#include <errno.h>

#include "nodes.h"

int nodes_policy(hwloc_bitmap_t *allowed)
{
	(void)allowed;
	return -ENOSYS;
}
