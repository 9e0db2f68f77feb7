// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stale-TLB check. Readers, each in a mm and on a CPU of its own, read shared
 * pages. The target has these pages reclaimed (or compaction move them), faults
 * them back in and writes a new version to each. Once a version is published, a
 * reader that still finds an older one has read through a TLB entry that the
 * kernel should have flushed.
 *
 * How it catches: the old page frame keeps its old contents until somebody else
 * writes to it. The target takes freed frames for other pages at once, so a stale
 * entry reads an old version or what is no version at all. What it cannot catch:
 * an entry that something else dropped before the reader came by; so a pass is no
 * proof.
 *
 * While pages are being moved each reader goes on with one page of its own only:
 * reclaim does not take a page that is used all the time, and every flush makes
 * the readers mark as used all that they read.
 *
 * With more than 8 mms to a page a batch that remembers 8 of them is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/nodes.h"
#include "../lib/vmstat.h"
#include "region.h"

#define READS_A_PAUSE 8
#define ATTEMPTS      8
#define LIFE_CHECK    4096 /* turns of a wait between looks whether the reader lives */
#define LEAST_SHARE   16   /* of pages x rounds that must have been moved */

static const char *const causes[] = { "reclaim", "compact", NULL };

static const struct option_row options[] = {
	{ .name = "pages",
	  .type = OPTION_UINT,
	  .fallback = "128",
	  .min = 1,
	  .max = 1 << 24,
	  .metavar = "P",
	  .help = "shared pages that are read, reclaimed and rewritten" },
	{ .name = "mms",
	  .type = OPTION_UINT,
	  .fallback = "4",
	  .min = 1,
	  .max = 1 << 20,
	  .metavar = "M",
	  .help = "readers, each a process pinned to its own CPU" },
	{ .name = "rounds",
	  .type = OPTION_UINT,
	  .fallback = "50",
	  .min = 1,
	  .max = 1 << 24,
	  .metavar = "R",
	  .help = "times the pages are unmapped and rewritten" },
	{ .name = "cause",
	  .type = OPTION_CHOICE,
	  .fallback = "reclaim",
	  .choices = causes,
	  .metavar = "CAUSE",
	  .help = "what unmaps the pages: reclaim to zram, or memory compaction" },
	NEIGHBOURS_OPTION,
	ZRAM_OPTIONS,
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_ROOT },
	{ .kind = NEED_CPUS, .number = 2 },
	{ .kind = NEED_ZRAM, .option = "cause", .value = "reclaim" },
	{ .kind = NEED_CGROUP_RECLAIM, .option = "cause", .value = "reclaim" },
	{ .kind = NEED_FILE,
	  .path = "/proc/sys/vm/compact_memory",
	  .words = "compaction",
	  .option = "cause",
	  .value = "compact" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

/* Where the kernel demotes, memory.reclaim swaps nothing. */
static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_KNOB,
	  .path = NODES_DEMOTION_PATH,
	  .text = "0",
	  .option = "cause",
	  .value = "reclaim" },
	{ .kind = ENVIRONMENT_ZRAM_SWAP, .option = "cause", .value = "reclaim" },
	{ .kind = ENVIRONMENT_CGROUP, .option = "cause", .value = "reclaim" },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "stale_reads", "reads", "less",
	  "reads that found what a flush should have made unreachable" },
	{ "reads", "reads", "more", "reads that were checked, of all readers" },
	{ "pages_moved", "pages", "more", "pages written to swap, or migrated, in the window" },
	{ NULL },
};

/* One reader's part of the control area, on a page of its own. */
struct reader {
	_Atomic uint64_t reads, stale;
	_Atomic uint64_t turns;		/* of its loop */
	uint64_t page, expected, found; /* of the first stale read */
	_Alignas(64) pid_t pid;
};

/* Shared with the readers. */
struct control {
	_Atomic bool stop;
	_Atomic bool holding;			   /* read only the page of your own */
	_Alignas(64) _Atomic uint32_t published[]; /* by page */
};

struct state {
	unsigned char *base;
	unsigned char *spare; /* as many private pages, to take freed frames */
	size_t pages, page_bytes;
	unsigned int reader_count;
	struct control *control;
	size_t control_bytes;
	struct reader *readers;
	int trigger;	/* memory.reclaim or compact_memory */
	int statistics; /* memory.stat; -1 without a cgroup */
	char request[64];
	uint64_t moved_before;
};

/* What a page holds: its number, and a version that only grows. */
static uint64_t word_of(size_t page, uint32_t version)
{
	return (uint64_t)(page + 1) << 32 | version;
}

static _Atomic uint64_t *word_at(const struct state *state, size_t page)
{
	return (_Atomic uint64_t *)(state->base + page * state->page_bytes);
}

static bool by_reclaim(const struct task *task)
{
	return !strcmp(task_string(task, "cause"), "reclaim");
}

/* Each reader has a CPU. */
static unsigned int own_cpus(const struct point *point)
{
	return option_uint(point->parameters, "mms");
}

static uint64_t memory_bytes(const struct point *point)
{
	return (option_uint(point->parameters, "pages") * 3 + 8192) * point->page_bytes;
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	(void)point;
	list[0] = (struct prediction){ "stale_reads", 0 };
	return 1;
}

/* ---- readers ---- */

static void note_stale(struct reader *reader, size_t page, uint64_t expected, uint64_t found)
{
	if (atomic_fetch_add(&reader->stale, 1))
		return;
	reader->page = page;
	reader->expected = expected;
	reader->found = found;
}

/* The version is read first: what is in the page afterwards can only be newer. */
static void read_page(const struct state *state, struct reader *reader, size_t page)
{
	uint32_t published = atomic_load_explicit(&state->control->published[page],
						  memory_order_acquire);
	uint64_t found = atomic_load_explicit(word_at(state, page), memory_order_relaxed);
	uint64_t expected = word_of(page, published);

	if (found != expected && found != expected + 1)
		note_stale(reader, page, expected, found);
}

static void read_all(const struct state *state, struct reader *reader)
{
	for (size_t page = 0; page < state->pages; page++) {
		read_page(state, reader, page);
		if (page % READS_A_PAUSE == READS_A_PAUSE - 1)
			spin_pause();
	}
	atomic_fetch_add(&reader->reads, state->pages);
}

/* Only the shared pages are at stake: a broken kernel should be caught, not crash the catcher. */
static int keep_own_memory(const struct state *state)
{
	size_t bytes = state->pages * state->page_bytes;

	return mlockall(MCL_CURRENT) || munlock(state->base, bytes) ||
			       munlock(state->spare, bytes) ||
			       madvise(state->spare, bytes, MADV_DONTNEED)
		       ? -errno
		       : 0;
}

static void live_as_reader(struct task *task, struct state *state, unsigned int index, pid_t parent)
{
	const struct point *point = task->point;
	struct reader *reader = &state->readers[index];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (keep_own_memory(state))
		_exit(1);
	/* leave this mm's bit on every CPU, so that there are stale ones to filter */
	for (unsigned int i = 0; i < point->cpu_count; i++)
		if (task_pin(point->cpus[i]))
			_exit(1);
	if (task_pin(point->cpus[index + 1]))
		_exit(1);
	while (!atomic_load_explicit(&state->control->stop, memory_order_relaxed)) {
		if (atomic_load(&state->control->holding))
			read_page(state, reader, index % state->pages);
		else
			read_all(state, reader);
		atomic_fetch_add(&reader->turns, 1);
		spin_pause();
	}
	_exit(0);
}

static int start_readers(struct task *task, struct state *state)
{
	pid_t self = getpid();

	for (unsigned int i = 0; i < state->reader_count; i++) {
		pid_t pid = fork();

		if (!pid)
			live_as_reader(task, state, i, self);
		if (pid < 0)
			return task_say(task, OUTCOME_BROKEN, "cannot start reader %u: %s", i,
					strerror(errno));
		state->readers[i].pid = pid;
	}
	for (unsigned int i = 0; i < state->reader_count; i++)
		while (!atomic_load(&state->readers[i].reads)) {
			if (waitpid(state->readers[i].pid, NULL, WNOHANG) != 0)
				return task_say(task, OUTCOME_BROKEN, "reader %u ended at once", i);
			usleep(1000);
		}
	return 0;
}

/* ---- target ---- */

static int map_areas(struct task *task, struct state *state)
{
	size_t bytes = state->pages * state->page_bytes;
	size_t readers_at = sizeof(struct control) + state->pages * sizeof(uint32_t);

	readers_at = (readers_at + 63) & ~63UL;
	state->control_bytes = readers_at + state->reader_count * sizeof(struct reader);
	state->control = mmap(NULL, state->control_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (state->control == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot map the control area: %s",
				strerror(errno));
	state->readers = (struct reader *)((char *)state->control + readers_at);
	state->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	state->spare = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (state->base == MAP_FAILED || state->spare == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot map %zu pages: %s", state->pages,
				strerror(errno));
	if (keep_own_memory(state))
		return task_say(task, OUTCOME_BROKEN, "cannot lock memory: %s", strerror(errno));
	for (size_t page = 0; page < state->pages; page++)
		atomic_store(word_at(state, page), word_of(page, 0));
	return 0;
}

static int open_trigger(struct task *task, struct state *state)
{
	state->statistics = -1;
	if (by_reclaim(task)) {
		state->trigger = openat(task->cgroup_folder, "memory.reclaim",
					O_WRONLY | O_CLOEXEC);
		state->statistics = openat(task->cgroup_folder, "memory.stat",
					   O_RDONLY | O_CLOEXEC);
	} else {
		state->trigger = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);
	}
	if (state->trigger < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot open what moves the pages: %s",
				strerror(errno));
	if (by_reclaim(task))
		snprintf(state->request, sizeof(state->request), "%zu",
			 state->pages * state->page_bytes);
	else
		strcpy(state->request, "1");
	return 0;
}

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	state->pages = task_uint(task, "pages");
	state->page_bytes = task->point->page_bytes;
	state->reader_count = task_uint(task, "mms");
	if (state->reader_count > task->point->cpu_count - 1)
		return task_say(task, OUTCOME_SKIP, "%u readers need %u CPUs, there are %u to use",
				state->reader_count, state->reader_count + 1,
				task->point->cpu_count);
	rc = task_pin(task->point->cpus[0]);
	if (!rc)
		rc = map_areas(task, state);
	if (!rc)
		rc = open_trigger(task, state);
	return rc ? rc : start_readers(task, state);
}

static int pages_moved(const struct task *task, uint64_t *count)
{
	char *text;
	int rc = fs_read("", "/proc/vmstat", &text, NULL);

	if (rc)
		return rc;
	rc = vmstat_find(text, by_reclaim(task) ? "pswpout" : "pgmigrate_success", count);
	free(text);
	return rc;
}

static int arm(struct task *task)
{
	struct state *state = task->state;
	int rc = pages_moved(task, &state->moved_before);

	return rc ? task_say(task, OUTCOME_BROKEN, "cannot read /proc/vmstat: %s", strerror(-rc))
		  : 0;
}

/* A new version of every page, each published only after it is in place. */
static void rewrite(struct state *state, uint32_t version)
{
	for (size_t page = 0; page < state->pages; page++) {
		atomic_store_explicit(word_at(state, page), word_of(page, version),
				      memory_order_relaxed);
		atomic_store_explicit(&state->control->published[page], version,
				      memory_order_release);
	}
}

static int say_dead_reader(struct task *task, unsigned int reader, int status)
{
	char who[64];

	snprintf(who, sizeof(who), "reader %u on CPU %u", reader, task->point->cpus[reader + 1]);
	return task_say_end(task, who, status);
}

/* Until every reader has been through its loop twice: what it does now began after the call. */
static int wait_for_readers(struct task *task, struct state *state)
{
	int status = 0;

	for (unsigned int i = 0; i < state->reader_count; i++) {
		uint64_t before = atomic_load(&state->readers[i].turns);

		for (unsigned int spins = 1; atomic_load(&state->readers[i].turns) < before + 2;
		     spins++) {
			spin_pause();
			if (spins % LIFE_CHECK == 0 &&
			    waitpid(state->readers[i].pid, &status, WNOHANG) != 0)
				return say_dead_reader(task, i, status);
		}
	}
	return 0;
}

static int hold_readers(struct task *task, struct state *state, bool hold)
{
	atomic_store(&state->control->holding, hold);
	return wait_for_readers(task, state);
}

/* Other contents for the frames that were just freed. */
static void take_freed_frames(struct state *state)
{
	for (size_t page = 0; page < state->pages; page++)
		memset(state->spare + page * state->page_bytes, 0xa5, sizeof(uint64_t));
}

/*
 * Pages that were just faulted in are still in the CPUs' batches of new pages and
 * marked as used: memory.reclaim gives up (EAGAIN) before it has gone over them
 * often enough, so ask again. Whether it ages active pages at all it decides by
 * the cgroup's statistics, which may be two seconds old (inactive_is_low() in
 * mm/vmscan.c): reading memory.stat brings them up to date. What was really moved
 * is counted in verify().
 */
static int move_pages_away(const struct state *state)
{
	size_t length = strlen(state->request);
	char statistics[256];

	for (unsigned int i = 0; i < ATTEMPTS; i++) {
		if (state->statistics >= 0 &&
		    pread(state->statistics, statistics, sizeof(statistics), 0) < 0)
			return -errno;
		if (write(state->trigger, state->request, length) >= 0)
			return 0;
		if (errno != EAGAIN)
			return -errno;
	}
	return 0;
}

static int run(struct task *task)
{
	struct state *state = task->state;
	uint32_t rounds = task_uint(task, "rounds");
	int rc;

	for (uint32_t round = 1; round <= rounds; round++) {
		madvise(state->spare, state->pages * state->page_bytes, MADV_DONTNEED);
		rc = hold_readers(task, state, true);
		if (rc)
			return rc;
		rc = move_pages_away(state);
		if (rc)
			return task_say(task, OUTCOME_BROKEN, "cannot move the pages: %s",
					strerror(-rc));
		take_freed_frames(state);
		rewrite(state, round);
		rc = hold_readers(task, state, false);
		if (rc)
			return rc;
	}
	return 0;
}

static const struct reader *first_stale(const struct state *state, uint64_t *stale, uint64_t *reads)
{
	const struct reader *first = NULL;

	*stale = *reads = 0;
	for (unsigned int i = 0; i < state->reader_count; i++) {
		const struct reader *reader = &state->readers[i];

		*reads += atomic_load(&reader->reads);
		*stale += atomic_load(&reader->stale);
		if (!first && atomic_load(&reader->stale))
			first = reader;
	}
	return first;
}

static void end_readers(struct state *state)
{
	atomic_store(&state->control->stop, true);
	for (unsigned int i = 0; i < state->reader_count; i++)
		if (state->readers[i].pid > 0)
			waitpid(state->readers[i].pid, NULL, 0);
}

static int verify(struct task *task)
{
	struct state *state = task->state;
	const struct reader *bad;
	uint64_t moved = 0, stale, reads,
		 least = task_uint(task, "rounds") * state->pages / LEAST_SHARE;
	int rc = pages_moved(task, &moved);

	end_readers(state);
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot read /proc/vmstat: %s",
				strerror(-rc));
	moved -= state->moved_before;
	bad = first_stale(state, &stale, &reads);
	task_report(task, "stale_reads", stale);
	task_report(task, "reads", reads);
	task_report(task, "pages_moved", moved);
	if (bad)
		return task_say(
			task, OUTCOME_FAIL,
			"%llu stale reads; the first: reader %td on CPU %u, page %llu, published "
			"version %u, found %#llx",
			(unsigned long long)stale, bad - state->readers,
			task->point->cpus[bad - state->readers + 1], (unsigned long long)bad->page,
			(uint32_t)bad->expected, (unsigned long long)bad->found);
	if (moved < least)
		return task_say(
			task, OUTCOME_BROKEN,
			"only %llu pages were moved in %llu rounds of %zu: too few to test anything",
			(unsigned long long)moved, (unsigned long long)task_uint(task, "rounds"),
			state->pages);
	return 0;
}

static void teardown(struct task *task)
{
	struct state *state = task->state;

	close(state->trigger);
	if (state->statistics >= 0)
		close(state->statistics);
	munmap(state->base, state->pages * state->page_bytes);
	munmap(state->spare, state->pages * state->page_bytes);
	munmap(state->control, state->control_bytes);
	free(state);
}

const struct stressor stale_read_stressor = {
	.name = "stale-read",
	.version = 1,
	.summary = "readers on other CPUs check that no flush was left out",
	.description =
		"Reader processes, each pinned to a CPU, read shared pages. The target has "
		"the pages reclaimed to zram (cause=reclaim) or moved by compaction (cause=compact), "
		"then writes a new version to each and publishes it. A reader that finds an older "
		"version than the published one has used a TLB entry that should have been flushed, "
		"and the run fails. A pass is no proof: an entry may have been dropped for another "
		"reason before it could be used.\n\n"
		"Each page is mapped by the target and all readers, so mms=8 and more makes a batch "
		"that remembers 8 mms run full, and mms=4 keeps it below.",
	.example = "stale-read --runs 1 --set rounds=5",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "stale_reads",
	.run_in_target = point_always,
	.neighbours = point_never,
	.own_cpus = own_cpus,
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.arm = arm,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
