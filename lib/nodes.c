// SPDX-License-Identifier: GPL-2.0-only
/* Reads NUMA nodes, memory tiers and the demotion switch from sysfs; see nodes.h. */
#include "nodes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "fs.h"

#define NODE_FOLDER "/sys/devices/system/node"
#define TIER_FOLDER "/sys/devices/virtual/memory_tiering"

/* A list file that may be empty, as the cpulist of a node without CPUs is. */
static int read_list(const char *root, const char *path, hwloc_bitmap_t *list)
{
	hwloc_bitmap_t parsed;
	char *text;
	int err;

	err = fs_read_value(root, path, &text);
	if (err)
		return err;
	if (*text) {
		err = cpus_parse(text, list);
	} else {
		parsed = hwloc_bitmap_alloc();
		err = parsed ? 0 : -ENOMEM;
		if (parsed)
			*list = parsed;
	}
	free(text);
	return err;
}

/* "Node 0 MemTotal:  8743124 kB"; 0 when the file has no such line. */
static uint64_t meminfo_bytes(const char *text, unsigned int node, const char *key)
{
	unsigned long long kilobytes = 0;
	const char *line;
	char *start;
	size_t length;

	start = format_string("Node %u %s:", node, key);
	if (!start)
		return 0;
	length = strlen(start);
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, start, length)) {
			kilobytes = strtoull(line + length, NULL, 10);
			break;
		}
	}
	free(start);
	return kilobytes * 1024;
}

static int read_node(const char *root, unsigned int number, struct node *node)
{
	char *path, *text;
	int err;

	node->number = number;
	node->tier = -1;
	path = format_string(NODE_FOLDER "/node%u/cpulist", number);
	err = path ? read_list(root, path, &node->cpus) : -ENOMEM;
	free(path);
	if (err)
		return err;
	path = format_string(NODE_FOLDER "/node%u/meminfo", number);
	err = path ? fs_read(root, path, &text, NULL) : -ENOMEM;
	free(path);
	if (err)
		return err == -ENOENT ? 0 : err;
	node->memory_bytes = meminfo_bytes(text, number, "MemTotal");
	node->free_bytes = meminfo_bytes(text, number, "MemFree");
	free(text);
	return 0;
}

/* memory_tier<N>/nodelist of every tier. A kernel without tiers leaves them unknown. */
static int read_tiers(const char *root, struct nodes *nodes)
{
	hwloc_bitmap_t members = NULL;
	struct dirent *entry;
	char *path;
	DIR *folder;
	unsigned int i;
	int tier, err = 0;

	path = format_string("%s" TIER_FOLDER, root);
	if (!path)
		return -ENOMEM;
	folder = opendir(path);
	free(path);
	if (!folder)
		return 0;
	while (!err && (entry = readdir(folder))) {
		if (sscanf(entry->d_name, "memory_tier%d", &tier) != 1)
			continue;
		path = format_string(TIER_FOLDER "/%s/nodelist", entry->d_name);
		err = path ? read_list(root, path, &members) : -ENOMEM;
		free(path);
		for (i = 0; !err && i < nodes->count; i++)
			if (hwloc_bitmap_isset(members, nodes->list[i].number))
				nodes->list[i].tier = tier;
		hwloc_bitmap_free(members);
		members = NULL;
	}
	closedir(folder);
	return err == -ENOMEM ? err : 0;
}

/* Mems_allowed_list of /proc/self/status. */
static int status_allowed(const char *root, hwloc_bitmap_t *allowed)
{
	static const char key[] = "\nMems_allowed_list:";
	char *text, *line, *end;
	int err;

	err = fs_read(root, "/proc/self/status", &text, NULL);
	if (err)
		return err;
	line = strstr(text, key);
	if (line) {
		line += strlen(key);
		line += strspn(line, " \t");
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
	}
	err = line ? cpus_parse(line, allowed) : -ENOENT;
	free(text);
	return err;
}

static int read_allowed(const char *root, struct nodes *nodes)
{
	hwloc_bitmap_t allowed = NULL;
	unsigned int i;
	int err = -ENOSYS;

	if (!*root)
		err = nodes_policy(&allowed);
	if (err)
		err = status_allowed(root, &allowed);
	if (err == -ENOMEM)
		return err;
	for (i = 0; i < nodes->count; i++)
		nodes->list[i].allowed = err || hwloc_bitmap_isset(allowed, nodes->list[i].number);
	hwloc_bitmap_free(allowed);
	return 0;
}

static int read_demotion(const char *root)
{
	int demotion = -1;
	char *text;

	if (fs_read_value(root, "/sys/kernel/mm/numa/demotion_enabled", &text))
		return -1;
	if (!strcmp(text, "true") || !strcmp(text, "1"))
		demotion = 1;
	else if (!strcmp(text, "false") || !strcmp(text, "0"))
		demotion = 0;
	free(text);
	return demotion;
}

int nodes_read(const char *root, struct nodes **nodes)
{
	hwloc_bitmap_t online = NULL;
	struct nodes *found;
	int number, err;

	err = read_list(root, NODE_FOLDER "/online", &online);
	if (err)
		return err;
	found = calloc(1, sizeof(*found));
	err = -ENOMEM;
	if (!found)
		goto out;
	found->list = calloc((size_t)hwloc_bitmap_weight(online) + 1, sizeof(*found->list));
	if (!found->list)
		goto fail;
	for (number = hwloc_bitmap_first(online); number >= 0;
	     number = hwloc_bitmap_next(online, number)) {
		found->gaps = found->gaps || (unsigned int)number != found->count;
		err = read_node(root, (unsigned int)number, &found->list[found->count++]);
		if (err)
			goto fail;
	}
	err = read_tiers(root, found);
	if (!err)
		err = read_allowed(root, found);
	if (err)
		goto fail;
	found->demotion = read_demotion(root);
	*nodes = found;
out:
	hwloc_bitmap_free(online);
	return err;

fail:
	nodes_free(found);
	goto out;
}

void nodes_free(struct nodes *nodes)
{
	unsigned int i;

	if (!nodes)
		return;
	for (i = 0; i < nodes->count; i++)
		hwloc_bitmap_free(nodes->list[i].cpus);
	free(nodes->list);
	free(nodes);
}

unsigned int nodes_with_memory(const struct nodes *nodes)
{
	unsigned int count = 0, i;

	for (i = 0; i < nodes->count; i++)
		count += nodes->list[i].memory_bytes > 0;
	return count;
}

unsigned int nodes_memory_only(const struct nodes *nodes)
{
	unsigned int count = 0, i;

	for (i = 0; i < nodes->count; i++)
		count += nodes->list[i].memory_bytes > 0 &&
			 hwloc_bitmap_iszero(nodes->list[i].cpus);
	return count;
}
