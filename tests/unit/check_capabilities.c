// SPDX-License-Identifier: GPL-2.0-only
/*
 * NUMA nodes, CXL devices and what `shootdown check` says of machines of many
 * kinds, and that looking leaves the running machine as it was.
 */
#include "machines.h"

#include <errno.h>

#include "../../harness/capabilities.h"
#include "../../lib/cxl.h"
#include "../../lib/features.h"
#include "../../lib/nodes.h"

static const struct node *node_numbered(const struct nodes *nodes, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->list[i].number == number)
			return &nodes->list[i];
	ck_abort_msg("no node %u", number);
	return NULL;
}

START_TEST(nodes_with_gaps)
{
	char *root = machine_made("numa-gaps");
	struct nodes *nodes;

	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	ck_assert_uint_eq(nodes->count, 3);
	ck_assert(nodes->gaps);
	ck_assert_uint_eq(nodes->list[2].number, 251);
	ck_assert_uint_eq(node_numbered(nodes, 8)->memory_bytes, 8000000ULL * 1024);
	ck_assert_uint_eq(node_numbered(nodes, 8)->free_bytes, 4000000ULL * 1024);
	ck_assert_int_eq(hwloc_bitmap_weight(node_numbered(nodes, 8)->cpus), 8);
	ck_assert(hwloc_bitmap_isset(node_numbered(nodes, 8)->cpus, 15));
	ck_assert(node_numbered(nodes, 8)->allowed);
	ck_assert(!node_numbered(nodes, 251)->allowed);
	ck_assert_int_eq(node_numbered(nodes, 0)->tier, -1);
	ck_assert_int_eq(nodes->demotion, 0);
	ck_assert_uint_eq(nodes_memory_only(nodes), 1);
	nodes_free(nodes);
	free(root);
}
END_TEST

START_TEST(nodes_in_tiers)
{
	char *root = machine_made("memory-only");
	struct nodes *nodes;

	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	ck_assert(!nodes->gaps);
	ck_assert_uint_eq(nodes_with_memory(nodes), 2);
	ck_assert_uint_eq(nodes_memory_only(nodes), 1);
	ck_assert(hwloc_bitmap_iszero(node_numbered(nodes, 1)->cpus));
	ck_assert_int_eq(node_numbered(nodes, 0)->tier, 4);
	ck_assert_int_eq(node_numbered(nodes, 1)->tier, 22);
	ck_assert_uint_eq(node_numbered(nodes, 2)->memory_bytes, 0);
	ck_assert_int_eq(nodes->demotion, 1);
	nodes_free(nodes);
	free(root);
}
END_TEST

START_TEST(two_sockets)
{
	char *root = machine_made("x86-512");
	struct nodes *nodes;

	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	ck_assert_uint_eq(nodes->count, 2);
	ck_assert_int_eq(hwloc_bitmap_weight(nodes->list[1].cpus), 256);
	ck_assert(hwloc_bitmap_isset(nodes->list[1].cpus, 511));
	nodes_free(nodes);
	free(root);
}
END_TEST

START_TEST(kernel_without_nodes)
{
	struct nodes *nodes;

	ck_assert_int_eq(nodes_read(machines_folder, &nodes), -ENOENT);
}
END_TEST

START_TEST(nodes_of_this_machine)
{
	hwloc_bitmap_t allowed;
	struct nodes *nodes;
	unsigned int i;
	int err = nodes_read("", &nodes);

	if (err) {
		ck_assert_int_eq(err, -ENOENT);
		return;
	}
	ck_assert_uint_ge(nodes->count, 1);
	if (!nodes_policy(&allowed)) {
		for (i = 0; i < nodes->count; i++)
			ck_assert_int_eq(nodes->list[i].allowed,
					 hwloc_bitmap_isset(allowed, nodes->list[i].number));
		hwloc_bitmap_free(allowed);
	}
	nodes_free(nodes);
}
END_TEST

START_TEST(cxl_devices)
{
	char *root = machine_made("memory-only");
	struct cxl *cxl;

	ck_assert_int_eq(cxl_read(root, &cxl), 0);
	ck_assert_uint_eq(cxl->device_count, 1);
	ck_assert_str_eq(cxl->devices[0].name, "mem0");
	ck_assert_uint_eq(cxl->devices[0].ram_bytes, 1ULL << 32);
	ck_assert_int_eq(cxl->devices[0].node, 0);
	ck_assert_uint_eq(cxl->region_count, 1);
	ck_assert_str_eq(cxl->regions[0].name, "region0");
	ck_assert_str_eq(cxl->regions[0].mode, "ram");
	ck_assert(cxl->regions[0].committed);
	ck_assert_uint_eq(cxl->dax_count, 1);
	ck_assert_int_eq(cxl->dax[0].target_node, 1);
	ck_assert_str_eq(cxl->dax[0].driver, "kmem");
	cxl_free(cxl);
	ck_assert_int_eq(cxl_read(machines_folder, &cxl), -ENOENT);
	free(root);
}
END_TEST

static struct capabilities *collect(const char *root)
{
	struct capabilities *found;
	struct log log;

	log_open(&log, stderr, LOG_LEVEL_WARN);
	ck_assert_int_eq(capabilities_collect(root, &log, &found), 0);
	return found;
}

static const struct capability *capability(const struct capabilities *found, const char *area,
					   const char *name)
{
	unsigned int i;

	for (i = 0; i < found->count; i++)
		if (!strcmp(found->rows[i].area, area) && !strcmp(found->rows[i].name, name))
			return &found->rows[i];
	ck_abort_msg("no row %s, %s", area, name);
	return NULL;
}

/* What a machine must be found to have: one row a fact. */
static const struct {
	const char *machine, *area, *name;
	enum capability_status status;
	const char *detail; /* in the detail */
} facts[] = {
	{ "x86-1", "interrupts", "TLB", CAPABILITY_OK, "1 CPUs" },
	{ "x86-1", "vmstat", "nr_tlb_remote_flush", CAPABILITY_MISSING, "does not count" },
	{ "x86-1", "nodes", "NUMA nodes", CAPABILITY_MISSING, "0; 1 with memory" },
	{ "x86-112", "vmstat", "nr_tlb_remote_flush", CAPABILITY_OK, "" },
	{ "x86-112", "vmstat", "nr_tlbi_broadcast", CAPABILITY_MISSING, "does not count" },
	{ "x86-112", "nodes", "NUMA nodes", CAPABILITY_OK, "0-1; 2 with memory" },
	{ "x86-112", "memory", "memory.reclaim", CAPABILITY_OK, "" },
	{ "x86-112", "memory", "memory.reclaim swappiness", CAPABILITY_OK, "max" },
	{ "x86-512", "interrupts", "CAL", CAPABILITY_OK, "512 CPUs" },
	{ "x86-1200", "interrupts", "TLB", CAPABILITY_OK, "1186 CPUs" },
	{ "arm64-64", "interrupts", "TLB", CAPABILITY_MISSING, "" },
	{ "arm64-64", "interrupts", "CAL", CAPABILITY_OK, "row \"IPI1\", 64 CPUs" },
	{ "arm64-64", "tracepoints", "tracefs", CAPABILITY_MISSING, "" },
	{ "numa-gaps", "nodes", "NUMA nodes", CAPABILITY_OK, "0,8,251 (numbers with gaps)" },
	{ "numa-gaps", "nodes", "memory-only nodes", CAPABILITY_OK, "251" },
	{ "memory-only", "nodes", "memory tiers", CAPABILITY_OK, "from 4 (fastest) to 22" },
	{ "memory-only", "nodes", "demotion", CAPABILITY_OK, "on" },
	{ "memory-only", "cxl", "dax0.0", CAPABILITY_OK, "system memory of node 1, online" },
	{ "memory-only", "perf", "hardware events by CPU", CAPABILITY_MISSING, "recorded" },
};

START_TEST(machines_of_many_kinds)
{
	char *root = machine_made(facts[_i].machine);
	struct capabilities *found = collect(root);
	const struct capability *row = capability(found, facts[_i].area, facts[_i].name);

	ck_assert_msg(row->status == facts[_i].status, "%s: %s", facts[_i].name, row->detail);
	ck_assert_msg(strstr(row->detail, facts[_i].detail), "%s: %s", facts[_i].name, row->detail);
	capabilities_free(found);
	free(root);
}
END_TEST

static const struct {
	bool invlpgb;
	const char *release, *command_line;
	enum capability_status status;
} broadcasts[] = {
	{ false, "7.3.4", "quiet", CAPABILITY_OK },
	{ true, "6.14.11", "quiet", CAPABILITY_OK },
	{ true, "6.15.0", "quiet", CAPABILITY_MISSING },
	{ true, "7.3.4", "quiet tlbi=ipi nokaslr\n", CAPABILITY_OK },
	{ true, "7.3.4", "clearcpuid=419\n", CAPABILITY_OK },
	{ true, "7.3.4", "tlbi=ipix\n", CAPABILITY_MISSING },
};

START_TEST(kernels_that_broadcast_flushes)
{
	for (size_t i = 0; i < sizeof(broadcasts) / sizeof(broadcasts[0]); i++) {
		struct capabilities *found = calloc(1, sizeof(*found));

		machine_write(machines_folder, "/proc/sys/kernel/osrelease", broadcasts[i].release);
		machine_write(machines_folder, "/proc/cmdline", broadcasts[i].command_line);
		capabilities_broadcast(machines_folder, broadcasts[i].invlpgb, found);
		ck_assert_uint_eq(found->count, 1);
		ck_assert_int_eq(found->rows[0].status, broadcasts[i].status);
		ck_assert_int_eq(found->rows[0].advice != NULL,
				 broadcasts[i].status == CAPABILITY_MISSING);
		capabilities_free(found);
	}
}
END_TEST

START_TEST(recorded_machine)
{
	char *root = machine_recorded("vm-x86-2");
	struct capabilities *found = collect(root);

	ck_assert_int_eq(capability(found, "memory", "cgroup v2")->status, CAPABILITY_MISSING);
	ck_assert_ptr_nonnull(
		strstr(capability(found, "memory", "cgroup v2")->detail, "cgroup_no_v1"));
	ck_assert_int_eq(capability(found, "tracepoints", "tlb:tlb_flush")->status, CAPABILITY_OK);
	ck_assert_int_eq(capability(found, "tracepoints", "csd:csd_queue_cpu")->status,
			 CAPABILITY_MISSING);
	ck_assert_int_eq(capability(found, "tracepoints", "flush reasons")->status,
			 FEATURE_LIBTRACEFS ? CAPABILITY_OK : CAPABILITY_MISSING);
	ck_assert_int_eq(capability(found, "nodes", "memory tiers")->status, CAPABILITY_MISSING);
	capabilities_free(found);
	free(root);
}
END_TEST

START_TEST(nothing_at_all)
{
	struct capabilities *found = collect(machines_folder);
	unsigned int i;

	for (i = 0; i < found->count; i++)
		if (strcmp(found->rows[i].area, "lab") && strcmp(found->rows[i].area, "build") &&
		    strcmp(found->rows[i].name, "events by name"))
			ck_assert_msg(found->rows[i].status == CAPABILITY_MISSING, "%s",
				      found->rows[i].name);
	capabilities_free(found);
}
END_TEST

/* Every row has an area, a name and a detail; what is not ok says why. */
START_TEST(this_machine_in_json)
{
	struct capabilities *found = collect("");
	json_t *json = capabilities_json(found), *row;
	size_t i;

	ck_assert_str_eq(json_string_value(json_object_get(json, "schema")), "shootdown-check");
	ck_assert_int_eq(json_integer_value(json_object_get(json, "version")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "capabilities")), found->count);
	json_array_foreach(json_object_get(json, "capabilities"), i, row) {
		ck_assert_ptr_nonnull(json_string_value(json_object_get(row, "area")));
		ck_assert_ptr_nonnull(json_string_value(json_object_get(row, "name")));
		ck_assert_str_ne(json_string_value(json_object_get(row, "detail")), "");
		ck_assert_ptr_nonnull(json_string_value(json_object_get(row, "status")));
		ck_assert_ptr_nonnull(json_object_get(row, "advice"));
	}
	json_decref(json);
	capabilities_free(found);
}
END_TEST

START_TEST(table_for_people)
{
	char *root = machine_made("memory-only"), *text;
	struct capabilities *found = collect(root);
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	unsigned int i;

	ck_assert_int_eq(capabilities_text(found, stream), 0);
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, "STATUS"));
	for (i = 0; i < found->count; i++) {
		ck_assert_ptr_nonnull(strstr(text, found->rows[i].name));
		ck_assert_ptr_nonnull(strstr(text, found->rows[i].detail));
		ck_assert_ptr_nonnull(
			strstr(text, found->rows[i].advice ? found->rows[i].advice : ""));
	}
	free(text);
	capabilities_free(found);
	free(root);
}
END_TEST

/* Mounts, zram devices and modules before and after a look. */
START_TEST(looking_changes_nothing)
{
	static const char *const files[] = { "/proc/self/mountinfo", "/proc/swaps", "/proc/modules",
					     "/proc/partitions",
					     "/proc/sys/kernel/perf_event_paranoid" };
	char *before[5] = { 0 }, *after;
	size_t i;

	for (i = 0; i < 5; i++)
		if (fs_read("", files[i], &before[i], NULL))
			before[i] = NULL;
	capabilities_free(collect(""));
	for (i = 0; i < 5; i++) {
		if (before[i] && i != 1) {
			after = machine_read("", files[i]);
			ck_assert_str_eq(before[i], after);
			free(after);
		}
		free(before[i]);
	}
}
END_TEST

START_TEST(library_table)
{
	int i;

	for (i = 0; features[i].name; i++) {
		ck_assert_str_ne(features[i].gives, "");
		ck_assert_str_ne(features[i].without, "");
		ck_assert_str_ne(features[i].package, "");
	}
	ck_assert_int_gt(i, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("capabilities");
	TCase *group = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(group, machines_begin, machines_end);
	tcase_set_timeout(group, 60);
	tcase_add_test(group, nodes_with_gaps);
	tcase_add_test(group, nodes_in_tiers);
	tcase_add_test(group, two_sockets);
	tcase_add_test(group, kernel_without_nodes);
	tcase_add_test(group, nodes_of_this_machine);
	tcase_add_test(group, cxl_devices);
	tcase_add_loop_test(group, machines_of_many_kinds, 0, sizeof(facts) / sizeof(facts[0]));
	tcase_add_test(group, kernels_that_broadcast_flushes);
	tcase_add_test(group, recorded_machine);
	tcase_add_test(group, nothing_at_all);
	tcase_add_test(group, this_machine_in_json);
	tcase_add_test(group, table_for_people);
	tcase_add_test(group, looking_changes_nothing);
	tcase_add_test(group, library_table);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
