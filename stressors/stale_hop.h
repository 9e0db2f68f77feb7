/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the cases of stale-hop share. A case is played by two processes: the
 * subject, in a fresh mm that has run on CPU a only, and the conductor (the
 * target). The subject loads translations on CPU a, somebody invalidates them on
 * another CPU, the subject looks again on CPU a.
 */
#ifndef SHOOTDOWN_STALE_HOP_H
#define SHOOTDOWN_STALE_HOP_H

#include <stdatomic.h>
#include <stddef.h>

#include "stressor.h"

#define HOP_CASES_MAX 24

/* What an access within the span must give; outside it, what was written last. */
enum hop_expect {
	EXPECT_SAME,	    /* the word of the version */
	EXPECT_NEW,	    /* the word of the next version */
	EXPECT_ZERO,	    /* a fresh page */
	EXPECT_READ_FAULT,  /* no access at all */
	EXPECT_WRITE_FAULT, /* EXPECT_SAME, and no write */
};

struct hop_tally {
	_Atomic uint64_t checks, stale;
	_Atomic uint64_t effects; /* pages that were really invalidated */
};

struct hop_finding {
	unsigned int index, cpu; /* the case, and who looked */
	uint64_t address, expected, found;
	const char *what; /* of static storage: the same in every process */
};

/* Pages [first, first + count) and what they hold; the same for subject and conductor. */
struct hop_span {
	size_t first, count;
	uint32_t version;
	enum hop_expect inside;
};

/* Memory of all processes of a repetition. */
struct hop_common {
	_Atomic uint32_t step;	   /* whose turn it is */
	_Atomic uint64_t sequence; /* of the watched pages: 2 x version, odd while they change */
	_Atomic uint64_t turns;	   /* of the watching thread */
	_Atomic bool stop;
	_Atomic uintptr_t base; /* of the subject's pages */
	_Atomic int subject;	/* its process */
	_Atomic int status;	/* with which it ended, as waitpid() has it */
	struct hop_span span;
	struct hop_tally tallies[HOP_CASES_MAX];
	bool ran[HOP_CASES_MAX];
	_Atomic bool found_any;
	struct hop_finding first;
};

/* Each process has its own, a copy of the conductor's. */
struct hop {
	struct task *task;
	struct hop_common *common;
	const struct hop_case *what;
	unsigned int index;	   /* of the case */
	unsigned int home, a, b;   /* CPUs: the conductor's; loading and looking; invalidating */
	unsigned int seed;	   /* of the next choice */
	unsigned int hops, number; /* of this subject; which of them this is */
	unsigned int subjects;	   /* of this case so far */
	size_t pages, page_bytes;
	struct hop_span span;
	unsigned char *base;
	unsigned char *spare;  /* as many pages, to take freed frames for */
	unsigned char *away;   /* where mremap takes pages to */
	unsigned char *filler; /* what hop_scatter() took the pages among */
	unsigned char *stack;  /* of children in the same mm */
	int file;	       /* a file in memory */
	pid_t parent;	       /* of the subject; the conductor's */
	pid_t child;	       /* the subject's */
};

/* 0 or a negative errno, after task_say(). */
struct hop_case {
	const char *name, *metric;
	/* in the conductor; 1: it cannot be run here, reason is filled */
	int (*possible)(struct hop *hop, char *reason, size_t size);
	void (*release)(struct hop *hop); /* what possible() took; NULL: nothing */
	int (*live)(struct hop *hop);	  /* the subject's whole life */
	int (*conduct)(struct hop *hop);  /* what the conductor does meanwhile; NULL: nothing */
	int (*ready)(struct hop *hop);	  /* in the subject, before pages are loaded; may be NULL */
	/* of hop_live(): on CPU b; then back on CPU a, before and after the look; may be NULL */
	int (*make)(struct hop *hop);
	int (*after)(struct hop *hop);
	int (*settle)(struct hop *hop);
	bool chance;	 /* whether it has an effect depends on the machine */
	bool stay;	 /* hop_live(): make() sees to it that another CPU invalidates */
	bool zero_pages; /* hop_live(): the span is loaded as pages that were only read */
	bool file;	 /* the pages are those of hop->file, shared */
};

extern const struct hop_case hop_cases[]; /* name NULL at the end */

/* The subject's life in most cases: load, invalidate elsewhere, look; hops times. */
int hop_live(struct hop *hop);
/* The same when the conductor invalidates; hop_await_load() and hop_answer() are its side. */
int hop_live_conducted(struct hop *hop);
int hop_await_load(struct hop *hop);
void hop_answer(struct hop *hop);

/* stale_hop_moves.c, _threads.c, _remote.c, _frames.c and _uring.c: what the table of cases names
 */
int hop_discard(struct hop *hop);
int hop_protect(struct hop *hop);
int hop_unprotect(struct hop *hop);
int hop_remap(struct hop *hop);
int hop_take_away(struct hop *hop);
int hop_bring_back(struct hop *hop);
int hop_break_cow(struct hop *hop);
int hop_end_child(struct hop *hop);
int hop_fork(struct hop *hop);
int hop_write_after_fork(struct hop *hop);
int hop_ask_child(struct hop *hop);
int hop_live_threads(struct hop *hop);
int hop_live_late_thread(struct hop *hop);
int hop_late_child(struct hop *hop);
int hop_live_rollover(struct hop *hop);
int hop_conduct_rollover(struct hop *hop);
uintptr_t hop_remote_page(const struct hop *hop, size_t index); /* of the span, its address */
int hop_write_remote(struct hop *hop, unsigned int way);	/* the next version, to the span */
int hop_access_possible(struct hop *hop, char *reason, size_t size);
int hop_conduct_access(struct hop *hop);
int hop_uring_possible(struct hop *hop, char *reason, size_t size);
int hop_uring(struct hop *hop);
int hop_uring_end(struct hop *hop);
int hop_file_possible(struct hop *hop, char *reason, size_t size);
void hop_file_release(struct hop *hop);
int hop_write_file(struct hop *hop); /* the next version's words, at the span's place */
int hop_conduct_truncate(struct hop *hop);
int hop_migrate_possible(struct hop *hop, char *reason, size_t size);
int hop_conduct_migrate(struct hop *hop);
int hop_make_small(struct hop *hop);
int hop_collapse_possible(struct hop *hop, char *reason, size_t size);
int hop_conduct_collapse(struct hop *hop);
int hop_compact_possible(struct hop *hop, char *reason, size_t size);
int hop_scatter(struct hop *hop);
int hop_conduct_compact(struct hop *hop);

/* ---- tools ---- */

/* What a page holds: its number, and a version that only grows. */
static inline uint64_t hop_word(size_t page, uint32_t version)
{
	return (uint64_t)(page + 1) << 32 | version;
}

static inline unsigned char *hop_page(const struct hop *hop, size_t page)
{
	return hop->base + page * hop->page_bytes;
}

static inline struct hop_tally *hop_tally(const struct hop *hop)
{
	return &hop->common->tallies[hop->index];
}

static inline size_t hop_span_bytes(const struct hop *hop)
{
	return hop->span.count * hop->page_bytes;
}

/* Broken, in words; returns -ECANCELED. */
__attribute__((format(printf, 2, 3))) int hop_broken(struct hop *hop, const char *format, ...);

/*
 * What a process ended with, as waitpid() has it. A signal that bad memory leads to is
 * the kernel's failure: on a right one nothing here crashes. 0 when it ended well.
 */
int hop_judge_end(struct hop *hop, const char *who, int status);

/* Moves the calling thread there and makes sure that it is there. */
int hop_go(struct hop *hop, unsigned int cpu);

/* Maps base and spare in the calling process. */
int hop_map(struct hop *hop);

/* Gives the spare frames back and chooses the next span; no page changes. */
void hop_begin(struct hop *hop);

/* Writes the word of a version to pages of the span. */
void hop_write_span(struct hop *hop, uint32_t version);
/* The same to all pages. */
void hop_write_all(struct hop *hop, uint32_t version);

/* Takes freed frames on this CPU and fills them with what no page ever holds. */
void hop_refill(struct hop *hop);

/* One access that was checked; found is noted as stale when it is not what was expected. */
void hop_judge(struct hop *hop, const void *address, uint64_t expected, uint64_t found);

/* Reads one page; true: that was a fault. With write it also writes the word it found. */
bool hop_faults(unsigned char *page, bool write);

/* Looks at every page as the span says. */
void hop_look(struct hop *hop);

#endif
