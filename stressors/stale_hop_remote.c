// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of stale-hop in which the subject stays on its CPU, in user mode, and its
 * pages are changed from outside, on a CPU that never ran its mm: memory access by
 * another process, a file that is cut, pages that are moved to another node.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/nodes.h"
#include "placement.h"
#include "stale_hop.h"

uintptr_t hop_remote_page(const struct hop *hop, size_t index)
{
	return atomic_load(&hop->common->base) + (hop->span.first + index) * hop->page_bytes;
}

/* ---- another process's hand in the memory ---- */

/* Each writes one word to the subject's memory; 0 or a negative errno. */
static int write_by_vm(struct hop *hop, uintptr_t address, uint64_t word)
{
	struct iovec here = { &word, sizeof(word) }, there = { (void *)address, sizeof(word) };

	return process_vm_writev(hop->common->subject, &here, 1, &there, 1, 0) == sizeof(word)
		       ? 0
		       : -errno;
}

static int write_by_file(struct hop *hop, uintptr_t address, uint64_t word)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)hop->common->subject);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = pwrite(fd, &word, sizeof(word), address) == sizeof(word) ? 0 : -errno;
	close(fd);
	return rc;
}

static int write_by_ptrace(struct hop *hop, uintptr_t address, uint64_t word)
{
	int status, rc;

	if (ptrace(PTRACE_SEIZE, hop->common->subject, NULL, NULL))
		return -errno;
	rc = ptrace(PTRACE_INTERRUPT, hop->common->subject, NULL, NULL) ? -errno : 0;
	if (!rc && waitpid(hop->common->subject, &status, 0) != hop->common->subject)
		rc = -errno;
	if (!rc && ptrace(PTRACE_POKEDATA, hop->common->subject, (void *)address, (void *)word))
		rc = -errno;
	if (ptrace(PTRACE_DETACH, hop->common->subject, NULL, NULL) && !rc)
		rc = -errno;
	return rc;
}

static int (*const writers[])(struct hop *hop, uintptr_t address, uint64_t word) = {
	write_by_vm,
	write_by_file,
	write_by_ptrace,
};
#define WRITERS (sizeof(writers) / sizeof(writers[0]))

/* A way that there is not, or that is forbidden, gives place to the next. */
static int write_word(struct hop *hop, unsigned int way, uintptr_t address, uint64_t word)
{
	int rc = -ENOSYS;

	for (unsigned int i = 0; rc && i < WRITERS; i++)
		rc = writers[(way + i) % WRITERS](hop, address, word);
	return rc;
}

int hop_access_possible(struct hop *hop, char *reason, size_t size)
{
	static uint64_t word;
	pid_t child = fork();
	int rc;

	if (!child)
		for (;;)
			pause();
	atomic_store(&hop->common->subject, child);
	rc = child < 0 ? -errno : write_word(hop, 0, (uintptr_t)&word, 1);
	snprintf(reason, size,
		 "needs a kernel that lets a process write to its child's memory (see "
		 "kernel.yama.ptrace_scope): %s",
		 strerror(-rc));
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return rc != 0;
}

int hop_write_remote(struct hop *hop, unsigned int way)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < hop->span.count; i++)
		rc = write_word(hop, way, hop_remote_page(hop, i),
				hop_word(hop->span.first + i, hop->span.version + 1));
	hop->common->span.inside = EXPECT_NEW;
	return rc ? hop_broken(hop, "cannot write to the subject's memory: %s", strerror(-rc)) : 0;
}

int hop_conduct_access(struct hop *hop)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = hop_write_remote(hop, i);
		atomic_fetch_add(&hop_tally(hop)->effects, hop->span.count);
		hop_answer(hop);
	}
	return rc;
}

/* ---- a file that is cut ---- */

static int open_memory_file(void)
{
	int fd = memfd_create("shootdown", MFD_CLOEXEC);

	return fd >= 0 ? fd : open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int hop_file_possible(struct hop *hop, char *reason, size_t size)
{
	hop->file = open_memory_file();
	if (hop->file >= 0 && !ftruncate(hop->file, hop->pages * hop->page_bytes))
		return 0;
	if (hop->file >= 0)
		close(hop->file);
	snprintf(reason, size,
		 "needs a file in memory (memfd_create(), or a tmpfs at /dev/shm): %s",
		 strerror(errno));
	return 1;
}

int hop_write_file(struct hop *hop)
{
	for (size_t i = 0; i < hop->span.count; i++) {
		size_t page = hop->span.first + i;
		uint64_t word = hop_word(page, hop->span.version + 1);

		if (pwrite(hop->file, &word, sizeof(word), page * hop->page_bytes) != sizeof(word))
			return hop_broken(hop, "cannot write to the file: %s", strerror(errno));
	}
	return 0;
}

void hop_file_release(struct hop *hop)
{
	close(hop->file);
}

static int punch(struct hop *hop)
{
	if (fallocate(hop->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      hop->span.first * hop->page_bytes, hop_span_bytes(hop)))
		return hop_broken(hop, "cannot punch a hole: %s", strerror(errno));
	hop_refill(hop);
	hop->common->span.inside = EXPECT_NEW;
	return hop_write_file(hop);
}

/* All from the span's first page on, which then is a hole. */
static int cut(struct hop *hop)
{
	hop->span.count = hop->pages - hop->span.first;
	if (ftruncate(hop->file, hop->span.first * hop->page_bytes))
		return hop_broken(hop, "cannot cut the file: %s", strerror(errno));
	hop_refill(hop);
	if (ftruncate(hop->file, hop->pages * hop->page_bytes))
		return hop_broken(hop, "cannot make the file long again: %s", strerror(errno));
	hop->common->span.count = hop->span.count;
	hop->common->span.inside = EXPECT_ZERO;
	return 0;
}

int hop_conduct_truncate(struct hop *hop)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = i % 2 ? cut(hop) : punch(hop);
		atomic_fetch_add(&hop_tally(hop)->effects, hop->span.count);
		hop_answer(hop);
	}
	return rc;
}

/* ---- pages that are moved ---- */

/* A node with memory that is not this one; -1: none. */
static int other_node(int node)
{
	struct nodes *nodes;
	int found = -1;

	if (nodes_read("", &nodes))
		return -1;
	for (unsigned int i = 0; i < nodes->count && found < 0; i++)
		if (nodes->list[i].allowed && nodes->list[i].memory_bytes &&
		    (int)nodes->list[i].number != node)
			found = nodes->list[i].number;
	nodes_free(nodes);
	return found;
}

int hop_migrate_possible(struct hop *hop, char *reason, size_t size)
{
	int first = other_node(-1);

	(void)hop;
	snprintf(reason, size, "needs two NUMA nodes with memory (a guest has them with --numa 2)");
	return first < 0 || other_node(first) < 0;
}

static int migrate_span(struct hop *hop)
{
	void **pages = calloc(hop->span.count, sizeof(*pages));
	int *places = calloc(hop->span.count, 2 * sizeof(*places)), *wanted = NULL, rc = 0;
	uint64_t moved = 0;

	if (!pages || !places) {
		rc = hop_broken(hop, "no memory");
		goto free_arrays;
	}
	wanted = places + hop->span.count;
	for (size_t i = 0; i < hop->span.count; i++)
		pages[i] = (void *)hop_remote_page(hop, i);
	if (placement_move(hop->common->subject, hop->span.count, pages, NULL, places, 0))
		rc = hop_broken(hop, "move_pages() does not tell where pages are: %s",
				strerror(errno));
	for (size_t i = 0; !rc && i < hop->span.count; i++)
		wanted[i] = other_node(places[0]);
	if (!rc && placement_move(hop->common->subject, hop->span.count, pages, wanted, places,
				  MPOL_MF_MOVE) < 0)
		rc = hop_broken(hop, "move_pages(): %s", strerror(errno));
	for (size_t i = 0; !rc && i < hop->span.count; i++)
		moved += places[i] == wanted[i];
	atomic_fetch_add(&hop_tally(hop)->effects, moved);
free_arrays:
	free(places);
	free(pages);
	return rc;
}

int hop_conduct_migrate(struct hop *hop)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < hop->hops; i++) {
		rc = hop_await_load(hop);
		if (!rc)
			rc = migrate_span(hop);
		if (!rc)
			rc = hop_write_remote(hop, 0);
		hop_answer(hop);
	}
	return rc;
}
