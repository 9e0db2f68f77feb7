// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory events from /proc/vmstat before and after the window, and TLB flushes.
 * Counts the whole machine. Events (pswpout, pgmigrate_*, nr_tlb_*, pgfault) are
 * exact; what a kernel keeps by node (pgdemote_*, and pgsteal_* and pgscan_* in
 * recent ones) is behind by up to 125 a CPU until its next folding, within a second.
 *
 * nr_tlb_* are kept by x86 kernels with CONFIG_DEBUG_TLBFLUSH. Without them
 * "flushes" is the tracepoint tlb:tlb_flush with the reason TLB_REMOTE_SEND_IPI
 * (4): native_flush_tlb_multi() in arch/x86/mm/tlb.c adds to nr_tlb_remote_flush
 * and passes the tracepoint, once a flush. Only nr_tlb_remote_flush has flushes of
 * kernel memory and of everything as well.
 *
 * nr_tlbi_* are kept by arm64 kernels with the series patches/arm64/count-tlbi, and
 * only while vm.count_tlbi is 1: each instruction that C code of the kernel issues.
 * The few in assembly (entry, suspend, hypervisor) are not among them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../lib/snapshot.h"
#include "../../lib/vmstat.h"
#include "counted.h"

#define VMSTAT_FILE    "/proc/vmstat"
#define FLUSHES_METRIC "flushes"
#define FLUSHES_EVENT  "tlb:tlb_flush/reason==4/"

static const struct source_metric metrics[] = {
	{ FLUSHES_METRIC, "flushes", "less", "TLB flushes that were sent to other CPUs" },
	{ "flushes_received", "flushes", "less", "TLB flushes done because another CPU asked" },
	{ "flushes_local_all", "flushes", "less", "flushes of a CPU's own whole TLB" },
	{ "flushes_local_one", "flushes", "less", "single entries flushed from a CPU's own TLB" },
	{ "pswpout", "pages", "same", "pages written to swap" },
	{ "pswpin", "pages", "same", "pages read from swap" },
	{ "pgsteal_direct", "pages", "same", "pages reclaimed by tasks that needed memory" },
	{ "pgsteal_kswapd", "pages", "same", "pages reclaimed by kswapd" },
	{ "pgsteal_proactive", "pages", "same",
	  "pages reclaimed by memory.reclaim (6.15 and later)" },
	{ "pgscan_anon", "pages", "same", "anonymous pages looked at by reclaim" },
	{ "pgsteal_anon", "pages", "same", "anonymous pages reclaimed" },
	{ "pgmigrate_success", "pages", "same", "pages migrated" },
	{ "pgmigrate_fail", "pages", "same", "pages that could not be migrated" },
	{ "pgdemote_direct", "pages", "same", "pages demoted by tasks that needed memory" },
	{ "pgdemote_kswapd", "pages", "same", "pages demoted by kswapd" },
	{ "pgdemote_proactive", "pages", "same",
	  "pages demoted by memory.reclaim (6.15 and later)" },
	{ "pgfault", "faults", "same", "page faults" },
	{ "pgmajfault", "faults", "same", "page faults that had to wait for a disk" },
	{ "tlbi_broadcast", "instructions", "less",
	  "TLBI instructions that invalidate on all CPUs (arm64, counting kernel)" },
	{ "tlbi_local", "instructions", "same",
	  "TLBI instructions that invalidate on the issuing CPU only (arm64, counting kernel)" },
	{ "tlbi_dsb_broadcast", "instructions", "less",
	  "DSB ISH that wait until all CPUs have invalidated (arm64, counting kernel)" },
	{ "tlbi_dsb_local", "instructions", "same",
	  "DSB NSH that wait until the issuing CPU has invalidated (arm64, counting kernel)" },
	{ NULL },
};

#if defined(__aarch64__)
#define TLBI_HERE true
#else
#define TLBI_HERE false
#endif

/* Counters that only some kernels have. */
struct counter_group {
	const char *switch_file; /* "0" while nothing is counted; NULL: always on */
	bool here;	    /* kernels of this architecture can have them: say when one does not */
	const char *absent; /* what to do without them */
	const char *off;    /* and when they are switched off */
};

static const struct counter_group plain_group = {
	.here = true,
	.absent = "this kernel's " VMSTAT_FILE " has no such key",
};

static const struct counter_group flushes_group = {
	.here = true,
	.absent = "this kernel does not count it (x86 with CONFIG_DEBUG_TLBFLUSH does)",
};

static const struct counter_group tlbi_group = {
	.switch_file = "/proc/sys/vm/count_tlbi",
	.here = TLBI_HERE,
	.absent = "this kernel does not count TLBI instructions: apply the series "
		  "patches/arm64/count-tlbi to it (the lab does)",
	.off = "the kernel's counting of TLBI instructions is off: sysctl vm.count_tlbi=1, or "
	       "boot with sysctl.vm.count_tlbi=1",
};

/* Metrics that are no plain keys; the key of the others is the metric's name. */
static const struct key {
	const char *metric, *name;
	const struct counter_group *group;
} keys[] = {
	{ FLUSHES_METRIC, "nr_tlb_remote_flush", &flushes_group },
	{ "flushes_received", "nr_tlb_remote_flush_received", &flushes_group },
	{ "flushes_local_all", "nr_tlb_local_flush_all", &flushes_group },
	{ "flushes_local_one", "nr_tlb_local_flush_one", &flushes_group },
	{ "tlbi_broadcast", "nr_tlbi_broadcast", &tlbi_group },
	{ "tlbi_local", "nr_tlbi_local", &tlbi_group },
	{ "tlbi_dsb_broadcast", "nr_tlbi_dsb_broadcast", &tlbi_group },
	{ "tlbi_dsb_local", "nr_tlbi_dsb_local", &tlbi_group },
};

struct vmstat_state {
	char *root;
	struct snapshot snapshot;
	bool readable;
	bool overflow;
	bool traced; /* flushes are counted by the tracepoint */
	struct counted flushes;
	char *untraced; /* why they are not, when vmstat has none either */
	bool tlbi_on;	/* they were counted when the source was opened */
};

static struct key key_of(const char *metric)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].metric, metric))
			return keys[i];
	return (struct key){ metric, metric, &plain_group };
}

static bool is_foreign(const char *metric)
{
	return !key_of(metric).group->here ||
	       (!strcmp(metric, FLUSHES_METRIC) && !tlb_flush_traced);
}

static bool is_switched_on(const char *root, const struct counter_group *group)
{
	unsigned long long on;

	if (!group->switch_file)
		return true;
	return !fs_read_u64(root, group->switch_file, &on) && on;
}

static bool has_flushes(const struct vmstat_state *state)
{
	uint64_t value;

	return state->readable && !vmstat_find(state->snapshot.text[SNAPSHOT_BEFORE],
					       key_of(FLUSHES_METRIC).name, &value);
}

/* Why flushes cannot be had at all, for a kernel without the counter. */
static int explain_untraced(struct vmstat_state *state, const char *why)
{
	state->untraced =
		format_string("this kernel does not count flushes (CONFIG_DEBUG_TLBFLUSH), and "
			      "the tracepoint tlb:tlb_flush cannot be counted: %s",
			      why);
	return state->untraced ? 0 : -ENOMEM;
}

static int open_flushes(struct vmstat_state *state, const struct source_setup *setup,
			struct log *log)
{
	const struct perf_counter *counter;
	int err;

	if (has_flushes(state))
		return 0;
	if (!tlb_flush_traced)
		return explain_untraced(state, TLB_FLUSH_NOT_TRACED);
	err = counted_open(setup, "flushes", &state->flushes);
	if (!err)
		err = counted_add(&state->flushes, FLUSHES_METRIC, FLUSHES_EVENT, log);
	if (err)
		return err;
	counter = &state->flushes.list[0].counter;
	state->traced = true;
	return counter->status == VALUE_OK ? 0 : explain_untraced(state, counter->reason);
}

static void vmstat_close(void *state)
{
	struct vmstat_state *vmstat = state;

	counted_close(&vmstat->flushes);
	if (vmstat->readable)
		snapshot_close(&vmstat->snapshot);
	free(vmstat->untraced);
	free(vmstat->root);
	free(vmstat);
}

static int vmstat_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct vmstat_state *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	made->root = strdup(setup->root);
	if (!made->root) {
		free(made);
		return -ENOMEM;
	}
	made->tlbi_on = is_switched_on(made->root, &tlbi_group);
	err = snapshot_open(made->root, VMSTAT_FILE, &made->snapshot);
	made->readable = !err;
	if (err != -ENOMEM && err != -EMFILE && err != -ENFILE)
		err = open_flushes(made, setup, log);
	if (err) {
		vmstat_close(made);
		return err;
	}
	*state = made;
	return 0;
}

static int take(struct vmstat_state *state, enum snapshot_moment moment)
{
	int err;

	if (!state->readable)
		return 0;
	err = snapshot_take(&state->snapshot, moment);
	state->overflow = state->overflow || err == -EOVERFLOW;
	return err == -EOVERFLOW ? 0 : err;
}

static int vmstat_start(void *state)
{
	struct vmstat_state *vmstat = state;
	int err;

	vmstat->overflow = false;
	err = counted_start(&vmstat->flushes);
	return err ? err : take(vmstat, SNAPSHOT_BEFORE);
}

static int vmstat_stop(void *state)
{
	struct vmstat_state *vmstat = state;
	int err = take(vmstat, SNAPSHOT_AFTER);
	int stopped = counted_stop(&vmstat->flushes);

	return err ? err : stopped;
}

/* False: not a row for this machine. */
static bool read_key(const struct vmstat_state *state, struct key key, struct value *value)
{
	uint64_t before, after;

	*value = (struct value){ .status = VALUE_UNSUPPORTED };
	if (!state->readable) {
		value->reason = "this machine has no " VMSTAT_FILE;
		return key.group->here;
	}
	if (state->overflow) {
		value->status = VALUE_FAILED;
		value->reason = VMSTAT_FILE " more than doubled in size since it was opened";
		return key.group->here;
	}
	if (vmstat_find(state->snapshot.text[SNAPSHOT_BEFORE], key.name, &before) ||
	    vmstat_find(state->snapshot.text[SNAPSHOT_AFTER], key.name, &after)) {
		value->reason = key.group->absent;
		return key.group->here;
	}
	/* asked before and after: who switches it off and on again in the window is not noticed */
	if (key.group->switch_file && !(state->tlbi_on && is_switched_on(state->root, key.group))) {
		value->reason = key.group->off;
		return true;
	}
	value->status = VALUE_OK;
	value->value = (double)(after - before);
	return true;
}

static void read_flushes(struct vmstat_state *state, struct sample_sink *sink)
{
	struct value value = { .status = VALUE_UNSUPPORTED };

	if (state->untraced) {
		if (state->traced)
			value.status = state->flushes.list[0].counter.status;
		value.reason = state->untraced;
	} else if (state->traced) {
		counted_read(&state->flushes, sink);
		return;
	} else {
		read_key(state, key_of(FLUSHES_METRIC), &value);
	}
	sink->add(sink, FLUSHES_METRIC, "flushes", &value, NULL, 0);
}

static void vmstat_read(void *state, struct sample_sink *sink)
{
	struct value value;
	int i;

	read_flushes(state, sink);
	for (i = 1; metrics[i].name; i++) {
		if (read_key(state, key_of(metrics[i].name), &value))
			sink->add(sink, metrics[i].name, metrics[i].unit, &value, NULL, 0);
	}
}

const struct source vmstat_source = {
	.name = "vmstat",
	.summary = "TLB flushes and memory events by /proc/vmstat",
	.metrics = metrics,
	.by_default = true,
	.foreign = is_foreign,
	.open = vmstat_open,
	.start = vmstat_start,
	.stop = vmstat_stop,
	.read = vmstat_read,
	.close = vmstat_close,
};
