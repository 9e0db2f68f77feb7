/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CXL memory devices, regions and dax devices that exist. Read with libcxl when it
 * is built in and the machine is the running one, else from sysfs under a root
 * folder. Creates and changes nothing.
 */
#ifndef SHOOTDOWN_CXL_H
#define SHOOTDOWN_CXL_H

#include <stdbool.h>
#include <stdint.h>

struct cxl_device {
	char *name;	    /* "mem0" */
	uint64_t ram_bytes; /* volatile capacity */
	uint64_t pmem_bytes;
	int node;		    /* NUMA node of the device, -1: none */
	long long region_ram_bytes; /* volatile capacity that is in regions; -1: not told */
};

struct cxl_area {
	char *name; /* "region0" */
	uint64_t size_bytes;
	char *mode; /* "ram", "pmem"; NULL: this kernel does not say */
	bool committed;
	uint64_t start;	 /* its first physical address; 0: not told (root alone is) */
	int memory_node; /* the node whose memory is at start now, -1: none */
};

struct cxl_dax {
	char *name; /* "dax0.0" */
	uint64_t size_bytes;
	uint64_t start;	 /* as for regions */
	int target_node; /* the node it becomes as system memory, -1: none */
	char *driver;	 /* "kmem", "device_dax"; NULL: not bound */
	char *region;	 /* the CXL region it is of; NULL: it is of something else */
	/* kmem's: its blocks of memory, when the start and the size of blocks are told */
	bool blocks_known;
	uint64_t online_bytes, offline_bytes;
};

struct cxl {
	struct cxl_device *devices;
	unsigned int device_count;
	struct cxl_area *regions;
	unsigned int region_count;
	struct cxl_dax *dax;
	unsigned int dax_count;
};

/* -ENOENT when this kernel has no CXL bus. The caller frees with cxl_free(). */
int cxl_read(const char *root, struct cxl **cxl);
void cxl_free(struct cxl *cxl);

/* For cxl.c and its parts: room for one more, zeroed; NULL: no memory. */
struct cxl_device *cxl_add_device(struct cxl *cxl);
struct cxl_area *cxl_add_region(struct cxl *cxl);

/* The devices and regions through libcxl; -ENOSYS when it is not built in. */
int cxl_read_library(struct cxl *cxl);

#endif
