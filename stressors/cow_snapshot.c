// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots by fork: a process with hot data forks again and again, the child saves
 * the memory as it was and exits, while a writer goes on in the parent. Each page that
 * is written while the child has it too is copied, and each copy flushes the page's
 * old translation (wp_page_copy() in mm/memory.c); the fork itself flushes the mm
 * (dup_mmap() in kernel/fork.c).
 *
 * One writer goes through the pages in a known order, so an image is an instant when
 * it holds exactly what the first k writes left, for a k that lies between the call of
 * fork() and its return. That also holds while another thread forks: the kernel write-
 * protects page after page, but flushes before it lets the first copy happen, so a
 * kernel that leaves out that flush lets later writes through into the child's image.
 *
 * Not here: what a server does with the data (redis-snapshot), and files on a device,
 * unless option folder names one.
 */
#include "cow_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/ring.h"

#define LEAST_FAULTS 0.99 /* of the pages that were written first in a snapshot */

static const char *const save_choices[] = { "io_uring", "write", NULL };
static const char *const forker_choices[] = { "writer", "thread", NULL };
static const char *const thp_choices[] = { "off", "on", NULL };

/*
 * The rate is what a slow machine makes between snapshots, beside others: the first write
 * to each page is a page fault there, of tens of microseconds, and of 60 to 300 us in a
 * snapshot, where a fast machine needs a few.
 */
static const struct option_row options[] = {
	{ .name = "size",
	  .type = OPTION_SIZE,
	  .fallback = "32M",
	  .min = 65536,
	  .max = 1ULL << 42,
	  .metavar = "BYTES",
	  .help = "hot data of the process: what is written to, and what a snapshot saves" },
	{ .name = "rate",
	  .type = OPTION_UINT,
	  .fallback = "5000",
	  .max = 1000000000,
	  .metavar = "W",
	  .help = "writes a second, each to another page; 0: as fast as the writer can" },
	{ .name = "snapshots",
	  .type = OPTION_UINT,
	  .fallback = "8",
	  .min = 1,
	  .max = COW_SNAPSHOTS_MAX,
	  .metavar = "S",
	  .help = "snapshots of one run, one after the other; all images are kept until they "
		  "have been checked" },
	{ .name = "pause",
	  .type = OPTION_DURATION,
	  .fallback = "20ms",
	  .max = 3600000000000ULL,
	  .metavar = "T",
	  .help = "time before each snapshot and after the last, in which the writer is alone; "
		  "it begins when the writer has caught up" },
	{ .name = "forker",
	  .type = OPTION_CHOICE,
	  .fallback = "writer",
	  .choices = forker_choices,
	  .metavar = "WHO",
	  .help = "who forks: the writer itself between two writes, so that the process runs "
		  "on one CPU, or another thread on another CPU, which sleeps otherwise, while the "
		  "writer goes on" },
	{ .name = "save",
	  .type = OPTION_CHOICE,
	  .fallback = "io_uring",
	  .choices = save_choices,
	  .metavar = "HOW",
	  .help = "how the child saves: through io_uring, or with plain writes" },
	{ .name = "depth",
	  .type = OPTION_UINT,
	  .fallback = "16",
	  .min = 1,
	  .max = 4096,
	  .metavar = "D",
	  .help = "writes in flight (save=io_uring)" },
	{ .name = "chunk",
	  .type = OPTION_SIZE,
	  .fallback = "128K",
	  .min = 4096,
	  .max = 1ULL << 30,
	  .metavar = "BYTES",
	  .help = "bytes of one write to the file" },
	{ .name = "thp",
	  .type = OPTION_CHOICE,
	  .fallback = "off",
	  .choices = thp_choices,
	  .metavar = "WHICH",
	  .help = "transparent huge pages for the data: asked for, or refused. A copy on write "
		  "splits them, so they are made again before each snapshot (Linux 6.1), in a "
		  "time that is in no number" },
	{ .name = "folder",
	  .type = OPTION_STRING,
	  .fallback = "memory",
	  .metavar = "FOLDER",
	  .help = "where the image files are, which never have a name there; memory: in "
		  "memory (memfd)" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_FILE,
	  .path = "/sys/kernel/mm/transparent_hugepage/enabled",
	  .words = "transparent huge pages",
	  .option = "thp",
	  .value = "on" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct metric_row metrics[] = {
	{ "snapshots_per_s", "1/s", "more",
	  "snapshots by the time that they took, from fork() until the child was gone" },
	{ "fork_ns", "ns", "less", "time of fork() in the parent, median of the snapshots" },
	{ "fork_max_ns", "ns", "less", "the longest fork()" },
	{ "cow_faults", "faults", "same", "the writer's page faults in snapshots" },
	{ "later_faults", "faults", "same",
	  "its page faults out of snapshots: the first writes to pages that are no longer "
	  "shared, but still write-protected" },
	{ "pages_in", "pages", "same",
	  "pages written for the first time in a snapshot, of all snapshots: each has a "
	  "copy-on-write fault" },
	{ "writes_in", "writes", "same", "writes made in snapshots" },
	{ "writes_in_per_s", "writes/s", "more",
	  "writes made in a second of snapshots: below the rate when the writer cannot keep up" },
	{ "writes_out", "writes", "same", "writes made out of snapshots" },
	{ "writes_out_per_s", "writes/s", "more",
	  "writes made in a second out of snapshots: above the rate when there was something to "
	  "catch up on" },
	{ "write_in_p50_ns", "ns", "less",
	  "latency of writes that snapshots held up, from when they were due: median" },
	{ "write_in_p99_ns", "ns", "less", "99% of them are not above this (from 100 writes on)" },
	{ "write_in_p999_ns", "ns", "less",
	  "99.9% of them are not above this (from 1,000 writes on)" },
	{ "write_in_max_ns", "ns", "less", "the longest" },
	{ "write_out_p50_ns", "ns", "less", "latency of all other writes: median" },
	{ "write_out_p99_ns", "ns", "less", "99% of them are not above this (from 100 writes on)" },
	{ "write_out_p999_ns", "ns", "less",
	  "99.9% of them are not above this (from 1,000 writes on)" },
	{ "write_out_max_ns", "ns", "less", "the longest" },
	{ NULL },
};

/* The data, as much again for the copies, and the images when they are in memory. */
static uint64_t memory_bytes(const struct point *point)
{
	bool memory = !strcmp(option_string(point->parameters, "folder"), "memory");
	uint64_t images = memory ? option_uint(point->parameters, "snapshots") : 0;

	return option_uint(point->parameters, "size") * (2 + images) + (16 << 20);
}

/* ---- target ---- */

static void sleep_until(uint64_t ns)
{
	struct timespec time = { ns / NS_PER_S, ns % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void *live_as_writer(void *argument)
{
	struct cow_state *state = argument;
	int rc = task_pin(state->writer_cpu);

	atomic_store(&state->pinned, rc ? rc : 1);
	while (!atomic_load(&state->go))
		usleep(1000);
	cow_writer_run(state->writer, NULL, NULL);
	return NULL;
}

static int map_data(struct task *task, struct cow_state *state)
{
	struct cow_data *data = &state->writer->data;
	size_t page_bytes = task->point->page_bytes, huge = COW_HUGE_BYTES;
	unsigned char *memory;

	cow_data_describe(data, task_uint(task, "size") / page_bytes, page_bytes,
			  task->point->seed);
	state->bytes = data->pages * page_bytes;
	/* room for the last huge page as well, wherever the first begins */
	state->mapped_bytes = (state->bytes + huge - 1) / huge * huge + huge;
	memory = mmap(NULL, state->mapped_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot map %zu MiB: %s", state->bytes >> 20,
				strerror(errno));
	data->base = memory + (huge - (uintptr_t)memory % huge) % huge;
	if (madvise(memory, state->mapped_bytes, state->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    state->huge)
		return task_say(task, OUTCOME_SKIP, "huge pages are refused: %s", strerror(errno));
	cow_data_fill(data);
	return 0;
}

static int refuse_huge_pages(struct task *task, const struct cow_state *state)
{
	return task_say(task, OUTCOME_SKIP,
			"huge pages hold %llu of %zu KiB before snapshot %u: write madvise to "
			"/sys/kernel/mm/transparent_hugepage/enabled, and free memory",
			(unsigned long long)state->huge_bytes >> 10, state->bytes >> 10,
			state->made + 1);
}

/* Huge pages that were asked for may have been refused page by page. */
static int prepare_huge_pages(struct task *task, struct cow_state *state)
{
	if (!state->huge)
		return 0;
	if (state->wanted > 1 && !cow_huge_again())
		return task_say(task, OUTCOME_SKIP,
				"this kernel cannot make pages huge again that a snapshot split "
				"(MADV_COLLAPSE, Linux 6.1); --set snapshots=1 does without");
	if (snapshot_open("", "/proc/self/smaps", &state->smaps))
		return task_say(task, OUTCOME_SKIP,
				"this kernel does not say which pages are huge "
				"(CONFIG_PROC_PAGE_MONITOR)");
	state->prepared = 1;
	return cow_huge_make(state) ? 0 : refuse_huge_pages(task, state);
}

static int open_images(struct task *task, struct cow_state *state)
{
	const char *folder = task_string(task, "folder");
	bool memory = !strcmp(folder, "memory");

	state->files = calloc(state->wanted, sizeof(*state->files));
	if (!state->files)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	for (unsigned int i = 0; i < state->wanted; i++) {
		state->files[i] = memory ? memfd_create("image", MFD_CLOEXEC)
					 : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (state->files[i] < 0)
			return task_say(task, OUTCOME_BROKEN,
					"cannot make a file without a name in %s: %s; give another "
					"folder, or folder=memory",
					folder, strerror(errno));
	}
	return 0;
}

/* Why a ring cannot be had, in words. */
static int probe_ring(struct task *task, const struct cow_state *state)
{
	static const struct {
		int error;
		const char *words;
	} reasons[] = {
		{ -EOPNOTSUPP, "this build has no liburing (liburing-dev)" },
		{ -ENOSYS, "this kernel has no io_uring (CONFIG_IO_URING)" },
		{ -EPERM, "io_uring is forbidden here (sysctl kernel.io_uring_disabled, or a "
			  "container's filter)" },
	};
	int rc = state->ring ? ring_probe(state->depth) : 0;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (rc == reasons[i].error)
			return task_say(task, OUTCOME_SKIP, "%s; --set save=write does without",
					reasons[i].words);
	return rc ? task_say(task, OUTCOME_BROKEN, "io_uring: %s", strerror(-rc)) : 0;
}

static int start_writer(struct task *task, struct cow_state *state)
{
	int rc;

	if (!state->threaded)
		return 0;
	rc = pthread_create(&state->thread, NULL, live_as_writer, state);
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot start the writer: %s", strerror(rc));
	while (!(rc = atomic_load(&state->pinned)))
		usleep(1000);
	return rc < 0 ? task_say(task, OUTCOME_BROKEN, "cannot run the writer on CPU %u: %s",
				 state->writer_cpu, strerror(-rc))
		      : 0;
}

/* With few CPUs saver, writer and forker share them, in this order. */
static void choose_cpus(const struct point *point, struct cow_state *state)
{
	unsigned int saver = state->threaded ? 2 : 1;

	state->writer_cpu = point->cpus[state->threaded && point->cpu_count > 1];
	state->saver_cpu = point->cpus[saver < point->cpu_count ? saver : 0];
}

static int setup(struct task *task)
{
	struct cow_state *state = calloc(1, sizeof(*state));
	uint64_t rate = task_uint(task, "rate");
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	state->writer = task->common;
	state->writer->interval_ns = rate ? NS_PER_S / rate : 0;
	state->self = getpid();
	state->wanted = task_uint(task, "snapshots");
	state->pause_ns = task_uint(task, "pause");
	state->chunk_bytes = task_uint(task, "chunk");
	state->depth = task_uint(task, "depth");
	state->ring = !strcmp(task_string(task, "save"), "io_uring");
	state->huge = !strcmp(task_string(task, "thp"), "on");
	state->threaded = !strcmp(task_string(task, "forker"), "thread");
	choose_cpus(task->point, state);
	rc = task_pin(task->point->cpus[0]);
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot run on CPU %u: %s",
				task->point->cpus[0], strerror(-rc));
	rc = probe_ring(task, state);
	if (!rc)
		rc = open_images(task, state);
	if (!rc)
		rc = map_data(task, state);
	if (!rc)
		rc = prepare_huge_pages(task, state);
	return rc ? rc : start_writer(task, state);
}

static int run(struct task *task)
{
	struct cow_state *state = task->state;
	struct cow_writer *writer = state->writer;

	cow_rest(state, 0);
	if (!state->threaded) {
		cow_writer_run(writer, cow_attend, state);
	} else {
		atomic_store(&state->go, true);
		while (atomic_load(&writer->stop) == COW_GO_ON) {
			sleep_until(state->next_ns);
			cow_attend(state, monotonic_ns());
		}
		pthread_join(state->thread, NULL);
	}
	if (state->error)
		return task_say(task, OUTCOME_BROKEN, "cannot fork: %s; give a smaller size",
				strerror(-state->error));
	if (state->stage == COW_PREPARED)
		return refuse_huge_pages(task, state);
	if (atomic_load(&writer->stop) == COW_QUIT)
		return task_say(task, OUTCOME_BROKEN,
				"the writer cannot make %llu writes a second; it made about %.0f "
				"while it was alone; give a lower rate",
				(unsigned long long)task_uint(task, "rate"), state->late_per_s);
	return 0;
}

/* ---- verification ---- */

/* The file read back. Also gives the instant that it holds. */
static int check_image(struct task *task, const struct cow_state *state, unsigned int index,
		       uint64_t *instant)
{
	const struct cow_snapshot *snapshot = &state->writer->snapshots[index];
	struct cow_fault fault;
	struct stat status;
	unsigned char *image;
	bool whole;

	if (snapshot->error || !atomic_load(&snapshot->saved))
		return task_say(task, OUTCOME_BROKEN, "snapshot %u was not saved: %s", index + 1,
				snapshot->error ? strerror(-snapshot->error) : "the child died");
	if (fstat(state->files[index], &status) || (size_t)status.st_size != state->bytes)
		return task_say(task, OUTCOME_FAIL, "image %u has %lld bytes, not %zu", index + 1,
				(long long)status.st_size, state->bytes);
	image = mmap(NULL, state->bytes, PROT_READ, MAP_SHARED, state->files[index], 0);
	if (image == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot read image %u: %s", index + 1,
				strerror(errno));
	whole = cow_data_check(&state->writer->data, image, instant, &fault);
	munmap(image, state->bytes);
	if (!whole)
		return task_say(task, OUTCOME_FAIL,
				"image %u is no instant: %s: page %zu holds %#llx, not %#llx",
				index + 1, fault.words, fault.page, (unsigned long long)fault.found,
				(unsigned long long)fault.expected);
	/* a write may be in the page and not counted yet, when another thread forks */
	if (*instant < snapshot->before || *instant > snapshot->after + state->threaded)
		return task_say(task, OUTCOME_FAIL,
				"image %u is the instant of write %llu; fork() was called at %llu "
				"and returned at %llu",
				index + 1, (unsigned long long)*instant,
				(unsigned long long)snapshot->before,
				(unsigned long long)snapshot->after);
	return 0;
}

#define PHASE_QUANTILES 3

static const struct phase_names {
	enum cow_kind kind;
	const char *writes, *per_s, *quantiles[PHASE_QUANTILES], *max;
} reported_phases[] = {
	{ COW_IN,
	  "writes_in",
	  "writes_in_per_s",
	  { "write_in_p50_ns", "write_in_p99_ns", "write_in_p999_ns" },
	  "write_in_max_ns" },
	{ COW_OUT,
	  "writes_out",
	  "writes_out_per_s",
	  { "write_out_p50_ns", "write_out_p99_ns", "write_out_p999_ns" },
	  "write_out_max_ns" },
};

static void report_phase(struct task *task, const struct cow_phase *phase,
			 const struct phase_names *names)
{
	static const double shares[PHASE_QUANTILES] = { 0.5, 0.99, 0.999 };
	const struct latency *latency = &phase->latency;

	task_report(task, names->writes, phase->writes);
	task_report(task, names->per_s, phase->writes * 1e9 / phase->elapsed_ns);
	for (unsigned int i = 0; i < PHASE_QUANTILES; i++)
		if (latency_has_quantile(latency, shares[i]))
			task_report(task, names->quantiles[i],
				    latency_quantile(latency, shares[i]));
	if (latency->count)
		task_report(task, names->max, latency->max_ns);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void report(struct task *task, const struct cow_state *state, uint64_t pages_in)
{
	const struct cow_writer *writer = state->writer;
	uint64_t forks[COW_SNAPSHOTS_MAX], total_ns = 0;
	unsigned int count = state->made;

	for (unsigned int i = 0; i < count; i++) {
		forks[i] = writer->snapshots[i].fork_ns;
		total_ns += writer->snapshots[i].total_ns;
	}
	qsort(forks, count, sizeof(*forks), by_value);
	task_report(task, "snapshots_per_s", count * 1e9 / total_ns);
	task_report(task, "fork_ns", (forks[(count - 1) / 2] + forks[count / 2]) / 2.0);
	task_report(task, "fork_max_ns", forks[count - 1]);
	task_report(task, "cow_faults", writer->phases[COW_IN].faults);
	task_report(task, "later_faults", writer->phases[COW_OUT].faults);
	task_report(task, "pages_in", pages_in);
	for (size_t i = 0; i < sizeof(reported_phases) / sizeof(reported_phases[0]); i++)
		report_phase(task, &writer->phases[reported_phases[i].kind], &reported_phases[i]);
}

/* Every page is write-protected at the instant; its next write is a fault. */
static uint64_t pages_written(const struct cow_data *data, uint64_t instant, uint64_t ended)
{
	uint64_t writes = ended > instant ? ended - instant : 0;

	return writes < data->pages ? writes : data->pages;
}

/*
 * Of the writer, in snapshots. Before Linux 5.8 a huge page is copied as a whole. When
 * another thread forks, a write of each snapshot may be on its way before the writer
 * knows of it.
 */
static uint64_t least_faults(const struct cow_state *state, uint64_t pages_in)
{
	uint64_t least = state->huge ? 1 : pages_in * LEAST_FAULTS;
	uint64_t unknown = state->threaded ? state->made : 0;

	return least > unknown ? least - unknown : 0;
}

static int verify(struct task *task)
{
	struct cow_state *state = task->state;
	const struct cow_writer *writer = state->writer;
	uint64_t pages_in = 0, instant;
	int rc;

	for (unsigned int i = 0; i < state->made; i++) {
		rc = check_image(task, state, i, &instant);
		if (rc)
			return rc;
		pages_in += pages_written(&writer->data, instant, writer->snapshots[i].ended);
	}
	report(task, state, pages_in);
	if (!pages_in)
		return task_say(task, OUTCOME_BROKEN,
				"no page was written in a snapshot: give a higher rate or a larger "
				"size");
	if (writer->phases[COW_IN].faults < least_faults(state, pages_in))
		return task_say(task, OUTCOME_BROKEN,
				"%llu pages were written in snapshots, with %llu page faults: "
				"they were not copied on write",
				(unsigned long long)pages_in,
				(unsigned long long)writer->phases[COW_IN].faults);
	return 0;
}

static void teardown(struct task *task)
{
	struct cow_state *state = task->state;

	if (state->smaps.text[SNAPSHOT_AFTER])
		snapshot_close(&state->smaps);
	for (unsigned int i = 0; i < state->wanted; i++)
		close(state->files[i]);
	free(state->files);
	free(state);
}

const struct stressor cow_snapshot_stressor = {
	.name = "cow-snapshot",
	.version = 2,
	.summary = "fork, save the memory and exit, while a writer copies on write",
	.description =
		"A process with hot data forks, the child saves the data to a file and exits, again "
		"and again, as in-memory databases make snapshots. The writer goes on in the "
		"parent, and each page that it writes first is copied, with a page fault and a "
		"flush. Its latency is recorded in and out of snapshots, from the time a write was "
		"due, so that a stall counts for all writes that it delayed, after the snapshot as "
		"well. The next snapshot waits until the writer has caught up and had its pause; "
		"a writer that cannot do that ends the run, which is then broken.\n\n"
		"With forker=writer the process runs on one CPU, and its flushes concern no other. "
		"With forker=thread its memory has been used on two: on x86 the flush of a copy is "
		"sent then (metric flushes), but interrupts nobody, since the forker sleeps until "
		"the child is gone, and its CPU is idle or has the child; the writer's CPU is "
		"interrupted by the fork, and by the few pages that the forker writes after it. On "
		"arm64 all of them are broadcast, with forker=writer unless the kernel has a series "
		"like local-tlbi. The child is on a CPU of its own when there are enough, and has "
		"a few flushes of its own after it has moved there.\n\n"
		"Verified: every image is read back and must hold exactly what the first k writes "
		"left, for one k between the call of fork() and its return; and the writer must "
		"have had a page fault for each page that it wrote first in a snapshot.",
	.example = "cow-snapshot --runs 2 --set size=8M --set snapshots=3",
	.needs = needs,
	.options = options,
	.metrics = metrics,
	.primary = "snapshots_per_s",
	.run_in_target = point_always,
	.neighbours = point_never,
	.common_bytes = sizeof(struct cow_writer),
	.memory_bytes = memory_bytes,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
