// SPDX-License-Identifier: GPL-2.0-only
/*
 * TLB flushes by reason: the tracepoint tlb:tlb_flush counted by perf on every CPU,
 * once for each reason. The numbers of the reasons are the running kernel's own,
 * read from the tracepoint's format; where that cannot be read, those of
 * enum tlb_flush_reason (include/linux/mm_types.h).
 *
 * Does not see flushes of kernel memory nor of everything (flush_tlb_all()):
 * these do not pass the tracepoint.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../lib/tracepoint.h"
#include "counted.h"

#if defined(__x86_64__) || defined(__i386__)
const bool tlb_flush_traced = true;
#else
const bool tlb_flush_traced = false;
#endif

static const struct source_metric metrics[] = {
	{ "tlb_flush_task_switch", "flushes", "less", "a context switch loaded another mm" },
	{ "tlb_flush_remote", "flushes", "less", "a CPU flushed because another one asked" },
	{ "tlb_flush_local", "flushes", "less", "a CPU flushed for itself, as part of a batch" },
	{ "tlb_flush_local_mm", "flushes", "less", "a CPU flushed for itself, one mm" },
	{ "tlb_flush_ipi_sent", "flushes", "less", "a flush that interrupts other CPUs was sent" },
	{ "tlb_flush_wrong_cpu", "flushes", "less",
	  "a CPU was asked that runs another mm (6.14 and later)" },
	{ NULL },
};

/* By row of metrics[]: the reason's name in the format file, its number in known kernels. */
static const struct tracepoint_symbol reasons[] = {
	{ 0, "flush on task switch" },
	{ 1, "remote shootdown" },
	{ 2, "local shootdown" },
	{ 3, "local MM shootdown" },
	{ 4, "remote IPI send" },
	{ 5, "remote wrong CPU" },
	{ 0, NULL },
};

static void tlb_flush_close(void *state)
{
	counted_close(state);
	free(state);
}

static int add_reason(struct counted *counted, const char *metric, long long value, struct log *log)
{
	char *event = format_string("tlb:tlb_flush/reason==%lld/", value);
	int err = event ? counted_add(counted, metric, event, log) : -ENOMEM;

	free(event);
	return err;
}

static const struct tracepoint_symbol *find_named(const struct tracepoint_symbol *symbols,
						  const char *name)
{
	for (; symbols->name; symbols++)
		if (!strcmp(symbols->name, name))
			return symbols;
	return NULL;
}

/* A reason that is newer than this program, named after what the kernel calls it. */
static int add_new_reason(struct counted *counted, const struct tracepoint_symbol *symbol,
			  struct log *log)
{
	char *metric = format_string("tlb_flush_%s", symbol->name), *at;
	int err;

	if (!metric)
		return -ENOMEM;
	for (at = metric; *at; at++)
		*at = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '_';
	err = add_reason(counted, metric, symbol->value, log);
	free(metric);
	return err;
}

/* The kernel's own reasons; NULL when they cannot be read. */
static struct tracepoint_symbol *read_reasons(const char *root)
{
	struct tracepoint_symbol *symbols = NULL;
	struct tracepoint_folder folder;

	if (tracepoint_open(root, &folder))
		return NULL;
	if (tracepoint_symbols(&folder, "tlb", "tlb_flush", "reason", &symbols))
		symbols = NULL;
	tracepoint_close(&folder);
	return symbols;
}

static int add_all(struct counted *counted, const struct tracepoint_symbol *own, struct log *log)
{
	const struct tracepoint_symbol *symbols = own ? own : reasons, *symbol;
	int err = 0, i;

	for (i = 0; !err && metrics[i].name; i++) {
		symbol = find_named(symbols, reasons[i].name);
		if (!tlb_flush_traced)
			err = counted_add_missing(counted, metrics[i].name, TLB_FLUSH_NOT_TRACED);
		else if (symbol)
			err = add_reason(counted, metrics[i].name, symbol->value, log);
		else
			err = counted_add_missing(counted, metrics[i].name,
						  "this kernel's tlb:tlb_flush has no such reason");
	}
	for (symbol = symbols; !err && tlb_flush_traced && symbol->name; symbol++)
		if (!find_named(reasons, symbol->name))
			err = add_new_reason(counted, symbol, log);
	return err;
}

static int tlb_flush_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	struct tracepoint_symbol *own;
	int err = -ENOMEM;

	if (!counted)
		return err;
	err = counted_open(setup, "flushes", counted);
	if (!err) {
		own = read_reasons(setup->root);
		err = add_all(counted, own, log);
		tracepoint_symbols_free(own);
	}
	if (err) {
		tlb_flush_close(counted);
		return err;
	}
	*state = counted;
	return 0;
}

static int tlb_flush_start(void *state)
{
	return counted_start(state);
}

static int tlb_flush_stop(void *state)
{
	return counted_stop(state);
}

static void tlb_flush_read(void *state, struct sample_sink *sink)
{
	counted_read(state, sink);
}

const struct source tlb_flush_source = {
	.name = "tlb_flush",
	.summary = "TLB flushes by reason (tracepoint tlb:tlb_flush)",
	.metrics = metrics,
	.open = tlb_flush_open,
	.start = tlb_flush_start,
	.stop = tlb_flush_stop,
	.read = tlb_flush_read,
	.close = tlb_flush_close,
};
