// SPDX-License-Identifier: GPL-2.0-only
/* What the index needs besides SQLite: paths, ids, times, a machine's name. */
#include "store.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/fs.h"

#define SECOND_NS 1000000000LL

char *store_path(const char *name)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && *data == '/')
		return format_string("%s/shootdown/%s", data, name);
	return home && *home ? format_string("%s/.local/share/shootdown/%s", home, name) : NULL;
}

bool store_looks_like_id(const char *text)
{
	size_t length = strlen(text);

	return length >= 4 && length <= RUN_ID_LENGTH && strspn(text, "0123456789abcdef") == length;
}

int store_resolve(const char *path, const char *folder_or_id, struct log *log, char **folder)
{
	char full[RUN_ID_LENGTH + 1];
	struct store *store;
	int ret;

	if (!store_looks_like_id(folder_or_id) || fs_exists("", folder_or_id)) {
		*folder = strdup(folder_or_id);
		return *folder ? 0 : -ENOMEM;
	}
	ret = store_open(path, log, &store);
	if (ret)
		return ret;
	ret = store_find(store, folder_or_id, full, folder);
	store_close(store);
	return ret;
}

/* "7d": so long before now; 0 when it is no age. */
static int64_t age_ns(const char *text)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	char *end;
	long long number;

	if (!isdigit((unsigned char)*text))
		return 0;
	number = strtoll(text, &end, 10);
	if (number < 1 || number > 1000000 || !*end || end[1])
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*end == units[i].unit)
			return number * units[i].seconds * SECOND_NS;
	return 0;
}

int store_parse_time(const char *text, int64_t now_ns, int64_t *time_ns)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M" };
	int64_t age = age_ns(text);

	if (age) {
		*time_ns = now_ns - age;
		return 0;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm parts = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &parts);
		time_t seconds = end && !*end ? mktime(&parts) : -1;

		if (seconds < 0 || seconds > INT64_MAX / SECOND_NS)
			continue;
		*time_ns = (int64_t)seconds * SECOND_NS;
		return 0;
	}
	return -EINVAL;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text && strcmp(text, "(none)") ? text : NULL;
}

char *store_machine(const json_t *machine)
{
	const json_t *guest = json_object_get(machine, "guest");
	const char *accel = text_of(guest, "accel");
	const char *name = text_of(guest, "host");

	if (!name)
		name = text_of(machine, "host");
	if (!name)
		name = text_of(machine, "cpu_model");
	if (!name)
		name = text_of(machine, "arch");
	if (!name)
		name = "unknown";
	return accel ? format_string("%s (%s)", name, accel) : strdup(name);
}
