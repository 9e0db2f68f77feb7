// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts by CPU, from /proc/interrupts before and after the window: those that
 * asked for a TLB flush, and all function calls from other CPUs.
 *
 * Counts the whole machine. The kernel adds to the row TLB when a CPU flushes
 * because another one asked (flush_tlb_func(), arch/x86/mm/tlb.c); flushes of
 * kernel memory are in CAL only. CAL holds those of TLB too (since 4.9). Where a hypervisor
 * flushes in the kernel's place nothing is counted (lib/tlb_row.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/interrupts.h"
#include "../../lib/snapshot.h"
#include "../../lib/tlb_row.h"
#include "source.h"

#define INTERRUPTS_FILE "/proc/interrupts"
#define REMOTE_IPIS	0 /* its row of metrics[] */

static const struct source_metric metrics[] = {
	{ "remote_ipis", "interrupts", "less", "interrupts that asked a CPU to flush its TLB" },
	{ "call_ipis", "interrupts", "less",
	  "function call interrupts, those for TLB flushes among them" },
	{ NULL },
};

/* By row of metrics[]: where the counts are. */
static const struct interrupt_place {
	const char *label;	 /* x86 */
	const char *description; /* arm64; NULL: nowhere */
	const char *absent;	 /* the reason when neither is there */
} places[] = {
	{ "TLB", NULL,
	  "/proc/interrupts has no TLB row: TLB flushes are not interrupts on this architecture" },
	{ "CAL", "Function call interrupts", "/proc/interrupts has no row of function calls" },
};

#if defined(__x86_64__) || defined(__i386__)
#define TLB_ROW_HERE true
#else
#define TLB_ROW_HERE false
#endif

static bool is_foreign(const char *metric)
{
	return !TLB_ROW_HERE && !strcmp(metric, metrics[REMOTE_IPIS].name);
}

struct interrupts_state {
	struct snapshot snapshot;
	enum value_status status; /* VALUE_OK: there is a snapshot */
	const char *unreadable;	  /* else why not */
	bool overflow;		  /* it outgrew its buffers */
	bool tlb_dead;		  /* its row TLB counts nothing on this machine */
};

static int interrupts_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct interrupts_state *made = calloc(1, sizeof(*made));
	int err;

	(void)log;
	if (!made)
		return -ENOMEM;
	err = snapshot_open(setup->root, INTERRUPTS_FILE, &made->snapshot);
	if (err == -ENOMEM || err == -EMFILE || err == -ENFILE) {
		free(made);
		return err;
	}
	if (err == -EACCES || err == -EPERM) {
		made->status = VALUE_NOT_PERMITTED;
		made->unreadable = INTERRUPTS_FILE " cannot be read by this user: run as root";
	} else if (err) {
		made->status = VALUE_UNSUPPORTED;
		made->unreadable = "this machine has no " INTERRUPTS_FILE;
	}
	made->tlb_dead = setup->cpu_count > 1 &&
			 tlb_row_is_dead(setup->root, setup->cpus,
					 *setup->root ? NULL : tlb_row_provoke);
	*state = made;
	return 0;
}

static int take(struct interrupts_state *state, enum snapshot_moment moment)
{
	int err;

	if (state->status != VALUE_OK)
		return 0;
	err = snapshot_take(&state->snapshot, moment);
	if (err == -EOVERFLOW)
		state->overflow = true;
	return err == -EOVERFLOW ? 0 : err;
}

static int interrupts_start(void *state)
{
	struct interrupts_state *interrupts = state;

	interrupts->overflow = false;
	return take(interrupts, SNAPSHOT_BEFORE);
}

static int interrupts_stop(void *state)
{
	return take(state, SNAPSHOT_AFTER);
}

static void add_failure(struct sample_sink *sink, enum value_status status, const char *reason)
{
	struct value value = { .status = status, .reason = reason };
	int i;

	for (i = 0; metrics[i].name; i++)
		sink->add(sink, metrics[i].name, metrics[i].unit, &value, NULL, 0);
}

static const struct interrupts_row *find_row(const struct interrupts *table,
					     const struct interrupt_place *place)
{
	const struct interrupts_row *row = interrupts_find(table, place->label);

	if (!row && place->description)
		row = interrupts_find_described(table, place->description);
	return row && row->count == table->cpu_count ? row : NULL;
}

static void add_unsupported(struct sample_sink *sink, int metric, const char *reason)
{
	struct value value = { .status = VALUE_UNSUPPORTED, .reason = reason };

	sink->add(sink, metrics[metric].name, metrics[metric].unit, &value, NULL, 0);
}

static void add_difference(struct sample_sink *sink, int metric, const struct interrupts *before,
			   const struct interrupts *after, double *by_cpu, unsigned int limit)
{
	const struct interrupts_row *first = find_row(before, &places[metric]);
	const struct interrupts_row *last = find_row(after, &places[metric]);
	struct value value = { .status = VALUE_OK };
	unsigned int i;

	if (!first || !last) {
		add_unsupported(sink, metric, places[metric].absent);
		return;
	}
	for (i = 0; i < limit; i++)
		by_cpu[i] = NAN;
	for (i = 0; i < after->cpu_count; i++) {
		by_cpu[after->cpus[i]] = (double)interrupts_added(first->counts[i],
								  last->counts[i]);
		value.value += by_cpu[after->cpus[i]];
	}
	sink->add(sink, metrics[metric].name, metrics[metric].unit, &value, by_cpu, limit);
}

static void compare(const struct interrupts_state *state, struct sample_sink *sink,
		    const struct interrupts *before, const struct interrupts *after)
{
	unsigned int limit = 0, i;
	double *by_cpu;

	if (before->cpu_count != after->cpu_count ||
	    memcmp(before->cpus, after->cpus, after->cpu_count * sizeof(*after->cpus))) {
		add_failure(sink, VALUE_FAILED, "a CPU went on- or offline during the window");
		return;
	}
	for (i = 0; i < after->cpu_count; i++)
		if (after->cpus[i] >= limit)
			limit = after->cpus[i] + 1;
	by_cpu = calloc(limit, sizeof(*by_cpu));
	if (!by_cpu) {
		add_failure(sink, VALUE_FAILED, "out of memory");
		return;
	}
	for (i = 0; metrics[i].name; i++)
		if (i == REMOTE_IPIS && state->tlb_dead)
			add_unsupported(sink, (int)i, TLB_ROW_DEAD);
		else
			add_difference(sink, (int)i, before, after, by_cpu, limit);
	free(by_cpu);
}

static void interrupts_read(void *state, struct sample_sink *sink)
{
	struct interrupts_state *interrupts = state;
	const struct snapshot *snapshot = &interrupts->snapshot;
	struct interrupts *before = NULL, *after = NULL;

	if (interrupts->status != VALUE_OK) {
		add_failure(sink, interrupts->status, interrupts->unreadable);
		return;
	}
	if (interrupts->overflow) {
		add_failure(sink, VALUE_FAILED,
			    "/proc/interrupts more than doubled in size since it was opened");
		return;
	}
	if (interrupts_parse(snapshot->text[SNAPSHOT_BEFORE], snapshot->length[SNAPSHOT_BEFORE],
			     &before) ||
	    interrupts_parse(snapshot->text[SNAPSHOT_AFTER], snapshot->length[SNAPSHOT_AFTER],
			     &after))
		add_failure(sink, VALUE_FAILED, "the text of /proc/interrupts is not understood");
	else
		compare(interrupts, sink, before, after);
	interrupts_free(before);
	interrupts_free(after);
}

static void interrupts_close(void *state)
{
	struct interrupts_state *interrupts = state;

	if (interrupts->status == VALUE_OK)
		snapshot_close(&interrupts->snapshot);
	free(interrupts);
}

const struct source interrupts_source = {
	.name = "interrupts",
	.summary = "interrupts between CPUs by /proc/interrupts",
	.metrics = metrics,
	.by_default = true,
	.foreign = is_foreign,
	.open = interrupts_open,
	.start = interrupts_start,
	.stop = interrupts_stop,
	.read = interrupts_read,
	.close = interrupts_close,
};
