/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory written to a file through io_uring (liburing), several writes in flight.
 * Builds without liburing have the same calls, which say so.
 */
#ifndef SHOOTDOWN_RING_H
#define SHOOTDOWN_RING_H

#include <stddef.h>

/*
 * Can this process have a ring of that depth? 0; -EOPNOTSUPP: built without
 * liburing; -ENOSYS: a kernel without io_uring; -EPERM: forbidden here (sysctl
 * kernel.io_uring_disabled, a container's filter); or another negative errno.
 */
int ring_probe(unsigned int depth);

/* Writes all bytes from the file's start, chunk_bytes a request, up to depth at a time. */
int ring_write(int file, const void *memory, size_t bytes, size_t chunk_bytes, unsigned int depth);

#endif
