// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts from CPU to CPU by the kernel's tracepoints, counted by perf on every
 * CPU, where the kernel has them: ipi_send_* and csd_queue_cpu on the sender's side
 * (6.4 and later), the vectors' entries on the receiver's (x86), ipi_raise and
 * ipi_entry (architectures with HAVE_EXTRA_IPI_TRACEPOINTS, arm64 among them).
 *
 * They tell of all IPIs, not of TLB flushes alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "counted.h"

static const struct source_metric metrics[] = {
	{ "ipi_send_cpu", "events", "less", "IPIs sent to one CPU" },
	{ "ipi_send_cpumask", "events", "less", "sendings of IPIs to several CPUs at once" },
	{ "csd_queue_cpu", "events", "less", "function calls queued for another CPU" },
	{ "call_function_entry", "events", "less", "function call interrupts taken (x86)" },
	{ "call_function_single_entry", "events", "less", "those sent to one CPU alone (x86)" },
	{ "reschedule_entry", "events", "same", "rescheduling interrupts taken (x86)" },
	{ "ipi_raise", "events", "less", "sendings of IPIs to one or more CPUs (arm64)" },
	{ "ipi_entry", "events", "less", "IPIs taken (arm64)" },
	{ NULL },
};

/* By row of metrics[]. */
static const char *const events[] = {
	"ipi:ipi_send_cpu",
	"ipi:ipi_send_cpumask",
	"csd:csd_queue_cpu",
	"irq_vectors:call_function_entry",
	"irq_vectors:call_function_single_entry",
	"irq_vectors:reschedule_entry",
	"ipi:ipi_raise",
	"ipi:ipi_entry",
};

static void ipi_close(void *state)
{
	counted_close(state);
	free(state);
}

static int ipi_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	int err = -ENOMEM, i;

	if (!counted)
		return err;
	err = counted_open(setup, "events", counted);
	for (i = 0; !err && metrics[i].name; i++)
		err = counted_add(counted, metrics[i].name, events[i], log);
	if (err) {
		ipi_close(counted);
		return err;
	}
	*state = counted;
	return 0;
}

static int ipi_start(void *state)
{
	return counted_start(state);
}

static int ipi_stop(void *state)
{
	return counted_stop(state);
}

static void ipi_read(void *state, struct sample_sink *sink)
{
	counted_read(state, sink);
}

const struct source ipi_source = {
	.name = "ipi",
	.summary = "interrupts from CPU to CPU (tracepoints ipi, csd, irq_vectors)",
	.metrics = metrics,
	.open = ipi_open,
	.start = ipi_start,
	.stop = ipi_stop,
	.read = ipi_read,
	.close = ipi_close,
};
