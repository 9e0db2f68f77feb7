// SPDX-License-Identifier: GPL-2.0-only
/* Distances, tiers, where pages are demoted to, and CXL memory in all its states. */
#include "../../harness/capabilities.h"
#include "../../lib/cxl.h"
#include "../../lib/nodes.h"
#include "machines.h"

static struct nodes *read_machine(const char *name)
{
	char *root = machine_made(name);
	struct nodes *nodes;

	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	free(root);
	return nodes;
}

START_TEST(distances)
{
	struct nodes *nodes = read_machine("cxl-tiers");

	ck_assert(nodes->gaps);
	ck_assert_uint_eq(nodes->count, 5);
	ck_assert_uint_eq(nodes_distance(nodes, 0, 0), 10);
	ck_assert_uint_eq(nodes_distance(nodes, 0, 1), 21);
	ck_assert_uint_eq(nodes_distance(nodes, 9, 1), 30);
	ck_assert_uint_eq(nodes_distance(nodes, 1, 9), 30);
	ck_assert_uint_eq(nodes_distance(nodes, 0, 2), 0);
	ck_assert_ptr_null(nodes_find(nodes, 2));
	ck_assert_uint_eq(nodes_find(nodes, 9)->number, 9);
	nodes_free(nodes);
}
END_TEST

/* memory_tier100 sorts before memory_tier22 by name, and comes after it. */
START_TEST(tiers)
{
	struct nodes *nodes = read_machine("cxl-tiers");

	ck_assert_int_eq(nodes_top_tier(nodes), 4);
	ck_assert_int_eq(nodes_bottom_tier(nodes), 100);
	ck_assert_int_eq(nodes_find(nodes, 5)->tier, 22);
	nodes_free(nodes);
	nodes = read_machine("x86-112");
	ck_assert_int_eq(nodes_top_tier(nodes), -1);
	ck_assert_int_eq(nodes_bottom_tier(nodes), -1);
	ck_assert_ptr_null(nodes_demotion_target(nodes, &nodes->list[0]));
	nodes_free(nodes);
}
END_TEST

static const struct {
	const char *machine;
	unsigned int from;
	int to; /* -1: nowhere */
} targets[] = {
	{ "cxl-tiers", 0, 3 },	  { "cxl-tiers", 1, 5 },   { "cxl-tiers", 3, 9 },
	{ "cxl-tiers", 9, -1 },	  { "memory-only", 0, 1 }, { "memory-only", 1, -1 },
	{ "memory-only", 2, -1 }, /* CPUs and no memory */
};

START_TEST(demotion_targets)
{
	struct nodes *nodes = read_machine(targets[_i].machine);
	const struct node *from = nodes_find(nodes, targets[_i].from);
	const struct node *to = nodes_demotion_target(nodes, from);

	ck_assert_int_eq(to ? (int)to->number : -1, targets[_i].to);
	nodes_free(nodes);
}
END_TEST

/* Of nodes that are as near the kernel takes any: with 3, 5 is one, but not 9 of the next tier. */
START_TEST(demotion_targets_as_near)
{
	char *root = machine_made("cxl-tiers");
	const struct capability *row;
	struct capabilities *found;
	struct nodes *nodes;
	struct log log;

	log_open(&log, stderr, LOG_LEVEL_WARN);
	machine_write(root, "/sys/devices/system/node/node0/distance", "10 21 14 14 14\n");
	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	for (unsigned int i = 0; i < nodes->count; i++) {
		const struct node *to = &nodes->list[i];

		ck_assert(nodes_demotes_to(nodes, nodes_find(nodes, 0), to) ==
			  (to->number == 3 || to->number == 5));
		ck_assert(nodes_demotes_to(nodes, nodes_find(nodes, 1), to) == (to->number == 5));
		ck_assert(!nodes_demotes_to(nodes, nodes_find(nodes, 9), to));
	}
	nodes_free(nodes);
	ck_assert_int_eq(capabilities_collect(root, &log, &found), 0);
	for (row = found->rows; strcmp(row->name, "demotion"); row++)
		;
	ck_assert_ptr_nonnull(strstr(row->detail, "from node 0 to 3 or 5, from node 1 to 5, "));
	capabilities_free(found);
	free(root);
}
END_TEST

START_TEST(nodes_of_cxl_memory)
{
	struct nodes *nodes = read_machine("cxl-tiers");

	ck_assert(!nodes_find(nodes, 0)->cxl);
	ck_assert(!nodes_find(nodes, 1)->cxl);
	ck_assert(nodes_find(nodes, 3)->cxl);
	ck_assert(nodes_find(nodes, 5)->cxl);
	/* by the address of its region alone */
	ck_assert(nodes_find(nodes, 9)->cxl);
	nodes_free(nodes);
	nodes = read_machine("numa-gaps");
	/* memory-only, and there is no CXL bus */
	ck_assert(!nodes_find(nodes, 251)->cxl);
	nodes_free(nodes);
}
END_TEST

START_TEST(regions_of_dax_devices)
{
	char *root = machine_made("cxl-tiers");
	struct cxl *cxl;

	ck_assert_int_eq(cxl_read(root, &cxl), 0);
	ck_assert_uint_eq(cxl->region_count, 7);
	ck_assert_uint_eq(cxl->dax_count, 5);
	ck_assert_str_eq(cxl->dax[1].region, "region1");
	ck_assert_str_eq(cxl->dax[2].region, "region3");
	ck_assert_str_eq(cxl->dax[2].driver, "device_dax");
	ck_assert_ptr_null(cxl->dax[4].driver);
	ck_assert_uint_eq(cxl->regions[2].start, 0x400000000);
	ck_assert_int_eq(cxl->regions[2].memory_node, 9);
	ck_assert_int_eq(cxl->regions[3].memory_node, -1);
	cxl_free(cxl);
	/* the firmware's own dax device, whose address is inside of region 2 */
	machine_write(root, "/sys/bus/dax/devices/dax9.0/resource", "0x410000000\n");
	machine_write(root, "/sys/bus/dax/devices/dax9.0/target_node", "9\n");
	ck_assert_int_eq(cxl_read(root, &cxl), 0);
	ck_assert_uint_eq(cxl->dax_count, 6);
	ck_assert_str_eq(cxl->dax[5].region, "region2");
	cxl_free(cxl);
	free(root);
}
END_TEST

static const struct {
	const char *name;
	enum capability_status status;
	const char *detail, *advice; /* in them; NULL: there is none */
} rows[] = {
	{ "memory devices", CAPABILITY_OK, "7; volatile memory: mem0 4096 MiB, mem1", NULL },
	{ "region0", CAPABILITY_OK, "region of 4096 MiB, ram, committed", NULL },
	{ "region2", CAPABILITY_OK, "system memory of node 9", NULL },
	{ "region6", CAPABILITY_MISSING, "not in use", "cxl enable-region region6" },
	{ "dax0.0", CAPABILITY_OK, "4096 MiB of region0, system memory of node 3, online", NULL },
	{ "dax3.0", CAPABILITY_MISSING, "(devdax); as system memory it is node 10",
	  "when no program uses it: daxctl reconfigure-device --mode=system-ram dax3.0" },
	{ "dax4.0", CAPABILITY_MISSING, "system memory of node 11, not online",
	  "daxctl online-memory dax4.0" },
	{ "dax5.0", CAPABILITY_MISSING, "without a driver", "--mode=system-ram dax5.0" },
	{ "nodes", CAPABILITY_OK, "3,5,9", NULL },
};

/* The row of this name in group "cxl" has this status, and these words in it. */
static void ck_assert_row(const char *root, const char *name, enum capability_status status,
			  const char *detail, const char *advice)
{
	const struct capability *row = NULL;
	struct capabilities *found;
	struct log log;

	log_open(&log, stderr, LOG_LEVEL_WARN);
	ck_assert_int_eq(capabilities_collect(root, &log, &found), 0);
	for (unsigned int i = 0; i < found->count; i++)
		if (!strcmp(found->rows[i].area, "cxl") && !strcmp(found->rows[i].name, name))
			row = &found->rows[i];
	ck_assert_msg(row != NULL, "no row %s", name);
	ck_assert_int_eq(row->status, status);
	ck_assert_msg(strstr(row->detail, detail), "%s", row->detail);
	if (advice)
		ck_assert_msg(row->advice && strstr(row->advice, advice), "%s",
			      row->advice ? row->advice : "none");
	else
		ck_assert_ptr_null(row->advice);
	capabilities_free(found);
}

START_TEST(what_to_run)
{
	char *root = machine_made("cxl-tiers");

	ck_assert_row(root, rows[_i].name, rows[_i].status, rows[_i].detail, rows[_i].advice);
	free(root);
}
END_TEST

#define DAX    "/sys/bus/dax/devices/"
#define MEMORY "/sys/devices/system/memory/memory"

/* cxl-tiers with other files: whether a device is online is a matter of its blocks, not of its
 * node. */
static const struct {
	const char *path, *text; /* NULL: the file is removed */
	const char *name;
	enum capability_status status;
	const char *detail, *advice;
} online[] = {
	/* nodes that have memory of others */
	{ DAX "dax4.0/target_node", "3", "dax4.0", CAPABILITY_MISSING, "of node 3, not online",
	  "daxctl online-memory dax4.0" },
	{ DAX "dax4.0/target_node", "0", "dax4.0", CAPABILITY_MISSING, "of node 0, not online",
	  "daxctl online-memory dax4.0" },
	{ MEMORY "5/state", "offline", "dax0.0", CAPABILITY_MISSING, "online in part",
	  "daxctl online-memory dax0.0" },
	{ MEMORY "5/state", NULL, "dax0.0", CAPABILITY_MISSING, "online in part", "online-memory" },
	/* the blocks that are wholly the device's */
	{ DAX "dax0.0/resource", "0x240000000", "dax0.0", CAPABILITY_OK, "node 3, online", NULL },
	{ DAX "dax0.0/size", "6442450943", "dax0.0", CAPABILITY_OK, "node 3, online", NULL },
	/* not root: a node without memory says it all, another one nothing */
	{ DAX "dax0.0/resource", NULL, "dax0.0", CAPABILITY_NOT_PERMITTED, "root alone", NULL },
	{ DAX "dax4.0/resource", NULL, "dax4.0", CAPABILITY_MISSING, "not online",
	  "online-memory" },
};

START_TEST(dax_memory_goes_by_its_blocks)
{
	char *root = machine_made("cxl-tiers");

	for (size_t i = 0; i < sizeof(online) / sizeof(online[0]); i++) {
		char *path = format_string("%s%s", root, online[i].path);
		char *before = machine_read(root, online[i].path);

		if (online[i].text)
			machine_write(root, online[i].path, online[i].text);
		else
			ck_assert_int_eq(unlink(path), 0);
		ck_assert_row(root, online[i].name, online[i].status, online[i].detail,
			      online[i].advice);
		machine_write(root, online[i].path, before);
		free(before);
		free(path);
	}
	free(root);
}
END_TEST

/* 2 GiB here and 2 GiB there: the size that they have together is not where the end is. */
START_TEST(a_dax_device_in_two_parts)
{
	char *root = machine_made("cxl-tiers");

	machine_write(root, DAX "dax0.0/mapping0/start", "0x200000000\n");
	machine_write(root, DAX "dax0.0/mapping0/end", "0x27fffffff\n");
	machine_write(root, DAX "dax0.0/mapping1/start", "0x300000000\n");
	machine_write(root, DAX "dax0.0/mapping1/end", "0x37fffffff\n");
	machine_write(root, MEMORY "5/state", "offline\n");
	ck_assert_row(root, "dax0.0", CAPABILITY_OK, "node 3, online", NULL);
	machine_write(root, MEMORY "6/state", "offline\n");
	ck_assert_row(root, "dax0.0", CAPABILITY_MISSING, "online in part", "online-memory");
	free(root);
}
END_TEST

#define CXL "/sys/bus/cxl/devices/"

/* An endpoint's first decoder, of this mode and size. */
static void write_decoder(unsigned int endpoint, const char *device, const char *mode,
			  const char *bytes)
{
	char *path = format_string(CXL "decoder%u.0/mode", endpoint);
	char *size = format_string(CXL "decoder%u.0/dpa_size", endpoint);
	char *folder = format_string("%s" CXL "endpoint%u", machines_folder, endpoint);
	char *link = format_string("%s/uport", folder);
	char *target = format_string("../../../../pci0000:0c/0000:0d:00.0/%s", device);

	machine_write(machines_folder, path, mode);
	machine_write(machines_folder, size, bytes);
	ck_assert_int_eq(fs_make_folders(folder, 0755), 0);
	ck_assert_int_eq(symlink(target, link), 0);
	free(path);
	free(size);
	free(folder);
	free(link);
	free(target);
}

/* Devices that are in no region: how to make one. */
START_TEST(devices_without_a_region)
{
	const char *all = "cxl create-region --type=ram --memdevs mem0 mem1";

	machine_write(machines_folder, CXL "mem0/ram/size", "0x10000000\n");
	machine_write(machines_folder, CXL "mem1/ram/size", "0x10000000\n");
	ck_assert_row(machines_folder, "memory devices", CAPABILITY_OK, "2; volatile", all);
	/* a region, and nothing that tells whose */
	machine_write(machines_folder, CXL "region0/size", "0x10000000\n");
	ck_assert_row(machines_folder, "memory devices", CAPABILITY_OK, "2; volatile", NULL);
	/* it is of the first device; the second has something else than volatile memory in one */
	write_decoder(5, "mem0", "ram\n", "0x0000000010000000\n");
	write_decoder(6, "mem1", "pmem\n", "0x0000000010000000\n");
	ck_assert_row(machines_folder, "memory devices", CAPABILITY_OK, "2; volatile",
		      "--memdevs mem1");
	machine_write(machines_folder, CXL "decoder6.0/mode", "ram\n");
	ck_assert_row(machines_folder, "memory devices", CAPABILITY_OK, "2; volatile", NULL);
	/* half of it */
	machine_write(machines_folder, CXL "decoder5.0/dpa_size", "0x0000000008000000\n");
	ck_assert_row(machines_folder, "memory devices", CAPABILITY_OK, "2; volatile",
		      "--memdevs mem0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nodes");
	TCase *group = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(group, machines_begin, machines_end);
	tcase_set_timeout(group, 60);
	tcase_add_test(group, distances);
	tcase_add_test(group, tiers);
	tcase_add_loop_test(group, demotion_targets, 0, sizeof(targets) / sizeof(targets[0]));
	tcase_add_test(group, demotion_targets_as_near);
	tcase_add_test(group, nodes_of_cxl_memory);
	tcase_add_test(group, regions_of_dax_devices);
	tcase_add_loop_test(group, what_to_run, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(group, dax_memory_goes_by_its_blocks);
	tcase_add_test(group, a_dax_device_in_two_parts);
	tcase_add_test(group, devices_without_a_region);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
