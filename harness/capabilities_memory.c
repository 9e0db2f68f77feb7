// SPDX-License-Identifier: GPL-2.0-only
/* What memory can be made to do here: zram, swap, cgroup reclaim, THP, NUMA nodes, tiers, CXL. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/cpus.h"
#include "../lib/cxl.h"
#include "../lib/fs.h"
#include "../lib/nodes.h"
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

/* "7.3" of the kernel as 7003; 0: not known. */
static unsigned int kernel_version(const char *root)
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
	unsigned int version = kernel_version(root);

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

/* The numbers of the nodes that choose() picks, as the kernel writes a list. "none" when empty. */
static char *list_nodes(const struct nodes *nodes, bool (*choose)(const struct node *node))
{
	hwloc_bitmap_t chosen = hwloc_bitmap_alloc();
	char *text = NULL;
	unsigned int i;

	for (i = 0; chosen && i < nodes->count; i++)
		if (choose(&nodes->list[i]))
			hwloc_bitmap_set(chosen, nodes->list[i].number);
	if (chosen)
		text = hwloc_bitmap_iszero(chosen) ? strdup("none") : cpus_format(chosen);
	hwloc_bitmap_free(chosen);
	return text;
}

static bool is_any(const struct node *node)
{
	return node != NULL;
}

static bool is_memory_only(const struct node *node)
{
	return node->memory_bytes && hwloc_bitmap_iszero(node->cpus);
}

static bool is_refused(const struct node *node)
{
	return node->memory_bytes && !node->allowed;
}

static void add_node_rows(const struct nodes *nodes, struct capabilities *capabilities)
{
	char *all = list_nodes(nodes, is_any), *memory = list_nodes(nodes, is_memory_only);
	char *refused = list_nodes(nodes, is_refused);
	bool many = nodes_with_memory(nodes) > 1;

	if (!all || !memory || !refused) {
		capabilities->out_of_memory = true;
	} else {
		capabilities_add(capabilities, "nodes", "NUMA nodes",
				 many ? CAPABILITY_OK : CAPABILITY_MISSING,
				 many ? NULL
				      : "use a machine with several to migrate between nodes",
				 "%s%s; %u with memory, not allowed to this process: %s", all,
				 nodes->gaps ? " (numbers with gaps)" : "",
				 nodes_with_memory(nodes), refused);
		capabilities_add(capabilities, "nodes", "memory-only nodes",
				 nodes_memory_only(nodes) ? CAPABILITY_OK : CAPABILITY_MISSING,
				 NULL, "%s", memory);
	}
	free(all);
	free(memory);
	free(refused);
}

static void add_tiers(const struct nodes *nodes, struct capabilities *capabilities)
{
	int lowest = -1, highest = -1;
	unsigned int i;

	for (i = 0; i < nodes->count; i++) {
		if (nodes->list[i].tier < 0)
			continue;
		if (lowest < 0 || nodes->list[i].tier < lowest)
			lowest = nodes->list[i].tier;
		if (nodes->list[i].tier > highest)
			highest = nodes->list[i].tier;
	}
	if (lowest < 0)
		capabilities_add(capabilities, "nodes", "memory tiers", CAPABILITY_MISSING, NULL,
				 "this kernel shows none");
	else if (lowest == highest)
		capabilities_add(capabilities, "nodes", "memory tiers", CAPABILITY_MISSING, NULL,
				 "one only (%d): there is nowhere to demote to", lowest);
	else
		capabilities_add(capabilities, "nodes", "memory tiers", CAPABILITY_OK, NULL,
				 "from %d (fastest) to %d", lowest, highest);
	if (nodes->demotion < 0)
		capabilities_add(capabilities, "nodes", "demotion", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_MIGRATION and CONFIG_NUMA",
				 "this kernel has none");
	else
		capabilities_add(capabilities, "nodes", "demotion", CAPABILITY_OK, NULL,
				 "switched %s", nodes->demotion ? "on" : "off");
}

static void add_policy(const char *root, struct capabilities *capabilities)
{
	hwloc_bitmap_t allowed = NULL;
	int err = *root ? -ENOSYS : nodes_policy(&allowed);

	if (!err)
		capabilities_add(capabilities, "nodes", "placement calls", CAPABILITY_OK, NULL,
				 "mbind, move_pages and their like work");
	else if (err == -EPERM)
		capabilities_add(capabilities, "nodes", "placement calls", CAPABILITY_NOT_PERMITTED,
				 "in a container: allow them in its system call filter",
				 "the kernel refuses them");
	else
		capabilities_add(
			capabilities, "nodes", "placement calls", CAPABILITY_MISSING, NULL,
			*root ? "not asked: this is a recorded machine"
			      : "not known: a kernel without CONFIG_NUMA, or a build without libnuma");
	hwloc_bitmap_free(allowed);
}

static void add_nodes(const char *root, struct capabilities *capabilities)
{
	struct nodes *nodes;
	int err = nodes_read(root, &nodes);

	if (err) {
		capabilities_add(capabilities, "nodes", "NUMA nodes", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_NUMA", "they cannot be read: %s",
				 strerror(-err));
		return;
	}
	add_node_rows(nodes, capabilities);
	add_tiers(nodes, capabilities);
	add_policy(root, capabilities);
	nodes_free(nodes);
}

static void add_cxl_rows(const struct cxl *cxl, struct capabilities *capabilities)
{
	unsigned long long ram_bytes = 0;
	unsigned int committed = 0, kmem = 0, i;

	for (i = 0; i < cxl->device_count; i++)
		ram_bytes += cxl->devices[i].ram_bytes;
	for (i = 0; i < cxl->region_count; i++)
		committed += cxl->regions[i].committed;
	for (i = 0; i < cxl->dax_count; i++)
		kmem += cxl->dax[i].driver && !strcmp(cxl->dax[i].driver, "kmem");
	capabilities_add(capabilities, "cxl", "memory devices",
			 cxl->device_count ? CAPABILITY_OK : CAPABILITY_MISSING, NULL,
			 "%u, with %llu MiB of volatile memory", cxl->device_count,
			 ram_bytes >> 20);
	capabilities_add(capabilities, "cxl", "regions",
			 cxl->region_count ? CAPABILITY_OK : CAPABILITY_MISSING, NULL,
			 "%u, %u of them committed", cxl->region_count, committed);
	capabilities_add(capabilities, "cxl", "dax devices",
			 cxl->dax_count ? CAPABILITY_OK : CAPABILITY_MISSING, NULL,
			 "%u, %u of them system memory (kmem)", cxl->dax_count, kmem);
}

static void add_cxl(const char *root, struct capabilities *capabilities)
{
	struct cxl *cxl;
	int err = cxl_read(root, &cxl);

	if (err) {
		capabilities_add(capabilities, "cxl", "memory devices", CAPABILITY_MISSING, NULL,
				 "%s",
				 err == -ENOENT ? "this machine has no CXL bus" : strerror(-err));
		return;
	}
	add_cxl_rows(cxl, capabilities);
	cxl_free(cxl);
}

void capabilities_memory(const char *root, struct capabilities *capabilities)
{
	add_zram(root, capabilities);
	add_swap(root, capabilities);
	add_cgroup(root, capabilities);
	add_huge_pages(root, capabilities);
	add_nodes(root, capabilities);
	add_cxl(root, capabilities);
}
