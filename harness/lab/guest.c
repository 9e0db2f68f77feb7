// SPDX-License-Identifier: GPL-2.0-only
/* Builds the emulator's command line from a table of argument groups. */
#include "guest.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"

/* nodes say their distance to each other */
#define ARGUMENTS_MAX (128 + 8 * LAB_NODES_MAX + 2 * LAB_NODES_MAX * LAB_NODES_MAX)

struct arguments {
	char *list[ARGUMENTS_MAX + 1];
	unsigned int count;
	bool failed;
};

/* A group of arguments: added when wanted() says so (NULL: always). */
struct group {
	bool (*wanted)(const struct lab_guest *guest);
	void (*add)(const struct lab_guest *guest, struct arguments *arguments);
};

/* Takes over text. */
static void add(struct arguments *arguments, char *text)
{
	if (!text || arguments->count == ARGUMENTS_MAX) {
		free(text);
		arguments->failed = true;
		return;
	}
	arguments->list[arguments->count++] = text;
}

static void add_pair(struct arguments *arguments, const char *option, char *value)
{
	add(arguments, strdup(option));
	add(arguments, value);
}

/* A comma in a file name is doubled for QEMU's option parser. */
static char *quote_commas(const char *path)
{
	char *text = malloc(2 * strlen(path) + 1), *to = text;

	for (; text && *path; path++) {
		if (*path == ',')
			*to++ = ',';
		*to++ = *path;
	}
	if (text)
		*to = '\0';
	return text;
}

static bool uses_kvm(const struct lab_guest *guest)
{
	return !strcmp(guest->accel, "kvm");
}

static bool counts_instructions(const struct lab_guest *guest)
{
	return !strcmp(guest->accel, "icount");
}

static bool has_nodes(const struct lab_guest *guest)
{
	return guest->memory && guest->memory->node_count;
}

static bool wants_cxl(const struct lab_guest *guest)
{
	return guest->memory && guest->memory->cxl_bytes;
}

/*
 * A package must not reach over two nodes, which no machine has and the kernel warns of: one a
 * node where the nodes' CPUs are runs of one length, else one a CPU.
 */
static unsigned int count_packages(const struct lab_guest *guest)
{
	const struct lab_memory *memory = guest->memory;
	unsigned int packages = 0, i;

	for (i = 0; has_nodes(guest) && i < memory->node_count; i++)
		packages += !hwloc_bitmap_iszero(memory->nodes[i].cpus);
	if (packages < 2)
		return 1;
	for (i = 0; i < memory->node_count; i++) {
		hwloc_const_bitmap_t cpus = memory->nodes[i].cpus;
		int first = hwloc_bitmap_first(cpus), count = hwloc_bitmap_weight(cpus);

		if (count && ((unsigned int)count * packages != guest->cpus || first % count ||
			      hwloc_bitmap_last(cpus) != first + count - 1))
			return guest->cpus;
	}
	return packages;
}

/* Numbers of interrupt controllers start anew, at a power of two, with each package. */
static bool wants_remapping(const struct lab_guest *guest)
{
	unsigned int packages = count_packages(guest), cores = guest->cpus / packages, step = 1;

	while (step < cores)
		step *= 2;
	return guest->arch->plain_cpus && (packages - 1) * step + cores > guest->arch->plain_cpus;
}

/* Nothing that was not asked for: no network, display, default devices or user configuration. */
static void add_machine(const struct lab_guest *guest, struct arguments *arguments)
{
	bool split = uses_kvm(guest) && wants_remapping(guest);
	bool cxl = wants_cxl(guest), speeds = has_nodes(guest) && guest->memory->has_speeds;

	add(arguments, strdup(guest->emulator));
	add_pair(arguments, "-M",
		 format_string("%s%s%s%s", guest->arch->machine_type,
			       split ? ",kernel-irqchip=split" : "", speeds ? ",hmat=on" : "",
			       cxl ? ",cxl=on" : ""));
	add(arguments, strdup("-nodefaults"));
	add(arguments, strdup("-no-user-config"));
	add(arguments, strdup("-no-reboot"));
	add_pair(arguments, "-display", strdup("none"));
}

static void add_cpus(const struct lab_guest *guest, struct arguments *arguments)
{
	unsigned int packages = count_packages(guest);

	add_pair(arguments, "-accel", strdup(uses_kvm(guest) ? "kvm" : "tcg,thread=single"));
	add_pair(arguments, "-cpu", strdup(guest->arch->cpu));
	add_pair(arguments, "-smp",
		 packages == 1 ? format_string("%u", guest->cpus)
			       : format_string("%u,sockets=%u,cores=%u", guest->cpus, packages,
					       guest->cpus / packages));
}

/* One nanosecond an instruction; an idle guest's clock does not wait for the host's. */
static void add_icount(const struct lab_guest *guest, struct arguments *arguments)
{
	(void)guest;
	add_pair(arguments, "-icount", strdup("shift=0,sleep=off"));
}

/* The tables reserve the last node for memory that could be plugged in: so an empty one has a
 * number. */
static void add_memory(const struct lab_guest *guest, struct arguments *arguments)
{
	unsigned long long mib = guest->memory_bytes >> 20;

	add_pair(arguments, "-m",
		 has_nodes(guest) && lab_memory_has_gap(guest->memory)
			 ? format_string("%lluM,slots=1,maxmem=%lluM", mib, mib + 1024)
			 : format_string("%lluM", mib));
}

/* ",cpus=0-3,cpus=6": the emulator wants the key again for each run of numbers. */
static char *cpu_keys(hwloc_const_bitmap_t cpus)
{
	char *text = strdup(""), *longer;
	int first, end;

	for (first = hwloc_bitmap_first(cpus); text && first >= 0;
	     first = hwloc_bitmap_next(cpus, end - 1)) {
		end = hwloc_bitmap_next_unset(cpus, first);
		longer = format_string("%s,cpus=%d-%d", text, first, end - 1);
		free(text);
		text = longer;
	}
	return text;
}

static void add_node(const struct lab_memory *memory, unsigned int number,
		     struct arguments *arguments)
{
	const struct lab_node *node = &memory->nodes[number];
	char *cpus = cpu_keys(node->cpus), *store = NULL, *near = NULL;

	if (node->memory_bytes) {
		add_pair(arguments, "-object",
			 format_string("memory-backend-ram,id=ram%u,size=%lluM", number,
				       (unsigned long long)node->memory_bytes >> 20));
		store = format_string(",memdev=ram%u", number);
	}
	if (memory->has_speeds && node->memory_bytes)
		near = format_string(",initiator=%u", node->initiator);
	add_pair(arguments, "-numa",
		 cpus ? format_string("node,nodeid=%u%s%s%s", number, cpus, store ? store : "",
				      near ? near : "")
		      : NULL);
	free(near);
	free(store);
	free(cpus);
}

static void add_speed(const struct lab_memory *memory, unsigned int number,
		      struct arguments *arguments)
{
	const struct lab_node *node = &memory->nodes[number];

	if (!node->memory_bytes)
		return;
	add_pair(arguments, "-numa",
		 format_string("hmat-lb,initiator=%u,target=%u,hierarchy=memory,"
			       "data-type=access-latency,latency=%llu",
			       node->initiator, number, (unsigned long long)node->latency_ns));
	add_pair(arguments, "-numa",
		 format_string("hmat-lb,initiator=%u,target=%u,hierarchy=memory,"
			       "data-type=access-bandwidth,bandwidth=%lluM",
			       node->initiator, number, (unsigned long long)node->bandwidth_mbs));
}

static void add_nodes(const struct lab_guest *guest, struct arguments *arguments)
{
	const struct lab_memory *memory = guest->memory;
	unsigned int from, to;

	for (from = 0; from < memory->node_count; from++)
		add_node(memory, from, arguments);
	for (from = 0; memory->has_distances && from < memory->node_count; from++)
		for (to = 0; to < memory->node_count; to++)
			add_pair(arguments, "-numa",
				 format_string("dist,src=%u,dst=%u,val=%u", from, to,
					       memory->nodes[from].distances[to]));
	for (from = 0; memory->has_speeds && from < memory->node_count; from++)
		add_speed(memory, from, arguments);
}

/*
 * A host bridge with a root port for each device, and one window of the size of
 * the region. With several ports the bridge's own decoder interleaves.
 */
static void add_cxl(const struct lab_guest *guest, struct arguments *arguments)
{
	unsigned long long mib = guest->memory->cxl_bytes >> 20;
	unsigned int ways = guest->memory->cxl_ways, i;

	add_pair(arguments, "-device", strdup("pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl-bridge"));
	for (i = 0; i < ways; i++) {
		add_pair(arguments, "-object",
			 format_string("memory-backend-ram,id=cxl-ram%u,share=on,size=%lluM", i,
				       mib / ways));
		add_pair(arguments, "-device",
			 format_string("cxl-rp,port=%u,bus=cxl-bridge,id=cxl-port%u,chassis=0,"
				       "slot=%u",
				       i, i, i + 2));
		add_pair(arguments, "-device",
			 format_string("cxl-type3,bus=cxl-port%u,volatile-memdev=cxl-ram%u,"
				       "id=cxl-memory%u,sn=%u",
				       i, i, i, i + 1));
	}
	add_pair(arguments, "-M",
		 format_string("cxl-fmw.0.targets.0=cxl-bridge,cxl-fmw.0.size=%lluM", mib));
}

/* APIC numbers above 255 reach devices only through interrupt remapping. */
static void add_remapping(const struct lab_guest *guest, struct arguments *arguments)
{
	(void)guest;
	add_pair(arguments, "-device", strdup("intel-iommu,intremap=on,eim=on"));
}

static void add_console(const struct lab_guest *guest, struct arguments *arguments)
{
	char *path = quote_commas(guest->console_path);

	add_pair(arguments, "-chardev",
		 path ? format_string("file,id=console,path=%s", path) : NULL);
	add_pair(arguments, "-serial", strdup("chardev:console"));
	free(path);
}

static void add_channel(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-chardev", format_string("socket,id=channel,fd=%d", guest->channel));
	add_pair(arguments, "-device", strdup("virtio-serial-pci"));
	add_pair(arguments, "-device", strdup("virtserialport,chardev=channel,name=" GUEST_PORT));
}

/*
 * loglevel=5 brings warnings and worse to the console. All CPUs but the control
 * CPU (0) stop their tick while they run one task. An RCU stall is a hang of the
 * guest's own time, which emulation of many CPUs stretches.
 */
/*
 * Emulated CPUs that come up during boot tick a hundred times a second each until
 * the kernel changes to one-shot timers at the end of boot, which saturates the
 * emulator from about 200 CPUs; and each interrupts all others as code is patched.
 * So the kernel boots on one, and the agent brings up the rest when ticks stop.
 * Each that comes makes the scheduler build its domains again for all: the rest is
 * left out of them (isolcpus), since every task of ours is pinned.
 */
static bool boots_on_one_cpu(const struct lab_guest *guest)
{
	return !uses_kvm(guest) && guest->cpus >= 32;
}

/* Takes over line. */
static char *add_word(char *line, const char *word)
{
	char *longer = format_string("%s %s", line, word);

	free(line);
	return longer;
}

static char *kernel_arguments(const struct lab_guest *guest)
{
	const char *const given[] = { guest->instrument_arguments, guest->arm_arguments,
				      guest->arguments };
	unsigned int stall_s = guest->cpus < 64 ? 60 : 300, last = guest->cpus - 1;
	char *late_cpus, *quiet_cpus, *line;

	quiet_cpus = last ? format_string(" nohz_full=1-%u rcu_nocbs=1-%u", last, last)
			  : strdup("");
	late_cpus = boots_on_one_cpu(guest) ? format_string(" maxcpus=1 isolcpus=domain,1-%u", last)
					    : strdup("");
	line = quiet_cpus && late_cpus
		       ? format_string("console=%s loglevel=5 panic=-1 oops=panic mitigations=off "
				       "lpj=4000000 rcupdate.rcu_cpu_stall_timeout=%u%s%s%s%s",
				       guest->arch->console, stall_s,
				       *guest->arch->kernel_arguments ? " " : "",
				       guest->arch->kernel_arguments, late_cpus, quiet_cpus)
		       : NULL;
	free(quiet_cpus);
	free(late_cpus);
	for (size_t i = 0; line && i < sizeof(given) / sizeof(given[0]); i++)
		line = given[i] && *given[i] ? add_word(line, given[i]) : line;
	return line;
}

static void add_kernel(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-kernel", strdup(guest->image));
	add_pair(arguments, "-initrd", strdup(guest->initramfs));
	add_pair(arguments, "-append", kernel_arguments(guest));
}

/* Devices without a bus of their own take the first that there is: the bridge for CXL comes last.
 */
static const struct group groups[] = {
	{ NULL, add_machine }, { NULL, add_cpus },	 { counts_instructions, add_icount },
	{ NULL, add_memory },  { has_nodes, add_nodes }, { wants_remapping, add_remapping },
	{ NULL, add_console }, { NULL, add_channel },	 { wants_cxl, add_cxl },
	{ NULL, add_kernel },
};

void guest_command_free(char **command)
{
	for (char **argument = command; argument && *argument; argument++)
		free(*argument);
	free(command);
}

char **guest_command(const struct lab_guest *guest)
{
	struct arguments arguments = { .count = 0 };
	char **command = malloc(sizeof(arguments.list));

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!groups[i].wanted || groups[i].wanted(guest))
			groups[i].add(guest, &arguments);
	if (!command || arguments.failed) {
		for (unsigned int i = 0; i < arguments.count; i++)
			free(arguments.list[i]);
		free(command);
		return NULL;
	}
	memcpy(command, arguments.list, sizeof(arguments.list));
	return command;
}

char *guest_command_text(char *const *command)
{
	char *text = strdup("");

	for (; text && *command; command++) {
		bool plain = **command &&
			     strcspn(*command, " \t'\"\\$&;|<>()*?") == strlen(*command);
		char *longer = format_string("%s%s%s%s%s", text, *text ? " " : "", plain ? "" : "'",
					     *command, plain ? "" : "'");

		free(text);
		text = longer;
	}
	return text;
}

uint64_t guest_boot_timeout_ns(unsigned int cpus)
{
	return (120 + 2ULL * cpus) * 1000000000ULL;
}

uint64_t guest_base_memory_bytes(unsigned int cpus)
{
	return (384ULL + 4 * cpus) << 20;
}
