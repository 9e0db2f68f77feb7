// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one mm (or processes) that write pages and discard them with MADV_DONTNEED,
 * as memory allocators do. It measures what the calls cost those who make them, and
 * with readers those who do not; the flushes behind them are counted by the sources.
 *
 * Whether a discarded page reads zero is checked at its next write (storm_area_write()),
 * inside the window, by one load from a cache line that was just written: a read of its own
 * before the write would add a fault and a flush to each operation. check=reread does that
 * all the same, as some other benchmarks do.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/fs.h"
#include "storm_dontneed.h"

#define HUGE_FOLDER "/sys/kernel/mm/transparent_hugepage"

static const char *const checks[] = { "write", "reread", NULL };
static const char *const huge_choices[] = { "none", "64k", "pmd", NULL };

static const struct option_row options[] = {
	STORM_OPTIONS("5000"),
	STORM_MEMORY_OPTIONS,
	{ .name = "map",
	  .type = OPTION_SIZE,
	  .fallback = "1M",
	  .min = 1,
	  .max = 1ULL << 40,
	  .metavar = "BYTES",
	  .help = "memory of each thread, which it goes round; one call's pages at least" },
	{ .name = "huge",
	  .type = OPTION_CHOICE,
	  .fallback = "none",
	  .choices = huge_choices,
	  .metavar = "SIZE",
	  .help = "transparent huge pages: none, of 64 KiB, or of a page table's size (pmd); "
		  "pages must be a multiple of theirs" },
	{ .name = "check",
	  .type = OPTION_CHOICE,
	  .fallback = "write",
	  .choices = checks,
	  .metavar = "WHEN",
	  .help = "when a page is seen to be discarded: at its next write, or by a read after "
		  "the call, which makes the next write flush as well" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_FILE,
	  .path = HUGE_FOLDER "/hugepages-64kB/enabled",
	  .words = "huge pages of 64 KiB (Linux 6.8)",
	  .option = "huge",
	  .value = "64k" },
	{ .kind = NEED_ROOT, .option = "huge", .value = "64k" },
	{ .kind = NEED_FILE,
	  .path = HUGE_FOLDER "/hpage_pmd_size",
	  .words = "transparent huge pages",
	  .option = "huge",
	  .value = "pmd" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

/* Of 64 KiB and not larger, where the area has room for larger ones. */
static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_KNOB,
	  .option = "huge",
	  .value = "64k",
	  .path = HUGE_FOLDER "/hugepages-64kB/enabled",
	  .text = "madvise" },
	{ .kind = ENVIRONMENT_KNOB,
	  .option = "huge",
	  .value = "64k",
	  .path = HUGE_FOLDER "/hugepages-2048kB/enabled",
	  .text = "never" },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	STORM_METRICS,
	{ NULL },
};

static bool rereads(const struct point *point)
{
	return !strcmp(option_string(point->parameters, "check"), "reread");
}

static uint64_t memory_bytes(const struct point *point)
{
	return storm_memory_bytes(point, option_uint(point->parameters, "map"),
				  storm_crowd_of(point).workers);
}

/*
 * A read of private memory that was discarded maps the page of zeros (or the file's page)
 * read-only; the next write replaces it, which is a flush for each page
 * (wp_page_copy() in mm/memory.c).
 */
static unsigned int predict(const struct point *point, struct prediction *list)
{
	struct storm_crowd crowd = storm_crowd_of(point);
	struct storm_cost cost = storm_dontneed_cost(point, crowd);
	bool huge = strcmp(option_string(point->parameters, "huge"), "none");
	double pages = option_uint(point->parameters, "pages");

	if (rereads(point) && storm_memory_is_private(point)) {
		cost.flushes = huge || !cost.flushes ? 0 : cost.flushes + pages;
		cost.tlbis = cost.tlbis ? cost.tlbis + pages : 0;
	}
	return storm_predict(point, crowd, cost, list);
}

/* ---- the loop ---- */

static void discard(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	unsigned char *base = worker->area.base, *end = base + memory->area_bytes, *at = base;
	uint64_t visit = worker->visit, damaged = 0;

	for (uint64_t op = worker->storm->ops; op; op--) {
		damaged += storm_area_write(memory, at, visit,
					    storm_expected(memory, visit, memory->shared));
		if (madvise(at, memory->call_bytes, MADV_DONTNEED)) {
			storm_failed(worker, STORM_DONTNEED);
			break;
		}
		at += memory->call_bytes;
		if (at == end) {
			at = base;
			visit++;
		}
	}
	worker->slot->damaged = damaged;
}

/* Units of a call whose words are not what they were at first, or (shared) last written. */
static unsigned int read_again(const struct storm_memory *memory, const unsigned char *at,
			       uint64_t visit)
{
	const unsigned char *end = at + memory->call_bytes;
	uint64_t expected = memory->shared ? visit : memory->fresh;
	unsigned int damaged = 0;

	for (; at < end; at += memory->unit_bytes)
		damaged += ((const volatile uint64_t *)at)[visit & 1] != expected;
	return damaged;
}

static void discard_and_read(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	unsigned char *base = worker->area.base, *end = base + memory->area_bytes, *at = base;
	uint64_t visit = worker->visit, damaged = 0;

	for (uint64_t op = worker->storm->ops; op; op--) {
		damaged += storm_area_write(memory, at, visit,
					    storm_expected(memory, visit, memory->shared));
		if (madvise(at, memory->call_bytes, MADV_DONTNEED)) {
			storm_failed(worker, STORM_DONTNEED);
			break;
		}
		damaged += read_again(memory, at, visit);
		at += memory->call_bytes;
		if (at == end) {
			at = base;
			visit++;
		}
	}
	worker->slot->damaged = damaged;
}

/* Its pages mapped by a read, as they will be at every write of the loop. */
static int prepare_reread(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;

	if (storm_dontneed_prepare(worker))
		return -1;
	for (size_t at = 0; at < memory->area_bytes; at += memory->unit_bytes)
		(void)*(volatile uint64_t *)(worker->area.base + at);
	return 0;
}

static const struct storm_cause by_write = {
	.call = STORM_DONTNEED,
	.refaults = true,
	.prepare = storm_dontneed_prepare,
	.loop = discard,
};

static const struct storm_cause by_reread = {
	.call = STORM_DONTNEED,
	.refaults = true,
	.prepare = prepare_reread,
	.loop = discard_and_read,
};

/* ---- setup ---- */

/* 0 after task_say(). */
static size_t choose_unit_bytes(struct task *task)
{
	const char *huge = task_string(task, "huge");
	unsigned long long bytes = task->point->page_bytes;
	uint64_t pages = task_uint(task, "pages");
	int rc = 0;

	if (!strcmp(huge, "64k"))
		bytes = 65536;
	else if (!strcmp(huge, "pmd"))
		rc = fs_read_u64("", HUGE_FOLDER "/hpage_pmd_size", &bytes);
	if (rc) {
		task_say(task, OUTCOME_BROKEN, "cannot read " HUGE_FOLDER "/hpage_pmd_size: %s",
			 strerror(-rc));
		return 0;
	}
	if (pages * task->point->page_bytes % bytes == 0)
		return bytes;
	task_say(task, OUTCOME_SKIP, "huge=%s needs pages to be a multiple of %llu", huge,
		 bytes / task->point->page_bytes);
	return 0;
}

static int setup(struct task *task)
{
	size_t unit_bytes = choose_unit_bytes(task);
	struct storm *storm;

	if (!unit_bytes)
		return -ECANCELED;
	storm = storm_new(task, rereads(task->point) ? &by_reread : &by_write,
			  storm_crowd_of(task->point));
	return storm ? storm_start(storm, unit_bytes, task_uint(task, "map")) : -ECANCELED;
}

const struct stressor dontneed_storm_stressor = {
	.name = "dontneed-storm",
	.version = 2,
	.summary = "threads that write and discard pages (MADV_DONTNEED)",
	.description =
		"N threads of one mm, each on its own CPU, write P pages and discard them, OPS times, "
		"going round memory of their own. A call flushes once, on every CPU that runs the "
		"mm: on x86 N x OPS flushes and N x OPS x (N-1) interrupts, more with readers; on "
		"arm64 N x OPS broadcast TLBI instructions for single pages, and up to twice as many "
		"while threads discard at the same time. mode=processes gives "
		"each a mm of its own that has run on its CPU alone: nobody needs to be told.\n\n"
		"ops_per_s is the rate by the clock, from the first thread's start to the end of the "
		"last; ops_per_cpu_s the rate by CPU time. Readers make no calls: reader_ratio says "
		"how much of their speed the storm left them, which is what it costs its victims. "
		"Caches, memory and clock rates that they share with the workers are in it: the same "
		"with mode=processes, where nobody is interrupted, is the control to set it against. "
		"In an emulated guest it would be the emulator's scheduling and is not reported.\n\n"
		"All threads are on CPUs of their own, so a point with more of them than CPUs is "
		"skipped: a sweep such as threads=1,4,8,16,32,64,128 runs on any machine. With "
		"sharing=shared, and with huge pages, calls flush otherwise: see the predictions.\n\n"
		"Verified: a page that was discarded holds zeros (a private file's page what the file "
		"holds, a shared page what was last written) at its next write; every page came back "
		"by a fault; huge pages by one each.",
	.example = "dontneed-storm --runs 3 --set threads=1,2,4 --set ops=1000",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "ops_per_s",
	.run_in_target = point_always,
	.neighbours = point_never,
	.own_cpus = storm_own_cpus,
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.arm = storm_arm,
	.run = storm_run,
	.verify = storm_verify,
	.teardown = storm_teardown,
};
