// SPDX-License-Identifier: GPL-2.0-only
/* What can be counted here: perf events, tracepoints, /proc/interrupts, /proc/vmstat. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/cpuid.h"
#include "../lib/cpus.h"
#include "../lib/event_names.h"
#include "../lib/features.h"
#include "../lib/fs.h"
#include "../lib/interrupts.h"
#include "../lib/perf.h"
#include "../lib/tlb_row.h"
#include "../lib/tracepoint.h"
#include "../lib/vmstat.h"
#include "capabilities.h"
#include "sources/counted.h"

#define RECORDED "not asked: this is a recorded machine"

static enum capability_status status_of(enum value_status status)
{
	switch (status) {
	case VALUE_OK:
	case VALUE_MULTIPLEXED:
		return CAPABILITY_OK;
	case VALUE_NOT_PERMITTED:
		return CAPABILITY_NOT_PERMITTED;
	default:
		return CAPABILITY_MISSING;
	}
}

/* Opens and closes an event on the first CPU, or on this process. */
static void try_event(const char *name, const char *area, const struct perf_event *event,
		      struct capabilities *capabilities)
{
	const pid_t task = getpid();
	struct perf_counter counter;
	struct perf_targets targets = { .tasks = &task, .task_count = 1 };
	hwloc_bitmap_t usable;
	int err;

	err = cpus_usable(&usable);
	if (!err) {
		targets.cpus = cpus_numbers(usable, NULL);
		targets.cpu_count = targets.cpus ? 1 : 0;
		hwloc_bitmap_free(usable);
		err = perf_counter_open(event, &targets, &counter);
	}
	if (err) {
		capabilities_add(capabilities, area, name, CAPABILITY_MISSING, NULL,
				 "it could not be tried: %s", strerror(-err));
	} else {
		capabilities_add(capabilities, area, name, status_of(counter.status), NULL, "%s",
				 counter.reason ? counter.reason : "can be counted");
		perf_counter_close(&counter);
	}
	free((void *)targets.cpus);
}

/* One event of each kind, which stands for all of them. */
static const struct {
	const char *name;
	unsigned int type;
	unsigned long long config;
} kinds[] = {
	{ "hardware", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "hw-cache", PERF_TYPE_HW_CACHE,
	  PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
		  PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "raw", PERF_TYPE_RAW, 0x3c },
};

static void add_kinds(const char *root, struct capabilities *capabilities)
{
	struct perf_event event;
	char name[64];
	size_t i;
	int task;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (task = 0; task < 2; task++) {
			snprintf(name, sizeof(name), "%s events by %s", kinds[i].name,
				 task ? "task" : "CPU");
			event = (struct perf_event){
				.by_task = task,
				.attr = {
					.size = sizeof(event.attr),
					.type = kinds[i].type,
					.config = kinds[i].config,
					.disabled = 1,
					/* what an ordinary user may ask for */
					.exclude_kernel = task,
					.exclude_hv = task,
				},
			};
			if (*root)
				capabilities_add(capabilities, "perf", name, CAPABILITY_MISSING,
						 NULL, RECORDED);
			else
				try_event(name, "perf", &event, capabilities);
		}
	}
}

static void add_paranoid(const char *root, struct capabilities *capabilities)
{
	static const char name[] = "perf_event_paranoid";
	int level;

	if (perf_paranoid(root, &level))
		capabilities_add(capabilities, "perf", name, CAPABILITY_MISSING,
				 "use a kernel with CONFIG_PERF_EVENTS",
				 "this kernel has no perf events");
	else if (level <= 0 || !geteuid())
		capabilities_add(capabilities, "perf", name, CAPABILITY_OK, NULL, "%d%s", level,
				 level > 0 ? ", which does not bind root" : "");
	else
		capabilities_add(capabilities, "perf", name, CAPABILITY_NOT_PERMITTED,
				 "run as root, or: sysctl kernel.perf_event_paranoid=0",
				 "%d: events can be counted by task only%s", level,
				 level > 1 ? ", and in user mode only" : "");
}

static void add_event_names(struct capabilities *capabilities)
{
	static const char name[] = "events by name";
	const char *first = NULL;

	if (!FEATURE_LIBPFM)
		capabilities_add(capabilities, "perf", name, CAPABILITY_MISSING,
				 "install libpfm4-dev and configure again",
				 "built without libpfm4");
	else if (!event_name_units(&first))
		capabilities_add(
			capabilities, "perf", name, CAPABILITY_OK, NULL,
			"libpfm4: the kernel's own names and raw codes; it does not know this "
			"processor's counters, or they are hidden");
	else
		capabilities_add(capabilities, "perf", name, CAPABILITY_OK, NULL,
				 "libpfm4: the kernel's own names and those of %s", first);
}

static const char *const tracepoints[] = {
	"tlb:tlb_flush",
	"ipi:ipi_send_cpu",
	"ipi:ipi_send_cpumask",
	"csd:csd_queue_cpu",
	"irq_vectors:call_function_entry",
	"irq_vectors:call_function_single_entry",
	"ipi:ipi_raise",
	"ipi:ipi_entry",
};

static void add_live_tracepoint(const char *text, struct capabilities *capabilities)
{
	struct perf_event event;

	if (perf_event_parse(text, NULL, &event))
		return;
	if (!tlb_flush_traced && !strcmp(text, "tlb:tlb_flush"))
		capabilities_add(capabilities, "tracepoints", text, CAPABILITY_MISSING, NULL,
				 TLB_FLUSH_NOT_TRACED);
	else
		try_event(text, "tracepoints", &event, capabilities);
	perf_event_release(&event);
}

static void add_recorded_tracepoint(const struct tracepoint_folder *folder, const char *text,
				    struct capabilities *capabilities)
{
	size_t system = strcspn(text, ":");
	char *name = strdup(text);
	unsigned long long id;
	bool found;

	if (!name) {
		capabilities->out_of_memory = true;
		return;
	}
	name[system] = '\0';
	found = folder->path && !tracepoint_id(folder, name, name + system + 1, &id);
	capabilities_add(capabilities, "tracepoints", text,
			 found ? CAPABILITY_OK : CAPABILITY_MISSING, NULL,
			 found ? "this kernel has it" : "this kernel does not have it");
	free(name);
}

/* opened: what tracepoint_open() returned for the folder. */
static void add_reasons(const struct tracepoint_folder *folder, int opened,
			struct capabilities *capabilities)
{
	struct tracepoint_symbol *symbols = NULL;
	unsigned int count = 0;
	int err = opened;

	if (!err)
		err = tracepoint_symbols(folder, "tlb", "tlb_flush", "reason", &symbols);
	for (; !err && symbols[count].name; count++)
		;
	if (!err)
		capabilities_add(capabilities, "tracepoints", "flush reasons", CAPABILITY_OK, NULL,
				 "%u, named by this kernel", count);
	else if (err == -ENOSYS)
		capabilities_add(capabilities, "tracepoints", "flush reasons", CAPABILITY_MISSING,
				 "install libtracefs-dev and libtraceevent-dev and configure again",
				 "built without libtracefs: those of known kernels are used");
	else
		capabilities_add(capabilities, "tracepoints", "flush reasons",
				 err == -EACCES ? CAPABILITY_NOT_PERMITTED : CAPABILITY_MISSING,
				 NULL,
				 "this kernel's cannot be read: those of known kernels are used");
	tracepoint_symbols_free(symbols);
}

static void add_tracepoints(const char *root, struct capabilities *capabilities)
{
	struct tracepoint_folder folder = { .mount = -1 };
	int err = tracepoint_open(root, &folder);
	size_t i;

	if (!err)
		capabilities_add(capabilities, "tracepoints", "tracefs", CAPABILITY_OK, NULL,
				 "%s%s",
				 folder.mount < 0 ? "mounted at "
						  : "not mounted; read through a mount of our own",
				 folder.mount < 0 ? folder.path + strlen(root) : "");
	else if (err == -EACCES)
		capabilities_add(capabilities, "tracepoints", "tracefs", CAPABILITY_NOT_PERMITTED,
				 "run as root", "it can be read by root only");
	else
		capabilities_add(capabilities, "tracepoints", "tracefs", CAPABILITY_MISSING,
				 "use a kernel with CONFIG_FTRACE and a tracer",
				 "this kernel has none");
	for (i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		if (*root)
			add_recorded_tracepoint(&folder, tracepoints[i], capabilities);
		else
			add_live_tracepoint(tracepoints[i], capabilities);
	}
	add_reasons(&folder, err, capabilities);
	tracepoint_close(&folder);
}

static const struct {
	const char *label;	 /* x86 */
	const char *description; /* arm64; NULL: no row of its own */
	const char *gives, *absent;
} rows[] = {
	{ "TLB", NULL, "TLB flushes asked for by other CPUs (remote_ipis)",
	  "where TLB flushes are instructions, as on arm64, there are none to count" },
	{ "CAL", "Function call interrupts", "function calls from other CPUs (call_ipis)",
	  "function calls from other CPUs cannot be counted" },
	{ "RES", "Rescheduling interrupts", "rescheduling", "rescheduling cannot be counted" },
	{ "LOC", NULL, "timer ticks", "timer ticks have no row of this name on this architecture" },
};

/* Flushes are provoked on this machine only, and only while the row holds nothing. */
static bool is_dead(const char *root)
{
	unsigned int *numbers = NULL, count = 0;
	hwloc_bitmap_t usable;
	bool dead;

	if (*root || cpus_usable(&usable))
		return false;
	numbers = cpus_numbers(usable, &count);
	hwloc_bitmap_free(usable);
	dead = numbers && count > 1 && tlb_row_is_dead(root, numbers, tlb_row_provoke);
	free(numbers);
	return dead;
}

static void add_rows(const char *root, const struct interrupts *table,
		     struct capabilities *capabilities)
{
	const struct interrupts_row *row;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		row = interrupts_find(table, rows[i].label);
		if (!row && rows[i].description)
			row = interrupts_find_described(table, rows[i].description);
		if (row && !strcmp(row->label, "TLB") && is_dead(root))
			capabilities_add(capabilities, "interrupts", rows[i].label,
					 CAPABILITY_MISSING,
					 "look at flushes instead of remote_ipis", TLB_ROW_DEAD);
		else if (row)
			capabilities_add(capabilities, "interrupts", rows[i].label, CAPABILITY_OK,
					 NULL, "row \"%s\", %u CPUs: %s", row->label, row->count,
					 rows[i].gives);
		else
			capabilities_add(capabilities, "interrupts", rows[i].label,
					 CAPABILITY_MISSING, NULL,
					 "/proc/interrupts has no such row: %s", rows[i].absent);
	}
}

static void add_interrupts(const char *root, struct capabilities *capabilities)
{
	struct interrupts *table;
	size_t length;
	char *text;
	int err;

	err = fs_read(root, "/proc/interrupts", &text, &length);
	if (!err) {
		err = interrupts_parse(text, length, &table);
		free(text);
	}
	if (err) {
		capabilities_add(capabilities, "interrupts", "/proc/interrupts",
				 err == -EACCES ? CAPABILITY_NOT_PERMITTED : CAPABILITY_MISSING,
				 NULL, "it cannot be read: %s", strerror(-err));
		return;
	}
	add_rows(root, table, capabilities);
	interrupts_free(table);
}

/* tlbi_setup() in arch/x86/kernel/cpu/common.c; 419 is X86_FEATURE_INVLPGB, 13 x 32 + 3. */
static bool forbids_broadcast(const char *root)
{
	char *text, *rest, *word;
	bool found = false;

	if (fs_read_value(root, "/proc/cmdline", &text))
		return false;
	for (rest = text; (word = strsep(&rest, " "));)
		found |= !strcmp(word, "tlbi=ipi") || !strcmp(word, "clearcpuid=419");
	free(text);
	return found;
}

void capabilities_broadcast(const char *root, bool invlpgb, struct capabilities *capabilities)
{
	static const char area[] = "interrupts", name[] = "IPIs for flushes";

	if (!invlpgb)
		capabilities_add(capabilities, area, name, CAPABILITY_OK, NULL,
				 "the CPU has no INVLPGB");
	else if (capabilities_kernel_version(root) < 6015)
		capabilities_add(capabilities, area, name, CAPABILITY_OK, NULL,
				 "the CPU has INVLPGB, which Linux uses from 6.15 on");
	else if (forbids_broadcast(root))
		capabilities_add(capabilities, area, name, CAPABILITY_OK, NULL,
				 "the CPU has INVLPGB, and the kernel's command line forbids it");
	else
		capabilities_add(
			capabilities, area, name, CAPABILITY_MISSING,
			"boot with tlbi=ipi, or with clearcpuid=419 where the kernel does "
			"not know that",
			"the CPU has INVLPGB: this kernel may flush all CPUs by it, and then "
			"remote_ipis and flushes stay near 0, whatever is predicted");
}

static void add_broadcast(const char *root, struct capabilities *capabilities)
{
	int invlpgb = cpuid_invlpgb();

	if (*root)
		capabilities_add(capabilities, "interrupts", "IPIs for flushes", CAPABILITY_MISSING,
				 NULL, RECORDED);
	else if (invlpgb >= 0)
		capabilities_broadcast(root, invlpgb, capabilities);
}

static const struct {
	const char *key, *gives, *advice;
} keys[] = {
	{ "nr_tlb_remote_flush", "TLB flushes sent to other CPUs", "CONFIG_DEBUG_TLBFLUSH (x86)" },
	{ "nr_tlb_remote_flush_received", "TLB flushes taken", "CONFIG_DEBUG_TLBFLUSH (x86)" },
	{ "nr_tlb_local_flush_all", "whole flushes of a CPU's own", "CONFIG_DEBUG_TLBFLUSH (x86)" },
	{ "nr_tlb_local_flush_one", "single entries of a CPU's own",
	  "CONFIG_DEBUG_TLBFLUSH (x86)" },
	{ "nr_tlbi_broadcast", "TLBI instructions to all CPUs",
	  "the series count-tlbi, as the lab builds it (arm64)" },
	{ "nr_tlbi_local", "TLBI instructions to the CPU itself",
	  "the series count-tlbi, as the lab builds it (arm64)" },
	{ "pswpout", "pages written to swap", "CONFIG_SWAP" },
	{ "pgmigrate_success", "pages migrated", "CONFIG_MIGRATION" },
	{ "pgsteal_proactive", "pages reclaimed by memory.reclaim", "Linux 6.15 or later" },
	{ "pgdemote_proactive", "pages demoted by memory.reclaim",
	  "Linux 6.15 or later, CONFIG_NUMA" },
};

static void add_vmstat(const char *root, struct capabilities *capabilities)
{
	char *text, *advice;
	uint64_t value;
	size_t i;
	int err;

	err = fs_read(root, "/proc/vmstat", &text, NULL);
	if (err) {
		capabilities_add(capabilities, "vmstat", "/proc/vmstat",
				 err == -EACCES ? CAPABILITY_NOT_PERMITTED : CAPABILITY_MISSING,
				 NULL, "it cannot be read: %s", strerror(-err));
		return;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!vmstat_find(text, keys[i].key, &value)) {
			capabilities_add(capabilities, "vmstat", keys[i].key, CAPABILITY_OK, NULL,
					 "%s", keys[i].gives);
			continue;
		}
		advice = format_string("use a kernel with %s", keys[i].advice);
		capabilities_add(capabilities, "vmstat", keys[i].key, CAPABILITY_MISSING, advice,
				 "this kernel does not count it: %s", keys[i].gives);
		free(advice);
	}
	free(text);
}

void capabilities_counters(const char *root, struct capabilities *capabilities)
{
	add_paranoid(root, capabilities);
	add_kinds(root, capabilities);
	add_event_names(capabilities);
	add_tracepoints(root, capabilities);
	add_interrupts(root, capabilities);
	add_broadcast(root, capabilities);
	add_vmstat(root, capabilities);
}
