// SPDX-License-Identifier: GPL-2.0-only
/* Needs checked against the machine, one table row a kind. */
#include "needs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/spawn.h"
#include "../stressors/placement.h"
#include "environment.h"

struct need_rule {
	/* true when met; else reason is filled */
	bool (*met)(const char *root, const struct need *need, const struct point *point,
		    char *reason, size_t size);
	const char *words; /* for needs_describe(): "%u" takes the number; NULL: the need's own */
};

static bool root_met(const char *root, const struct need *need, const struct point *point,
		     char *reason, size_t size)
{
	(void)root;
	(void)need;
	(void)point;
	snprintf(reason, size, "needs root; run it with sudo");
	return geteuid() == 0;
}

static bool cpus_met(const char *root, const struct need *need, const struct point *point,
		     char *reason, size_t size)
{
	(void)root;
	snprintf(reason, size, "needs %u CPUs, there are %u to use here", need->number,
		 point->cpu_count);
	return point->cpu_count >= need->number;
}

static bool file_met(const char *root, const struct need *need, const struct point *point,
		     char *reason, size_t size)
{
	(void)point;
	snprintf(reason, size, "needs %s: this kernel has no %s", need->words, need->path);
	return fs_exists(root, need->path);
}

/* memory.reclaim came with 5.19 and shows only below the root cgroup. */
static bool cgroup_met(const char *root, const struct need *need, const struct point *point,
		       char *reason, size_t size)
{
	unsigned int major = 0, minor = 0;
	const char *why;
	char *mount = environment_cgroup_mount(root, &why), *release;

	(void)need;
	(void)point;
	if (!mount) {
		snprintf(reason, size, "needs memory.reclaim of cgroup v2: %s", why);
		return false;
	}
	free(mount);
	if (fs_read_value(root, "/proc/sys/kernel/osrelease", &release))
		return true;
	sscanf(release, "%u.%u", &major, &minor);
	snprintf(reason, size,
		 "needs memory.reclaim of cgroup v2, which came with Linux 5.19; this is %s",
		 release);
	free(release);
	return major > 5 || (major == 5 && minor >= 19);
}

static bool zram_met(const char *root, const struct need *need, const struct point *point,
		     char *reason, size_t size)
{
	(void)need;
	(void)point;
	snprintf(reason, size, "needs zram; \"modprobe zram\", or a kernel with CONFIG_ZRAM");
	return fs_exists(root, "/sys/class/zram-control/hot_add");
}

static bool memory_met(const char *root, const struct need *need, const struct point *point,
		       char *reason, size_t size)
{
	uint64_t wanted = point->stressor->memory_bytes ? point->stressor->memory_bytes(point) : 0;
	unsigned long long available_kib = 0;
	char *text, *line;

	(void)need;
	if (fs_read(root, "/proc/meminfo", &text, NULL))
		return true;
	line = strstr(text, "\nMemAvailable:");
	if (line)
		sscanf(line, "\nMemAvailable: %llu", &available_kib);
	free(text);
	snprintf(reason, size, "needs %llu MiB of memory, %llu are available; give fewer pages",
		 (unsigned long long)wanted >> 20, available_kib >> 10);
	return !line || available_kib * 1024 >= wanted;
}

static bool program_met(const char *root, const struct need *need, const struct point *point,
			char *reason, size_t size)
{
	(void)root;
	(void)point;
	snprintf(reason, size, "needs the program %s; install %s", need->path, need->words);
	return spawn_find(need->path, NULL);
}

static bool nodes_met(const char *root, const struct need *need, const struct point *point,
		      char *reason, size_t size)
{
	struct placement placement;

	(void)need;
	return !placement_find(root, point, false, &placement, reason, size);
}

static bool demotion_met(const char *root, const struct need *need, const struct point *point,
			 char *reason, size_t size)
{
	struct placement placement;

	(void)need;
	return !placement_find(root, point, true, &placement, reason, size);
}

static const struct need_rule rules[] = {
	[NEED_ROOT] = { root_met, "root" },
	[NEED_CPUS] = { cpus_met, "%u CPUs" },
	[NEED_FILE] = { file_met, NULL },
	[NEED_CGROUP_RECLAIM] = { cgroup_met, "cgroup v2 with memory.reclaim" },
	[NEED_ZRAM] = { zram_met, "zram" },
	[NEED_MEMORY] = { memory_met, "memory for the pages" },
	[NEED_NODES] = { nodes_met, "two NUMA nodes with memory" },
	[NEED_PROGRAM] = { program_met, NULL },
	[NEED_DEMOTION] = { demotion_met, "a lower memory tier, and a kernel that demotes" },
};

static bool applies(const struct point *point, const char *option, const char *value)
{
	return !option || !strcmp(option_string(point->parameters, option), value);
}

/* A knob (ENVIRONMENT_KNOB) that has to be turned, by who may not. */
static bool knob_met(const char *root, const struct environment_row *row, char *reason, size_t size)
{
	char *path, *value;
	bool met;

	if (fs_read_value(root, row->path, &value))
		return true;
	path = format_string("%s%s", root, row->path);
	met = !strcmp(value, row->text) || (path && !access(path, W_OK));
	snprintf(
		reason, size,
		"needs \"%s\" in %s, which holds \"%s\"; run it with sudo, or write it there before",
		row->text, row->path, value);
	free(path);
	free(value);
	return met;
}

static bool environment_met(const char *root, const struct point *point, char *reason, size_t size)
{
	for (const struct environment_row *row = point->stressor->environment;
	     row && row->kind != ENVIRONMENT_END; row++)
		if (row->kind == ENVIRONMENT_KNOB && applies(point, row->option, row->value) &&
		    !knob_met(root, row, reason, size))
			return false;
	return true;
}

int needs_unmet(const char *root, const struct point *point, char *reason, size_t reason_size)
{
	for (const struct need *need = point->stressor->needs; need && need->kind != NEED_END;
	     need++)
		if (applies(point, need->option, need->value) &&
		    !rules[need->kind].met(root, need, point, reason, reason_size))
			return 1;
	return !environment_met(root, point, reason, reason_size);
}

void needs_describe(const struct stressor *stressor, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (const struct need *need = stressor->needs;
	     need && need->kind != NEED_END && used < size; need++) {
		if (used)
			used += snprintf(text + used, size - used, ", ");
		if (used < size && need->words)
			used += snprintf(text + used, size - used, "%s", need->words);
		else if (used < size)
			used += snprintf(text + used, size - used, rules[need->kind].words,
					 need->number);
		if (need->option && used < size)
			used += snprintf(text + used, size - used, " (%s=%s)", need->option,
					 need->value);
	}
	if (!used)
		snprintf(text, size, "nothing");
}
