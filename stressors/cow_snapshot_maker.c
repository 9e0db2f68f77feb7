// SPDX-License-Identifier: GPL-2.0-only
/* The forks of cow-snapshot, and the child that saves. */
#include "cow_snapshot.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/ring.h"

#define POLL_NS 100000 /* between looks whether a saver is gone */

static int write_plainly(const struct cow_state *state, int file)
{
	const unsigned char *memory = state->writer->data.base;
	size_t at = 0;

	while (at < state->bytes) {
		size_t left = state->bytes - at;
		ssize_t done = pwrite(file, memory + at,
				      left < state->chunk_bytes ? left : state->chunk_bytes, at);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done == 0)
			return -ENOSPC;
		at += done > 0 ? done : 0;
	}
	return 0;
}

static _Noreturn void live_as_saver(const struct cow_state *state, unsigned int index)
{
	struct cow_snapshot *snapshot = &state->writer->snapshots[index];
	int file = state->files[index];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != state->self)
		_exit(1);
	snapshot->error = task_pin(state->saver_cpu);
	if (!snapshot->error)
		snapshot->error = state->ring
					  ? ring_write(file, state->writer->data.base, state->bytes,
						       state->chunk_bytes, state->depth)
					  : write_plainly(state, file);
	atomic_store(&snapshot->saved, true);
	_exit(0);
}

void cow_begin(struct cow_state *state)
{
	struct cow_writer *writer = state->writer;
	struct cow_snapshot *snapshot = &writer->snapshots[state->made];

	atomic_store(&writer->current, state->made + 1);
	snapshot->before = atomic_load(&writer->written);
	state->began_ns = monotonic_ns();
	state->saver = fork();
	if (!state->saver)
		live_as_saver(state, state->made);
	snapshot->fork_ns = monotonic_ns() - state->began_ns;
	snapshot->after = atomic_load(&writer->written);
	if (state->saver < 0)
		state->error = -errno;
}

bool cow_end(struct cow_state *state, int flags)
{
	struct cow_snapshot *snapshot = &state->writer->snapshots[state->made];
	pid_t gone = waitpid(state->saver, NULL, flags);

	if (!gone)
		return false;
	if (gone < 0)
		state->error = -errno;
	snapshot->total_ns = monotonic_ns() - state->began_ns;
	atomic_store(&state->writer->current, 0);
	state->saver = 0;
	state->made++;
	return true;
}

void cow_attend(void *context, uint64_t now_ns)
{
	struct cow_state *state = context;
	struct cow_writer *writer = state->writer;

	if (now_ns < state->next_ns)
		return;
	state->next_ns = now_ns + POLL_NS;
	if (state->saver > 0) {
		if (cow_end(state, WNOHANG))
			state->next_ns = now_ns + state->pause_ns;
	} else if (state->made == state->wanted) {
		atomic_store(&writer->stop, true);
	} else {
		cow_begin(state);
	}
	if (state->error)
		atomic_store(&writer->stop, true);
}
