// SPDX-License-Identifier: GPL-2.0-only
/* What a point asks of a storm, and what the kernel's rules imply for it. */
#include <string.h>

#include "storm.h"

const char *const storm_modes[] = { "threads", "processes", NULL };

unsigned int storm_threads(const struct point *point, unsigned int others)
{
	unsigned int threads = option_uint(point->parameters, "threads");

	if (threads)
		return threads;
	return point->cpu_count > others ? point->cpu_count - others : 0;
}

struct storm_crowd storm_crowd_of(const struct point *point)
{
	unsigned int readers = option_uint(point->parameters, "readers");

	return (struct storm_crowd){
		.workers = storm_threads(point, readers),
		.bystanders = readers,
		.processes = !strcmp(option_string(point->parameters, "mode"), "processes"),
		.readers = true,
	};
}

unsigned int storm_own_cpus(const struct point *point)
{
	struct storm_crowd crowd = storm_crowd_of(point);

	return crowd.workers + crowd.bystanders - (crowd.workers > 0);
}

uint64_t storm_bytes(const struct point *point)
{
	return storm_memory_bytes(point, 0, storm_crowd_of(point).workers);
}

/*
 * From Linux 7.3. x86: a flush of a mm that other CPUs are named for in mm_cpumask goes
 * through native_flush_tlb_multi() once, and to each of them that runs the mm
 * (flush_tlb_mm_range(), should_flush_tlb() in arch/x86/mm/tlb.c). Here all do, to the
 * last call, unless the machine is busy with something else, or workers sleep: an idle CPU
 * is lazy, gets no interrupt, and once a second is taken off the mask. Flushes of several
 * threads at once send as many interrupts as one after the other: the row TLB counts
 * flush_tlb_func(), also where it finds nothing left to do. A mm of one CPU flushes without
 * either. Machines that broadcast (INVLPGB) send none.
 * arm64: the instructions count, whoever runs the mm.
 */
unsigned int storm_predict(const struct point *point, struct storm_crowd crowd,
			   struct storm_cost cost, struct prediction *list)
{
	double calls = crowd.workers * cost.calls;
	unsigned int others = crowd.workers + crowd.bystanders - 1, count = 0;
	bool awake = crowd.workers == 1 || !cost.sleeps;

	if (!crowd.workers || others >= point->cpu_count)
		return 0;
	if (crowd.processes || !others) {
		list[count++] = (struct prediction){ "flushes", 0 };
		list[count++] = (struct prediction){ "remote_ipis", 0 };
	} else if (cost.flushes > 0 && awake) {
		list[count++] = (struct prediction){ "flushes", calls * cost.flushes };
		list[count++] = (struct prediction){ "remote_ipis", calls * cost.flushes * others };
	}
	if (cost.tlbis > 0)
		list[count++] = (struct prediction){ "tlbi_broadcast", calls * cost.tlbis };
	return count;
}
