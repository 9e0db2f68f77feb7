// SPDX-License-Identifier: GPL-2.0-only
/* The measurement sources, in the order in which they are started; source.h says why this one. */
#include <stddef.h>

#include "source.h"

const struct source *const all_sources[] = {
	&perf_source,	&tlb_flush_source,  &ipi_source, &vmstat_source,
	&clocks_source, &interrupts_source, NULL,
};
