// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where memory can be put here: NUMA nodes, tiers, CXL memory; and what to run when
 * CXL memory is there and not in use. Looks only: no device is touched.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cpus.h"
#include "../lib/cxl.h"
#include "../lib/fs.h"
#include "../lib/nodes.h"
#include "capabilities.h"

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
				 "online: %s%s; %u with memory; not allowed to this process: %s",
				 all, nodes->gaps ? " (numbers with gaps)" : "",
				 nodes_with_memory(nodes), refused);
		capabilities_add(capabilities, "nodes", "memory-only nodes",
				 nodes_memory_only(nodes) ? CAPABILITY_OK : CAPABILITY_MISSING,
				 NULL, "%s", memory);
	}
	free(all);
	free(memory);
	free(refused);
}

/* "2 or 3", as the kernel chooses */
static void print_targets(const struct nodes *nodes, const struct node *from, FILE *to)
{
	const char *between = "";

	for (unsigned int i = 0; i < nodes->count; i++) {
		if (!nodes_demotes_to(nodes, from, &nodes->list[i]))
			continue;
		fprintf(to, "%s%u", between, nodes->list[i].number);
		between = " or ";
	}
}

/* "switched off; from node 0 to 2 or 3, from node 2 to 5" */
static void add_demotion(const struct nodes *nodes, struct capabilities *capabilities)
{
	const char *between = "; ";
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	unsigned int i;

	if (!to) {
		capabilities->out_of_memory = true;
		return;
	}
	fprintf(to, "switched %s", nodes->demotion ? "on" : "off");
	for (i = 0; i < nodes->count; i++) {
		if (!nodes_demotion_target(nodes, &nodes->list[i]))
			continue;
		fprintf(to, "%sfrom node %u to ", between, nodes->list[i].number);
		print_targets(nodes, &nodes->list[i], to);
		between = ", ";
	}
	if (fclose(to))
		capabilities->out_of_memory = true;
	else
		capabilities_add(capabilities, "nodes", "demotion", CAPABILITY_OK, NULL, "%s",
				 text);
	free(text);
}

static void add_tiers(const struct nodes *nodes, struct capabilities *capabilities)
{
	int lowest = nodes_top_tier(nodes), highest = nodes_bottom_tier(nodes);

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
		add_demotion(nodes, capabilities);
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

/* The nodes, for more rows; the caller frees. NULL: there are none. */
static struct nodes *add_nodes(const char *root, struct capabilities *capabilities)
{
	struct nodes *nodes;
	int err = nodes_read(root, &nodes);

	if (err) {
		capabilities_add(capabilities, "nodes", "NUMA nodes", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_NUMA", "they cannot be read: %s",
				 strerror(-err));
		return NULL;
	}
	add_node_rows(nodes, capabilities);
	add_tiers(nodes, capabilities);
	add_policy(root, capabilities);
	return nodes;
}

/* Volatile memory that is in no region. Where that is not told, any region may have it. */
static bool has_spare(const struct cxl *cxl, const struct cxl_device *device)
{
	if (device->region_ram_bytes < 0)
		return device->ram_bytes && !cxl->region_count;
	return device->ram_bytes > (uint64_t)device->region_ram_bytes;
}

/* "mem0 4096 MiB, mem1 4096 MiB": the devices with volatile memory. NULL: none. */
static char *describe_devices(const struct cxl *cxl)
{
	char *text = NULL, *longer;

	for (unsigned int i = 0; i < cxl->device_count; i++) {
		const struct cxl_device *device = &cxl->devices[i];

		if (!device->ram_bytes)
			continue;
		longer = format_string("%s%s%s %llu MiB", text ? text : "", text ? ", " : "",
				       device->name, (unsigned long long)device->ram_bytes >> 20);
		free(text);
		text = longer;
	}
	return text;
}

/* The names of those with memory to spare, for a command. NULL: none. */
static char *list_spare_devices(const struct cxl *cxl)
{
	char *text = NULL, *longer;

	for (unsigned int i = 0; i < cxl->device_count; i++) {
		if (!has_spare(cxl, &cxl->devices[i]))
			continue;
		longer = format_string("%s%s%s", text ? text : "", text ? " " : "",
				       cxl->devices[i].name);
		free(text);
		text = longer;
	}
	return text;
}

static void add_devices(const struct cxl *cxl, struct capabilities *capabilities)
{
	char *sizes = describe_devices(cxl), *names = list_spare_devices(cxl);
	char *advice = NULL;

	if (names)
		advice = format_string("make a region: cxl create-region --type=ram --memdevs %s",
				       names);
	capabilities_add(capabilities, "cxl", "memory devices",
			 cxl->device_count ? CAPABILITY_OK : CAPABILITY_MISSING, advice,
			 "%u; volatile memory: %s", cxl->device_count, sizes ? sizes : "none");
	free(advice);
	free(names);
	free(sizes);
}

static bool has_dax(const struct cxl *cxl, const struct cxl_area *region)
{
	unsigned int i;

	for (i = 0; i < cxl->dax_count; i++)
		if (cxl->dax[i].region && !strcmp(cxl->dax[i].region, region->name))
			return true;
	return false;
}

/* A region whose memory is nobody's: no node has it, and there is no dax device of it. */
static bool is_idle(const struct cxl *cxl, const struct cxl_area *region)
{
	return region->memory_node < 0 && !has_dax(cxl, region) &&
	       (!region->mode || !strcmp(region->mode, "ram"));
}

static void add_region(const struct cxl *cxl, const struct cxl_area *region,
		       struct capabilities *capabilities)
{
	bool idle = is_idle(cxl, region);
	char *advice = NULL, *use = NULL;

	if (region->memory_node >= 0)
		use = format_string("system memory of node %d", region->memory_node);
	else
		use = strdup(idle ? "not in use" : "not system memory by itself");
	if (idle)
		advice = format_string("enable it: cxl enable-region %s", region->name);
	capabilities_add(capabilities, "cxl", region->name,
			 region->committed && !idle ? CAPABILITY_OK : CAPABILITY_MISSING, advice,
			 "region of %llu MiB, %s, %s, %s",
			 (unsigned long long)region->size_bytes >> 20,
			 region->mode ? region->mode : "mode not known",
			 region->committed ? "committed" : "not committed", use ? use : "?");
	free(advice);
	free(use);
}

struct dax_use {
	enum capability_status status;
	const char *words;
};

/* What has become of a device that is system memory. */
static struct dax_use use_of_dax(const struct cxl_dax *dax, const struct nodes *nodes)
{
	const struct node *node = nodes && dax->target_node >= 0
					  ? nodes_find(nodes, (unsigned int)dax->target_node)
					  : NULL;

	/* its node may have memory that is not the device's */
	if (!dax->blocks_known && node && node->memory_bytes)
		return (struct dax_use){ CAPABILITY_NOT_PERMITTED,
					 "which root alone is told the state of" };
	if (!dax->online_bytes)
		return (struct dax_use){ CAPABILITY_MISSING, "not online" };
	if (dax->offline_bytes)
		return (struct dax_use){ CAPABILITY_MISSING, "online in part" };
	return (struct dax_use){ CAPABILITY_OK, "online" };
}

static void add_system_dax(const struct cxl_dax *dax, const struct nodes *nodes,
			   struct capabilities *capabilities)
{
	struct dax_use use = use_of_dax(dax, nodes);
	char *advice = use.status == CAPABILITY_MISSING
			       ? format_string("daxctl online-memory %s", dax->name)
			       : NULL;

	capabilities_add(capabilities, "cxl", dax->name, use.status, advice,
			 "%llu MiB of %s, system memory of node %d, %s",
			 (unsigned long long)dax->size_bytes >> 20,
			 dax->region ? dax->region : "no CXL region", dax->target_node, use.words);
	free(advice);
}

/* Memory that programs map by themselves, or nobody does. */
static void add_plain_dax(const struct cxl_dax *dax, struct capabilities *capabilities)
{
	char *advice = format_string("when no program uses it: daxctl reconfigure-device "
				     "--mode=system-ram %s",
				     dax->name);

	capabilities_add(capabilities, "cxl", dax->name, CAPABILITY_MISSING, advice,
			 "%llu MiB of %s, %s; as system memory it is node %d",
			 (unsigned long long)dax->size_bytes >> 20,
			 dax->region ? dax->region : "no CXL region",
			 dax->driver ? "a device for programs (devdax)" : "without a driver",
			 dax->target_node);
	free(advice);
}

static bool is_cxl(const struct node *node)
{
	return node->cxl;
}

static void add_cxl_nodes(const struct nodes *nodes, struct capabilities *capabilities)
{
	char *text = nodes ? list_nodes(nodes, is_cxl) : strdup("none");

	if (text)
		capabilities_add(capabilities, "cxl", "nodes",
				 strcmp(text, "none") ? CAPABILITY_OK : CAPABILITY_MISSING, NULL,
				 "%s", text);
	else
		capabilities->out_of_memory = true;
	free(text);
}

static void add_cxl(const char *root, const struct nodes *nodes, struct capabilities *capabilities)
{
	const struct cxl_dax *dax;
	unsigned int i;
	struct cxl *cxl;
	int err = cxl_read(root, &cxl);

	if (err) {
		capabilities_add(capabilities, "cxl", "memory devices", CAPABILITY_MISSING, NULL,
				 "%s",
				 err == -ENOENT ? "this machine has no CXL bus" : strerror(-err));
		return;
	}
	add_devices(cxl, capabilities);
	for (i = 0; i < cxl->region_count; i++)
		add_region(cxl, &cxl->regions[i], capabilities);
	for (i = 0; i < cxl->dax_count; i++) {
		dax = &cxl->dax[i];
		if (dax->driver && !strcmp(dax->driver, "kmem"))
			add_system_dax(dax, nodes, capabilities);
		else
			add_plain_dax(dax, capabilities);
	}
	add_cxl_nodes(nodes, capabilities);
	cxl_free(cxl);
}

void capabilities_nodes(const char *root, struct capabilities *capabilities)
{
	struct nodes *nodes = add_nodes(root, capabilities);

	add_cxl(root, nodes, capabilities);
	nodes_free(nodes);
}
