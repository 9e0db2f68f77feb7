// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of stale-hop in which one thread goes to another CPU and changes its own
 * memory there: the calls that unmap, protect, move or replace pages. Each leaves
 * in hop->span.inside what the CPU that loaded the old translations must see.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stale_hop.h"

static unsigned char *span_start(const struct hop *hop)
{
	return hop_page(hop, hop->span.first);
}

int hop_discard(struct hop *hop)
{
	if (madvise(span_start(hop), hop_span_bytes(hop), MADV_DONTNEED))
		return hop_broken(hop, "MADV_DONTNEED: %s", strerror(errno));
	hop_refill(hop);
	hop->span.inside = EXPECT_ZERO;
	return 0;
}

int hop_protect(struct hop *hop)
{
	bool all = hop->number % 2;

	if (mprotect(span_start(hop), hop_span_bytes(hop), all ? PROT_NONE : PROT_READ))
		return hop_broken(hop, "mprotect: %s", strerror(errno));
	hop->span.inside = all ? EXPECT_READ_FAULT : EXPECT_WRITE_FAULT;
	return 0;
}

int hop_unprotect(struct hop *hop)
{
	if (mprotect(span_start(hop), hop_span_bytes(hop), PROT_READ | PROT_WRITE))
		return hop_broken(hop, "mprotect back: %s", strerror(errno));
	return 0;
}

int hop_remap(struct hop *hop)
{
	unsigned char *start = span_start(hop);

	if (munmap(start, hop_span_bytes(hop)))
		return hop_broken(hop, "munmap: %s", strerror(errno));
	hop_refill(hop);
	if (mmap(start, hop_span_bytes(hop), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != start)
		return hop_broken(hop, "mmap in the same place: %s", strerror(errno));
	hop_write_span(hop, hop->span.version + 1);
	hop->span.inside = EXPECT_NEW;
	return 0;
}

int hop_take_away(struct hop *hop)
{
	unsigned char *to = hop->away + hop->span.first * hop->page_bytes;

	if (mremap(span_start(hop), hop_span_bytes(hop), hop_span_bytes(hop),
		   MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return hop_broken(hop, "mremap: %s", strerror(errno));
	hop->span.inside = EXPECT_READ_FAULT;
	return 0;
}

/* The pages must be where they were taken; and then, after the way back, there no longer. */
int hop_bring_back(struct hop *hop)
{
	unsigned char *from = hop->away + hop->span.first * hop->page_bytes;

	for (size_t i = 0; i < hop->span.count; i++) {
		unsigned char *page = from + i * hop->page_bytes;

		hop_judge(hop, page, hop_word(hop->span.first + i, hop->span.version),
			  *(volatile uint64_t *)page);
	}
	if (mremap(from, hop_span_bytes(hop), hop_span_bytes(hop), MREMAP_MAYMOVE | MREMAP_FIXED,
		   span_start(hop)) != span_start(hop))
		return hop_broken(hop, "mremap back: %s", strerror(errno));
	if (mmap(from, hop_span_bytes(hop), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != from)
		return hop_broken(hop, "cannot keep the place that pages are moved to: %s",
				  strerror(errno));
	hop->span.inside = EXPECT_SAME;
	hop_look(hop);
	return 0;
}

/* ---- with a child that has the old frames ---- */

static void live_as_child(struct hop *hop, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	while (!atomic_load(&hop->common->step))
		usleep(100);
	hop->span.inside = EXPECT_SAME;
	hop_look(hop);
	_exit(0);
}

/* Write-protects all pages of this mm, which must reach the CPU that loaded them. */
int hop_fork(struct hop *hop)
{
	pid_t self = getpid();

	atomic_store(&hop->common->step, 0);
	hop->child = fork();
	if (!hop->child)
		live_as_child(hop, self);
	if (hop->child < 0)
		return hop_broken(hop, "cannot fork: %s", strerror(errno));
	return 0;
}

/* Through an entry that is still writable this would write into the child's pages. */
int hop_write_after_fork(struct hop *hop)
{
	hop_write_span(hop, hop->span.version + 1);
	hop->span.inside = EXPECT_NEW;
	return 0;
}

int hop_ask_child(struct hop *hop)
{
	int status = 0;

	atomic_store(&hop->common->step, 1);
	if (waitpid(hop->child, &status, 0) != hop->child)
		return hop_broken(hop, "lost the child: %s", strerror(errno));
	return hop_judge_end(hop, "child", status);
}

/* Entries for the shared frames are loaded on CPU a, then each write here replaces a page. */
int hop_break_cow(struct hop *hop)
{
	int rc = hop_fork(hop);

	if (!rc)
		rc = hop_go(hop, hop->a);
	if (rc)
		return rc;
	hop->span.inside = EXPECT_SAME;
	hop_look(hop);
	rc = hop_go(hop, hop->b);
	if (rc)
		return rc;
	hop_write_span(hop, hop->span.version + 1);
	hop->span.inside = EXPECT_NEW;
	return 0;
}

int hop_end_child(struct hop *hop)
{
	kill(hop->child, SIGKILL);
	if (waitpid(hop->child, NULL, 0) != hop->child)
		return hop_broken(hop, "lost the child: %s", strerror(errno));
	return 0;
}
