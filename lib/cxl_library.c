// SPDX-License-Identifier: GPL-2.0-only
/* CXL devices and regions through libcxl; see cxl.h. */
#include <cxl/libcxl.h>
#include <errno.h>
#include <string.h>

#include "cxl.h"

static int read_devices(struct cxl_ctx *context, struct cxl *cxl)
{
	struct cxl_memdev *memdev;
	struct cxl_device *device;

	cxl_memdev_foreach(context, memdev)
	{
		device = cxl_add_device(cxl);
		if (!device)
			return -ENOMEM;
		device->name = strdup(cxl_memdev_get_devname(memdev));
		device->ram_bytes = cxl_memdev_get_ram_size(memdev);
		device->pmem_bytes = cxl_memdev_get_pmem_size(memdev);
		device->node = cxl_memdev_get_numa_node(memdev);
		if (!device->name)
			return -ENOMEM;
	}
	return 0;
}

static int read_regions(struct cxl_decoder *decoder, struct cxl *cxl)
{
	struct cxl_region *region;
	struct cxl_area *area;

	cxl_region_foreach(decoder, region)
	{
		area = cxl_add_region(cxl);
		if (!area)
			return -ENOMEM;
		area->name = strdup(cxl_region_get_devname(region));
		area->size_bytes = cxl_region_get_size(region);
		area->committed = cxl_region_decode_is_committed(region) == 1;
		if (!area->name)
			return -ENOMEM;
	}
	return 0;
}

int cxl_read_library(struct cxl *cxl)
{
	struct cxl_decoder *decoder;
	struct cxl_ctx *context;
	struct cxl_bus *bus;
	int err;

	err = cxl_new(&context);
	if (err)
		return err == -ENOMEM ? err : -ENOSYS;
	err = read_devices(context, cxl);
	cxl_bus_foreach(context, bus) cxl_decoder_foreach(cxl_bus_get_port(bus), decoder) if (!err)
		err = read_regions(decoder, cxl);
	cxl_unref(context);
	return err;
}
