// SPDX-License-Identifier: GPL-2.0-only
/* For a build without libtracefs and libtraceevent; see tracepoint_format.h. */
#include "tracepoint_format.h"

#include <errno.h>

int tracepoint_format_symbols(const char *text, size_t length, const char *system,
			      const char *field, struct tracepoint_symbol **symbols)
{
	(void)text, (void)length, (void)system, (void)field, (void)symbols;
	return -ENOSYS;
}

int tracepoint_mounted_elsewhere(char **path)
{
	(void)path;
	return -ENOSYS;
}
