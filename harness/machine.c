// SPDX-License-Identifier: GPL-2.0-only
/* machine.json of the machine that runs: what a comparison must know about it. */
#include "config.h"

#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../lib/cpus.h"
#include "../lib/fs.h"

/* The value behind "NAME<white space>: " of /proc/cpuinfo, a fresh string or NULL. */
static char *cpu_model(const char *root)
{
	static const char *const names[] = { "model name", "CPU part" };
	char *text, *line, *model = NULL;

	if (fs_read(root, "/proc/cpuinfo", &text, NULL))
		return NULL;
	for (size_t i = 0; !model && i < sizeof(names) / sizeof(names[0]); i++) {
		line = strstr(text, names[i]);
		line = line ? strchr(line, ':') : NULL;
		if (line)
			model = strndup(line + 2, strcspn(line + 2, "\n"));
	}
	free(text);
	return model;
}

static unsigned long long memory_bytes(const char *root)
{
	unsigned long long kib = 0;
	char *text;

	if (fs_read(root, "/proc/meminfo", &text, NULL))
		return 0;
	sscanf(text, "MemTotal: %llu", &kib);
	free(text);
	return kib * 1024;
}

static int count_list(const char *root, const char *path)
{
	hwloc_bitmap_t numbers;
	int count;

	if (cpus_from_file(root, path, &numbers))
		return 1;
	count = hwloc_bitmap_weight(numbers);
	hwloc_bitmap_free(numbers);
	return count;
}

static json_t *text_or_null(char *text)
{
	json_t *json = text ? json_string(text) : json_null();

	free(text);
	return json;
}

static char *value_or_null(const char *root, const char *path)
{
	char *text;

	return fs_read_value(root, path, &text) ? NULL : text;
}

static void add_lab_facts(const char *root, json_t *machine)
{
	static const char *const names[] = { "arm", "boot", "guest" };
	char *path = format_string("%s" MACHINE_LAB_PATH, root);
	json_t *facts = path ? json_load_file(path, 0, NULL) : NULL;

	for (size_t i = 0; facts && i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set(machine, names[i], json_object_get(facts, names[i]));
	json_decref(facts);
	free(path);
}

json_t *machine_describe(const char *root)
{
	struct utsname name;
	json_t *machine;

	uname(&name);
	machine = json_pack(
		"{s:s, s:i, s:o, s:s, s:i, s:{s:o, s:o}, s:{s:i, s:i}, s:o, s:i, s:I, s:n, s:n, s:n, s:o, s:s}",
		"schema", "shootdown-machine", "version", RECORD_VERSION, "host",
		text_or_null(value_or_null(root, "/proc/sys/kernel/hostname")), "arch",
		name.machine, "page_size", (int)sysconf(_SC_PAGESIZE), "kernel", "release",
		text_or_null(value_or_null(root, "/proc/sys/kernel/osrelease")), "version",
		text_or_null(value_or_null(root, "/proc/sys/kernel/version")), "cpus", "online",
		count_list(root, "/sys/devices/system/cpu/online"), "used", 0, "cpu_model",
		text_or_null(cpu_model(root)), "nodes",
		count_list(root, "/sys/devices/system/node/online"), "memory_bytes",
		(json_int_t)memory_bytes(root), "guest", "arm", "boot", "cmdline",
		text_or_null(value_or_null(root, "/proc/cmdline")), "shootdown", PACKAGE_VERSION);
	add_lab_facts(root, machine);
	return machine;
}
