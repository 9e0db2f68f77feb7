/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of cow-snapshot: data whose every instant can be told from every other
 * (cow_snapshot_data.c), the writer that goes from instant to instant
 * (cow_snapshot_writer.c), the snapshots (cow_snapshot_maker.c), and the huge pages that
 * the data may be in (cow_snapshot_huge.c).
 */
#ifndef SHOOTDOWN_COW_SNAPSHOT_H
#define SHOOTDOWN_COW_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/latency.h"
#include "../lib/snapshot.h"
#include "stressor.h"

#define COW_SNAPSHOTS_MAX 1024
#define COW_HUGE_BYTES	  (2UL << 20) /* a huge page, where small ones have 4 KiB */

/*
 * Write number s (from 1) stores s into the first word of one page. The order visits all
 * pages in turn, in steps of `stride`, which is coprime to their number. So after k
 * writes a page holds the last of 1..k that is its own, or 0, and the words behind it
 * what they were filled with: that is the instant k, and there is no other way to hold it.
 */
struct cow_data {
	unsigned char *base;
	size_t pages, page_bytes, stride;
	uint64_t seed;
};

/* What of an image is not as its instant wants it; NULL words: nothing. */
struct cow_fault {
	const char *words;
	size_t page;
	uint64_t found, expected;
};

/* base may be NULL: an image is checked against the numbers alone. */
void cow_data_describe(struct cow_data *data, size_t pages, size_t page_bytes, uint64_t seed);
void cow_data_fill(const struct cow_data *data);

/* The page of a write. */
size_t cow_data_page(const struct cow_data *data, uint64_t write);

/*
 * Is this memory an instant of the data? True: *instant is the number of writes it
 * holds. False: *fault says the first difference to the instant of the newest write.
 */
bool cow_data_check(const struct cow_data *data, const unsigned char *image, uint64_t *instant,
		    struct cow_fault *fault);

/* ---- the writer ---- */

/* One snapshot, as parent, writer and saver note it. */
struct cow_snapshot {
	uint64_t before, after;	    /* writes that were done when fork() was called, and returned */
	uint64_t ended;		    /* writes done when the writer learnt of its end */
	uint64_t fork_ns, total_ns; /* fork(); fork() to the saver's end */
	_Atomic bool saved;	    /* the saver is about to exit */
	int error;		    /* the saver's; negative errno */
};

/* What goes on beside the writer. */
enum cow_kind {
	COW_OUT,   /* nothing */
	COW_IN,	   /* a snapshot */
	COW_ASIDE, /* what is needed for the next one, and is in no number that is reported */
	COW_KINDS,
};

/* What the writer saw of one kind. */
struct cow_phase {
	struct latency latency; /* of the writes that it held up, see cow_writer_run() */
	uint64_t writes;	/* made in it; writes and elapsed_ns give the rate */
	uint64_t faults;	/* the writer's minor page faults */
	uint64_t elapsed_ns;
};

/* struct cow_writer's current: 0 is COW_OUT, the number of a snapshot COW_IN, and: */
#define COW_CURRENT_ASIDE UINT32_MAX

enum cow_stop {
	COW_GO_ON,
	COW_FINISH, /* what is due is still written */
	COW_QUIT,   /* at once */
};

/*
 * Lives in shared memory, so that a fork does not make it copy-on-write. All that the
 * writer touches is here, in the data, or on its stack.
 */
struct cow_writer {
	struct cow_data data;
	uint64_t interval_ns;	   /* from write to write; 0: as fast as it can */
	_Atomic unsigned int stop; /* enum cow_stop */
	_Atomic unsigned int current;
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t waited_ns; /* when it last waited for a write to be due */
	struct cow_phase phases[COW_KINDS];
	struct cow_snapshot snapshots[COW_SNAPSHOTS_MAX]; /* [number - 1] */
};

/*
 * Writes until writer->stop. between (may be NULL) is called before each write with the
 * time. A write's latency is counted from when it was due; without an interval, from the
 * end of the one before. It belongs to a snapshot when the write was due or made while
 * there was one, or waited behind writes that were: until the writer has nothing to
 * catch up on. Makes no system call but getrusage() when a snapshot begins or ends.
 */
void cow_writer_run(struct cow_writer *writer, void (*between)(void *context, uint64_t now_ns),
		    void *context);

/* ---- snapshots ---- */

/* Where a run is between two snapshots. */
enum cow_stage {
	COW_CATCHING_UP, /* until the writer has no backlog */
	COW_PREPARING,	 /* from when the writer is told of it */
	COW_PREPARED,
	COW_PAUSING, /* the writer is alone, and on time at the end */
	COW_SAVING,
};

/* All of one run; private to the target. */
struct cow_state {
	struct cow_writer *writer; /* task->common */
	size_t bytes, mapped_bytes;
	unsigned int wanted, made; /* snapshots */
	enum cow_stage stage;
	uint64_t pause_ns, began_ns;
	uint64_t next_ns;		 /* when to look again */
	uint64_t looked_ns;		 /* the writer is on time when it waited since */
	uint64_t rest_ns, rest_written;	 /* when the writer was left alone, and its writes then */
	uint64_t disturbed_ns, round_ns; /* how long it was held up before, and since */
	double late_per_s;		 /* what it made then, when that was too little */
	pid_t self, saver;		 /* saver: 0 when none runs */
	unsigned int saver_cpu, writer_cpu;
	bool ring;
	size_t chunk_bytes;
	unsigned int depth;
	int *files;
	int error;	       /* of fork() or waitpid() */
	bool huge;	       /* the data is to be in huge pages when fork() is called */
	unsigned int prepared; /* number of the snapshot that it is ready for */
	uint64_t huge_bytes;   /* of the data, at the last look */
	struct snapshot smaps; /* /proc/self/smaps */
	bool threaded;
	pthread_t thread;
	_Atomic bool go;
	_Atomic int pinned; /* the thread's: 1 done, or a negative errno */
};

/* AnonHugePages of the mappings that overlap a range, in the text of /proc/PID/smaps. */
uint64_t cow_huge_bytes(const char *smaps, uintptr_t from, uintptr_t to);
/* Can pages be made huge again? MADV_COLLAPSE, Linux 6.1. */
bool cow_huge_again(void);
/* Makes the data's pages huge that are not. False when a twentieth of it is still not. */
bool cow_huge_make(struct cow_state *state);

/* The writer is left alone from now on, after it was disturbed for so long. */
void cow_rest(struct cow_state *state, uint64_t disturbed_ns);

/*
 * The next step when it is time for one (state->next_ns), as cow_writer_run() calls it in
 * a writer that forks itself. The next snapshot is begun when the writer has caught up
 * with what the last one delayed and has had its pause, and the data's pages are huge again
 * if they are to be; after the last, the writer is stopped in the same way. A writer that does not
 * catch up in some times as long as it was held up is stopped at once, with state->late_per_s; so
 * it is when fork() or waitpid() failed, with state->error, or when pages do not become huge.
 */
void cow_attend(void *context, uint64_t now_ns);

#endif
