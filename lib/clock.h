/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks as nanoseconds: for deadlines, for the time between two moments, for a
 * time stamp. A clock that can be missing is not read here
 * (harness/sources/clocks.c keeps the error).
 */
#ifndef SHOOTDOWN_CLOCK_H
#define SHOOTDOWN_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

static inline uint64_t timespec_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

/* CLOCK_MONOTONIC, CLOCK_REALTIME and such, which every kernel has. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return timespec_ns(&now);
}

/* What deadlines and lengths of time are taken from. */
static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
