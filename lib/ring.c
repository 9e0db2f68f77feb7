// SPDX-License-Identifier: GPL-2.0-only
/* Writes through io_uring; see ring.h. */
#include "ring.h"

#include <errno.h>
#include <liburing.h>
#include <stdint.h>

int ring_probe(unsigned int depth)
{
	struct io_uring ring;
	int rc = io_uring_queue_init(depth, &ring, 0);

	if (!rc)
		io_uring_queue_exit(&ring);
	return rc;
}

struct transfer {
	struct io_uring ring;
	int file;
	const unsigned char *memory;
	size_t bytes, chunk_bytes;
	size_t next; /* where the first byte is that was not asked for yet */
	unsigned int in_flight;
};

/* A request is known by where it starts; its end is that of its chunk. */
static void queue_write(struct transfer *transfer, size_t at)
{
	size_t chunk = transfer->chunk_bytes, left = chunk - at % chunk;
	struct io_uring_sqe *entry = io_uring_get_sqe(&transfer->ring);

	if (left > transfer->bytes - at)
		left = transfer->bytes - at;
	io_uring_prep_write(entry, transfer->file, transfer->memory + at, left, at);
	io_uring_sqe_set_data(entry, (void *)(uintptr_t)at);
	transfer->in_flight++;
}

/* One request's end; what a short write left over is asked for again. */
static int take_result(struct transfer *transfer)
{
	size_t chunk = transfer->chunk_bytes, at, end;
	struct io_uring_cqe *result;
	int rc = io_uring_wait_cqe(&transfer->ring, &result), done;

	if (rc)
		return rc == -EINTR ? 0 : rc;
	at = (uintptr_t)io_uring_cqe_get_data(result);
	done = result->res;
	io_uring_cqe_seen(&transfer->ring, result);
	transfer->in_flight--;
	if (done == 0)
		return -ENOSPC;
	if (done < 0 && done != -EINTR && done != -EAGAIN)
		return done;
	end = at - at % chunk + chunk;
	if (end > transfer->bytes)
		end = transfer->bytes;
	if (done > 0)
		at += done;
	if (at < end)
		queue_write(transfer, at);
	return 0;
}

int ring_write(int file, const void *memory, size_t bytes, size_t chunk_bytes, unsigned int depth)
{
	struct transfer transfer = {
		.file = file, .memory = memory, .bytes = bytes, .chunk_bytes = chunk_bytes
	};
	int rc = io_uring_queue_init(depth, &transfer.ring, 0);

	if (rc)
		return rc;
	while (rc >= 0 && (transfer.next < bytes || transfer.in_flight)) {
		while (transfer.next < bytes && transfer.in_flight < depth) {
			queue_write(&transfer, transfer.next);
			transfer.next += chunk_bytes;
		}
		rc = io_uring_submit(&transfer.ring);
		if (rc >= 0)
			rc = take_result(&transfer);
	}
	io_uring_queue_exit(&transfer.ring);
	return rc < 0 ? rc : 0;
}
