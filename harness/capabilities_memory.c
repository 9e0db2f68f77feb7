// SPDX-License-Identifier: GPL-2.0-only
/* What memory can be made to do here: zram, swap, cgroup reclaim, THP. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "capabilities.h"
#include "environment.h"

#define ZRAM_CONTROL "/sys/class/zram-control/hot_add"

/* access(2) of a path under root. */
static bool permitted(const char *root, const char *path, int mode)
{
	char *full = format_string("%s%s", root, path);
	bool can = full && !access(full, mode);

	free(full);
	return can;
}

unsigned int capabilities_kernel_version(const char *root)
{
	unsigned int major = 0, minor = 0;
	char *release;

	if (fs_read_value(root, "/proc/sys/kernel/osrelease", &release))
		return 0;
	sscanf(release, "%u.%u", &major, &minor);
	free(release);
	return major * 1000 + minor;
}

/* Whether the kernel's modules include zram, loaded or not. */
static bool has_zram_module(const char *root)
{
	char *release = NULL, *path = NULL, *text = NULL;
	bool found = false;

	if (!fs_read_value(root, "/proc/sys/kernel/osrelease", &release)) {
		path = format_string("/lib/modules/%s/modules.dep", release);
		found = path && !fs_read(root, path, &text, NULL) && strstr(text, "/zram.ko");
	}
	free(text);
	free(path);
	free(release);
	return found;
}

static unsigned int count_entries(const char *root, const char *path, const char *prefix)
{
	char *full = format_string("%s%s", root, path);
	DIR *folder = full ? opendir(full) : NULL;
	unsigned int count = 0;
	struct dirent *entry;

	free(full);
	while (folder && (entry = readdir(folder)))
		count += !strncmp(entry->d_name, prefix, strlen(prefix));
	if (folder)
		closedir(folder);
	return count;
}

static void add_zram(const char *root, struct capabilities *capabilities)
{
	if (permitted(root, ZRAM_CONTROL, R_OK))
		capabilities_add(capabilities, "memory", "zram", CAPABILITY_OK, NULL,
				 "a device can be added; %u exist",
				 count_entries(root, "/sys/block", "zram"));
	else if (fs_exists(root, ZRAM_CONTROL))
		capabilities_add(capabilities, "memory", "zram", CAPABILITY_NOT_PERMITTED,
				 "run as root", "root alone may add a device");
	else if (has_zram_module(root))
		capabilities_add(capabilities, "memory", "zram", CAPABILITY_MISSING,
				 "load it: modprobe zram", "the module is there and not loaded");
	else
		capabilities_add(capabilities, "memory", "zram", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_ZRAM", "this kernel has none");
}

static void add_swap(const char *root, struct capabilities *capabilities)
{
	unsigned int lines = 0;
	const char *at;
	char *text;

	if (fs_read(root, "/proc/swaps", &text, NULL)) {
		capabilities_add(capabilities, "memory", "swap", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_SWAP", "this kernel cannot swap");
		return;
	}
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	if (geteuid())
		capabilities_add(capabilities, "memory", "swap", CAPABILITY_NOT_PERMITTED,
				 "run as root", "root alone may turn swap on; %u in use",
				 lines ? lines - 1 : 0);
	else
		capabilities_add(capabilities, "memory", "swap", CAPABILITY_OK, NULL, "%u in use",
				 lines ? lines - 1 : 0);
}

/* A cgroup, the root or one below it, that has memory.reclaim. */
static bool has_reclaim_file(const char *root, const char *mount)
{
	char *path = format_string("%s%s", root, mount), *file;
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;
	bool found = false;

	free(path);
	while (folder && !found && (entry = readdir(folder))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".."))
			continue;
		file = format_string("%s/%s/memory.reclaim", mount, entry->d_name);
		found = file && fs_exists(root, file);
		free(file);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void add_reclaim(const char *root, const char *mount, struct capabilities *capabilities)
{
	unsigned int version = capabilities_kernel_version(root);

	if (has_reclaim_file(root, mount))
		capabilities_add(capabilities, "memory", "memory.reclaim", CAPABILITY_OK, NULL,
				 "cgroups have the file");
	else if (version >= 5019)
		capabilities_add(capabilities, "memory", "memory.reclaim", CAPABILITY_OK, NULL,
				 "no cgroup shows it yet; this kernel has it (5.19 and later)");
	else
		capabilities_add(capabilities, "memory", "memory.reclaim", CAPABILITY_MISSING,
				 "use Linux 5.19 or later", "this kernel does not have the file");
	if (version >= 6011)
		capabilities_add(capabilities, "memory", "memory.reclaim swappiness", CAPABILITY_OK,
				 NULL, "by the kernel's version (6.11 and later): 0 to 200%s",
				 version >= 6016 ? ", max" : "");
	else
		capabilities_add(
			capabilities, "memory", "memory.reclaim swappiness", CAPABILITY_MISSING,
			"use Linux 6.11 or later",
			"by the kernel's version: reclaim takes files and anonymous pages as it likes");
}

static void add_cgroup(const char *root, struct capabilities *capabilities)
{
	const char *why = NULL;
	char *mount = environment_cgroup_mount(root, &why);

	if (!mount) {
		capabilities_add(capabilities, "memory", "cgroup v2", CAPABILITY_MISSING, NULL,
				 "%s", why);
		capabilities_add(capabilities, "memory", "memory.reclaim", CAPABILITY_MISSING, NULL,
				 "it needs cgroup v2 with the memory controller");
		return;
	}
	if (permitted(root, mount, W_OK))
		capabilities_add(capabilities, "memory", "cgroup v2", CAPABILITY_OK, NULL,
				 "mounted at %s, with the memory controller", mount);
	else
		capabilities_add(capabilities, "memory", "cgroup v2", CAPABILITY_NOT_PERMITTED,
				 "run as root",
				 "mounted at %s; this user may not make a cgroup there", mount);
	add_reclaim(root, mount, capabilities);
	free(mount);
}

static void add_huge_pages(const char *root, struct capabilities *capabilities)
{
	char *text;

	if (fs_read_value(root, "/sys/kernel/mm/transparent_hugepage/enabled", &text)) {
		capabilities_add(capabilities, "memory", "transparent huge pages",
				 CAPABILITY_MISSING,
				 "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
				 "this kernel has none");
		return;
	}
	capabilities_add(capabilities, "memory", "transparent huge pages", CAPABILITY_OK, NULL,
			 "%s", text);
	free(text);
}

void capabilities_memory(const char *root, struct capabilities *capabilities)
{
	add_zram(root, capabilities);
	add_swap(root, capabilities);
	add_cgroup(root, capabilities);
	add_huge_pages(root, capabilities);
}
