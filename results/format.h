/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as people read them. All return fresh strings, NULL when memory is
 * out, and never depend on the locale.
 */
#ifndef SHOOTDOWN_FORMAT_H
#define SHOOTDOWN_FORMAT_H

#include <stdbool.h>

/* Is this a unit of time ("ns", "us", "ms", "s")? */
bool unit_is_time(const char *unit);
/* A time, so many of something a second, or one such rate by another ("relative speed"). */
bool unit_depends_on_time(const char *unit);

/*
 * Counts: whole, with thousands separators ("9,092,156"; a decimal or two when a
 * mean is not whole and below 1,000). Times: about four digits ("2,974.6",
 * "763.0", "1.234"). NAN: "-".
 */
char *format_value(double value, const char *unit);

/* "2,974.6 ± 12.3": the mean and the standard deviation with the same decimals. */
char *format_spread(double mean, double stddev, const char *unit);

/*
 * A ratio of change: "-74.3% (3.9x)", the factor from 2 on. Never rounds to
 * -100% what is not: "-99.99%". NAN: "-".
 */
char *format_change(double change);

/* "-74.5% to -73.9%"; "26.37x"; "26.10x to 26.60x". What is not finite: "-". */
char *format_changes(double low, double high);
char *format_factor(double ratio);
char *format_factors(double low, double high);

#endif
