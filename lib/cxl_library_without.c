// SPDX-License-Identifier: GPL-2.0-only
/* For a build without libcxl; see cxl.h. */
#include <errno.h>

#include "cxl.h"

int cxl_read_library(struct cxl *cxl)
{
	(void)cxl;
	return -ENOSYS;
}
