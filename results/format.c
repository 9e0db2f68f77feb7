// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as people read them, without the help of a locale. */
#include "format.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"

#define DECIMALS_MAX 6
/* Up to here a double tells whole numbers apart. */
#define EXACT_MAX 9007199254740992.0

bool unit_is_time(const char *unit)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i]))
			return true;
	return false;
}

bool unit_depends_on_time(const char *unit)
{
	size_t length = strlen(unit);

	return unit_is_time(unit) || !strcmp(unit, "relative speed") ||
	       (length > 2 && !strcmp(unit + length - 2, "/s"));
}

static char *with_separators(uint64_t whole)
{
	char digits[32];
	char text[48];
	size_t length, out = 0;

	length = 0;
	do {
		digits[length++] = (char)('0' + whole % 10);
		whole /= 10;
	} while (whole);
	while (length) {
		text[out++] = digits[--length];
		if (length && length % 3 == 0)
			text[out++] = ',';
	}
	text[out] = '\0';
	return strdup(text);
}

/* A number without sign in fixed notation. */
static char *fixed(double value, unsigned int decimals)
{
	double power = pow(10, decimals);
	uint64_t scaled, scale = (uint64_t)power;
	char *whole, *text;

	if (!isfinite(value) || value * power >= EXACT_MAX)
		return format_string("%.3e", value);
	scaled = (uint64_t)llround(value * power);
	whole = with_separators(scaled / scale);
	if (!whole || !decimals)
		return whole;
	text = format_string("%s.%0*llu", whole, (int)decimals,
			     (unsigned long long)(scaled % scale));
	free(whole);
	return text;
}

/* Times have about four digits; counts have a decimal or two below 1,000, unless they are whole. */
static unsigned int decimals_of(double value, const char *unit)
{
	double size = fabs(value);
	unsigned int decimals = 3;

	if (!unit_is_time(unit)) {
		if (size >= 1000 || size == floor(size))
			return 0;
		decimals = 1;
	} else if (size >= 100 || size == 0) {
		return 1;
	} else if (size >= 10) {
		return 2;
	}
	for (; size < 1 && decimals < DECIMALS_MAX; size *= 10)
		decimals++;
	return decimals;
}

static char *with_decimals(double value, unsigned int decimals)
{
	char *size = fixed(fabs(value), decimals);
	char *text = size ? format_string("%s%s", value < 0 ? "-" : "", size) : NULL;

	free(size);
	return text;
}

char *format_value(double value, const char *unit)
{
	if (isnan(value))
		return strdup("-");
	return with_decimals(value, decimals_of(value, unit));
}

char *format_spread(double mean, double stddev, const char *unit)
{
	unsigned int decimals = decimals_of(mean, unit);
	char *one, *other, *text = NULL;

	if (isnan(mean) || isnan(stddev))
		return format_value(mean, unit);
	/* A whole mean of samples that are not all the same. */
	if (!decimals && stddev != floor(stddev) && fabs(mean) < 1000)
		decimals = 1;
	one = with_decimals(mean, decimals);
	other = with_decimals(stddev, decimals);
	if (one && other)
		text = format_string("%s +/- %s", one, other);
	free(other);
	free(one);
	return text;
}

static char *format_percent(double percent)
{
	double size = fabs(percent);
	char *number, *text;

	if (percent < 0 && size >= 99.9 && size < 100)
		number = fixed(floor(size * 100) / 100, 2);
	else if (size >= 1000 || size == 100)
		number = fixed(size, 0);
	else
		number = fixed(size, 1);
	if (!number)
		return NULL;
	text = format_string("%s%s%%",
			     !strcmp(number, "0.0") ? ""
			     : percent < 0	    ? "-"
						    : "+",
			     number);
	free(number);
	return text;
}

char *format_change(double change)
{
	double ratio = 1 + change;
	double factor = ratio > 1 ? ratio : 1 / ratio;
	char *percent, *times, *text = NULL;

	if (!isfinite(change))
		return strdup("-");
	percent = format_percent(change * 100);
	if (!percent || ratio <= 0 || factor < 2)
		return percent;
	times = fixed(factor, factor < 10 ? 1 : 0);
	if (times)
		text = format_string("%s (%sx)", percent, times);
	free(times);
	free(percent);
	return text;
}

/* Takes both over. */
static char *range(char *low, char *high)
{
	char *text = low && high ? format_string("%s to %s", low, high) : NULL;

	free(high);
	free(low);
	return text;
}

static char *percent_or_dash(double change)
{
	return isfinite(change) ? format_percent(change * 100) : strdup("-");
}

char *format_changes(double low, double high)
{
	return range(percent_or_dash(low), percent_or_dash(high));
}

char *format_factor(double ratio)
{
	char *number, *text;
	unsigned int decimals = 2;

	if (!isfinite(ratio))
		return strdup("-");
	/* at least two digits that count */
	for (double size = ratio; size > 0 && size < 0.1 && decimals < DECIMALS_MAX; size *= 10)
		decimals++;
	number = fixed(ratio, ratio >= 1000 ? 0 : decimals);
	text = number ? format_string("%sx", number) : NULL;
	free(number);
	return text;
}

char *format_factors(double low, double high)
{
	return range(format_factor(low), format_factor(high));
}
