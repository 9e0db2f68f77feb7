/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs by number: which exist, which are online, which this process may use.
 * Lists are hwloc bitmaps, so there is no upper limit; text form is the
 * kernel's ("0-3,8").
 */
#ifndef SHOOTDOWN_CPUS_H
#define SHOOTDOWN_CPUS_H

#include <hwloc.h>

/*
 * The CPUs that are online and allowed to this process (affinity and cpuset), ordered by
 * number. The caller frees with hwloc_bitmap_free(). 0 or a negative errno.
 */
int cpus_usable(hwloc_bitmap_t *cpus);

/* Lets the calling thread run on these CPUs. 0 or a negative errno. */
int cpus_set_affinity(hwloc_const_bitmap_t cpus);

/* Parses "0-3,8" (white space at the end allowed); -EINVAL when it is none. */
int cpus_parse(const char *list, hwloc_bitmap_t *cpus);

/* Numbers in ascending order; the caller frees. count may be NULL. NULL: no memory or empty. */
unsigned int *cpus_numbers(hwloc_const_bitmap_t cpus, unsigned int *count);

/* The kernel's list form, a fresh string; NULL: no memory. */
char *cpus_format(hwloc_const_bitmap_t cpus);

/*
 * The numbers of a file such as /sys/devices/system/cpu/online, under root (lib/fs.h).
 * 0 or a negative errno.
 */
int cpus_from_file(const char *root, const char *path, hwloc_bitmap_t *cpus);

#endif
