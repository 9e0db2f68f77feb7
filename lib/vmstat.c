// SPDX-License-Identifier: GPL-2.0-only
/* Finds one value in "key value" lines; see vmstat.h. */
#include "vmstat.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int vmstat_find(const char *text, const char *key, uint64_t *value)
{
	size_t length = strlen(key);
	const char *line, *newline;
	unsigned long long number;
	char *end;

	for (line = text; line; line = newline ? newline + 1 : NULL) {
		newline = strchr(line, '\n');
		if (strncmp(line, key, length) || line[length] != ' ')
			continue;
		if (!isdigit((unsigned char)line[length + 1]))
			return -EBADMSG;
		errno = 0;
		number = strtoull(line + length + 1, &end, 10);
		if (errno || (*end && *end != '\n'))
			return -EBADMSG;
		*value = number;
		return 0;
	}
	return -ENOENT;
}
