// SPDX-License-Identifier: GPL-2.0-only
/* A row TLB that counts nothing; see tlb_row.h. */
#include "tlb_row.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cpus.h"
#include "fs.h"
#include "interrupts.h"
#include "spin.h"

#define FLUSHES	 64
#define LIMIT_NS (5 * NS_PER_S)

/* ---- what the row holds ---- */

static bool is_zero(const struct interrupts *table)
{
	const struct interrupts_row *row = interrupts_find(table, "TLB");

	if (!row || row->count < 2)
		return false;
	for (unsigned int i = 0; i < row->count; i++)
		if (row->counts[i])
			return false;
	return true;
}

static bool row_is_zero(const char *root)
{
	struct interrupts *table;
	size_t length;
	char *text;
	bool zero;
	int err;

	if (fs_read(root, "/proc/interrupts", &text, &length))
		return false;
	err = interrupts_parse(text, length, &table);
	free(text);
	if (err)
		return false;
	zero = is_zero(table);
	interrupts_free(table);
	return zero;
}

bool tlb_row_is_dead(const char *root, const unsigned int cpus[2],
		     int (*provoke)(const unsigned int cpus[2]))
{
	return provoke && row_is_zero(root) && !provoke(cpus) && row_is_zero(root);
}

/* ---- flushes ---- */

struct other {
	unsigned int cpu;
	_Atomic unsigned long turns;
};

static int go_to(unsigned int cpu)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int err = !cpus || hwloc_bitmap_only(cpus, cpu) ? -ENOMEM : cpus_set_affinity(cpus);

	hwloc_bitmap_free(cpus);
	return err;
}

static void *run_there(void *argument)
{
	struct other *other = argument;

	while (!go_to(other->cpu))
		for (;;) {
			atomic_fetch_add(&other->turns, 1);
			spin_pause();
		}
	return NULL;
}

/* Whether it ran just now, so that its CPU has to be told. */
static bool await_turn(struct other *other, uint64_t deadline_ns)
{
	unsigned long before = atomic_load(&other->turns);

	while (atomic_load(&other->turns) == before) {
		if (monotonic_ns() > deadline_ns)
			return false;
		spin_pause();
	}
	return true;
}

/* In a child; its exit status. */
static int flush(const unsigned int cpus[2])
{
	uint64_t deadline_ns = monotonic_ns() + LIMIT_NS;
	struct other other = { .cpu = cpus[1] };
	size_t bytes = sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
	pthread_t thread;
	int err;

	if (page == MAP_FAILED)
		return errno;
	err = pthread_create(&thread, NULL, run_there, &other);
	if (!err)
		err = -go_to(cpus[0]);
	for (unsigned int i = 0; !err && i < FLUSHES; i++) {
		*page = 1;
		if (!await_turn(&other, deadline_ns))
			err = ETIMEDOUT;
		else if (madvise((void *)page, bytes, MADV_DONTNEED))
			err = errno;
	}
	return err;
}

int tlb_row_provoke(const unsigned int cpus[2])
{
	pid_t parent = getpid(), child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? flush(cpus) : ECHILD);
	}
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}
