// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one mm (or processes) that map memory, write it and unmap it, as programs
 * do that give large allocations back. A page table stays between two mappings, so a
 * call frees pages but no tables. Calls of one mm wait for each other (mmap_lock), so
 * this measures that lock, too.
 */
#include <errno.h>
#include <sys/mman.h>

#include "storm.h"

#define ONE_TABLE_PAGES 256 /* fewer than one page table maps: it is not freed */

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
 * From Linux 7.3: unmap_region() in mm/vma.c gathers and flushes once. It holds mmap_lock
 * against other unmappings, so nobody else gathers meanwhile, and dirty pages of a
 * shared mapping, which are flushed before the table is unlocked, are not flushed again.
 */
static unsigned int predict(const struct point *point, struct prediction *list)
{
	uint64_t pages = option_uint(point->parameters, "pages");
	struct storm_cost cost = {
		.calls = option_uint(point->parameters, "ops"),
		.flushes = pages <= ONE_TABLE_PAGES,
		.tlbis = pages == 1,
		.sleeps = true,
	};

	return storm_predict(point, storm_crowd_of(point), cost, list);
}

/* As every operation finds it: mapped, and nothing in it. */
static int prepare(struct storm_worker *worker)
{
	int rc = storm_area_renew(&worker->area);

	errno = -rc;
	return rc ? storm_failed(worker, "mmap()") : 0;
}

static void unmap(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;
	bool keeps = memory->shared && memory->file >= 0; /* else each mapping has new memory */
	uint64_t visit = worker->visit, damaged = 0;
	int rc;

	for (uint64_t op = worker->storm->ops; op; op--, visit++) {
		damaged += storm_area_write(memory, worker->area.base, visit,
					    storm_expected(memory, visit, keeps));
		if (munmap(worker->area.base, memory->area_bytes)) {
			storm_failed(worker, "munmap()");
			break;
		}
		rc = storm_area_map(&worker->area);
		if (rc) {
			errno = -rc;
			storm_failed(worker, "mmap()");
			break;
		}
	}
	worker->slot->damaged = damaged;
}

static const struct storm_cause cause = {
	.call = "munmap()",
	.refaults = true,
	.prepare = prepare,
	.loop = unmap,
};

static int setup(struct task *task)
{
	struct storm *storm = storm_new(task, &cause, storm_crowd_of(task->point));

	return storm ? storm_start(storm, task->point->page_bytes, 0) : -ECANCELED;
}

const struct stressor munmap_storm_stressor = {
	.name = "munmap-storm",
	.version = 2,
	.summary = "threads that map, write and unmap memory",
	.description =
		"N threads of one mm, each on its own CPU, write P pages, unmap them and map as many "
		"again at the same place, OPS times. An unmapping flushes once, on every CPU that "
		"runs the mm. The kernel lets one thread at a time change the mappings of a mm: the "
		"others sleep, and on x86 an idle CPU is spared, so counts are predicted for one "
		"thread (and its readers) only, and the rate of several is also that of the lock. "
		"mode=processes is without either.\n\n"
		"Readers, rates and CPUs are as with dontneed-storm.\n\n"
		"Verified: memory that was mapped again holds zeros (a private file's page what the "
		"file holds, a shared file's what was last written), and every page came by a fault.",
	.example = "munmap-storm --runs 3 --set threads=1,2 --set ops=1000",
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
