/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a region of CXL memory and waits until it is a NUMA node with memory. For
 * the lab's guests, where every device is new and nobody else's: nothing is undone
 * when a step fails, and no device that is in use is looked for. Never called
 * on hardware.
 */
#ifndef SHOOTDOWN_CXL_CREATE_H
#define SHOOTDOWN_CXL_CREATE_H

#include <stdint.h>

#define CXL_GRANULARITY_BYTES 256
#define CXL_WAYS_MAX	      16

struct cxl_wish {
	uint64_t size_bytes; /* of the region; each device gives an equal part */
	unsigned int ways;   /* devices; all that there are have to be named by this */
};

/*
 * Sets memory that comes later to be online for movable pages only, makes the
 * region (with libcxl when it can, else through sysfs), and waits up to a minute for
 * its node. Negative errno; then *why is what failed, a fresh string or NULL.
 */
int cxl_create(const struct cxl_wish *wish, char **why);

/* The region alone; as cxl_create(). */
int cxl_create_sysfs(const struct cxl_wish *wish, char **why);
/* -ENOSYS when libcxl is not built in, or is too old to make regions of volatile memory. */
int cxl_create_library(const struct cxl_wish *wish, char **why);

/*
 * For both: the endpoints' decoders in the order of their devices' places in the
 * machine, which is the order of interleaving ("decoder2.0"); NULL at the end, each
 * and the list are the caller's to free. -ENODEV when there are not as many as ways.
 */
int cxl_endpoint_decoders(const struct cxl_wish *wish, char ***names, char **why);

#endif
