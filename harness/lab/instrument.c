// SPDX-License-Identifier: GPL-2.0-only
/* Reads instruments and adds them to arms. */
#include "instrument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/data.h"
#include "../../lib/fs.h"

static const struct lab_arm *last_arm(const struct lab_series *series)
{
	return &series->arms[series->arm_count - 1];
}

void instruments_release(struct lab_instruments *instruments)
{
	for (unsigned int i = 0; i < instruments->count; i++)
		series_release(&instruments->series[i]);
	free(instruments->names);
	free(instruments->arguments);
	*instruments = (struct lab_instruments){ 0 };
}

/* Adds text to *list behind separator. */
static int append(char **list, const char *separator, const char *text)
{
	char *longer = *list ? format_string("%s%s%s", *list, separator, text) : strdup(text);

	if (!longer)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

static int add_series(struct lab_instruments *instruments, const char *name,
		      const struct lab_series *measured, struct log *log)
{
	struct lab_series *series = &instruments->series[instruments->count];
	int rc;

	if (instruments->count == LAB_INSTRUMENTS_MAX) {
		log_error(log, "there can be %d instruments, and %s is one more: leave one out",
			  LAB_INSTRUMENTS_MAX, name);
		return -EINVAL;
	}
	rc = series_open(name, measured->arch->name, log, series);
	if (!rc && !series->folder) {
		log_error(log, "\"%s\" is no series that could be an instrument", name);
		rc = -EINVAL;
	}
	if (rc)
		return rc == -ENOENT ? -EINVAL : rc;
	if (measured->folder && !strcmp(series->folder, measured->folder)) {
		series_release(series);
		return 0;
	}
	instruments->count++;
	rc = append(&instruments->names, ", ", series->name);
	if (!rc && last_arm(series)->arguments)
		rc = append(&instruments->arguments, " ", last_arm(series)->arguments);
	return rc;
}

static int read_list(struct lab_instruments *instruments, const struct lab_series *measured,
		     struct log *log)
{
	char *relative = format_string("config/%s.instruments", measured->arch->folder);
	char *path = relative ? data_path(DATA_PATCHES, relative) : NULL;
	char *text = NULL, *rest, *line;
	int rc = path ? fs_read("", path, &text, NULL) : -ENOMEM;

	rest = text;
	while (!rc && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t");
		line[strcspn(line, " \t")] = '\0';
		if (*line)
			rc = add_series(instruments, line, measured, log);
	}
	if (rc == -ENOENT)
		rc = 0;
	else if (rc && !text && path)
		log_error(log, "cannot read the list of instruments %s: %s", path, strerror(-rc));
	free(text);
	free(path);
	free(relative);
	return rc;
}

int instruments_open(const char *const *wanted, const struct lab_series *measured, struct log *log,
		     struct lab_instruments *instruments)
{
	struct lab_instruments found = { .given = wanted && *wanted };
	int rc = 0;

	if (!found.given)
		rc = read_list(&found, measured, log);
	else if (strcmp(wanted[0], "none") || wanted[1])
		for (; !rc && *wanted; wanted++)
			rc = add_series(&found, *wanted, measured, log);
	if (rc)
		instruments_release(&found);
	else
		*instruments = found;
	return rc;
}

bool instruments_cover(const struct lab_instruments *instruments, struct kernel_version version,
		       const char **which)
{
	for (unsigned int i = 0; i < instruments->count; i++) {
		const struct lab_series *series = &instruments->series[i];

		if (kernel_version_compare(version, series->first) >= 0 &&
		    kernel_version_compare(version, series->last) <= 0)
			continue;
		*which = series->name;
		return false;
	}
	return true;
}

static int copy_patch(const struct lab_patch *from, struct lab_patch *to)
{
	*to = (struct lab_patch){ strdup(from->path), from->reverse };
	return to->path ? 0 : -ENOMEM;
}

int instruments_add(const struct lab_instruments *instruments, struct lab_arm *arm)
{
	struct lab_patch *larger, *to;
	unsigned int count = 0;

	for (unsigned int i = 0; i < instruments->count; i++)
		count += last_arm(&instruments->series[i])->patch_count;
	larger = calloc(arm->patch_count + count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	to = larger;
	for (unsigned int i = 0; i < instruments->count; i++) {
		const struct lab_arm *from = last_arm(&instruments->series[i]);

		for (unsigned int j = 0; j < from->patch_count; j++)
			if (copy_patch(&from->patches[j], to++))
				goto fail;
	}
	if (arm->patch_count)
		memcpy(to, arm->patches, arm->patch_count * sizeof(*to));
	free(arm->patches);
	arm->patches = larger;
	arm->patch_count += count;
	arm->instrument_count = count;
	return 0;
fail:
	while (to-- > larger)
		free(to->path);
	free(larger);
	return -ENOMEM;
}

void instruments_remove(struct lab_arm *arm)
{
	for (unsigned int i = 0; i < arm->instrument_count; i++)
		free(arm->patches[i].path);
	arm->patch_count -= arm->instrument_count;
	if (arm->instrument_count)
		memmove(arm->patches, arm->patches + arm->instrument_count,
			arm->patch_count * sizeof(*arm->patches));
	arm->instrument_count = 0;
}

struct lab_arm instruments_without(const struct lab_arm *arm)
{
	struct lab_arm plain = *arm;

	if (plain.instrument_count)
		plain.patches += plain.instrument_count;
	plain.patch_count -= plain.instrument_count;
	plain.instrument_count = 0;
	return plain;
}
