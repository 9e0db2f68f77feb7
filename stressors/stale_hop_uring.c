// SPDX-License-Identifier: GPL-2.0-only
/*
 * The case of stale-hop in which a worker thread of io_uring copies into pages
 * that its process has loaded: the worker has the same mm and is on another CPU.
 * System calls: the ring is used for one request at a time.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stale_hop.h"

#define SPINS_BEFORE_CALL 100000 /* a completion may want its process to enter the kernel */

struct ring {
	int fd;
	unsigned char *memory;
	size_t bytes;
	struct io_uring_sqe *entry; /* the only one */
	struct io_uring_params params;
};

static struct ring the_ring; /* of a subject between hop_uring() and hop_uring_end() */

static _Atomic uint32_t *ring_word(const struct ring *ring, uint32_t offset)
{
	return (_Atomic uint32_t *)(ring->memory + offset);
}

static int open_ring(struct ring *ring)
{
	struct io_uring_params *params = &ring->params;
	int rc;

	memset(ring, 0, sizeof(*ring));
	ring->fd = syscall(SYS_io_uring_setup, 1, params);
	if (ring->fd < 0)
		return -errno;
	if (!(params->features & IORING_FEAT_SINGLE_MMAP)) {
		rc = -ENOSYS;
		goto close_ring;
	}
	ring->bytes = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
	if (ring->bytes < params->sq_off.array + sizeof(uint32_t))
		ring->bytes = params->sq_off.array + sizeof(uint32_t);
	ring->memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			    ring->fd, IORING_OFF_SQ_RING);
	ring->entry = mmap(NULL, sizeof(*ring->entry), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
	if (ring->memory != MAP_FAILED && ring->entry != MAP_FAILED)
		return 0;
	rc = -errno;
close_ring:
	close(ring->fd);
	return rc;
}

static void close_ring(struct ring *ring)
{
	munmap(ring->entry, sizeof(*ring->entry));
	munmap(ring->memory, ring->bytes);
	close(ring->fd);
}

/* Workers of this ring run on this CPU only. */
static int keep_workers_on(const struct ring *ring, unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int rc;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	rc = syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_IOWQ_AFF, set, size);
	CPU_FREE(set);
	return rc < 0 ? -errno : 0;
}

int hop_uring_possible(struct hop *hop, char *reason, size_t size)
{
	struct ring ring;
	int rc = open_ring(&ring);

	if (!rc) {
		rc = keep_workers_on(&ring, hop->b);
		close_ring(&ring);
	}
	snprintf(reason, size,
		 "needs io_uring with workers that stay on a CPU (Linux 5.14; see "
		 "kernel.io_uring_disabled): %s",
		 strerror(-rc));
	return rc ? 1 : hop_file_possible(hop, reason, size);
}

/* Reads the span from the file; a worker does it, since the request says so. */
static void fill_request(const struct hop *hop, struct ring *ring)
{
	*ring->entry = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = hop->file,
		.addr = (uintptr_t)hop_page(hop, hop->span.first),
		.len = hop_span_bytes(hop),
		.off = hop->span.first * hop->page_bytes,
	};
	*ring_word(ring, ring->params.sq_off.array) = 0;
	atomic_fetch_add(ring_word(ring, ring->params.sq_off.tail), 1);
}

/* The result of the request, which is waited for without a call if it comes soon. */
static int await_result(const struct ring *ring)
{
	_Atomic uint32_t *head = ring_word(ring, ring->params.cq_off.head);
	_Atomic uint32_t *tail = ring_word(ring, ring->params.cq_off.tail);
	const struct io_uring_cqe *entries =
		(const struct io_uring_cqe *)(ring->memory + ring->params.cq_off.cqes);
	uint32_t at = atomic_load(head), mask = ring->params.cq_entries - 1;
	int result;

	for (unsigned int i = 0; i < SPINS_BEFORE_CALL && atomic_load(tail) == at; i++)
		spin_pause();
	while (atomic_load(tail) == at)
		if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
			    0 &&
		    errno != EINTR)
			return -errno;
	result = entries[at & mask].res;
	atomic_store(head, at + 1);
	return result;
}

static int read_by_worker(struct hop *hop, struct ring *ring)
{
	long submitted;
	int result;

	fill_request(hop, ring);
	submitted = syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0);
	if (submitted != 1)
		return hop_broken(hop, "io_uring took no request: %s", strerror(errno));
	result = await_result(ring);
	if (result < 0)
		return hop_broken(hop, "io_uring: %s", strerror(-result));
	if ((size_t)result != hop_span_bytes(hop))
		return hop_broken(hop, "io_uring read %d of %zu bytes", result,
				  hop_span_bytes(hop));
	return 0;
}

int hop_uring(struct hop *hop)
{
	int rc = hop_write_file(hop);

	if (rc)
		return rc;
	rc = open_ring(&the_ring);
	if (rc)
		return hop_broken(hop, "cannot make a ring: %s", strerror(-rc));
	rc = keep_workers_on(&the_ring, hop->b);
	if (rc)
		rc = hop_broken(hop, "cannot keep workers on CPU %u: %s", hop->b, strerror(-rc));
	else
		rc = read_by_worker(hop, &the_ring);
	if (rc)
		close_ring(&the_ring);
	hop->span.inside = EXPECT_NEW;
	return rc;
}

/* Not before the look: it unmaps, which may flush more than it must. */
int hop_uring_end(struct hop *hop)
{
	(void)hop;
	close_ring(&the_ring);
	return 0;
}
