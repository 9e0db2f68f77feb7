// SPDX-License-Identifier: GPL-2.0-only
/*
 * What dontneed-storm does, and nothing else: threads, each on its own CPU, that write a
 * page and discard it, going round 1 MiB. No checks, no counters. Prints operations a
 * second, from the first thread's start to the end of the last, and a second of CPU time.
 *
 *   bare_dontneed THREADS OPS
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAP_BYTES  (1UL << 20)
#define PLACE_STEP (2UL << 20) /* no page table is shared */
#define ALL_MAX	   1024

struct bare {
	pthread_t thread;
	unsigned char *base;
	unsigned int index;
	uint64_t start_ns, end_ns, cpu_ns;
};

static struct bare all[ALL_MAX];
static unsigned int count;
static uint64_t ops;
static atomic_uint ready, finished;
static cpu_set_t allowed;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void pin_to(unsigned int nth)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
			CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(3);
}

static void *live(void *argument)
{
	struct bare *bare = argument;
	size_t page_bytes = sysconf(_SC_PAGESIZE), at = 0;

	pin_to(bare->index);
	for (size_t i = 0; i < MAP_BYTES; i += page_bytes)
		bare->base[i] = 1;
	if (madvise(bare->base, MAP_BYTES, MADV_DONTNEED))
		exit(3);
	atomic_fetch_add(&ready, 1);
	while (atomic_load_explicit(&ready, memory_order_relaxed) < count)
		;
	bare->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bare->start_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint64_t op = ops; op; op--) {
		*(volatile uint64_t *)(bare->base + at) = op;
		if (madvise(bare->base + at, page_bytes, MADV_DONTNEED))
			exit(3);
		at = at + page_bytes < MAP_BYTES ? at + page_bytes : 0;
	}
	bare->end_ns = clock_ns(CLOCK_MONOTONIC);
	bare->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - bare->cpu_ns;
	atomic_fetch_add(&finished, 1);
	while (atomic_load_explicit(&finished, memory_order_relaxed) < count)
		;
	return NULL;
}

/* A mapping between guards, so that no two threads share one. */
static int place(struct bare *bare)
{
	unsigned char *at = mmap(NULL, 2 * PLACE_STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0);

	if (at == MAP_FAILED)
		return -1;
	at = (unsigned char *)(((uintptr_t)at + PLACE_STEP) / PLACE_STEP * PLACE_STEP);
	bare->base = at;
	return mprotect(at, MAP_BYTES, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0, cpu_ns = 0;

	if (argc != 3)
		return 2;
	count = strtoul(argv[1], NULL, 10);
	ops = strtoull(argv[2], NULL, 10);
	if (!count || count > ALL_MAX || sched_getaffinity(0, sizeof(allowed), &allowed))
		return 2;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (unsigned int i = 0; i < count; i++) {
		all[i].index = i;
		if (place(&all[i]))
			return 3;
	}
	for (unsigned int i = 1; i < count; i++)
		if (pthread_create(&all[i].thread, NULL, live, &all[i]))
			return 3;
	live(&all[0]);
	for (unsigned int i = 1; i < count; i++)
		pthread_join(all[i].thread, NULL);
	for (unsigned int i = 0; i < count; i++) {
		start_ns = all[i].start_ns < start_ns ? all[i].start_ns : start_ns;
		end_ns = all[i].end_ns > end_ns ? all[i].end_ns : end_ns;
		cpu_ns += all[i].cpu_ns;
	}
	printf("%.0f %.0f\n", (double)ops * count / (end_ns - start_ns) * 1e9,
	       (double)ops * count / cpu_ns * 1e9);
	return 0;
}
