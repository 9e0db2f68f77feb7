// SPDX-License-Identifier: GPL-2.0-only
/* For a build whose libcxl makes no regions of volatile memory; see cxl_create.h. */
#include <errno.h>

#include "cxl_create.h"

int cxl_create_library(const struct cxl_wish *wish, char **why)
{
	(void)wish;
	(void)why;
	return -ENOSYS;
}
