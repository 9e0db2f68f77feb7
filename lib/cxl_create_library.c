// SPDX-License-Identifier: GPL-2.0-only
/* Makes a region of CXL memory with libcxl; see cxl_create.h. */
#include <cxl/libcxl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cxl_create.h"
#include "fs.h"

/* One step of the way: what it is called when it fails, and its result. */
static bool failed(int result, const char *step, int *err, char **why)
{
	if (result >= 0)
		return false;
	*err = result;
	*why = format_string("libcxl, %s: %s", step, strerror(-result));
	return true;
}

static struct cxl_decoder *root_decoder(struct cxl_ctx *context)
{
	struct cxl_decoder *decoder;
	struct cxl_bus *bus;

	cxl_bus_foreach(context, bus) cxl_decoder_foreach(
		cxl_bus_get_port(bus),
		decoder) if (cxl_decoder_is_volatile_capable(decoder)) return decoder;
	return NULL;
}

static struct cxl_decoder *endpoint_decoder(struct cxl_ctx *context, const char *name)
{
	struct cxl_memdev *memdev;
	struct cxl_decoder *decoder;
	struct cxl_endpoint *endpoint;

	cxl_memdev_foreach(context, memdev)
	{
		endpoint = cxl_memdev_get_endpoint(memdev);
		if (!endpoint)
			continue;
		cxl_decoder_foreach(cxl_endpoint_get_port(endpoint),
				    decoder) if (!strcmp(cxl_decoder_get_devname(decoder),
							 name)) return decoder;
	}
	return NULL;
}

static int give_memory(struct cxl_ctx *context, const struct cxl_wish *wish, const char *name,
		       char **why)
{
	struct cxl_decoder *decoder = endpoint_decoder(context, name);
	int err = 0;

	if (failed(decoder ? 0 : -ENODEV, name, &err, why) ||
	    failed(cxl_decoder_set_mode(decoder, CXL_DECODER_MODE_RAM), "mode", &err, why))
		return err;
	failed(cxl_decoder_set_dpa_size(decoder, wish->size_bytes / wish->ways), "dpa_size", &err,
	       why);
	return err;
}

static int make_region(struct cxl_ctx *context, const struct cxl_wish *wish, char **names,
		       char **why)
{
	struct cxl_decoder *root = root_decoder(context);
	struct cxl_region *region = root ? cxl_decoder_create_ram_region(root) : NULL;
	unsigned int i;
	int err = 0;

	if (failed(region ? 0 : -ENODEV, "create_ram_region", &err, why) ||
	    failed(cxl_region_set_interleave_granularity(region, CXL_GRANULARITY_BYTES),
		   "interleave_granularity", &err, why) ||
	    failed(cxl_region_set_interleave_ways(region, wish->ways), "interleave_ways", &err,
		   why))
		return err;
	for (i = 0; !err && i < wish->ways; i++)
		err = give_memory(context, wish, names[i], why);
	if (err || failed(cxl_region_set_size(region, wish->size_bytes), "size", &err, why))
		return err;
	for (i = 0; i < wish->ways; i++)
		if (failed(cxl_region_set_target(region, (int)i,
						 endpoint_decoder(context, names[i])),
			   "target", &err, why))
			return err;
	if (!failed(cxl_region_decode_commit(region), "commit", &err, why))
		failed(cxl_region_enable(region), "enable", &err, why);
	return err;
}

int cxl_create_library(const struct cxl_wish *wish, char **why)
{
	struct cxl_ctx *context;
	char **names;
	int err = cxl_endpoint_decoders(wish, &names, why);

	if (err)
		return err;
	if (!failed(cxl_new(&context), "cxl_new", &err, why)) {
		err = make_region(context, wish, names, why);
		cxl_unref(context);
	}
	for (char **name = names; *name; name++)
		free(*name);
	free(names);
	return err;
}
