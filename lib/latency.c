// SPDX-License-Identifier: GPL-2.0-only
/* Quantiles of a histogram of times; see latency.h. */
#include "latency.h"

#include <math.h>

static double bucket_middle(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * LATENCY_PARTS)
		return bucket;
	shift = bucket / LATENCY_PARTS - 1;
	return ldexp(bucket % LATENCY_PARTS + LATENCY_PARTS, shift) + (ldexp(1, shift) - 1) / 2;
}

double latency_quantile(const struct latency *latency, double share)
{
	uint64_t wanted = ceil(latency->count * share), seen = 0;

	if (!latency->count)
		return 0;
	if (wanted < 1)
		wanted = 1;
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (seen >= wanted)
			return fmin(bucket_middle(i), latency->max_ns);
	}
	return latency->max_ns;
}

bool latency_has_quantile(const struct latency *latency, double share)
{
	return latency->count >= round(1 / (1 - share));
}
