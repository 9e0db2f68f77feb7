// SPDX-License-Identifier: GPL-2.0-only
/* A build without liburing; see ring.h. */
#include "ring.h"

#include <errno.h>

int ring_probe(unsigned int depth)
{
	(void)depth;
	return -EOPNOTSUPP;
}

int ring_write(int file, const void *memory, size_t bytes, size_t chunk_bytes, unsigned int depth)
{
	(void)file;
	(void)memory;
	(void)bytes;
	(void)chunk_bytes;
	(void)depth;
	return -EOPNOTSUPP;
}
