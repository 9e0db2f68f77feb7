// SPDX-License-Identifier: GPL-2.0-only
/* Reads CXL memory devices, regions and dax devices from sysfs; see cxl.h. */
#include "cxl.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs.h"

#define CXL_FOLDER "/sys/bus/cxl/devices"
#define DAX_FOLDER "/sys/bus/dax/devices"

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

static int add_dax(const char *root, const char *name, struct cxl *cxl)
{
	struct cxl_dax *list = longer(cxl->dax, cxl->dax_count, sizeof(*list)), *dax;

	if (!list)
		return -ENOMEM;
	cxl->dax = list;
	dax = &list[cxl->dax_count++];
	dax->name = strdup(name);
	dax->size_bytes = (uint64_t)device_number(root, DAX_FOLDER, name, "size", 0);
	dax->target_node = (int)device_number(root, DAX_FOLDER, name, "target_node", -1);
	dax->driver = bound_driver(root, name);
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

/* libcxl of today has no call for a region's mode, so all of them are read here. */
static void read_modes(const char *root, struct cxl *cxl)
{
	unsigned int i;
	char *path;

	for (i = 0; i < cxl->region_count; i++) {
		path = format_string(CXL_FOLDER "/%s/mode", cxl->regions[i].name);
		if (path && fs_read_value(root, path, &cxl->regions[i].mode))
			cxl->regions[i].mode = NULL;
		free(path);
	}
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
	read_modes(root, found);
	err = each_entry(root, DAX_FOLDER, "dax", add_dax, found);
	if (err && err != -ENOENT)
		goto fail;
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
	}
	free(cxl->devices);
	free(cxl->regions);
	free(cxl->dax);
	free(cxl);
}
