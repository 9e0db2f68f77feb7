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

#define POLL_NS 100000 /* between looks whether a saver is gone, or the writer on time */

/*
 * A writer that was held up for T has T's writes to catch up on, beside those that come
 * due meanwhile: who takes longer than this many T makes less than 1.25 times its rate.
 * The second is for machines on which it is not alone.
 */
#define PATIENCE       4
#define LEAST_PATIENCE NS_PER_S

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

static void stop_at(struct cow_state *state, enum cow_stop stop)
{
	atomic_store(&state->writer->stop, stop);
	state->next_ns = UINT64_MAX;
}

static void begin_snapshot(struct cow_state *state)
{
	struct cow_writer *writer = state->writer;
	struct cow_snapshot *snapshot = &writer->snapshots[state->made];

	state->stage = COW_SAVING;
	atomic_store(&writer->current, state->made + 1);
	snapshot->before = atomic_load(&writer->written);
	state->began_ns = monotonic_ns();
	state->saver = fork();
	if (!state->saver)
		live_as_saver(state, state->made);
	snapshot->fork_ns = monotonic_ns() - state->began_ns;
	snapshot->after = atomic_load(&writer->written);
	if (state->saver < 0) {
		state->error = -errno;
		stop_at(state, COW_QUIT);
	}
}

/* Over when the saver is gone, and its memory with it. A forker of its own waits for that. */
static void end_snapshot(struct cow_state *state, uint64_t now_ns)
{
	struct cow_snapshot *snapshot = &state->writer->snapshots[state->made];
	pid_t gone = waitpid(state->saver, NULL, state->threaded ? 0 : WNOHANG);

	if (!gone) {
		state->next_ns = now_ns + POLL_NS;
		return;
	}
	snapshot->total_ns = monotonic_ns() - state->began_ns;
	atomic_store(&state->writer->current, 0);
	state->saver = 0;
	state->made++;
	cow_rest(state, snapshot->total_ns);
	if (gone < 0) {
		state->error = -errno;
		stop_at(state, COW_QUIT);
	}
}

void cow_rest(struct cow_state *state, uint64_t disturbed_ns)
{
	state->stage = COW_CATCHING_UP;
	state->rest_ns = state->looked_ns = state->next_ns = monotonic_ns();
	state->round_ns = 0;
	state->rest_written = atomic_load(&state->writer->written);
	state->disturbed_ns = disturbed_ns + state->pause_ns;
}

/* Since the last look, however long ago: a forker may be as late as the writer. */
static bool writer_is_on_time(struct cow_state *state, uint64_t now_ns)
{
	bool waited = atomic_load(&state->writer->waited_ns) >= state->looked_ns;

	state->looked_ns = now_ns;
	return waited || !state->writer->interval_ns;
}

/* Its first time round is part of what held it up: pages are still write-protected. */
static void wait_for_writer(struct cow_state *state, uint64_t now_ns)
{
	uint64_t rested_ns = now_ns - state->rest_ns;
	uint64_t writes = atomic_load(&state->writer->written) - state->rest_written;

	state->next_ns = now_ns + POLL_NS;
	if (writes < state->writer->data.pages)
		state->round_ns = rested_ns;
	if (rested_ns < PATIENCE * (state->disturbed_ns + state->round_ns) + LEAST_PATIENCE)
		return;
	state->late_per_s = writes * 1e9 / rested_ns;
	stop_at(state, COW_QUIT);
}

/*
 * In three steps, so that the writer learns of the beginning before there is anything to
 * hold it up, and of the end after it.
 */
static void begin_preparing(struct cow_state *state, uint64_t now_ns)
{
	state->stage = COW_PREPARING;
	state->began_ns = now_ns;
	state->next_ns = now_ns + POLL_NS;
	atomic_store(&state->writer->current, COW_CURRENT_ASIDE);
}

static void prepare(struct cow_state *state)
{
	state->stage = COW_PREPARED;
	if (cow_huge_make(state))
		state->prepared = state->made + 1;
	else
		stop_at(state, COW_QUIT);
}

static void end_preparing(struct cow_state *state, uint64_t now_ns)
{
	atomic_store(&state->writer->current, 0);
	cow_rest(state, now_ns - state->began_ns);
}

static void begin_pause(struct cow_state *state, uint64_t now_ns)
{
	state->stage = COW_PAUSING;
	state->next_ns = state->looked_ns = now_ns + state->pause_ns;
}

static void leave_alone(struct cow_state *state, uint64_t now_ns)
{
	bool ready = !state->huge || state->prepared > state->made;

	if (ready || state->made == state->wanted)
		begin_pause(state, now_ns);
	else
		begin_preparing(state, now_ns);
}

void cow_attend(void *context, uint64_t now_ns)
{
	struct cow_state *state = context;

	if (now_ns < state->next_ns)
		return;
	if (state->stage == COW_SAVING)
		end_snapshot(state, now_ns);
	else if (state->stage == COW_PREPARING)
		prepare(state);
	else if (state->stage == COW_PREPARED)
		end_preparing(state, now_ns);
	else if (!writer_is_on_time(state, now_ns))
		wait_for_writer(state, now_ns);
	else if (state->stage == COW_CATCHING_UP)
		leave_alone(state, now_ns);
	else if (state->made < state->wanted)
		begin_snapshot(state);
	else
		stop_at(state, COW_FINISH);
}
