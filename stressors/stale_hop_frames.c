// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of stale-hop in which the kernel moves the subject's pages within one node:
 * collapse into a huge page, asked for by another process, and compaction. The
 * subject stays on its CPU, in user mode; both run on a CPU that never ran its mm.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "stale_hop.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define HUGE_BYTES_MAX (32UL << 20) /* what is larger costs too much memory */

/* ---- collapse ---- */

/* Bytes of a huge page that one entry maps; 0: none of a size to use. */
static size_t huge_bytes(void)
{
	unsigned long long bytes;

	if (fs_read_u64("", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes))
		return 0;
	return bytes <= HUGE_BYTES_MAX ? bytes : 0;
}

int hop_collapse_possible(struct hop *hop, char *reason, size_t size)
{
	size_t bytes = huge_bytes();

	snprintf(reason, size,
		 "needs root, process_madvise() and huge pages of at most 32 MiB, and no more "
		 "pages than one has");
	return geteuid() || !bytes || hop->pages * hop->page_bytes > bytes;
}

/*
 * Base goes to a place that one huge page can take, whose pages are small for now;
 * then huge ones are allowed, which is inherited by nobody: a process's own flag.
 */
int hop_make_small(struct hop *hop)
{
	size_t bytes = huge_bytes();
	uintptr_t start;

	if (!hop->filler) {
		hop->filler = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (hop->filler == MAP_FAILED)
			return hop_broken(hop, "cannot map %zu bytes: %s", 2 * bytes,
					  strerror(errno));
		start = ((uintptr_t)hop->filler + bytes - 1) & ~(bytes - 1);
		hop->base = (unsigned char *)start;
		atomic_store(&hop->common->base, start);
	}
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	madvise(hop->base, bytes, MADV_DONTNEED);
	hop_write_all(hop, hop->span.version);
	if (prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0))
		return hop_broken(hop, "cannot allow huge pages: %s", strerror(errno));
	return 0;
}

static int collapse(struct hop *hop)
{
	size_t bytes = huge_bytes();
	struct iovec range = { (void *)atomic_load(&hop->common->base), bytes };
	int fd = syscall(SYS_pidfd_open, hop->common->subject, 0), rc = 0;

	if (fd < 0)
		return hop_broken(hop, "cannot open the subject: %s", strerror(errno));
	if (syscall(SYS_process_madvise, fd, &range, 1, MADV_COLLAPSE, 0) != (long)bytes)
		rc = hop_broken(hop, "the pages cannot be collapsed (MADV_COLLAPSE, Linux 6.1): %s",
				strerror(errno));
	else
		atomic_fetch_add(&hop_tally(hop)->effects, hop->pages);
	close(fd);
	return rc;
}

int hop_conduct_collapse(struct hop *hop)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = collapse(hop);
		if (!rc)
			rc = hop_write_remote(hop, 0);
		hop_answer(hop);
	}
	return rc;
}

/* ---- compaction ---- */

#define COMPACT_PATH "/proc/sys/vm/compact_memory"

#define FILLER_PAGES 2048

int hop_compact_possible(struct hop *hop, char *reason, size_t size)
{
	(void)hop;
	snprintf(reason, size, "needs root and compaction (" COMPACT_PATH ")");
	return geteuid() || access(COMPACT_PATH, W_OK);
}

/*
 * Compaction moves pages to free frames at higher addresses, and not to those of
 * blocks that are free as a whole (suitable_migration_target() in mm/compaction.c).
 * So the pages are taken among others, every second of which is given back.
 */
int hop_scatter(struct hop *hop)
{
	size_t each = FILLER_PAGES / hop->pages + 1, bytes = hop->pages * each * hop->page_bytes;
	unsigned char *filler = hop->filler;

	if (!filler)
		filler = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	if (filler == MAP_FAILED)
		return hop_broken(hop, "cannot map %zu bytes: %s", bytes, strerror(errno));
	hop->filler = filler;
	madvise(filler, bytes, MADV_DONTNEED);
	madvise(hop->base, hop->pages * hop->page_bytes, MADV_DONTNEED);
	for (size_t page = 0; page < hop->pages; page++) {
		*(volatile unsigned char *)hop_page(hop, page) = 1;
		for (size_t i = 0; i < each; i++)
			filler[(page * each + i) * hop->page_bytes] = 1;
	}
	for (size_t i = 0; i < hop->pages * each; i += 2)
		madvise(filler + i * hop->page_bytes, hop->page_bytes, MADV_DONTNEED);
	return 0;
}

/* The frames of the subject's span; frames[i] is 0 for a page that has none. */
static int read_frames(struct hop *hop, uint64_t *frames)
{
	ssize_t bytes = hop->span.count * sizeof(*frames);
	char path[64];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)hop->common->subject);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, frames, bytes, hop_remote_page(hop, 0) / hop->page_bytes * sizeof(*frames)) !=
	    bytes)
		rc = -EIO;
	close(fd);
	for (size_t i = 0; i < hop->span.count; i++)
		frames[i] &= (1ULL << 55) - 1;
	return rc;
}

static int compact(struct hop *hop, uint64_t *before, uint64_t *after)
{
	uint64_t moved = 0;
	int rc = read_frames(hop, before);

	if (!rc)
		rc = fs_write("", COMPACT_PATH, "1");
	if (!rc)
		rc = read_frames(hop, after);
	if (rc)
		return hop_broken(hop, "cannot compact memory and see it: %s", strerror(-rc));
	for (size_t i = 0; i < hop->span.count; i++)
		moved += before[i] != after[i];
	atomic_fetch_add(&hop_tally(hop)->effects, moved);
	hop_refill(hop);
	return 0;
}

int hop_conduct_compact(struct hop *hop)
{
	uint64_t *frames = calloc(hop->pages, 2 * sizeof(*frames));
	int rc = frames ? 0 : hop_broken(hop, "no memory");

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = compact(hop, frames, frames + hop->pages);
		if (!rc)
			rc = hop_write_remote(hop, 0);
		hop_answer(hop);
	}
	free(frames);
	return rc;
}
