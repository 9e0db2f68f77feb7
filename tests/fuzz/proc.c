// SPDX-License-Identifier: GPL-2.0-only
/* What is read of /proc and /sys, CPU lists and dates; the first byte chooses the reader. */
#include "fuzz.h"

#include "../../lib/cpus.h"
#include "../../lib/interrupts.h"
#include "../../lib/nodes.h"
#include "../../lib/vmstat.h"
#include "../../results/store.h"

static void try_interrupts(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct interrupts *table;

	if (!interrupts_parse(text, size, &table)) {
		interrupts_find(table, "TLB");
		interrupts_find_described(table, "Function call interrupts");
		interrupts_free(table);
	}
	free(text);
}

static void try_vmstat(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	uint64_t value;

	vmstat_find(text, "nr_tlb_remote_flush", &value);
	free(text);
}

static void try_cpu_list(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	hwloc_bitmap_t cpus;

	if (!cpus_parse(text, &cpus)) {
		free(cpus_format(cpus));
		hwloc_bitmap_free(cpus);
	}
	free(text);
}

static void try_nodes(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "online", "node0/cpulist", "node0/meminfo",
					     "node0/distance" };
	char *folder = format_string("%s/sys/devices/system/node/node0", fuzz_folder()), *path;
	struct nodes *nodes;
	size_t chosen = size ? *data % 4 : 0;

	if (fs_make_folders(folder, 0700))
		abort();
	for (size_t i = 0; i < 4; i++) {
		path = format_string("sys/devices/system/node/%s", paths[i]);
		if (i == chosen && size)
			fuzz_put(path, data + 1, size - 1);
		else
			fuzz_put(path, i ? "0" : "0-1", i ? 1 : 3);
		free(path);
	}
	free(folder);
	if (!nodes_read(fuzz_folder(), &nodes))
		nodes_free(nodes);
}

static void try_time(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	int64_t time_ns;

	store_parse_time(text, 0, &time_ns);
	store_looks_like_id(text);
	free(text);
}

static void (*const tries[])(const uint8_t *data, size_t size) = {
	try_interrupts, try_vmstat, try_cpu_list, try_nodes, try_time,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		tries[*data % (sizeof(tries) / sizeof(tries[0]))](data + 1, size - 1);
	return 0;
}
