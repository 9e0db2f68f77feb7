// SPDX-License-Identifier: GPL-2.0-only
/*
 * migrate_pages() of a process whose threads keep using its memory. The driver
 * makes the call, on the control CPU, for the whole target. The target's T accessor
 * threads have a CPU each and share it with nobody; every CPU left has a neighbour,
 * and the target's main thread sleeps. So the task itself runs on T CPUs.
 *
 * How many flushes and IPIs that takes, from Linux 7.3: migrate_to_node() in
 * mm/mempolicy.c isolates all pages of the process and hands them to one
 * migrate_pages(MIGRATE_SYNC), which flushes once for each batch of 512 pages
 * (mm/migrate.c, see move_pages.c): ceil(P / 512) flushes, and one more when the
 * target's own stacks and data, some tens of pages, do not fit into the last batch.
 *
 * Each goes to every CPU but the caller's that runs a user task. The accessors'
 * CPUs may be among them or not: an accessor that meets a page in flight sleeps in
 * migration_entry_wait() until it has arrived, its CPU goes idle, and an idle CPU is
 * lazy and spared. A flush comes when all pages of a batch are unmapped, so between
 * none and all of the accessors sleep then: N-1 at most, N-1-T at least. The prediction
 * takes the middle, N-1-T/2, which for two threads is the published N-2. The fewer
 * pages there are, the sooner an accessor meets one in flight: 8,150 pages in an
 * emulated guest are near the middle, and 30,000 or 656,940 near N-1. From 20 CPUs on, with two
 * accessors, the whole range is within 6% of the middle.
 *
 * That wait is also the stall which the accessors record.
 *
 * What shows that no update was lost: each accessor has a word of its own in every page,
 * and to which page its n-th update goes follows from n alone (next_step()). So how many
 * updates it made tells how many each of its words got; with these taken back, the pages
 * must hold what they held at first. An update through a TLB entry that should have been
 * flushed goes to the page's old frame, and is missing. Only an entry that is used again
 * after its page was copied shows that, and a TLB forgets an entry within some hundred
 * or thousand other pages. So accessors go round WINDOW pages VISITS times and then the
 * next ones, and not round all pages, where every page would be the one longest unused.
 */
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "placement.h"

#define BATCH_PAGES   512 /* NR_MAX_BATCHED_MIGRATION, mm/migrate.c */
#define ACCESSORS_MAX 64
#define WORD_BYTES    64  /* each accessor has a cache line of every page */
#define GROUP	      16  /* accesses between two looks at the clock */
#define WINDOW	      64  /* pages that an accessor goes round at a time; any TLB holds them */
#define VISITS	      256 /* times that it does */
#define MASK_WORDS    64
#define AFTERWARDS    (4 * WINDOW * VISITS) /* accesses after the move: four windows */

static const char *const shared_choices[] = { "keep", "move", NULL };

static const struct option_row options[] = {
	REGION_OPTION_PAGES("656940"),
	REGION_OPTION_CONTENTS,
	NEIGHBOURS_OPTION,
	PLACEMENT_OPTIONS,
	{ .name = "accessors",
	  .type = OPTION_UINT,
	  .fallback = "2",
	  .min = 1,
	  .max = ACCESSORS_MAX,
	  .metavar = "T",
	  .help = "threads that read and write the pages all the time, each on its own CPU" },
	{ .name = "shared",
	  .type = OPTION_CHOICE,
	  .fallback = "keep",
	  .choices = shared_choices,
	  .metavar = "WHAT",
	  .help = "pages that other processes map too: keep leaves them, move takes them along "
		  "(as root's calls do), which flushes those processes' CPUs as well" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_CPUS, .number = 2 },
	{ .kind = NEED_ROOT, .option = "shared", .value = "move" },
	{ .kind = NEED_NODES },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct environment_row environment[] = {
	PLACEMENT_KNOB,
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "pages_migrated", "pages", "same",
	  "pages of the target found on the other node after the window" },
	{ "pages_per_s", "pages/s", "more", "the same, by the time of the call" },
	{ "accesses_per_s", "accesses/s", "more",
	  "updates that all accessors together made during the call" },
	{ "worst_stall_ns", "ns", "less",
	  "longest time that an accessor needed for 16 updates during the call" },
	{ "pages_left", "pages", "less",
	  "pages of the process that the call says it could not move" },
	{ NULL },
};

/* What target and driver both see. */
struct common {
	_Atomic bool go, stop;
	_Atomic bool measuring;
	struct placement placement;
	long left; /* what migrate_pages() returned */
	uint64_t elapsed_ns, accesses;
	struct {
		_Alignas(64) _Atomic uint64_t accesses;
		_Atomic uint64_t worst_ns;
		_Atomic bool parked; /* uses no page any more */
	} accessors[ACCESSORS_MAX];
};

struct accessor {
	struct task *task;
	unsigned int index;
	int error; /* it could not be pinned */
};

/* The target's */
struct state {
	struct region region; /* first: region_teardown() */
	size_t stride;	      /* accessors go in steps of this, coprime to the number of pages */
	unsigned int count;
	struct accessor accessors[ACCESSORS_MAX];
};

/* The driver's */
struct request {
	unsigned long from[MASK_WORDS], to[MASK_WORDS];
};

static uint64_t memory_bytes(const struct point *point)
{
	return (option_uint(point->parameters, "pages") + 8192) * point->page_bytes;
}

static unsigned int own_cpus(const struct point *point)
{
	return option_uint(point->parameters, "accessors");
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	bool idle = !strcmp(option_string(point->parameters, "neighbours"), "idle");
	uint64_t pages = option_uint(point->parameters, "pages");
	double own = own_cpus(point), cpus = idle ? own + 1 : point->cpu_count;
	double flushes = (pages + BATCH_PAGES - 1) / BATCH_PAGES;

	list[0] = (struct prediction){ "pages_migrated", pages };
	list[1] = (struct prediction){ "pages_left", 0 };
	if (cpus < own + 1 || strcmp(option_string(point->parameters, "shared"), "keep"))
		return 2;
	list[2] = (struct prediction){ "flushes", flushes };
	list[3] = (struct prediction){ "remote_ipis", flushes * (cpus - 1 - own / 2) };
	return 4;
}

/* ---- accessors ---- */

/* The order in which an accessor visits pages: where it starts, and a stride that reaches all. */
static size_t first_page(const struct state *state, unsigned int accessor)
{
	return state->region.pages / state->count * accessor;
}

static size_t coprime_stride(size_t pages)
{
	size_t stride = pages * 0.618;

	for (;; stride++) {
		size_t a = pages, b = stride, rest;

		while (b) {
			rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
}

static size_t next_page(const struct state *state, size_t page)
{
	page += state->stride;
	return page < state->region.pages ? page : page % state->region.pages;
}

static volatile uint64_t *word_at(const struct state *state, size_t page, unsigned int accessor)
{
	return (volatile uint64_t *)(state->region.base + page * state->region.page_bytes +
				     accessor * WORD_BYTES);
}

/* Where an accessor is on its way through the pages. */
struct step {
	size_t page;
	size_t first, start; /* the window's first page; how many pages the windows before had */
	unsigned int size, at, visit; /* of the window; pages and rounds of it that are done */
};

/* The last window has what is left. */
static unsigned int window_size(const struct state *state, size_t start)
{
	size_t left = state->region.pages - start;

	return left < WINDOW ? left : WINDOW;
}

static struct step first_step(const struct state *state, unsigned int accessor)
{
	size_t page = first_page(state, accessor);

	return (struct step){ .page = page, .first = page, .size = window_size(state, 0) };
}

static void next_step(const struct state *state, struct step *step)
{
	step->page = next_page(state, step->page);
	if (++step->at < step->size)
		return;
	step->at = 0;
	if (++step->visit < VISITS) {
		step->page = step->first;
		return;
	}
	step->visit = 0;
	step->first = step->page;
	step->start += step->size;
	if (step->start == state->region.pages)
		step->start = 0;
	step->size = window_size(state, step->start);
}

static void keep_accessing(const struct state *state, struct common *common, unsigned int index)
{
	struct step step = first_step(state, index);
	uint64_t accesses = 0, last = monotonic_ns(), worst = 0, now;
	bool measuring, measured = false;

	while (!atomic_load_explicit(&common->stop, memory_order_relaxed)) {
		for (unsigned int i = 0; i < GROUP; i++) {
			++*word_at(state, step.page, index);
			next_step(state, &step);
		}
		accesses += GROUP;
		atomic_store_explicit(&common->accessors[index].accesses, accesses,
				      memory_order_relaxed);
		measuring = atomic_load_explicit(&common->measuring, memory_order_relaxed);
		now = monotonic_ns();
		if ((measuring || measured) && now - last > worst) {
			worst = now - last;
			atomic_store_explicit(&common->accessors[index].worst_ns, worst,
					      memory_order_relaxed);
		}
		measured = measuring;
		last = now;
		spin_pause();
	}
}

static _Noreturn void *live_as_accessor(void *argument)
{
	struct accessor *accessor = argument;
	struct task *task = accessor->task;
	struct common *common = task->common;

	accessor->error = -task_pin(task->point->cpus[accessor->index + 1]);
	while (!atomic_load(&common->go))
		spin_pause();
	if (!accessor->error)
		keep_accessing(task->state, common, accessor->index);
	/*
	 * Not to its end: on a kernel that forgot to flush, the C library would count
	 * threads in a stale page and might end the process, before verify() can tell.
	 */
	atomic_store(&common->accessors[accessor->index].parked, true);
	for (;;)
		pause();
}

static int start_accessors(struct task *task, struct state *state)
{
	for (unsigned int i = 0; i < state->count; i++) {
		struct accessor *accessor = &state->accessors[i];
		pthread_t thread;
		int error;

		*accessor = (struct accessor){ .task = task, .index = i };
		error = pthread_create(&thread, NULL, live_as_accessor, accessor);
		if (error)
			return task_say(task, OUTCOME_BROKEN, "cannot start accessor %u: %s", i,
					strerror(error));
	}
	return 0;
}

/* Lets them loose, and waits until each has used pages. */
static int release_accessors(struct task *task, struct state *state)
{
	struct common *common = task->common;

	atomic_store(&common->go, true);
	for (unsigned int i = 0; i < state->count; i++)
		while (!atomic_load(&common->accessors[i].accesses)) {
			if (state->accessors[i].error)
				return task_say(task, OUTCOME_BROKEN,
						"cannot run accessor %u on CPU %u: %s", i,
						task->point->cpus[i + 1],
						strerror(state->accessors[i].error));
			usleep(1000);
		}
	return 0;
}

/* ---- target ---- */

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	struct common *common = task->common;
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	state->count = task_uint(task, "accessors");
	if (state->count > task->point->cpu_count - 1)
		return task_say(
			task, OUTCOME_SKIP,
			"%u accessors need %u CPUs, there are %u to use; give fewer accessors",
			state->count, state->count + 1, task->point->cpu_count);
	rc = placement_choose(task, false, &common->placement);
	if (!rc)
		rc = placement_make_region(task, &state->region, common->placement.from);
	if (rc)
		return rc;
	state->stride = coprime_stride(state->region.pages);
	rc = start_accessors(task, state);
	if (!rc)
		rc = region_prime(task, &state->region);
	return rc ? rc : release_accessors(task, state);
}

/* ---- driver ---- */

/* Without CAP_SYS_NICE a call moves what this process alone maps (do_migrate_pages()'s flags). */
static int give_up_nice(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets))
		return -errno;
	sets[CAP_TO_INDEX(CAP_SYS_NICE)].effective &= ~CAP_TO_MASK(CAP_SYS_NICE);
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

static int arm(struct task *task)
{
	const struct common *common = task->common;
	struct request *request = calloc(1, sizeof(*request));
	unsigned int bits = 8 * sizeof(unsigned long);
	int rc = 0;

	if (!request)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = request;
	if (common->placement.from >= bits * MASK_WORDS ||
	    common->placement.to >= bits * MASK_WORDS)
		return task_say(task, OUTCOME_BROKEN, "node numbers above %u are too large",
				bits * MASK_WORDS - 1);
	request->from[common->placement.from / bits] = 1UL << common->placement.from % bits;
	request->to[common->placement.to / bits] = 1UL << common->placement.to % bits;
	if (!strcmp(task_string(task, "shared"), "keep"))
		rc = give_up_nice();
	return rc ? task_say(task, OUTCOME_BROKEN, "cannot give up CAP_SYS_NICE: %s", strerror(-rc))
		  : 0;
}

static uint64_t all_accesses(struct common *common, unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += atomic_load_explicit(&common->accessors[i].accesses, memory_order_relaxed);
	return sum;
}

static int run(struct task *task)
{
	struct request *request = task->state;
	struct common *common = task->common;
	unsigned int count = own_cpus(task->point);
	uint64_t before, start_ns;

	atomic_store(&common->measuring, true);
	before = all_accesses(common, count);
	start_ns = monotonic_ns();
	/* maxnode counts one more than there are bits (get_nodes() in mm/mempolicy.c) */
	common->left = syscall(SYS_migrate_pages, (long)task->target, sizeof(request->from) * 8 + 1,
			       request->from, request->to);
	common->elapsed_ns = monotonic_ns() - start_ns;
	common->accesses = all_accesses(common, count) - before;
	atomic_store(&common->measuring, false);
	if (common->left < 0)
		return task_say(task, OUTCOME_BROKEN, "migrate_pages(): %s", strerror(errno));
	return 0;
}

/* ---- verification ---- */

/* Lets every accessor use each TLB entry once more that it has at the end of the move. */
static void go_on(struct common *common, const struct state *state)
{
	for (unsigned int i = 0; i < state->count; i++) {
		uint64_t until = atomic_load(&common->accessors[i].accesses) + AFTERWARDS;

		while (atomic_load(&common->accessors[i].accesses) < until)
			usleep(1000);
	}
}

static void park_accessors(struct common *common, const struct state *state)
{
	atomic_store(&common->stop, true);
	for (unsigned int i = 0; i < state->count; i++)
		while (!atomic_load(&common->accessors[i].parked))
			usleep(1000);
}

/*
 * Takes every update back that an accessor made, from how many it made in all and the
 * order in which it goes: every page got as many as in all the times that it came to the
 * end of the pages, and those of the time it did not, as far as it came.
 */
static void take_back(const struct state *state, unsigned int accessor, uint64_t accesses)
{
	size_t pages = state->region.pages, page = first_page(state, accessor), start = 0;
	uint64_t whole = accesses / (pages * VISITS) * VISITS, rest = accesses % (pages * VISITS);

	while (start < pages) {
		unsigned int size = window_size(state, start);
		uint64_t here = rest < size * VISITS ? rest : size * VISITS;

		for (unsigned int i = 0; i < size; i++) {
			*word_at(state, page, accessor) -= whole + here / size + (i < here % size);
			page = next_page(state, page);
		}
		rest -= here;
		start += size;
	}
}

static void report(struct task *task, const struct state *state, struct common *common, long there)
{
	double seconds = common->elapsed_ns / 1e9;
	uint64_t worst_ns = 0;

	for (unsigned int i = 0; i < state->count; i++) {
		uint64_t ns = atomic_load(&common->accessors[i].worst_ns);

		worst_ns = ns > worst_ns ? ns : worst_ns;
	}
	task_report(task, "pages_migrated", there);
	task_report(task, "pages_per_s", there / seconds);
	task_report(task, "accesses_per_s", common->accesses / seconds);
	task_report(task, "worst_stall_ns", worst_ns);
	task_report(task, "pages_left", common->left);
}

static int verify(struct task *task)
{
	struct state *state = task->state;
	struct common *common = task->common;
	long pages = state->region.pages, there;
	size_t damaged;

	go_on(common, state);
	park_accessors(common, state);
	there = placement_count(&state->region, common->placement.to);
	if (there < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot tell where pages are: %s",
				strerror(errno));
	report(task, state, common, there);
	for (unsigned int i = 0; i < state->count; i++)
		take_back(state, i, atomic_load(&common->accessors[i].accesses));
	damaged = region_damaged(&state->region);
	if (damaged)
		return task_say(task, OUTCOME_FAIL,
				"%zu of %ld pages lost updates or contents while they were moved",
				damaged, pages);
	if (there * 100 < pages * 99)
		return task_say(
			task, OUTCOME_BROKEN,
			"only %ld of %ld pages are on node %u (99%% are needed); the call says "
			"that it left %ld",
			there, pages, common->placement.to, common->left);
	return 0;
}

const struct stressor migrate_active_stressor = {
	.name = "migrate-active",
	.version = 2,
	.summary = "a process moved between nodes while its threads use the pages",
	.description =
		"A target with P pages on one node has run on every CPU. T of its threads, each on a "
		"CPU of its own, go on updating words in all of its pages, 64 of them 256 times before "
		"the next; an unrelated task runs on every other CPU but the first, from which the "
		"whole process is moved to another node with migrate_pages(). The kernel flushes once "
		"for 512 pages. An accessor that meets a page in flight sleeps, and its CPU is spared, "
		"so a kernel that does not filter stale CPUs sends between ceil(P / 512) x (N-1-T) and "
		"x (N-1) interrupts; one that does, at most ceil(P / 512) x T.\n\n"
		"The accessors record their own throughput and the longest time that 16 updates "
		"took. As root, shared=move also moves pages that other processes map, such as "
		"libraries: these need flushes on those processes' CPUs, with any kernel.\n\n"
		"Verified: that at least 99% of the pages are on the other node, that no update was "
		"lost, and the contents.",
	.example = "migrate-active --runs 3 --set pages=1024",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "remote_ipis",
	.own_cpus = own_cpus,
	.common_bytes = sizeof(struct common),
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.arm = arm,
	.run = run,
	.verify = verify,
	.teardown = region_teardown,
};
