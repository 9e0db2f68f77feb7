// SPDX-License-Identifier: GPL-2.0-only
/* Reads what a kernel was configured as and what it calls itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "build.h"

/* "CONFIG_X=v" or "# CONFIG_X is not set" at line; the value is text inside line, or "n". */
static bool parse_option(const char *line, const char **name, size_t *name_length,
			 const char **value, size_t *value_length)
{
	static const char off[] = " is not set";
	size_t length = strcspn(line, "\n");

	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	if (length > 2 && !strncmp(line, "# CONFIG_", 9)) {
		*name = line + 2;
		*name_length = strcspn(*name, " \n");
		if (length != 2 + *name_length + sizeof(off) - 1 ||
		    strncmp(*name + *name_length, off, sizeof(off) - 1))
			return false;
		*value = "n";
		*value_length = 1;
		return true;
	}
	if (strncmp(line, "CONFIG_", 7))
		return false;
	*name = line;
	*name_length = strcspn(line, "=\n");
	if (*name_length >= length)
		return false;
	*value = line + *name_length + 1;
	*value_length = length - *name_length - 1;
	return true;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* The last line of text that sets the option and its value; NULL and "n" when there is none. */
static const char *find_option(const char *text, const char *name, size_t name_length,
			       const char **value, size_t *value_length)
{
	const char *found = NULL;

	*value = "n";
	*value_length = 1;
	for (const char *line = text; line; line = next_line(line)) {
		const char *other, *other_value;
		size_t other_length, length;

		if (!parse_option(line, &other, &other_length, &other_value, &length) ||
		    other_length != name_length || strncmp(other, name, name_length))
			continue;
		*value = other_value;
		*value_length = length;
		found = line;
	}
	return found;
}

char *config_mismatch(const char *fragment, const char *config, unsigned int limit)
{
	unsigned int count = 0;
	char *list = NULL;

	for (const char *line = fragment; line && count < limit; line = next_line(line)) {
		const char *name, *asked, *last, *got;
		size_t name_length, asked_length, last_length, got_length;
		char *longer;

		if (!parse_option(line, &name, &name_length, &asked, &asked_length))
			continue;
		/* a later line of the fragments overrides this one */
		if (find_option(line, name, name_length, &last, &last_length) != line)
			continue;
		find_option(config, name, name_length, &got, &got_length);
		if (got_length == last_length && !strncmp(got, last, got_length))
			continue;
		longer = format_string("%s%s%.*s is %.*s, not %.*s", list ? list : "",
				       list ? ", " : "", (int)name_length, name, (int)got_length,
				       got, (int)last_length, last);
		free(list);
		list = longer;
		count++;
	}
	return list;
}

/* "RELEASE (user@host) #VERSION" or "RELEASE (user@host) (compiler) #VERSION". */
static int split_banner(const char *text, size_t length, char **release, char **version)
{
	size_t word = strcspn(text, " ");
	const char *number = memchr(text, '#', length);
	char *first, *second;

	if (!word || word >= length || !number)
		return -EINVAL;
	first = strndup(text, word);
	second = strndup(number, length - (number - text));
	if (!first || !second) {
		free(first);
		free(second);
		return -ENOMEM;
	}
	*release = first;
	*version = second;
	return 0;
}

int image_identify(const unsigned char *bytes, size_t length, char **release, char **version)
{
	static const char banner[] = "Linux version ";
	const char *text;
	size_t offset;

	/* Documentation/arch/x86/boot.rst: "HdrS" at 0x202, kernel_version at 0x20e */
	if (length > 0x210 && !memcmp(bytes + 0x202, "HdrS", 4)) {
		offset = (bytes[0x20e] | bytes[0x20f] << 8) + 0x200;
		if (offset == 0x200 || offset >= length)
			return -EINVAL;
		text = (const char *)bytes + offset;
		return split_banner(text, strnlen(text, length - offset), release, version);
	}
	/* the banner also exists as a format; the real one has a digit after it */
	for (const unsigned char *at = bytes;
	     (at = memmem(at, length - (at - bytes), banner, sizeof(banner) - 1));) {
		at += sizeof(banner) - 1;
		text = (const char *)at;
		if ((size_t)(at - bytes) < length && *at >= '0' && *at <= '9') {
			size_t rest = length - (at - bytes), line = strcspn(text, "\n");

			return split_banner(text, line < rest ? line : rest, release, version);
		}
	}
	return -EINVAL;
}
