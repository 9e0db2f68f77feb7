// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one mm (or processes) that make memory read-only and writable again, and
 * write it: what garbage collectors and snapshots in user space do. Each thread changes
 * a mapping as a whole, so none is split. Calls of one mm wait for each other
 * (mmap_lock), so this measures that lock, too.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

static const struct option_row options[] = {
	STORM_OPTIONS("2000"),
	STORM_MEMORY_OPTIONS,
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct metric_row metrics[] = {
	STORM_METRICS,
	{ NULL },
};

/*
 * From Linux 7.3: change_protection_range() in mm/mprotect.c flushes once a call when an
 * entry changed that another CPU may hold. Taking the right to write away does. Giving
 * it back does as well (pte_needs_flush(): x86 takes any change of the bit, arm64 any
 * change at all) for private pages that are this mm's alone, which become writable at
 * once (can_change_private_pte_writable()). For others the next write's fault does it.
 */
static unsigned int predict(const struct point *point, struct prediction *list)
{
	bool own = storm_memory_is_private(point);
	struct storm_cost cost = {
		.calls = option_uint(point->parameters, "ops"),
		.flushes = own ? 2 : 0,
		.tlbis = own && option_uint(point->parameters, "pages") == 1 ? 2 : 0,
		.sleeps = true,
	};

	return storm_predict(point, storm_crowd_of(point), cost, list);
}

static int protect(struct storm_worker *worker, int rights)
{
	if (mprotect(worker->area.base, worker->area.memory->area_bytes, rights))
		return storm_failed(worker, "mprotect()");
	return 0;
}

/*
 * That read-only memory is: the kernel itself cannot put a time there. It goes by the CPU's
 * translations, so one that was left writable lets it, too.
 */
static int prove_page(struct storm_worker *worker, unsigned char *page)
{
	if (!syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (struct timespec *)(page + 64)))
		return storm_wrong(worker, "memory that mprotect() made read-only can be written");
	if (errno != EFAULT)
		return storm_failed(worker, "the check that read-only memory cannot be written");
	return 0;
}

static int prove(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	unsigned char *first = worker->area.base;
	int rc = prove_page(worker, first);

	return rc ? rc : prove_page(worker, first + memory->area_bytes - memory->page_bytes);
}

static int prepare(struct storm_worker *worker)
{
	return protect(worker, PROT_READ) ? -1 : prove(worker);
}

/* Read-only before the first operation and after each: what the last one did can be proven. */
static void toggle(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	uint64_t visit = worker->visit, damaged = 0;

	for (uint64_t op = worker->storm->ops; op; op--, visit++) {
		if (protect(worker, PROT_READ | PROT_WRITE))
			break;
		damaged += storm_area_write(memory, worker->area.base, visit,
					    storm_expected(memory, visit, true));
		if (protect(worker, PROT_READ))
			break;
	}
	worker->slot->damaged = damaged;
}

static const struct storm_cause cause = {
	.call = "mprotect()",
	.prepare = prepare,
	.loop = toggle,
	.prove = prove,
};

static int setup(struct task *task)
{
	struct storm *storm = storm_new(task, &cause, storm_crowd_of(task->point));

	return storm ? storm_start(storm, task->point->page_bytes, 0) : -ECANCELED;
}

const struct stressor mprotect_storm_stressor = {
	.name = "mprotect-storm",
	.version = 2,
	.summary = "threads that take the right to write away and give it back",
	.description =
		"N threads of one mm, each on its own CPU, make P read-only pages writable, write them "
		"and make them read-only again, OPS times. For private pages both calls flush, on every CPU "
		"that runs the mm. The kernel lets one thread at a time change the mappings of a mm: "
		"the others sleep, and on x86 an idle CPU is spared, so counts are predicted for "
		"one thread (and its readers) only, and the rate of several is also that of the "
		"lock. mode=processes is without either.\n\n"
		"Readers, rates and CPUs are as with dontneed-storm.\n\n"
		"Verified: that pages which were made read-only cannot be written (before the first "
		"operation and after the last), and that no write was lost.",
	.example = "mprotect-storm --runs 3 --set threads=1,2 --set ops=1000",
	.needs = needs,
	.options = options,
	.metrics = metrics,
	.primary = "ops_per_s",
	.run_in_target = point_always,
	.neighbours = point_never,
	.own_cpus = storm_own_cpus,
	.memory_bytes = storm_bytes,
	.predict = predict,
	.setup = setup,
	.arm = storm_arm,
	.run = storm_run,
	.verify = storm_verify,
	.teardown = storm_teardown,
};
