// SPDX-License-Identifier: GPL-2.0-only
/* Numbers with units: read and printed. */
#include "quantity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs.h"

struct suffix {
	const char *text;
	uint64_t factor;
};

static const struct kind {
	const char *unit;
	struct suffix suffixes[8];
} kinds[] = {
	[QUANTITY_PLAIN] = { NULL, { { "", 1 } } },
	[QUANTITY_COUNT] = { NULL,
			     { { "", 1 }, { "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 } } },
	[QUANTITY_BYTES] = { "bytes",
			     { { "", 1 },
			       { "K", 1ULL << 10 },
			       { "M", 1ULL << 20 },
			       { "G", 1ULL << 30 },
			       { "T", 1ULL << 40 } } },
	[QUANTITY_TIME] = { "ns",
			    { { "", 1000000000ULL },
			      { "ns", 1 },
			      { "us", 1000 },
			      { "ms", 1000000ULL },
			      { "s", 1000000000ULL },
			      { "m", 60000000000ULL },
			      { "h", 3600000000000ULL } } },
};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

bool quantity_parse(enum quantity quantity, const char *text, uint64_t *number)
{
	const struct suffix *suffix = kinds[quantity].suffixes;
	uint64_t whole;
	double value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno)
		return false;
	value = *end == '.' ? strtod(text, &end) : (double)whole;
	for (; suffix->text; suffix++) {
		if (strcmp(end, suffix->text))
			continue;
		if (value == (double)whole && whole <= UINT64_MAX / suffix->factor) {
			*number = whole * suffix->factor;
			return true;
		}
		value *= suffix->factor;
		if (value >= 1.8e19 || value != floor(value))
			return false;
		*number = value;
		return true;
	}
	return false;
}

char *quantity_text(enum quantity quantity, uint64_t number)
{
	const struct suffix *suffix = kinds[quantity].suffixes, *best = NULL;

	for (; number && suffix->text; suffix++)
		if (!(number % suffix->factor) && (!best || suffix->factor >= best->factor))
			best = suffix;
	return format_string("%llu%s", (unsigned long long)(best ? number / best->factor : number),
			     best ? best->text : "");
}

char *quantity_suffixes(enum quantity quantity)
{
	char *text = strdup("");

	for (const struct suffix *suffix = kinds[quantity].suffixes; text && suffix->text;
	     suffix++) {
		char *longer = format_string("%s%s%s", text, *text ? ", " : "", suffix->text);

		free(text);
		text = longer;
	}
	return text;
}

const char *quantity_unit(enum quantity quantity)
{
	return kinds[quantity].unit;
}

static enum quantity quantity_of(const char *unit)
{
	for (size_t i = 0; unit && i < KIND_COUNT; i++)
		if (kinds[i].unit && !strcmp(kinds[i].unit, unit))
			return (enum quantity)i;
	return QUANTITY_PLAIN;
}

/* The fewest digits that read back as the same number. */
static char *real_text(double number)
{
	for (int digits = 15; digits < 17; digits++) {
		char *text = format_string("%.*g", digits, number);

		if (!text || strtod(text, NULL) == number)
			return text;
		free(text);
	}
	return format_string("%.17g", number);
}

char *quantity_json_text(const json_t *value, const char *unit)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return quantity_text(quantity_of(unit), (uint64_t)json_integer_value(value));
	if (json_is_real(value))
		return real_text(json_real_value(value));
	return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}
