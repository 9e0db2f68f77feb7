// SPDX-License-Identifier: GPL-2.0-only
/* The nearest name, and the message that offers it. */
#include "names.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t edit_distance(const char *a, const char *b)
{
	size_t length = strlen(b), row[64];

	if (length >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

const char *nearest_name(const char *name, const char *const *candidates)
{
	size_t limit = strlen(name) / 3 < 2 ? 2 : strlen(name) / 3, best = limit + 1;
	const char *nearest = NULL;

	for (; *candidates; candidates++) {
		size_t distance = edit_distance(name, *candidates);

		if (distance < best && distance < strlen(*candidates)) {
			best = distance;
			nearest = *candidates;
		}
	}
	return nearest;
}

void say_unknown_name(struct log *log, const char *name, const char *const *candidates,
		      const char *otherwise, const char *format, ...)
{
	const char *nearest = candidates ? nearest_name(name, candidates) : NULL;
	char sentence[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	if (nearest)
		log_error(log, "%s; did you mean \"%s\"?", sentence, nearest);
	else
		log_error(log, "%s; %s", sentence, otherwise);
}

static const char *name_of_row(const void *rows, size_t stride, size_t index)
{
	return *(const char *const *)((const char *)rows + index * stride);
}

const char **names_of_rows(const void *rows, size_t stride)
{
	const char **names;
	size_t count = 0;

	while (name_of_row(rows, stride, count))
		count++;
	names = calloc(count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		names[i] = name_of_row(rows, stride, i);
	return names;
}
