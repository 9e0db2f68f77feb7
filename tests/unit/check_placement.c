// SPDX-License-Identifier: GPL-2.0-only
/* Which nodes pages are moved between, on machines of many kinds. */
#include "machines.h"
#include "quiet.h"

#include "../../harness/needs.h"
#include "../../lib/nodes.h"
#include "../../stressors/placement.h"

#include <sys/wait.h>

static const struct {
	const char *machine;
	bool down;
	unsigned int cpu; /* the control CPU */
	const char *pages, *from, *to;
	int chosen_from, chosen_to; /* -1: none, and this is said: */
	const char *words;
} cases[] = {
	/* numbers with gaps; node 251 has memory, and this process may not use it */
	{ "numa-gaps", false, 0, "1000", "auto", "auto", 0, 8, NULL },
	{ "numa-gaps", false, 9, "1000", "auto", "auto", 8, 0, NULL },
	{ "numa-gaps", false, 0, "1000", "8", "auto", 8, 0, NULL },
	{ "numa-gaps", false, 0, "1000", "auto", "251", -1, -1, "may not use" },
	{ "numa-gaps", false, 0, "1000", "auto", "1", -1, -1, "no such node" },
	{ "numa-gaps", false, 0, "1000", "auto", "0", -1, -1, "a second node" },
	{ "numa-gaps", false, 0, "1000000", "auto", "auto", -1, -1, "a node with 3914 MiB" },
	{ "numa-gaps", true, 0, "1000", "auto", "auto", -1, -1, "a lower memory tier" },
	/* node 1 has memory only; node 2 has CPUs only, so its CPUs' pages start elsewhere */
	{ "memory-only", false, 0, "1000", "auto", "auto", 0, 1, NULL },
	{ "memory-only", false, 5, "1000", "auto", "auto", 0, 1, NULL },
	{ "memory-only", false, 0, "1000", "auto", "2", -1, -1, "no memory" },
	{ "memory-only", true, 5, "1000", "auto", "auto", 0, 1, NULL },
	{ "memory-only", true, 0, "1000", "1", "auto", -1, -1, "a lower memory tier" },
	{ "memory-only", false, 0, "700000", "auto", "1", -1, -1, "give fewer pages" },
	/* two tiers below: the nearest of the next one is the kernel's choice */
	{ "cxl-tiers", true, 0, "1000", "auto", "auto", 0, 3, NULL },
	{ "cxl-tiers", true, 12, "1000", "auto", "auto", 1, 5, NULL },
	{ "cxl-tiers", true, 0, "1000", "3", "auto", 3, 9, NULL },
	{ "cxl-tiers", true, 0, "1000", "auto", "9", 0, 9, NULL },
	{ "cxl-tiers", true, 0, "1000", "3", "0", -1, -1, "a lower memory tier" },
	{ "cxl-tiers", false, 0, "1000", "auto", "auto", 0, 3, NULL },
	{ "cxl-tiers", false, 0, "1000", "9", "1", 9, 1, NULL },
	{ "x86-1", false, 0, "1000", "auto", "auto", -1, -1, "a second node" },
};

/* One CPU, a stressor that has the options. */
static void describe(struct point *point, const char *pages, const char *from, const char *to,
		     const unsigned int *cpu)
{
	const struct stressor *stressor = stressor_find("demote");
	struct option_values *values = options_new(stressor->options);

	ck_assert_int_eq(options_set(values, "test", "pages", pages, quiet_log()), 0);
	ck_assert_int_eq(options_set(values, "test", "from", from, quiet_log()), 0);
	ck_assert_int_eq(options_set(values, "test", "to", to, quiet_log()), 0);
	*point = (struct point){ .stressor = stressor,
				 .parameters = values,
				 .cpus = cpu,
				 .cpu_count = 1,
				 .page_bytes = 4096 };
}

START_TEST(nodes_are_chosen)
{
	char *root = machine_made(cases[_i].machine), reason[400] = "";
	struct placement placement;
	struct point point;
	int rc;

	describe(&point, cases[_i].pages, cases[_i].from, cases[_i].to, &cases[_i].cpu);
	rc = placement_find(root, &point, cases[_i].down, &placement, reason, sizeof(reason));
	if (cases[_i].chosen_from < 0) {
		ck_assert_int_eq(rc, 1);
		ck_assert_msg(strstr(reason, cases[_i].words), "not said: %s; but: %s",
			      cases[_i].words, reason);
	} else {
		ck_assert_msg(rc == 0, "%s", reason);
		ck_assert_int_eq(placement.from, cases[_i].chosen_from);
		ck_assert_int_eq(placement.to, cases[_i].chosen_to);
	}
	options_free((struct option_values *)point.parameters);
	free(root);
}
END_TEST

START_TEST(a_kernel_that_cannot_demote_is_named)
{
	char *root = machine_made("memory-only"), reason[400];
	struct placement placement;
	struct point point;
	unsigned int cpu = 0;
	char *knob = format_string("%s/sys/kernel/mm/numa/demotion_enabled", root);

	describe(&point, "1000", "auto", "auto", &cpu);
	ck_assert_int_eq(unlink(knob), 0);
	ck_assert_int_eq(placement_find(root, &point, true, &placement, reason, sizeof(reason)), 1);
	ck_assert_ptr_nonnull(strstr(reason, "demotion_enabled"));
	ck_assert_int_eq(placement_find("/nonexistent", &point, false, &placement, reason,
					sizeof(reason)),
			 1);
	ck_assert_ptr_nonnull(strstr(reason, "CONFIG_NUMA"));
	options_free((struct option_values *)point.parameters);
	free(knob);
	free(root);
}
END_TEST

/* As the kernel prints it: a zone that user memory cannot have, and watermarks of 14 MiB. */
static const char zones[] =
	"Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 92\n  pages free     3000\n"
	"        boost    0\n        min      20\n        low      25\n        high     30\n"
	"        protection: (0, 2000, 9000, 9000)\n"
	"      nr_free_pages 3000\n  pagesets\n    cpu: 0\n              count:    7\n"
	"              high:     8000\n              batch:    63\n              high_min: 8000\n"
	"Node 0, zone   Normal\n  pages free     12000\n        low      2560\n"
	"        high     3584\n        promo    4608\n        protection: (0, 0, 0, 0)\n"
	"  pagesets\n    cpu: 0\n              high:     8000\n"
	"Node 1, zone   Normal\n  pages free     50\n        high     60\n"
	"        protection: (0, 0, 0, 0)\n"
	"Node 1, zone  Movable\n  pages free     10000\n        high     3584\n"
	"        protection: (0, 0, 0, 0)\n";

START_TEST(room_is_what_the_watermarks_leave)
{
	char *root = machine_made("memory-only"), reason[400] = "";
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct placement placement;
	struct nodes *nodes;
	struct point point;
	unsigned int cpu = 0;

	machine_write(root, "/proc/zoneinfo", zones);
	ck_assert_int_eq(nodes_read(root, &nodes), 0);
	ck_assert_uint_eq(nodes_find(nodes, 0)->room_bytes, (12000 - 3584) * page);
	ck_assert_uint_eq(nodes_find(nodes, 1)->room_bytes, (10000 - 3584) * page);
	nodes_free(nodes);
	/* 8 MiB are kept beside the pages */
	describe(&point, "4368", "auto", "auto", &cpu);
	point.page_bytes = page;
	ck_assert_int_eq(placement_find(root, &point, false, &placement, reason, sizeof(reason)),
			 0);
	options_free((struct option_values *)point.parameters);
	describe(&point, "5000", "auto", "auto", &cpu);
	point.page_bytes = page;
	ck_assert_int_eq(placement_find(root, &point, false, &placement, reason, sizeof(reason)),
			 1);
	ck_assert_ptr_nonnull(strstr(reason, "a second node with"));
	ck_assert_ptr_nonnull(strstr(reason, "beside the kernel's reserve; give fewer pages"));
	options_free((struct option_values *)point.parameters);
	free(root);
}
END_TEST

START_TEST(a_node_that_a_cpuset_keeps_away_is_named)
{
	static const char *const words[] = {
		"needs a second node: node 1 would do, but this process may not use its memory",
		"needs a lower memory tier: node 1 would do",
	};
	char *root = machine_made("memory-only"), reason[400];
	struct placement placement;
	struct point point;
	unsigned int cpu = 0;

	machine_write(root, "/proc/self/status", "Name:\tx\nMems_allowed_list:\t0\n");
	describe(&point, "1000", "auto", "auto", &cpu);
	for (int down = 0; down < 2; down++) {
		ck_assert_int_eq(
			placement_find(root, &point, down, &placement, reason, sizeof(reason)), 1);
		ck_assert_msg(strstr(reason, words[down]), "%s", reason);
	}
	options_free((struct option_values *)point.parameters);
	free(root);
}
END_TEST

#define BALANCING "/proc/sys/kernel/numa_balancing"

/* In a process that root's permissions do not help: 0 when all is met, 1 with the reason. */
static int unmet_for_anyone(const char *root, const struct point *point, const char *words)
{
	char reason[400] = "";
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534))
			_exit(9);
		if (!needs_unmet(root, point, reason, sizeof(reason)))
			_exit(0);
		_exit(strstr(reason, words) ? 1 : 8);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(numa_balancing_must_be_off_or_turned_off)
{
	static const char *const names[] = { "move-pages", "migrate-active" };
	static const unsigned int cpus[] = { 0, 1, 2 };
	char *root = machine_made("memory-only");
	char *knob = format_string("%s" BALANCING, root);

	ck_assert_int_eq(chmod(machines_folder, 0755), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct stressor *stressor = stressor_find(names[i]);
		struct option_values *values = options_new(stressor->options);
		struct point point = { stressor, values, cpus, 3, 4096, 0 };
		char reason[400] = "";

		ck_assert_int_eq(options_set(values, "test", "pages", "1000", quiet_log()), 0);
		ck_assert_int_eq(unmet_for_anyone(root, &point, ""), 0);
		machine_write(root, BALANCING, "1\n");
		ck_assert_int_eq(needs_unmet(root, &point, reason, sizeof(reason)), 0);
		ck_assert_int_eq(chmod(knob, 0444), 0);
		ck_assert_int_eq(unmet_for_anyone(root, &point,
						  "needs \"0\" in " BALANCING
						  ", which holds \"1\"; run it with sudo"),
				 1);
		ck_assert_int_eq(chmod(knob, 0644), 0);
		machine_write(root, BALANCING, "0\n");
		ck_assert_int_eq(chmod(knob, 0444), 0);
		ck_assert_int_eq(unmet_for_anyone(root, &point, ""), 0);
		ck_assert_int_eq(unlink(knob), 0);
		options_free(values);
	}
	free(knob);
	free(root);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("placement");

	tcase_add_checked_fixture(tests, machines_begin, machines_end);
	tcase_add_loop_test(tests, nodes_are_chosen, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, a_kernel_that_cannot_demote_is_named);
	tcase_add_test(tests, room_is_what_the_watermarks_leave);
	tcase_add_test(tests, a_node_that_a_cpuset_keeps_away_is_named);
	tcase_add_test(tests, numa_balancing_must_be_off_or_turned_off);
	return run_suite("placement", tests);
}
