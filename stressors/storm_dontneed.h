/* SPDX-License-Identifier: GPL-2.0-only */
/* What dontneed-storm and dontneed-one share: a page discarded, and what that costs. */
#ifndef SHOOTDOWN_STORM_DONTNEED_H
#define SHOOTDOWN_STORM_DONTNEED_H

#include "storm.h"

#define STORM_DONTNEED "madvise(MADV_DONTNEED)"

/* Discards the whole area that was filled. A struct storm_cause's prepare(). */
int storm_dontneed_prepare(struct storm_worker *worker);

/* What option "ops" calls of option "pages" base pages each need. */
struct storm_cost storm_dontneed_cost(const struct point *point, struct storm_crowd crowd);

#endif
