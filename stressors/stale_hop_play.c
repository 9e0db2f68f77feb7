// SPDX-License-Identifier: GPL-2.0-only
/* How a case of stale-hop is played, and what all cases use. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stale_hop.h"

#define SPARE_WORD 0xa5a5a5a5a5a5a5a5ULL /* in no page that is looked at */

int hop_broken(struct hop *hop, const char *format, ...)
{
	char words[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	return task_say(hop->task, OUTCOME_BROKEN, "%s: %s", hop->what->name, words);
}

int hop_judge_end(struct hop *hop, const char *who, int status)
{
	static const int of_memory[] = { SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP, 0 };

	for (const int *number = of_memory; *number; number++)
		if (WIFSIGNALED(status) && WTERMSIG(status) == *number)
			return task_say(
				hop->task, OUTCOME_FAIL,
				"%s: the %s was killed by signal %d (%s): its memory is not "
				"what it was",
				hop->what->name, who, *number, strsignal(*number));
	return status ? hop_broken(hop, "the %s ended with status %#x", who, status) : 0;
}

/* The call: what the C library keeps is the parent's in a child that shares its memory. */
static int here(void)
{
	unsigned int cpu;

	return syscall(SYS_getcpu, &cpu, NULL, NULL) ? -1 : (int)cpu;
}

int hop_go(struct hop *hop, unsigned int cpu)
{
	int rc = task_pin(cpu);

	if (rc)
		return hop_broken(hop, "cannot run on CPU %u: %s", cpu, strerror(-rc));
	if (here() != (int)cpu)
		return hop_broken(hop, "was put on CPU %u and is on CPU %d", cpu, here());
	return 0;
}

int hop_map(struct hop *hop)
{
	size_t bytes = hop->pages * hop->page_bytes;
	bool file = hop->what->file;

	hop->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file ? hop->file : -1, 0);
	hop->spare = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hop->away = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (hop->base == MAP_FAILED || hop->spare == MAP_FAILED || hop->away == MAP_FAILED)
		return hop_broken(hop, "cannot map %zu pages: %s", hop->pages, strerror(errno));
	atomic_store(&hop->common->base, (uintptr_t)hop->base);
	return 0;
}

void hop_begin(struct hop *hop)
{
	madvise(hop->spare, hop->pages * hop->page_bytes, MADV_DONTNEED);
	hop->span.count = 1 + rand_r(&hop->seed) % hop->pages;
	hop->span.first = rand_r(&hop->seed) % (hop->pages - hop->span.count + 1);
	hop->span.version += 2;
}

static void write_page(struct hop *hop, size_t page, uint32_t version)
{
	*(volatile uint64_t *)hop_page(hop, page) = hop_word(page, version);
}

void hop_write_span(struct hop *hop, uint32_t version)
{
	for (size_t i = 0; i < hop->span.count; i++)
		write_page(hop, hop->span.first + i, version);
}

void hop_write_all(struct hop *hop, uint32_t version)
{
	for (size_t page = 0; page < hop->pages; page++)
		write_page(hop, page, version);
}

void hop_refill(struct hop *hop)
{
	for (size_t page = 0; page < hop->pages; page++)
		*(volatile uint64_t *)(hop->spare + page * hop->page_bytes) = SPARE_WORD;
}

/* ---- looking ---- */

static void note(struct hop *hop, const void *address, uint64_t expected, uint64_t found,
		 const char *what)
{
	struct hop_common *common = hop->common;

	atomic_fetch_add(&hop_tally(hop)->stale, 1);
	if (atomic_exchange(&common->found_any, true))
		return;
	common->first = (struct hop_finding){
		.index = hop->index,
		.cpu = here(),
		.address = (uintptr_t)address,
		.expected = expected,
		.found = found,
		.what = what,
	};
}

void hop_judge(struct hop *hop, const void *address, uint64_t expected, uint64_t found)
{
	atomic_fetch_add(&hop_tally(hop)->checks, 1);
	if (found != expected)
		note(hop, address, expected, found, "read");
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(after_fault, 1);
}

bool hop_faults(unsigned char *page, bool write)
{
	struct sigaction action = { .sa_handler = on_fault }, kept[2];
	volatile uint64_t *word = (volatile uint64_t *)page;
	volatile bool faulted = true;
	uint64_t value;

	sigaction(SIGSEGV, &action, &kept[0]);
	sigaction(SIGBUS, &action, &kept[1]);
	if (!sigsetjmp(after_fault, 1)) {
		value = *word;
		if (write)
			*word = value;
		faulted = false;
	}
	sigaction(SIGSEGV, &kept[0], NULL);
	sigaction(SIGBUS, &kept[1], NULL);
	return faulted;
}

static void look_for_fault(struct hop *hop, size_t page, bool write)
{
	unsigned char *address = hop_page(hop, page);

	atomic_fetch_add(&hop_tally(hop)->checks, 1);
	if (!hop_faults(address, write))
		note(hop, address, 0, 0,
		     write ? "wrote where a write must fault" : "read where a read must fault");
}

static void look_inside(struct hop *hop, size_t page)
{
	const struct hop_span *span = &hop->span;
	const uint64_t expected[] = {
		[EXPECT_SAME] = hop_word(page, span->version),
		[EXPECT_NEW] = hop_word(page, span->version + 1),
		[EXPECT_ZERO] = 0,
		[EXPECT_WRITE_FAULT] = hop_word(page, span->version),
	};

	if (span->inside == EXPECT_READ_FAULT) {
		look_for_fault(hop, page, false);
		return;
	}
	hop_judge(hop, hop_page(hop, page), expected[span->inside],
		  *(volatile uint64_t *)hop_page(hop, page));
	if (span->inside == EXPECT_WRITE_FAULT)
		look_for_fault(hop, page, true);
}

void hop_look(struct hop *hop)
{
	for (size_t page = 0; page < hop->pages; page++)
		if (page >= hop->span.first && page < hop->span.first + hop->span.count)
			look_inside(hop, page);
		else
			hop_judge(hop, hop_page(hop, page), hop_word(page, hop->span.version),
				  *(volatile uint64_t *)hop_page(hop, page));
}

/* ---- playing ---- */

static int call(int (*step)(struct hop *hop), struct hop *hop)
{
	return step ? step(hop) : 0;
}

/* Translations of all pages, writable ones; or of the span for reading, of zero pages. */
static int load(struct hop *hop)
{
	unsigned char *start = hop_page(hop, hop->span.first);
	int rc = call(hop->what->ready, hop);

	if (rc)
		return rc;
	hop_write_all(hop, hop->span.version);
	hop->span.inside = EXPECT_SAME;
	if (hop->what->zero_pages) {
		if (madvise(start, hop_span_bytes(hop), MADV_DONTNEED))
			return hop_broken(hop, "MADV_DONTNEED: %s", strerror(errno));
		hop->span.inside = EXPECT_ZERO;
	}
	hop_look(hop);
	return 0;
}

static int play(struct hop *hop)
{
	const struct hop_case *what = hop->what;
	int rc = hop_go(hop, hop->a);

	if (rc)
		return rc;
	hop_begin(hop);
	rc = load(hop);
	if (!rc && !what->stay)
		rc = hop_go(hop, hop->b);
	if (!rc)
		rc = what->make(hop);
	if (!rc && !what->stay)
		rc = hop_go(hop, hop->a);
	if (!rc)
		rc = call(what->after, hop);
	if (rc)
		return rc;
	atomic_fetch_add(&hop_tally(hop)->effects, hop->span.count);
	hop_look(hop);
	return call(what->settle, hop);
}

/* Every other hop goes the other way: the CPU that invalidated has loaded then. */
int hop_live(struct hop *hop)
{
	int rc = hop_map(hop);

	for (hop->number = 0; !rc && hop->number < hop->hops; hop->number++) {
		unsigned int a = hop->a;

		rc = play(hop);
		if (hop->what->stay)
			continue;
		hop->a = hop->b;
		hop->b = a;
	}
	return rc;
}

int hop_live_conducted(struct hop *hop)
{
	struct hop_common *common = hop->common;
	int rc = hop_map(hop);

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		hop_begin(hop);
		rc = load(hop);
		if (rc)
			break;
		common->span = hop->span;
		atomic_store(&common->step, 2 * i + 1);
		while (atomic_load(&common->step) == 2 * i + 1)
			spin_pause();
		hop->span = common->span;
		hop_look(hop);
	}
	return rc;
}

/* -ESRCH: the subject ended; why, the end of its life tells. */
int hop_await_load(struct hop *hop)
{
	uint32_t step;
	siginfo_t ended = { 0 };

	while (!((step = atomic_load(&hop->common->step)) & 1)) {
		if (waitid(P_PID, hop->parent, &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid)
			return -ESRCH;
		usleep(100);
	}
	madvise(hop->spare, hop->pages * hop->page_bytes, MADV_DONTNEED);
	hop->span = hop->common->span;
	return 0;
}

void hop_answer(struct hop *hop)
{
	uint32_t step = atomic_load(&hop->common->step);

	if (step & 1)
		atomic_store(&hop->common->step, step + 1);
}
