// SPDX-License-Identifier: GPL-2.0-only
/* Reads NUMA nodes, memory tiers, distances and the demotion switch from sysfs; see nodes.h. */
#include "nodes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpus.h"
#include "cxl.h"
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
	node->room_bytes = node->free_bytes;
	free(text);
	return 0;
}

static struct node *find_node(const struct nodes *nodes, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->list[i].number == number)
			return &nodes->list[i];
	return NULL;
}

/*
 * A zone of /proc/zoneinfo, as far as it was read. Below `high` the kernel reclaims until that
 * much is free, and `kept` is lowmem_reserve: what memory that could come from a higher zone must
 * leave besides (__zone_watermark_ok() in mm/page_alloc.c).
 */
struct zone {
	unsigned long long free, high, kept; /* pages */
};

/* "(0, 3156, 11797)": by the zone that the memory could come from. User memory: the last. */
static unsigned long long last_number(const char *list)
{
	const char *last = strrchr(list, ',');

	return strtoull(last ? last + 1 : list, NULL, 10);
}

/* True when the line is the last of those that are wanted. */
static bool zone_line(struct zone *zone, const char *line)
{
	static const char protection[] = "protection: (";
	size_t length = sizeof(protection) - 1;

	line += strspn(line, " ");
	if (!strncmp(line, protection, length)) {
		zone->kept = last_number(line + length);
		return true;
	}
	/* a "high:" of the CPUs' lists has a colon */
	if (sscanf(line, "pages free %llu", &zone->free) != 1)
		sscanf(line, "high %llu", &zone->high);
	return false;
}

/* Node by node; where zones are not told, room is what is free. */
static int read_room(const char *root, struct nodes *nodes)
{
	struct node *node = NULL, *before = NULL;
	struct zone zone = { 0 };
	char *text, *rest, *line;
	unsigned int number;
	int err = fs_read(root, "/proc/zoneinfo", &text, NULL);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (sscanf(line, "Node %u, zone", &number) == 1) {
			zone = (struct zone){ 0 };
			node = find_node(nodes, number);
			if (node && node != before)
				node->room_bytes = 0;
			before = node;
		} else if (node && zone_line(&zone, line)) {
			if (zone.free > zone.high + zone.kept)
				node->room_bytes += (zone.free - zone.high - zone.kept) *
						    (uint64_t)sysconf(_SC_PAGESIZE);
			node = NULL;
		}
	}
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

	if (fs_read_value(root, NODES_DEMOTION_PATH, &text))
		return -1;
	if (!strcmp(text, "true") || !strcmp(text, "1"))
		demotion = 1;
	else if (!strcmp(text, "false") || !strcmp(text, "0"))
		demotion = 0;
	free(text);
	return demotion;
}

/* "10 21": one number for each online node. A node without the file leaves them unknown. */
static int read_distances(const char *root, struct nodes *nodes)
{
	char *path, *text, *at, *end;
	unsigned int from, to;

	nodes->distances = calloc((size_t)nodes->count * nodes->count + 1, sizeof(unsigned int));
	if (!nodes->distances)
		return -ENOMEM;
	for (from = 0; from < nodes->count; from++) {
		path = format_string(NODE_FOLDER "/node%u/distance", nodes->list[from].number);
		if (!path)
			return -ENOMEM;
		if (!fs_read_value(root, path, &text)) {
			for (to = 0, at = text; to < nodes->count; to++, at = end) {
				unsigned long distance = strtoul(at, &end, 10);

				if (end == at)
					break;
				nodes->distances[from * nodes->count + to] = (unsigned int)distance;
			}
			free(text);
		}
		free(path);
	}
	return 0;
}

static void mark_node(struct nodes *nodes, int number)
{
	unsigned int i;

	for (i = 0; i < nodes->count; i++)
		if (number == (int)nodes->list[i].number && nodes->list[i].memory_bytes &&
		    hwloc_bitmap_iszero(nodes->list[i].cpus))
			nodes->list[i].cxl = true;
}

/*
 * A node without CPUs is CXL memory when a dax device of a CXL region became it, or
 * when the memory at a region's address is its.
 */
static int mark_cxl(const char *root, struct nodes *nodes)
{
	struct cxl *cxl;
	unsigned int i;
	int err = cxl_read(root, &cxl);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < cxl->dax_count; i++)
		if (cxl->dax[i].region && (cxl->dax[i].online_bytes || !cxl->dax[i].blocks_known))
			mark_node(nodes, cxl->dax[i].target_node);
	for (i = 0; i < cxl->region_count; i++)
		mark_node(nodes, cxl->regions[i].memory_node);
	cxl_free(cxl);
	return 0;
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
	err = read_room(root, found);
	if (!err)
		err = read_tiers(root, found);
	if (!err)
		err = read_distances(root, found);
	if (!err)
		err = mark_cxl(root, found);
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
	free(nodes->distances);
	free(nodes->list);
	free(nodes);
}

const struct node *nodes_find(const struct nodes *nodes, unsigned int number)
{
	return find_node(nodes, number);
}

unsigned int nodes_distance(const struct nodes *nodes, unsigned int from, unsigned int to)
{
	const struct node *first = nodes_find(nodes, from), *second = nodes_find(nodes, to);

	if (!first || !second)
		return 0;
	return nodes->distances[(first - nodes->list) * nodes->count + (second - nodes->list)];
}

int nodes_top_tier(const struct nodes *nodes)
{
	int top = -1;
	unsigned int i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->list[i].tier >= 0 && (top < 0 || nodes->list[i].tier < top))
			top = nodes->list[i].tier;
	return top;
}

int nodes_bottom_tier(const struct nodes *nodes)
{
	int bottom = -1;
	unsigned int i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->list[i].tier > bottom)
			bottom = nodes->list[i].tier;
	return bottom;
}

const struct node *nodes_demotion_target(const struct nodes *nodes, const struct node *node)
{
	const struct node *target = NULL, *other;
	unsigned int i, distance, best = 0;

	if (node->tier < 0)
		return NULL;
	for (i = 0; i < nodes->count; i++) {
		other = &nodes->list[i];
		if (other->tier <= node->tier)
			continue;
		distance = nodes_distance(nodes, node->number, other->number);
		if (!target || other->tier < target->tier ||
		    (other->tier == target->tier && distance < best)) {
			target = other;
			best = distance;
		}
	}
	return target;
}

bool nodes_demotes_to(const struct nodes *nodes, const struct node *from, const struct node *to)
{
	const struct node *target = nodes_demotion_target(nodes, from);

	return target && to->tier == target->tier &&
	       nodes_distance(nodes, from->number, to->number) ==
		       nodes_distance(nodes, from->number, target->number);
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
