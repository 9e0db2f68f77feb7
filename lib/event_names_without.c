// SPDX-License-Identifier: GPL-2.0-only
/* For a build without libpfm4; see event_names.h. */
#include "event_names.h"

#include <errno.h>
#include <stddef.h>

int event_name_encode(const char *name, struct perf_event_attr *attr, const char **why)
{
	(void)name, (void)attr, (void)why;
	return -ENOSYS;
}

bool event_name_known(const char *name)
{
	(void)name;
	return false;
}

char *event_name_nearest(const char *name)
{
	(void)name;
	return NULL;
}

unsigned int event_name_units(const char **first)
{
	(void)first;
	return 0;
}
