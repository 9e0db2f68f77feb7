// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a region of CXL memory through sysfs; see cxl_create.h. The files are
 * described in the kernel's Documentation/ABI/testing/sysfs-bus-cxl.
 */
#include "cxl_create.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cxl.h"
#include "fs.h"
#include "nodes.h"

#define CXL_FOLDER   "/sys/bus/cxl/devices"
#define ONLINE_NEW   "/sys/devices/system/memory/auto_online_blocks"
#define NODE_WAIT_MS 60000
#define NODE_LOOK_MS 20

struct endpoint {
	char *decoder; /* "decoder2.0" */
	char *place;   /* the device's folder, which names its port before itself */
};

static int fail(char **why, int err, char *text)
{
	free(*why);
	*why = text;
	return err;
}

/* Writes one file of a device of the bus. */
static int put(const char *device, const char *file, const char *text, char **why)
{
	char *path = format_string(CXL_FOLDER "/%s/%s", device, file);
	int err = path ? fs_write("", path, text) : -ENOMEM;

	if (err)
		fail(why, err,
		     format_string("writing %s to %s: %s", text, path ? path : file,
				   strerror(-err)));
	free(path);
	return err;
}

static int put_number(const char *device, const char *file, unsigned long long number, char **why)
{
	char *text = format_string("%llu", number);
	int err = text ? put(device, file, text, why) : -ENOMEM;

	free(text);
	return err;
}

static int by_place(const void *first, const void *second)
{
	return strverscmp(((const struct endpoint *)first)->place,
			  ((const struct endpoint *)second)->place);
}

/* Fills endpoint when name is the first decoder of an endpoint; 0 fields: it is none. */
static int look_at_decoder(const char *name, struct endpoint *endpoint)
{
	char *path, *dot = strrchr(name, '.');
	int err = 0;

	*endpoint = (struct endpoint){ 0 };
	if (strncmp(name, "decoder", 7) || !dot || strcmp(dot, ".0"))
		return 0;
	path = format_string(CXL_FOLDER "/%s/dpa_size", name);
	if (!path)
		return -ENOMEM;
	if (fs_exists("", path)) {
		free(path);
		path = format_string(CXL_FOLDER "/%s/../uport", name);
		endpoint->place = path ? realpath(path, NULL) : NULL;
		endpoint->decoder = strdup(name);
		if (!endpoint->place || !endpoint->decoder) {
			free(endpoint->place);
			free(endpoint->decoder);
			*endpoint = (struct endpoint){ 0 };
			err = -ENOMEM;
		}
	}
	free(path);
	return err;
}

static int find_endpoints(struct endpoint *endpoints, unsigned int *count)
{
	DIR *folder = opendir(CXL_FOLDER);
	struct endpoint endpoint;
	struct dirent *entry;
	int err = folder ? 0 : -errno;

	*count = 0;
	while (!err && (entry = readdir(folder))) {
		err = look_at_decoder(entry->d_name, &endpoint);
		if (!endpoint.decoder)
			continue;
		if (*count < CXL_WAYS_MAX) {
			endpoints[(*count)++] = endpoint;
			continue;
		}
		free(endpoint.decoder);
		free(endpoint.place);
		err = -E2BIG;
	}
	if (folder)
		closedir(folder);
	return err;
}

int cxl_endpoint_decoders(const struct cxl_wish *wish, char ***names, char **why)
{
	struct endpoint endpoints[CXL_WAYS_MAX];
	char **list = calloc(CXL_WAYS_MAX + 1, sizeof(*list));
	unsigned int count = 0, i;
	int err = list ? find_endpoints(endpoints, &count) : -ENOMEM;

	if (!err && count != wish->ways)
		err = fail(why, -ENODEV,
			   format_string("%u endpoints have a decoder, %u are needed", count,
					 wish->ways));
	qsort(endpoints, count, sizeof(endpoints[0]), by_place);
	for (i = 0; i < count; i++) {
		free(endpoints[i].place);
		if (err)
			free(endpoints[i].decoder);
		else
			list[i] = endpoints[i].decoder;
	}
	if (err)
		free(list);
	else
		*names = list;
	return err;
}

/* Takes the name that the root decoder has ready for its next region. */
static int take_region(char **region, char **why)
{
	static const char file[] = CXL_FOLDER "/decoder0.0/create_ram_region";
	int err = fs_read_value("", file, region);

	if (!err) {
		err = put("decoder0.0", "create_ram_region", *region, why);
		if (err) {
			free(*region);
			*region = NULL;
		}
	} else {
		fail(why, err, format_string("reading %s: %s", file, strerror(-err)));
	}
	return err;
}

static int set_up_region(const struct cxl_wish *wish, const char *region, char **decoders,
			 char **why)
{
	unsigned int i;
	char *target;
	int err;

	err = put_number(region, "interleave_granularity", CXL_GRANULARITY_BYTES, why);
	if (!err)
		err = put_number(region, "interleave_ways", wish->ways, why);
	for (i = 0; !err && i < wish->ways; i++) {
		err = put(decoders[i], "mode", "ram", why);
		if (!err)
			err = put_number(decoders[i], "dpa_size", wish->size_bytes / wish->ways,
					 why);
	}
	if (!err)
		err = put_number(region, "size", wish->size_bytes, why);
	for (i = 0; !err && i < wish->ways; i++) {
		target = format_string("target%u", i);
		err = target ? put(region, target, decoders[i], why) : -ENOMEM;
		free(target);
	}
	return err ? err : put(region, "commit", "1", why);
}

int cxl_create_sysfs(const struct cxl_wish *wish, char **why)
{
	static const char bind[] = "/sys/bus/cxl/drivers/cxl_region/bind";
	char **decoders = NULL, *region = NULL;
	int err = cxl_endpoint_decoders(wish, &decoders, why);

	if (!err)
		err = take_region(&region, why);
	if (!err)
		err = set_up_region(wish, region, decoders, why);
	if (!err) {
		err = fs_write("", bind, region);
		if (err)
			fail(why, err,
			     format_string("binding %s to its driver: %s", region, strerror(-err)));
	}
	for (char **decoder = decoders; decoder && *decoder; decoder++)
		free(*decoder);
	free(decoders);
	free(region);
	return err;
}

/* The memory of all nodes that are CXL's. */
static int cxl_memory(uint64_t *bytes)
{
	struct nodes *nodes;
	int err = nodes_read("", &nodes);

	if (err)
		return err;
	*bytes = 0;
	for (unsigned int i = 0; i < nodes->count; i++)
		if (nodes->list[i].cxl)
			*bytes += nodes->list[i].memory_bytes;
	nodes_free(nodes);
	return 0;
}

static int wait_for_node(const struct cxl_wish *wish, char **why)
{
	const struct timespec pause = { .tv_nsec = NODE_LOOK_MS * 1000000L };
	uint64_t bytes = 0;
	int waited_ms, err = 0;

	for (waited_ms = 0; !err && waited_ms < NODE_WAIT_MS; waited_ms += NODE_LOOK_MS) {
		err = cxl_memory(&bytes);
		if (!err && bytes >= wish->size_bytes)
			return 0;
		nanosleep(&pause, NULL);
	}
	return fail(why, err ? err : -ETIMEDOUT,
		    format_string("the region is there, and %llu of its %llu MiB are online: the "
				  "kernel needs CONFIG_DEV_DAX_CXL, CONFIG_DEV_DAX_KMEM and "
				  "CONFIG_CXL_REGION_INVALIDATION_TEST",
				  (unsigned long long)bytes >> 20,
				  (unsigned long long)wish->size_bytes >> 20));
}

int cxl_create(const struct cxl_wish *wish, char **why)
{
	int err;

	*why = NULL;
	err = fs_write("", ONLINE_NEW, "online_movable");
	if (err)
		return fail(why, err,
			    format_string("writing online_movable to " ONLINE_NEW ": %s",
					  strerror(-err)));
	err = cxl_create_library(wish, why);
	if (err == -ENOSYS)
		err = cxl_create_sysfs(wish, why);
	return err ? err : wait_for_node(wish, why);
}
