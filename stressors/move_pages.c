// SPDX-License-Identifier: GPL-2.0-only
/*
 * move_pages(): one thread moves its own pages from one node to another, on the
 * control CPU, while an unrelated task runs on every other CPU.
 *
 * How many flushes that takes, from Linux 7.3 (mm/migrate.c): do_pages_move()
 * collects pages as long as they can be isolated and go to the same node, so all of
 * one call, and gives them to one migrate_pages(MIGRATE_SYNC). That cuts the list
 * into batches of NR_MAX_BATCHED_MIGRATION (512) pages; migrate_pages_batch() unmaps
 * all pages of a batch and then calls try_to_unmap_flush() once. With B pages a call
 * that is ceil(B / 512) flushes, and the last call of a round may have fewer. A page
 * that cannot be isolated ends the list early, and one that could not be moved with
 * the others is tried again alone, flushing its mm: neither happens to memory that
 * nobody else uses.
 *
 * The caller being the target, its mm is loaded on the control CPU: that part of a
 * flush is local. It makes no difference to the other N-1.
 */
#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "placement.h"

#define BATCH_PAGES 512 /* NR_MAX_BATCHED_MIGRATION, mm/migrate.c; HPAGE_PMD_NR on x86 */

#define UNTRIED INT_MIN /* what the kernel wrote no status for */

static const char *const directions[] = { "forward", "back", NULL };
static const char *const kinds[] = { "move", "move-all", NULL };

static const struct option_row options[] = {
	REGION_OPTION_PAGES("331600"),
	REGION_OPTION_CONTENTS,
	NEIGHBOURS_OPTION,
	PLACEMENT_OPTIONS,
	{ .name = "direction",
	  .type = OPTION_CHOICE,
	  .fallback = "forward",
	  .choices = directions,
	  .metavar = "WAY",
	  .help = "forward moves pages from node from to node to, back the other way" },
	{ .name = "batch",
	  .type = OPTION_UINT,
	  .fallback = "0",
	  .min = 0,
	  .max = 1ULL << 32,
	  .metavar = "B",
	  .help = "pages a call; 0: all of a round in one" },
	{ .name = "flags",
	  .type = OPTION_CHOICE,
	  .fallback = "move",
	  .choices = kinds,
	  .metavar = "FLAGS",
	  .help = "MPOL_MF_MOVE, or MPOL_MF_MOVE_ALL, which needs root" },
	{ .name = "rounds",
	  .type = OPTION_UINT,
	  .fallback = "1",
	  .min = 1,
	  .max = 1000,
	  .metavar = "R",
	  .help = "moves of all pages in the window: there, back, there, ..." },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_ROOT, .option = "flags", .value = "move-all" },
	{ .kind = NEED_NODES },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct environment_row environment[] = {
	PLACEMENT_KNOB,
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "pages_moved", "pages", "same",
	  "pages of the target found on the last round's node after the window" },
	{ "pages_refused", "pages", "less",
	  "statuses, of all rounds, that are not the node asked for" },
	{ "refused_ebusy", "pages", "less", "of these, pages that were in use (EBUSY)" },
	{ "refused_enoent", "pages", "less", "of these, pages that were not present (ENOENT)" },
	{ "refused_eacces", "pages", "less", "of these, pages that others map too (EACCES)" },
	{ "refused_efault", "pages", "less", "of these, addresses without a page (EFAULT)" },
	{ "refused_enomem", "pages", "less", "of these, pages without room for a copy (ENOMEM)" },
	{ "refused_untried", "pages", "less", "of these, pages that got no status at all" },
	{ "refused_other", "pages", "less",
	  "of these, pages on another node, or with another error" },
	{ NULL },
};

/* Statuses by kind; the last row takes all others. */
static const struct {
	int status;
	const char *metric, *words;
} refusals[] = {
	{ -EBUSY, "refused_ebusy", "EBUSY" },
	{ -ENOENT, "refused_enoent", "ENOENT" },
	{ -EACCES, "refused_eacces", "EACCES" },
	{ -EFAULT, "refused_efault", "EFAULT" },
	{ -ENOMEM, "refused_enomem", "ENOMEM" },
	{ UNTRIED, "refused_untried", "not tried" },
	{ 0, "refused_other", "elsewhere or with another error" },
};
#define REFUSAL_COUNT (sizeof(refusals) / sizeof(refusals[0]))

struct state {
	struct region region;
	unsigned int nodes[2]; /* pages start on [0] */
	size_t rounds, batch;
	int flags;
	int error;	  /* that ended the rounds early, negative errno */
	void **addresses; /* by page */
	int *targets[2];  /* by page: all nodes[0], all nodes[1] */
	int *statuses;	  /* by round, by page */
	void *arrays;	  /* the memory of these four */
	size_t array_bytes;
};

static size_t arrays_bytes(uint64_t pages, uint64_t rounds)
{
	return pages * (sizeof(void *) + 2 * sizeof(int) + rounds * sizeof(int));
}

static uint64_t memory_bytes(const struct point *point)
{
	uint64_t pages = option_uint(point->parameters, "pages");

	return (pages + 8192) * point->page_bytes +
	       arrays_bytes(pages, option_uint(point->parameters, "rounds"));
}

static uint64_t batches(uint64_t pages)
{
	return (pages + BATCH_PAGES - 1) / BATCH_PAGES;
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	bool idle = !strcmp(option_string(point->parameters, "neighbours"), "idle");
	uint64_t pages = option_uint(point->parameters, "pages");
	uint64_t batch = option_uint(point->parameters, "batch");
	double others = idle ? 0 : point->cpu_count - 1, flushes;

	batch = batch && batch < pages ? batch : pages;
	/* sleeping neighbours: the flush is counted, and finds only lazy CPUs */
	flushes = (pages / batch * batches(batch) + batches(pages % batch)) *
		  option_uint(point->parameters, "rounds");
	list[0] = (struct prediction){ "pages_moved", pages };
	list[1] = (struct prediction){ "pages_refused", 0 };
	list[2] = (struct prediction){ "flushes", point->cpu_count > 1 ? flushes : 0 };
	list[3] = (struct prediction){ "remote_ipis", flushes * others };
	return 4;
}

/* All touched here, so that the window finds every page of them present. */
static int make_arrays(struct task *task, struct state *state)
{
	size_t pages = state->region.pages;
	int *numbers;

	state->array_bytes = arrays_bytes(pages, state->rounds);
	state->arrays = mmap(NULL, state->array_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (state->arrays == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot map the lists of pages: %s",
				strerror(errno));
	state->addresses = state->arrays;
	numbers = (int *)(state->addresses + pages);
	state->targets[0] = numbers;
	state->targets[1] = numbers + pages;
	state->statuses = numbers + 2 * pages;
	for (size_t page = 0; page < pages; page++) {
		state->addresses[page] = state->region.base + page * state->region.page_bytes;
		state->targets[0][page] = state->nodes[0];
		state->targets[1][page] = state->nodes[1];
	}
	for (size_t i = 0; i < state->rounds * pages; i++)
		state->statuses[i] = UNTRIED;
	return 0;
}

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	bool back = !strcmp(task_string(task, "direction"), "back");
	struct placement placement;
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	state->rounds = task_uint(task, "rounds");
	state->batch = task_uint(task, "batch");
	state->flags = strcmp(task_string(task, "flags"), "move") ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;
	rc = placement_choose(task, false, &placement);
	if (rc)
		return rc;
	state->nodes[0] = back ? placement.to : placement.from;
	state->nodes[1] = back ? placement.from : placement.to;
	rc = placement_make_region(task, &state->region, state->nodes[0]);
	if (!rc)
		rc = make_arrays(task, state);
	return rc ? rc : region_prime(task, &state->region);
}

/* A positive result says that pages were left: their statuses tell which, see verify(). */
static int move_round(const struct state *state, size_t round)
{
	const int *targets = state->targets[(round + 1) % 2];
	int *statuses = state->statuses + round * state->region.pages;
	size_t pages = state->region.pages, batch = state->batch ? state->batch : pages;

	for (size_t first = 0; first < pages; first += batch) {
		size_t count = pages - first < batch ? pages - first : batch;

		if (placement_move(0, count, state->addresses + first, targets + first,
				   statuses + first, state->flags) < 0)
			return -errno;
	}
	return 0;
}

static int run(struct task *task)
{
	struct state *state = task->state;

	for (size_t round = 0; !state->error && round < state->rounds; round++)
		state->error = move_round(state, round);
	return 0; /* the statuses tell more: verify() says it */
}

/* Counts the statuses, of all rounds, that are not the node asked for, by row of refusals. */
static size_t count_refused(const struct state *state, size_t counts[REFUSAL_COUNT])
{
	size_t pages = state->region.pages, total = 0, kind;

	memset(counts, 0, REFUSAL_COUNT * sizeof(counts[0]));
	for (size_t i = 0; i < state->rounds * pages; i++) {
		int status = state->statuses[i];

		if (status == (int)state->nodes[(i / pages + 1) % 2])
			continue;
		for (kind = 0; kind < REFUSAL_COUNT - 1; kind++)
			if (refusals[kind].status == status)
				break;
		counts[kind]++;
		total++;
	}
	return total;
}

static void name_refused(const size_t counts[REFUSAL_COUNT], char *words, size_t size)
{
	size_t used = 0;

	*words = '\0';
	for (size_t kind = 0; kind < REFUSAL_COUNT && used < size; kind++)
		if (counts[kind])
			used += snprintf(words + used, size - used, "%s%zu %s", used ? ", " : "",
					 counts[kind], refusals[kind].words);
}

/* Pages whose status of the last round says that they are where they were to go. */
static size_t claimed(const struct state *state)
{
	const int *last = state->statuses + (state->rounds - 1) * state->region.pages;
	int node = state->nodes[state->rounds % 2];
	size_t count = 0;

	for (size_t page = 0; page < state->region.pages; page++)
		count += last[page] == node;
	return count;
}

static int say_error(struct task *task, const struct state *state, size_t refused,
		     const char *words)
{
	return task_say(
		task, OUTCOME_BROKEN, "move_pages(): %s; %zu of %zu moves were not made: %s%s",
		strerror(-state->error), refused, state->region.pages * state->rounds, words,
		state->error == -ENOMEM ? "; give fewer pages, or free memory on the nodes" : "");
}

static int verify(struct task *task)
{
	const struct state *state = task->state;
	unsigned int node = state->nodes[state->rounds % 2];
	size_t pages = state->region.pages, all = pages * state->rounds, damaged, refused;
	size_t counts[REFUSAL_COUNT];
	long moved = placement_count(&state->region, node);
	char words[200];

	if (moved < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot tell where pages are: %s",
				strerror(errno));
	refused = count_refused(state, counts);
	name_refused(counts, words, sizeof(words));
	task_report(task, "pages_moved", moved);
	task_report(task, "pages_refused", refused);
	for (size_t kind = 0; kind < REFUSAL_COUNT; kind++)
		task_report(task, refusals[kind].metric, counts[kind]);
	damaged = region_damaged(&state->region);
	if (damaged)
		return task_say(task, OUTCOME_FAIL,
				"%zu of %zu pages have other contents since they were moved",
				damaged, pages);
	if ((size_t)moved < claimed(state))
		return task_say(task, OUTCOME_FAIL,
				"move_pages() says that %zu pages are on node %u, and %ld are",
				claimed(state), node, moved);
	if (state->error)
		return say_error(task, state, refused, words);
	if (refused * 100 > all)
		return task_say(
			task, OUTCOME_BROKEN,
			"%zu of %zu moves to nodes %u and %u were not made (1%% may fail): %s",
			refused, all, state->nodes[1], state->nodes[0], words);
	return 0;
}

static void teardown(struct task *task)
{
	struct state *state = task->state;

	munmap(state->arrays, state->array_bytes);
	region_free(&state->region);
	free(state);
}

const struct stressor move_pages_stressor = {
	.name = "move-pages",
	.version = 1,
	.summary = "pages moved between two nodes by move_pages()",
	.description =
		"A target with P pages on one node has run on every CPU and now runs on one; an "
		"unrelated task runs on each of the others. The target moves its pages to another "
		"node with move_pages(), all in one call or B pages a call, once or there and back "
		"several times. The kernel flushes once for up to 512 pages of a call, so one that "
		"does not filter stale CPUs sends ceil(P / 512) x (N-1) interrupts to N CPUs with "
		"batch=0 and rounds=1.\n\n"
		"Verified: the status of every page of every round (those that are not the node asked "
		"for are counted by kind, and more than 1% are a broken run), a second query "
		"for where the pages are, and the contents.",
	.example = "move-pages --runs 3 --set pages=1024",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "remote_ipis",
	.run_in_target = point_always,
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
