/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long things took, millions of them, in a histogram of fixed size: recording
 * is a few instructions and never allocates, so that it can be part of a measured
 * loop. Buckets are linear within each power of two, so a quantile is right to
 * 1 part in 128; the longest value is kept exactly. One writer a histogram.
 */
#ifndef SHOOTDOWN_LATENCY_H
#define SHOOTDOWN_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#define LATENCY_PART_BITS 6 /* 64 buckets for each power of two */
#define LATENCY_PARTS	  (1u << LATENCY_PART_BITS)
#define LATENCY_BUCKETS	  ((64 - LATENCY_PART_BITS + 1) * LATENCY_PARTS)

struct latency {
	uint64_t count, max_ns;
	uint64_t buckets[LATENCY_BUCKETS];
};

/* Values below LATENCY_PARTS have a bucket each. */
static inline unsigned int latency_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < LATENCY_PARTS)
		return ns;
	shift = 63 - LATENCY_PART_BITS - __builtin_clzll(ns);
	return (shift + 1) * LATENCY_PARTS + ((ns >> shift) - LATENCY_PARTS);
}

static inline void latency_record(struct latency *latency, uint64_t ns)
{
	latency->buckets[latency_bucket(ns)]++;
	latency->count++;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
}

/*
 * The value that a share (0 to 1) of all values does not exceed: the middle of its
 * bucket, and never more than the longest. 0 when nothing was recorded.
 */
double latency_quantile(const struct latency *latency, double share);

/* Are there enough values, so that one is expected above it? Of fewer it is the longest. */
bool latency_has_quantile(const struct latency *latency, double share);

#endif
