// SPDX-License-Identifier: GPL-2.0-only
/* Events that the user asks for by name, one metric each; lib/perf.h has the syntax. */
#include <errno.h>
#include <stdlib.h>

#include "counted.h"

static void perf_close(void *state)
{
	counted_close(state);
	free(state);
}

static int perf_open(const struct source_setup *setup, struct log *log, void **state)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	const char *const *event;
	int err = -ENOMEM;

	if (!counted)
		return err;
	err = counted_open(setup, "events", counted);
	for (event = setup->events; !err && event && *event; event++)
		err = counted_add(counted, *event, *event, log);
	if (err) {
		perf_close(counted);
		return err;
	}
	*state = counted;
	return 0;
}

static int perf_start(void *state)
{
	return counted_start(state);
}

static int perf_stop(void *state)
{
	return counted_stop(state);
}

static void perf_read(void *state, struct sample_sink *sink)
{
	counted_read(state, sink);
}

const struct source perf_source = {
	.name = "perf",
	.summary = "perf events by name, on every CPU of the run or by task",
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.read = perf_read,
	.close = perf_close,
};
