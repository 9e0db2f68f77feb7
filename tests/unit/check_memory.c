// SPDX-License-Identifier: GPL-2.0-only
/* harness/lab/memory.c: what --numa and --cxl mean, and what the emulator is told. */
#include <errno.h>

#include "../../harness/lab/guest.h"
#include "../../harness/plan.h"
#include "quiet.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))
#define MIB	    (1ULL << 20)

/* What a guest with 4 CPUs and 2 GiB gets. */
static const struct {
	const char *numa, *cxl, *text;
} layouts[] = {
	{ NULL, NULL, NULL },
	{ "1", NULL, "--numa cpus=0-3,mem=2048M" },
	{ "2", NULL, "--numa cpus=0-1,mem=1024M;cpus=2-3,mem=1024M" },
	{ "3", NULL, "--numa cpus=0-1,mem=682M;cpus=2,mem=682M;cpus=3,mem=682M" },
	{ "cpus=all,mem=1G;mem=512M", NULL, "--numa cpus=0-3,mem=1024M;mem=512M" },
	{ "mem=512M,cpus=0/2-3;cpus=all,mem=0", NULL, "--numa cpus=0/2-3,mem=512M;cpus=1,mem=0M" },
	{ "cpus=0-1;cpus=2-3", NULL, "--numa cpus=0-1,mem=1024M;cpus=2-3,mem=1024M" },
	{ "cpus=all,mem=1G;mem=512M,latency=300", NULL,
	  "--numa cpus=0-3,mem=1024M,latency=100,bandwidth=100000;"
	  "mem=512M,latency=300,bandwidth=100000" },
	{ "cpus=all,mem=1G,distances=10/30;mem=512M,distances=20/10", NULL,
	  "--numa cpus=0-3,mem=1024M,distances=10/30;mem=512M,distances=20/10" },
	{ NULL, "512M", "--numa cpus=0-3,mem=2048M --cxl 512M,ways=1" },
	{ "2", "1G,ways=2", "--numa cpus=0-1,mem=1024M;cpus=2-3,mem=1024M --cxl 1024M,ways=2" },
	{ "cpus=all,mem=1G;mem=0", "256M", "--numa cpus=0-3,mem=1024M;mem=0M --cxl 256M,ways=1" },
};

START_TEST(layouts_are_understood)
{
	struct log *log = quiet_log();
	struct lab_memory memory, again;
	char *text, *numa, *second;
	int err;

	ck_assert_int_eq(lab_memory_parse(layouts[_i].numa, layouts[_i].cxl,
					  lab_arch_find("x86_64"), 4, log, &memory),
			 0);
	ck_assert_int_eq(lab_memory_settle(&memory, 0, 2048 * MIB, log), 0);
	text = lab_memory_text(&memory, &err);
	ck_assert_int_eq(err, 0);
	if (!layouts[_i].text) {
		ck_assert_ptr_null(text);
		ck_assert_uint_eq(memory.ram_bytes, 2048 * MIB);
		return;
	}
	ck_assert_str_eq(text, layouts[_i].text);
	/* what is recorded can be given again, and is the same */
	numa = strdup(text + strlen("--numa "));
	numa[strcspn(numa, " ")] = '\0';
	ck_assert_int_eq(lab_memory_parse(numa, layouts[_i].cxl, lab_arch_find("x86_64"), 4, log,
					  &again),
			 0);
	ck_assert_int_eq(lab_memory_settle(&again, 0, 1, log), 0);
	second = lab_memory_text(&again, &err);
	ck_assert_str_eq(second, text);
	ck_assert_uint_eq(again.ram_bytes, memory.ram_bytes);
	lab_memory_release(&memory);
	lab_memory_release(&again);
	free(second);
	free(numa);
	free(text);
}
END_TEST

/* Wrong input, and what is said of it. */
static const struct {
	const char *numa, *cxl, *arch;
	uint64_t given;
	const char *words;
} mistakes[] = {
	{ "0", NULL, "x86_64", 0, "1 to 16 nodes" },
	{ "5", NULL, "x86_64", 0, "no more than the guest has CPUs (4)" },
	{ "17", NULL, "x86_64", 0, "1 to 16 nodes" },
	{ "", NULL, "x86_64", 0, "not KEY=VALUE" },
	{ "cpus=all;", NULL, "x86_64", 0, "not KEY=VALUE" },
	{ "cpus=all,memory=1G", NULL, "x86_64", 0, "memory" },
	{ "cpus=all,mem=1G;mme=1G", NULL, "x86_64", 0, "did you mean \"mem\"" },
	{ "cpus=x,mem=1G", NULL, "x86_64", 0, "no list of CPUs for node 0" },
	{ "cpus=all,mem=1G;cpus=all,mem=1G", NULL, "x86_64", 0, "no list of CPUs for node 1" },
	{ "cpus=0-4,mem=1G", NULL, "x86_64", 0, "the guest has CPUs 0 to 3" },
	{ "cpus=0-2,mem=1G;cpus=2-3,mem=1G", NULL, "x86_64", 0, "another node's" },
	{ "cpus=0-2,mem=1G;mem=1G", NULL, "x86_64", 0, "no node has CPU 3" },
	{ "cpus=all,mem=1G;cpus=", NULL, "x86_64", 0, "no list of CPUs" },
	{ "cpus=all,mem=1G;mem=some", NULL, "x86_64", 0, "some" },
	{ "cpus=all,mem=1G;mem=1M", NULL, "x86_64", 0, "16M at least" },
	{ "cpus=all,mem=1G;mem=100000K", NULL, "x86_64", 0, "whole MiB" },
	{ "cpus=0-1,mem=1G;cpus=2-3", NULL, "x86_64", 0, "1 of 2 nodes say their memory" },
	{ "cpus=all,mem=64M", NULL, "x86_64", 0, "a guest needs 128" },
	{ "cpus=all,mem=1G", NULL, "x86_64", 2048 * MIB, "leave --memory out" },
	{ "cpus=all,mem=1G;mem=0;mem=512M", NULL, "x86_64", 0, "only the last one can be empty" },
	{ "cpus=all,mem=1G;mem=1G,latency=0", NULL, "x86_64", 0, "latency" },
	{ "cpus=all,mem=1G;mem=1G,latency=300", NULL, "arm64", 0, "use x86_64" },
	{ "cpus=all,mem=1G,distances=10/20;mem=1G", NULL, "x86_64", 0, "node 1 does not" },
	{ "cpus=all,mem=1G,distances=10;mem=1G,distances=20/10", NULL, "x86_64", 0,
	  "node 0 does not" },
	{ "cpus=all,mem=1G,distances=10/20/30;mem=1G,distances=20/10", NULL, "x86_64", 0,
	  "node 0 does not" },
	{ "cpus=all,mem=1G,distances=20/20;mem=1G,distances=20/10", NULL, "x86_64", 0,
	  "node 0 does not" },
	{ "cpus=all,mem=1G,distances=10/10;mem=1G,distances=20/10", NULL, "x86_64", 0,
	  "node 0 does not" },
	{ "cpus=all,mem=1G,distances=10/255;mem=1G", NULL, "x86_64", 0, "are no distances" },
	{ "cpus=all,mem=1G,distances=10/;mem=1G", NULL, "x86_64", 0, "are no distances" },
	{ NULL, "100M", "x86_64", 0, "256M to" },
	{ NULL, "300M", "x86_64", 0, "a multiple of 256M" },
	{ NULL, "768M,ways=2", "x86_64", 0, "a multiple of 512M" },
	{ NULL, "512M,ways=3", "x86_64", 0, "1 to 2" },
	{ NULL, "512M,way=2", "x86_64", 0, "did you mean \"ways\"" },
	{ NULL, "512M,2", "x86_64", 0, "not KEY=VALUE" },
	{ NULL, "512M", "arm64", 0, "guests of arm64 cannot have CXL memory" },
};

START_TEST(mistakes_are_named)
{
	struct lab_memory memory = { .ram_bytes = 1 };
	struct log *log = quiet_log();
	int rc = lab_memory_parse(mistakes[_i].numa, mistakes[_i].cxl,
				  lab_arch_find(mistakes[_i].arch), 4, log, &memory);

	if (rc) {
		/* set on success only */
		ck_assert_uint_eq(memory.ram_bytes, 1);
		ck_assert_uint_eq(memory.node_count, 0);
	} else {
		rc = lab_memory_settle(&memory, mistakes[_i].given, 2048 * MIB, log);
		lab_memory_release(&memory);
	}
	ck_assert_int_eq(rc, -EINVAL);
	ck_assert_said(mistakes[_i].words);
}
END_TEST

START_TEST(too_little_for_so_many_nodes)
{
	struct lab_memory memory;
	struct log *log = quiet_log();

	ck_assert_int_eq(lab_memory_parse("16", NULL, lab_arch_find("x86_64"), 16, log, &memory),
			 0);
	ck_assert_int_eq(lab_memory_settle(&memory, 128 * MIB, 0, log), -EINVAL);
	ck_assert_said("give more with --memory");
	lab_memory_release(&memory);
}
END_TEST

static char *command_line(const char *numa, const char *cxl, unsigned int cpus)
{
	struct lab_memory memory;
	struct lab_guest guest = { .arch = lab_arch_find("x86_64"),
				   .emulator = "qemu",
				   .image = "image",
				   .initramfs = "initramfs",
				   .console_path = "console.log",
				   .accel = "tcg",
				   .cpus = cpus,
				   .memory = &memory,
				   .channel = 9 };
	struct log *log = quiet_log();
	char **command, *text;

	ck_assert_int_eq(lab_memory_parse(numa, cxl, guest.arch, cpus, log, &memory), 0);
	ck_assert_int_eq(lab_memory_settle(&memory, 0, 1024 * MIB, log), 0);
	guest.memory_bytes = memory.ram_bytes;
	command = guest_command(&guest);
	ck_assert_ptr_nonnull(command);
	text = guest_command_text(command);
	guest_command_free(command);
	lab_memory_release(&memory);
	return text;
}

static const struct {
	const char *numa, *cxl;
	unsigned int cpus;
	const char *words;
} arguments[] = {
	{ "2", NULL, 8, "-smp 8,sockets=2,cores=4 " },
	{ "2", NULL, 5, "-smp 5,sockets=5,cores=1 " },
	{ "cpus=0/2;cpus=1/3", NULL, 4, "-smp 4,sockets=4,cores=1 " },
	/* 240 CPUs: the last one's interrupt controller is number 335 */
	{ "3", NULL, 240, "-device intel-iommu,intremap=on,eim=on " },
	{ "cpus=all,mem=512M;mem=512M", NULL, 4, "-smp 4 " },
	{ "cpus=0/2;cpus=1/3", NULL, 4, "node,nodeid=1,cpus=1-1,cpus=3-3,memdev=ram1 " },
	{ "cpus=all,mem=512M;mem=256M", NULL, 4, "-m 768M " },
	{ "cpus=all,mem=512M;mem=256M", NULL, 4,
	  "-object memory-backend-ram,id=ram1,size=256M -numa node,nodeid=1,memdev=ram1 " },
	{ "cpus=0-3,mem=512M;cpus=4-7,mem=0", NULL, 8, "-numa node,nodeid=1,cpus=4-7 -" },
	{ "cpus=all,mem=512M;mem=512M,latency=300,bandwidth=20000", NULL, 4, "-M q35,hmat=on " },
	{ "cpus=all,mem=512M;mem=512M,latency=300,bandwidth=20000", NULL, 4,
	  "hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=300 " },
	{ "cpus=all,mem=512M;mem=512M,latency=300,bandwidth=20000", NULL, 4,
	  "data-type=access-bandwidth,bandwidth=20000M " },
	/* memory-only: the speed is that from the nearest CPU */
	{ "cpus=0-1,mem=512M,distances=10/20/30;cpus=2-3,mem=512M,distances=20/10/15;"
	  "mem=512M,latency=300,distances=30/15/10",
	  NULL, 4, "node,nodeid=2,memdev=ram2,initiator=1 " },
	{ "cpus=all,mem=512M,distances=10/30;mem=512M,distances=20/10", NULL, 4,
	  "-numa dist,src=1,dst=0,val=20 " },
	{ "cpus=all,mem=512M;mem=0", "256M", 4, "-m 512M,slots=1,maxmem=1536M " },
	{ NULL, "512M", 4, "-M q35,cxl=on " },
	{ NULL, "512M", 4, "node,nodeid=0,cpus=0-3,memdev=ram0 " },
	{ NULL, "512M", 4, "size=512M -device cxl-rp,port=0," },
	{ NULL, "512M,ways=2", 4, "id=cxl-ram1,share=on,size=256M " },
	{ NULL, "512M,ways=2", 4, "-M cxl-fmw.0.targets.0=cxl-bridge,cxl-fmw.0.size=512M " },
};

START_TEST(arguments_for_the_emulator)
{
	char *text = command_line(arguments[_i].numa, arguments[_i].cxl, arguments[_i].cpus);

	ck_assert_msg(strstr(text, arguments[_i].words), "no \"%s\" in: %s", arguments[_i].words,
		      text);
	free(text);
}
END_TEST

/* The most that there can be has room in the command line. */
START_TEST(sixteen_nodes)
{
	char numa[4096] = "", *text;
	size_t used = 0;

	for (int from = 0; from < 16; from++) {
		used += snprintf(numa + used, sizeof(numa) - used,
				 "%scpus=%d,latency=100,distances=", from ? ";" : "", from);
		for (int to = 0; to < 16; to++)
			used += snprintf(numa + used, sizeof(numa) - used, "%s%d", to ? "/" : "",
					 from == to ? 10 : 20);
	}
	text = command_line(numa, "512M,ways=2", 16);
	ck_assert_ptr_nonnull(strstr(text, "dist,src=15,dst=15,val=10"));
	ck_assert_ptr_nonnull(strstr(text, "-append"));
	free(text);
}
END_TEST

static const char *const mixed[] = { "pageout", "move-pages", "migrate-active", NULL };

/* Of the whole guest, in MiB, with 8 CPUs. */
static uint64_t guest_mib(const char *const *stressors, bool interleave, unsigned int nodes)
{
	struct plan_request request = { .stressors = stressors,
					.repetitions = 1,
					.timeout_ns = 1000000000,
					.interleave = interleave };
	struct lab_memory memory = { .node_count = nodes };
	struct plan *plan;
	uint64_t bytes;

	ck_assert_int_eq(plan_build(&request, quiet_log(), &plan), 0);
	bytes = lab_memory_for(plan, 8, &memory);
	plan_free(plan);
	return bytes / MIB;
}

/*
 * pageout: 81,920 pages twice, and 8,192: 672 MiB. move-pages: 331,600 and 8,192 pages and
 * 20 bytes each: 1,333.6. migrate-active: 656,940 and 8,192: 2,598.2. A guest has 416 of its
 * own; 1/8 more; multiples of 64.
 */
START_TEST(what_runs_at_once_needs_memory_at_once)
{
	ck_assert_uint_eq(guest_mib(mixed, false, 0), 3392);
	ck_assert_uint_eq(guest_mib(mixed, false, 2), 6272);
	ck_assert_uint_eq(guest_mib(mixed, true, 0), 5632);
	/* all 4,604 MiB may be on one node: split evenly, a node has 5,408 */
	ck_assert_uint_eq(guest_mib(mixed, true, 2), 10816);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("memory");

	tcase_add_loop_test(tests, layouts_are_understood, 0, COUNT(layouts));
	tcase_add_loop_test(tests, mistakes_are_named, 0, COUNT(mistakes));
	tcase_add_test(tests, too_little_for_so_many_nodes);
	tcase_add_loop_test(tests, arguments_for_the_emulator, 0, COUNT(arguments));
	tcase_add_test(tests, sixteen_nodes);
	tcase_add_test(tests, what_runs_at_once_needs_memory_at_once);
	return run_suite("memory", tests);
}
