// SPDX-License-Identifier: GPL-2.0-only
/* Where the data files are. */
#include "data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs.h"

static const struct {
	const char *variable, *in_source, *installed;
} kinds[] = {
	[DATA_PATCHES] = { "SHOOTDOWN_PATCHES", TOP_SRCDIR "/patches", PKGDATADIR "/patches" },
	[DATA_REFERENCE] = { "SHOOTDOWN_REFERENCE", TOP_SRCDIR "/results/reference",
			     PKGDATADIR "/reference" },
};

static int runs_from_build_folder(void)
{
	static const char built[] = TOP_BUILDDIR "/";
	char self[sizeof(built)];

	return readlink("/proc/self/exe", self, sizeof(self)) >= (ssize_t)sizeof(built) - 1 &&
	       !memcmp(self, built, sizeof(built) - 1);
}

char *data_path(enum data_kind kind, const char *name)
{
	const char *folder = getenv(kinds[kind].variable);

	if (!folder || !*folder)
		folder = runs_from_build_folder() ? kinds[kind].in_source : kinds[kind].installed;
	return format_string("%s/%s", folder, name);
}
