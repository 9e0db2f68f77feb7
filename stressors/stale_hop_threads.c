// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of stale-hop in which a mm is on two CPUs: one thread looks at the pages
 * all the time and never leaves user mode but for faults, another one replaces
 * them. The pages have one sequence number: odd while they change, else twice the
 * version that all of them hold. Who read an even number, a word and the same
 * number again must have read that version.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stale_hop.h"

#define ALONE_FACTOR 16 /* changes by a mm that has one thread yet, for one by two threads */
#define CHILD_STACK  (64 * 1024)

/* ---- who looks ---- */

static void watch_page(struct hop *hop, size_t page)
{
	struct hop_common *common = hop->common;
	uint64_t before = atomic_load_explicit(&common->sequence, memory_order_acquire), found;

	if (before & 1)
		return;
	found = *(volatile uint64_t *)hop_page(hop, page);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&common->sequence, memory_order_relaxed) == before)
		hop_judge(hop, hop_page(hop, page), hop_word(page, before / 2), found);
}

static void watch(struct hop *hop)
{
	while (!atomic_load_explicit(&hop->common->stop, memory_order_relaxed)) {
		for (size_t page = 0; page < hop->pages; page++)
			watch_page(hop, page);
		atomic_fetch_add(&hop->common->turns, 1);
		spin_pause();
	}
}

/* Two whole turns: what the watcher saw in the second one began after the call. */
static void await_watcher(const struct hop *hop)
{
	uint64_t before = atomic_load(&hop->common->turns);

	while (atomic_load(&hop->common->turns) < before + 2)
		spin_pause();
}

/* ---- who changes the pages ---- */

/* Unmapped pages would kill the watcher; a mapping put over them is one step. */
static int replace(struct hop *hop)
{
	unsigned char *start = hop_page(hop, hop->span.first);
	bool discard = hop->number % 2;

	if (discard && madvise(start, hop_span_bytes(hop), MADV_DONTNEED))
		return hop_broken(hop, "MADV_DONTNEED: %s", strerror(errno));
	if (!discard && mmap(start, hop_span_bytes(hop), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != start)
		return hop_broken(hop, "mmap over the pages: %s", strerror(errno));
	return 0;
}

/* A version of the pages, complete before it is published. */
static int change(struct hop *hop)
{
	struct hop_common *common = hop->common;
	int rc;

	hop_begin(hop);
	atomic_fetch_add(&common->sequence, 1);
	rc = replace(hop);
	if (rc)
		return rc;
	hop_refill(hop);
	hop_write_all(hop, hop->span.version);
	atomic_store(&common->sequence, 2 * (uint64_t)hop->span.version);
	atomic_fetch_add(&hop_tally(hop)->effects, hop->span.count);
	hop->number++;
	return 0;
}

static int change_watched(struct hop *hop, unsigned int times)
{
	int rc = 0;

	while (!rc && times--) {
		rc = change(hop);
		if (!rc)
			await_watcher(hop);
	}
	return rc;
}

static int prepare(struct hop *hop)
{
	int rc = hop_map(hop);

	if (rc)
		return rc;
	atomic_store(&hop->common->stop, false);
	atomic_store(&hop->common->turns, 0);
	hop_write_all(hop, hop->span.version);
	atomic_store(&hop->common->sequence, 2 * (uint64_t)hop->span.version);
	return 0;
}

static void *live_as_watcher(void *context)
{
	watch(context);
	return NULL;
}

/* The watcher stays on CPU a, where it was made; this thread goes to CPU b. */
static int start_watcher(struct hop *hop, struct hop *watcher, pthread_t *thread)
{
	int rc = prepare(hop);

	if (rc)
		return rc;
	*watcher = *hop;
	rc = pthread_create(thread, NULL, live_as_watcher, watcher);
	if (rc)
		return hop_broken(hop, "cannot start a thread: %s", strerror(rc));
	await_watcher(hop);
	return 0;
}

int hop_live_threads(struct hop *hop)
{
	struct hop watcher;
	pthread_t thread;
	int rc = start_watcher(hop, &watcher, &thread);

	if (rc)
		return rc;
	rc = hop_go(hop, hop->b);
	if (!rc)
		rc = change_watched(hop, hop->hops);
	atomic_store(&hop->common->stop, true);
	pthread_join(thread, NULL);
	return rc;
}

/* ---- a thread that comes late ---- */

struct late {
	struct hop hop;
	int rc;
};

static void *live_as_late_thread(void *context)
{
	struct late *late = context;

	late->rc = hop_go(&late->hop, late->hop.b);
	if (!late->rc)
		late->rc = change_watched(&late->hop, late->hop.hops);
	atomic_store(&late->hop.common->stop, true);
	return NULL;
}

/*
 * The mm is one thread's for long, and its invalidations are local ones. This
 * thread then does not leave CPU a any more: it finds out by its entries only that
 * there is a second CPU.
 */
int hop_live_late_thread(struct hop *hop)
{
	struct late late;
	pthread_t thread;
	int rc = prepare(hop);

	for (unsigned int i = 0; !rc && i < hop->hops * ALONE_FACTOR; i++)
		rc = change(hop);
	if (rc)
		return rc;
	late.hop = *hop;
	rc = pthread_create(&thread, NULL, live_as_late_thread, &late);
	if (rc)
		return hop_broken(hop, "cannot start a thread: %s", strerror(rc));
	watch(hop);
	pthread_join(thread, NULL);
	return late.rc;
}

/* ---- a child in the same mm ---- */

/* Its parent sleeps until it ends or starts another program. */
static int live_as_late_child(void *context)
{
	static char *const arguments[] = { "shootdown", "--version", NULL };
	static char *const environment[] = { NULL };
	struct hop *hop = context;
	int rc = hop_go(hop, hop->b);

	if (!rc)
		rc = hop_discard(hop);
	if (rc)
		_exit(1);
	hop_write_span(hop, hop->span.version + 1);
	hop->span.inside = EXPECT_NEW;
	if (hop->number % 2)
		_exit(0);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	execve("/proc/self/exe", arguments, environment);
	_exit(1);
}

int hop_late_child(struct hop *hop)
{
	int status = 0, rc = 0;
	pid_t child;

	/* one stack for all: nothing but the pages under test is unmapped meanwhile */
	if (!hop->stack)
		hop->stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (hop->stack == MAP_FAILED)
		return hop_broken(hop, "cannot map a stack: %s", strerror(errno));
	child = clone(live_as_late_child, hop->stack + CHILD_STACK,
		      CLONE_VM | CLONE_VFORK | SIGCHLD, hop);
	if (child < 0)
		rc = hop_broken(hop, "cannot start a child in this mm: %s", strerror(errno));
	else if (waitpid(child, &status, 0) != child)
		rc = hop_broken(hop, "lost the child in this mm: %s", strerror(errno));
	else if (WIFSIGNALED(status))
		rc = hop_judge_end(hop, "child in the subject's mm", status);
	else if (hop->span.inside != EXPECT_NEW)
		rc = hop_broken(hop, "the child in this mm did not change the pages");
	return rc;
}

/* ---- address space numbers that run out ---- */

/* As hop_live_threads(), but each change waits until the conductor has used up numbers. */
int hop_live_rollover(struct hop *hop)
{
	struct hop_common *common = hop->common;
	struct hop watcher;
	pthread_t thread;
	int rc = start_watcher(hop, &watcher, &thread);

	if (rc)
		return rc;
	rc = hop_go(hop, hop->b);
	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		atomic_store(&common->step, 2 * i + 1);
		while (atomic_load(&common->step) == 2 * i + 1)
			usleep(100);
		rc = change_watched(hop, 1);
	}
	atomic_store(&common->stop, true);
	pthread_join(thread, NULL);
	return rc;
}

static int use_up(struct hop *hop, unsigned int processes)
{
	for (unsigned int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return hop_broken(hop, "cannot start process %u: %s", i, strerror(errno));
	}
	return 0;
}

int hop_conduct_rollover(struct hop *hop)
{
	unsigned int processes = task_uint(hop->task, "processes");
	int rc = 0;

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = use_up(hop, processes / hop->hops + 1);
		hop_answer(hop);
	}
	return rc;
}
