// SPDX-License-Identifier: GPL-2.0-only
/* Reads CXL memory devices, regions and dax devices from sysfs; see cxl.h. */
#include "cxl.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs.h"

#define CXL_FOLDER    "/sys/bus/cxl/devices"
#define MEMORY_FOLDER "/sys/devices/system/memory"
#define DAX_FOLDER    "/sys/bus/dax/devices"

/* A number in a device's file; otherwise when it has none. */
static long long device_number(const char *root, const char *folder, const char *name,
			       const char *file, long long otherwise)
{
	char *path = format_string("%s/%s/%s", folder, name, file), *text, *end;
	long long value = otherwise;

	if (path && !fs_read_value(root, path, &text)) {
		value = strtoll(text, &end, 0);
		if (end == text || *end)
			value = otherwise;
		free(text);
	}
	free(path);
	return value;
}

static void *longer(void *list, unsigned int count, size_t size)
{
	char *grown = realloc(list, (count + 1) * size);

	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

struct cxl_device *cxl_add_device(struct cxl *cxl)
{
	struct cxl_device *list = longer(cxl->devices, cxl->device_count, sizeof(*list));

	if (!list)
		return NULL;
	cxl->devices = list;
	return &list[cxl->device_count++];
}

struct cxl_area *cxl_add_region(struct cxl *cxl)
{
	struct cxl_area *list = longer(cxl->regions, cxl->region_count, sizeof(*list));

	if (!list)
		return NULL;
	cxl->regions = list;
	return &list[cxl->region_count++];
}

static int add_device(const char *root, const char *name, struct cxl *cxl)
{
	struct cxl_device *device = cxl_add_device(cxl);

	if (!device)
		return -ENOMEM;
	device->name = strdup(name);
	device->ram_bytes = (uint64_t)device_number(root, CXL_FOLDER, name, "ram/size", 0);
	device->pmem_bytes = (uint64_t)device_number(root, CXL_FOLDER, name, "pmem/size", 0);
	device->node = (int)device_number(root, CXL_FOLDER, name, "numa_node", -1);
	return device->name ? 0 : -ENOMEM;
}

static int add_region(const char *root, const char *name, struct cxl *cxl)
{
	struct cxl_area *region = cxl_add_region(cxl);

	if (!region)
		return -ENOMEM;
	region->name = strdup(name);
	region->size_bytes = (uint64_t)device_number(root, CXL_FOLDER, name, "size", 0);
	region->committed = device_number(root, CXL_FOLDER, name, "commit", 0) == 1;
	return region->name ? 0 : -ENOMEM;
}

/* The name of the driver that the device is bound to; NULL: none. */
static char *bound_driver(const char *root, const char *name)
{
	char *path = format_string("%s" DAX_FOLDER "/%s/driver", root, name), *slash;
	char target[512];
	ssize_t length = path ? readlink(path, target, sizeof(target) - 1) : -1;

	free(path);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return strdup(slash ? slash + 1 : target);
}

/*
 * The CXL region among the parents of a dax device, as its link below the bus names
 * them: "../../../devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0".
 */
static char *parent_region(const char *root, const char *name)
{
	char *path = format_string("%s" DAX_FOLDER "/%s", root, name), target[1024], *at;
	ssize_t length = path ? readlink(path, target, sizeof(target) - 1) : -1;
	size_t digits;

	free(path);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	for (at = target; (at = strstr(at, "/region")); at++) {
		digits = strspn(at + strlen("/region"), "0123456789");
		if (digits && at[strlen("/region") + digits] == '/')
			return strndup(at + 1, strlen("region") + digits);
	}
	return NULL;
}

static int add_dax(const char *root, const char *name, struct cxl *cxl)
{
	struct cxl_dax *list = longer(cxl->dax, cxl->dax_count, sizeof(*list)), *dax;

	if (!list)
		return -ENOMEM;
	cxl->dax = list;
	dax = &list[cxl->dax_count++];
	dax->name = strdup(name);
	dax->size_bytes = (uint64_t)device_number(root, DAX_FOLDER, name, "size", 0);
	dax->start = (uint64_t)device_number(root, DAX_FOLDER, name, "resource", 0);
	dax->target_node = (int)device_number(root, DAX_FOLDER, name, "target_node", -1);
	dax->driver = bound_driver(root, name);
	dax->region = parent_region(root, name);
	return dax->name ? 0 : -ENOMEM;
}

/* Calls add() for the entries that are named PREFIX and a number. -ENOENT: no such folder. */
static int each_entry(const char *root, const char *folder, const char *prefix,
		      int (*add)(const char *root, const char *name, struct cxl *cxl),
		      struct cxl *cxl)
{
	char *path = format_string("%s%s", root, folder);
	size_t length = strlen(prefix);
	struct dirent **entries;
	int count, i, err;

	if (!path)
		return -ENOMEM;
	count = scandir(path, &entries, NULL, versionsort);
	err = count < 0 ? -errno : 0;
	free(path);
	for (i = 0; i < count; i++) {
		if (!err && !strncmp(entries[i]->d_name, prefix, length) &&
		    strspn(entries[i]->d_name + length, "0123456789"))
			err = add(root, entries[i]->d_name, cxl);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return err;
}

/* The size of the blocks in which memory comes and goes; 0: this kernel has none. */
static uint64_t memory_block_bytes(const char *root)
{
	uint64_t bytes = 0;
	char *text;

	/* hexadecimal without 0x */
	if (!fs_read_value(root, MEMORY_FOLDER "/block_size_bytes", &text)) {
		bytes = strtoull(text, NULL, 16);
		free(text);
	}
	return bytes;
}

/* The node of the memory block at an address, by the link that the block has to it. */
static int node_of_address(const char *root, uint64_t address, uint64_t block_bytes)
{
	char *path = format_string("%s" MEMORY_FOLDER "/memory%llu", root,
				   (unsigned long long)(address / block_bytes));
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;
	int node = -1;

	free(path);
	while (folder && node < 0 && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, "node", 4) &&
		    strspn(entry->d_name + 4, "0123456789") == strlen(entry->d_name + 4))
			node = atoi(entry->d_name + 4);
	if (folder)
		closedir(folder);
	return node;
}

/* What libcxl has no call for, so it is read here for all regions: mode, place, node. */
static void complete_regions(const char *root, struct cxl *cxl)
{
	uint64_t block_bytes = memory_block_bytes(root);
	struct cxl_area *region;
	unsigned int i;
	char *path;

	for (i = 0; i < cxl->region_count; i++) {
		region = &cxl->regions[i];
		path = format_string(CXL_FOLDER "/%s/mode", region->name);
		if (path && fs_read_value(root, path, &region->mode))
			region->mode = NULL;
		free(path);
		region->start = (uint64_t)device_number(root, CXL_FOLDER, region->name, "resource",
							0);
		region->memory_node = region->start && block_bytes
					      ? node_of_address(root, region->start, block_bytes)
					      : -1;
	}
}

/* "mem0" of an endpoint, by its link to the device. */
static bool is_endpoint_of(const char *root, const char *endpoint, const char *device)
{
	char *path = format_string("%s" CXL_FOLDER "/%s/uport", root, endpoint), *slash;
	char target[512];
	ssize_t length = path ? readlink(path, target, sizeof(target) - 1) : -1;

	free(path);
	if (length < 0)
		return false;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return !strcmp(slash ? slash + 1 : target, device);
}

/* What decoder<ENDPOINT>.<I> have of a device's volatile memory. */
static long long decoded_ram_bytes(const char *root, const char *endpoint)
{
	const char *number = endpoint + strlen("endpoint");
	long long sum = 0;
	char *decoder, *path, *mode;
	bool more = true;

	for (unsigned int i = 0; more; i++) {
		decoder = format_string("decoder%s.%u", number, i);
		path = decoder ? format_string(CXL_FOLDER "/%s/mode", decoder) : NULL;
		more = path && !fs_read_value(root, path, &mode);
		if (more && !strcmp(mode, "ram"))
			sum += device_number(root, CXL_FOLDER, decoder, "dpa_size", 0);
		if (more)
			free(mode);
		free(path);
		free(decoder);
	}
	return sum;
}

static int complete_device(const char *root, const char *endpoint, struct cxl *cxl)
{
	for (unsigned int i = 0; i < cxl->device_count; i++)
		if (is_endpoint_of(root, endpoint, cxl->devices[i].name))
			cxl->devices[i].region_ram_bytes = decoded_ram_bytes(root, endpoint);
	return 0;
}

/* How much of each device is in regions: libcxl would tell for one decoder after the other, too. */
static int complete_devices(const char *root, struct cxl *cxl)
{
	for (unsigned int i = 0; i < cxl->device_count; i++)
		cxl->devices[i].region_ram_bytes = -1;
	return each_entry(root, CXL_FOLDER, "endpoint", complete_device, cxl);
}

/* The whole blocks between two addresses; one that is not there is offline. */
static void count_blocks(const char *root, uint64_t block_bytes, uint64_t start, uint64_t end,
			 struct cxl_dax *dax)
{
	uint64_t block = (start + block_bytes - 1) / block_bytes;
	char *path, *state;
	bool online;

	for (; (block + 1) * block_bytes <= end; block++) {
		path = format_string(MEMORY_FOLDER "/memory%llu/state", (unsigned long long)block);
		online = path && !fs_read_value(root, path, &state);
		if (online) {
			online = !strcmp(state, "online");
			free(state);
		}
		free(path);
		*(online ? &dax->online_bytes : &dax->offline_bytes) += block_bytes;
	}
}

/* mapping<I>/start and end of a dax device; false: it has no such part, or root alone is told. */
static bool read_mapping(const char *root, const char *name, unsigned int i, uint64_t *start,
			 uint64_t *end)
{
	char *first = format_string("mapping%u/start", i);
	char *last = format_string("mapping%u/end", i);

	*start = *end = 0;
	if (first && last) {
		*start = (uint64_t)device_number(root, DAX_FOLDER, name, first, 0);
		*end = (uint64_t)device_number(root, DAX_FOLDER, name, last, -1) + 1;
	}
	free(first);
	free(last);
	return *start && *end;
}

/* Whether the memory of kmem's devices is in use: their node may have memory of others. */
static void complete_dax(const char *root, struct cxl *cxl)
{
	uint64_t block_bytes = memory_block_bytes(root), start, end;

	for (unsigned int i = 0; block_bytes && i < cxl->dax_count; i++) {
		struct cxl_dax *dax = &cxl->dax[i];

		if (!dax->start || !dax->driver || strcmp(dax->driver, "kmem"))
			continue;
		dax->blocks_known = true;
		for (unsigned int part = 0; read_mapping(root, dax->name, part, &start, &end);
		     part++)
			count_blocks(root, block_bytes, start, end, dax);
		/* a kernel that does not show the parts (before 5.10) has one */
		if (!dax->online_bytes && !dax->offline_bytes)
			count_blocks(root, block_bytes, dax->start, dax->start + dax->size_bytes,
				     dax);
	}
}

/* Memory that the firmware reserved is a dax device of another driver's, inside of a region. */
static int find_regions_of_dax(struct cxl *cxl)
{
	const struct cxl_area *region;
	unsigned int i, j;

	for (i = 0; i < cxl->dax_count; i++)
		for (j = 0; j < cxl->region_count && cxl->dax[i].start; j++) {
			region = &cxl->regions[j];
			if (cxl->dax[i].region || cxl->dax[i].start < region->start ||
			    cxl->dax[i].start - region->start >= region->size_bytes)
				continue;
			cxl->dax[i].region = strdup(region->name);
			if (!cxl->dax[i].region)
				return -ENOMEM;
		}
	return 0;
}

int cxl_read(const char *root, struct cxl **cxl)
{
	struct cxl *found;
	int err = -ENOSYS;

	if (!fs_exists(root, CXL_FOLDER))
		return -ENOENT;
	found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	if (!*root)
		err = cxl_read_library(found);
	if (err == -ENOSYS) {
		err = each_entry(root, CXL_FOLDER, "mem", add_device, found);
		if (!err)
			err = each_entry(root, CXL_FOLDER, "region", add_region, found);
	}
	if (err)
		goto fail;
	complete_regions(root, found);
	err = complete_devices(root, found);
	if (err)
		goto fail;
	err = each_entry(root, DAX_FOLDER, "dax", add_dax, found);
	if (!err || err == -ENOENT)
		err = find_regions_of_dax(found);
	if (err)
		goto fail;
	complete_dax(root, found);
	*cxl = found;
	return 0;

fail:
	cxl_free(found);
	return err;
}

void cxl_free(struct cxl *cxl)
{
	unsigned int i;

	if (!cxl)
		return;
	for (i = 0; i < cxl->device_count; i++)
		free(cxl->devices[i].name);
	for (i = 0; i < cxl->region_count; i++) {
		free(cxl->regions[i].name);
		free(cxl->regions[i].mode);
	}
	for (i = 0; i < cxl->dax_count; i++) {
		free(cxl->dax[i].name);
		free(cxl->dax[i].driver);
		free(cxl->dax[i].region);
	}
	free(cxl->devices);
	free(cxl->regions);
	free(cxl->dax);
	free(cxl);
}
