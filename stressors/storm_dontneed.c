// SPDX-License-Identifier: GPL-2.0-only
/* MADV_DONTNEED of pages that are there. */
#include "storm_dontneed.h"

#include <string.h>
#include <sys/mman.h>

#define GATHERED_PAGES 4096 /* far fewer than fill an mmu_gather (mm/mmu_gather.c) */

int storm_dontneed_prepare(struct storm_worker *worker)
{
	const struct storm_memory *memory = worker->area.memory;

	if (madvise(worker->area.base, memory->area_bytes, MADV_DONTNEED))
		return storm_failed(worker, STORM_DONTNEED);
	return 0;
}

/*
 * From Linux 7.3: madvise_dontneed_single_vma() in mm/madvise.c gathers what it takes away
 * and flushes once, in tlb_finish_mmu(), whether other threads gather too or not. A dirty
 * page of a shared mapping is flushed before its page table is unlocked (zap_pte_range()
 * in mm/memory.c), and again at the end when another thread gathers at the same time
 * (mm_tlb_flush_nested()), which depends on timing.
 *
 * arm64 has no MMU_GATHER_MERGE_VMAS, so there tlb_end_vma() flushes each vma, and
 * tlb_finish_mmu() only what is left: nothing, or the whole mm when another thread gathers at
 * the same time. That makes one instruction for one page, or two. In an emulated guest it is
 * always two: the emulator hands over to the next CPU at a broadcast TLBI, amid the gathering.
 * How many there are for several pages depends on what the CPU can do (FEAT_TLBIRANGE).
 */
struct storm_cost storm_dontneed_cost(const struct point *point, struct storm_crowd crowd)
{
	uint64_t pages = option_uint(point->parameters, "pages");
	bool memfd = !strcmp(option_string(point->parameters, "folder"), "memfd");
	bool known = storm_memory_is_private(point) || (crowd.workers == 1 && pages == 1 && memfd);

	return (struct storm_cost){
		.calls = option_uint(point->parameters, "ops"),
		.flushes = known && pages <= GATHERED_PAGES,
		.tlbis = known && pages == 1 && (crowd.workers == 1 || crowd.processes),
	};
}
