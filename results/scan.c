// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scanner of one JSON line in place. Strings with escapes or bytes beyond
 * ASCII are rare in these files and go through jansson, which checks them.
 */
#include "scan.h"

#include <jansson.h>
#include <string.h>

#define DEPTH_MAX 32

static void skip_space(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n')
		scan->at++;
}

bool scan_peek(struct scan *scan, char wanted)
{
	skip_space(scan);
	return scan->at < scan->end && *scan->at == wanted;
}

bool scan_take(struct scan *scan, char wanted)
{
	if (!scan_peek(scan, wanted))
		return false;
	scan->at++;
	return true;
}

bool scan_done(struct scan *scan)
{
	skip_space(scan);
	return scan->at == scan->end;
}

/* start is after the opening quote, stop at the closing one: decoded in place, it only shrinks. */
static bool decode_string(char *start, char *stop)
{
	json_t *string = json_loadb(start - 1, (size_t)(stop - start) + 2, JSON_DECODE_ANY, NULL);
	const char *text = json_string_value(string);
	bool valid = text && json_string_length(string) <= (size_t)(stop - start);

	if (valid)
		memcpy(start, text, strlen(text) + 1);
	json_decref(string);
	return valid;
}

bool scan_string(struct scan *scan, char **text)
{
	char *start, *at;
	bool plain = true;

	if (!scan_take(scan, '"'))
		return false;
	start = scan->at;
	for (at = start; at < scan->end && *at != '"'; at++) {
		unsigned char c = (unsigned char)*at;

		if (c < 0x20)
			return false;
		if (c >= 0x80)
			plain = false;
		if (c == '\\') {
			plain = false;
			if (++at == scan->end)
				return false;
		}
	}
	if (at >= scan->end)
		return false;
	scan->at = at + 1;
	if (plain)
		*at = '\0';
	else if (!decode_string(start, at))
		return false;
	*text = start;
	return true;
}

/* Where a number by JSON's grammar ends; NULL when there is none. */
static char *number_end(char *at, bool *whole)
{
	*whole = *at != '-';
	if (*at == '-')
		at++;
	if (*at < '0' || *at > '9')
		return NULL;
	if (*at == '0')
		at++;
	else
		while (*at >= '0' && *at <= '9')
			at++;
	if (*at == '.') {
		*whole = false;
		if (*++at < '0' || *at > '9')
			return NULL;
		while (*at >= '0' && *at <= '9')
			at++;
	}
	if (*at == 'e' || *at == 'E') {
		*whole = false;
		at++;
		if (*at == '+' || *at == '-')
			at++;
		if (*at < '0' || *at > '9')
			return NULL;
		while (*at >= '0' && *at <= '9')
			at++;
	}
	return at;
}

/*
 * A decimal of at most 15 digits and a power of ten of at most 22 are both exact
 * doubles, so one division rounds once and the result is exact (W. Clinger, How
 * to read floating point numbers accurately, PLDI 1990). False: not such a one.
 */
static bool short_decimal(const char *at, const char *end, double *value)
{
	double power = 1.0;
	uint64_t digits = 0;
	unsigned int count = 0;
	bool negative = *at == '-', fraction = false;

	for (at += negative; at < end; at++) {
		if (*at == '.') {
			fraction = true;
			continue;
		}
		if (*at == 'e' || *at == 'E' || ++count > 15)
			return false;
		digits = digits * 10 + (uint64_t)(*at - '0');
		if (fraction)
			power *= 10.0;
	}
	*value = (double)digits / power;
	if (negative)
		*value = -*value;
	return true;
}

bool scan_number(struct scan *scan, double *value)
{
	char *end;
	bool whole, valid;
	json_t *number;

	skip_space(scan);
	end = number_end(scan->at, &whole);
	if (!end)
		return false;
	if (short_decimal(scan->at, end, value)) {
		scan->at = end;
		return true;
	}
	number = json_loadb(scan->at, (size_t)(end - scan->at),
			    JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	valid = json_is_number(number);
	*value = json_number_value(number);
	json_decref(number);
	scan->at = end;
	return valid;
}

bool scan_u64(struct scan *scan, uint64_t *value)
{
	uint64_t number = 0;
	bool whole;
	char *end;

	skip_space(scan);
	end = number_end(scan->at, &whole);
	if (!end || !whole)
		return false;
	for (; scan->at < end; scan->at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*scan->at - '0'), &number))
			return false;
	*value = number;
	return true;
}

static bool take_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	skip_space(scan);
	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length))
		return false;
	scan->at += length;
	return true;
}

bool scan_bool(struct scan *scan, bool *value)
{
	*value = take_word(scan, "true");
	return *value || take_word(scan, "false");
}

bool scan_null(struct scan *scan)
{
	return take_word(scan, "null");
}

bool scan_key(struct scan *scan, bool *first, char **key)
{
	*key = NULL;
	if (scan_take(scan, '}'))
		return true;
	if (!*first && !scan_take(scan, ','))
		return false;
	*first = false;
	return scan_string(scan, key) && scan_take(scan, ':');
}

static bool skip_value(struct scan *scan, unsigned int depth)
{
	bool first = true, truth;
	double number;
	char *text;

	if (depth > DEPTH_MAX)
		return false;
	if (scan_take(scan, '{')) {
		while (scan_key(scan, &first, &text)) {
			if (!text)
				return true;
			if (!skip_value(scan, depth + 1))
				return false;
		}
		return false;
	}
	if (scan_take(scan, '[')) {
		if (scan_take(scan, ']'))
			return true;
		do {
			if (!skip_value(scan, depth + 1))
				return false;
		} while (scan_take(scan, ','));
		return scan_take(scan, ']');
	}
	if (scan_peek(scan, '"'))
		return scan_string(scan, &text);
	return scan_null(scan) || scan_bool(scan, &truth) || scan_number(scan, &number);
}

bool scan_skip(struct scan *scan)
{
	return skip_value(scan, 0);
}
