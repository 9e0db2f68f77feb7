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

START_TEST(what_to_run)
{
	char *root = machine_made("cxl-tiers");
	const struct capability *row = NULL;
	struct capabilities *found;
	struct log log;

	log_open(&log, stderr, LOG_LEVEL_WARN);
	ck_assert_int_eq(capabilities_collect(root, &log, &found), 0);
	for (unsigned int i = 0; i < found->count; i++)
		if (!strcmp(found->rows[i].area, "cxl") &&
		    !strcmp(found->rows[i].name, rows[_i].name))
			row = &found->rows[i];
	ck_assert_msg(row != NULL, "no row %s", rows[_i].name);
	ck_assert_int_eq(row->status, rows[_i].status);
	ck_assert_msg(strstr(row->detail, rows[_i].detail), "%s", row->detail);
	if (rows[_i].advice)
		ck_assert_msg(row->advice && strstr(row->advice, rows[_i].advice), "%s",
			      row->advice ? row->advice : "none");
	else
		ck_assert_ptr_null(row->advice);
	capabilities_free(found);
	free(root);
}
END_TEST

/* Devices that are in no region: how to make one. */
START_TEST(devices_without_a_region)
{
	struct capabilities *found;
	char *advice = NULL;
	struct log log;

	machine_write(machines_folder, "/sys/bus/cxl/devices/mem0/ram/size", "0x10000000\n");
	machine_write(machines_folder, "/sys/bus/cxl/devices/mem1/ram/size", "0x10000000\n");
	log_open(&log, stderr, LOG_LEVEL_WARN);
	ck_assert_int_eq(capabilities_collect(machines_folder, &log, &found), 0);
	for (unsigned int i = 0; i < found->count; i++)
		if (!strcmp(found->rows[i].name, "memory devices"))
			advice = found->rows[i].advice;
	ck_assert_ptr_nonnull(advice);
	ck_assert_ptr_nonnull(strstr(advice, "cxl create-region --type=ram --memdevs mem0 mem1"));
	capabilities_free(found);
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
	tcase_add_test(group, devices_without_a_region);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
