// SPDX-License-Identifier: GPL-2.0-only
/*
 * Demotion: anonymous pages of the fastest memory tier pushed down to a lower one by
 * memory.reclaim from outside, with demotion turned on and no swap for the cgroup,
 * so that moving is the only way to reclaim them.
 *
 * How many flushes that takes, from Linux 7.3. Reclaim isolates SWAP_CLUSTER_MAX
 * (32) pages at a time (shrink_lruvec(), shrink_inactive_list() in mm/vmscan.c).
 * shrink_folio_list() sorts out those that may go, and demote_folio_list() gives
 * these to one migrate_pages(MIGRATE_ASYNC), which unmaps all and then calls
 * try_to_unmap_flush() once (migrate_pages_batch() in mm/migrate.c). So it is one
 * flush an isolation that yields a page, and not one for 512 pages: the limit of a
 * migration batch is never reached. On top of pages / 32 come
 *
 *  - the short isolations: reclaim looks at list size >> priority pages, from
 *    priority 12 down, and the last isolation of each priority has what is left;
 *    user_proactive_reclaim() asks for a quarter of the rest each time, and every
 *    time priority starts at 12 again;
 *  - pages that were touched since they were last looked at stay: each is isolated
 *    once for nothing first (folio_check_references()), which costs no flush.
 *
 * Where pages go to. The kernel takes one of the nearest nodes of the next lower tier at
 * random for each isolation (next_demotion_node() in mm/memory-tiers.c), and reclaim goes
 * over the lower nodes as well, which pushes pages further down where there is a third
 * tier. Both would make another measurement, so cpuset.mems of the target's cgroup names
 * the two nodes: can_demote() and demote_folio_list() take no other.
 *
 * flushes_of() below goes through exactly these loops. That is for swappiness=200, which
 * looks at all of list size >> priority pages: less than that looks at a share of them,
 * which depends on what reclaim has cost so far (get_scan_count()). With the multi-generational
 * LRU isolations are of MIN_LRU_BATCH (64) pages and other rules decide which pages
 * are old: that is not predicted, and lru=classic is the default.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/nodes.h"
#include "../lib/vmstat.h"
#include "placement.h"
#include "reclaim.h"

#define CLUSTER_PAGES 32 /* SWAP_CLUSTER_MAX, include/linux/swap.h */
#define PRIORITIES    12 /* DEF_PRIORITY, include/linux/mmzone.h */

#define LRU_PATH "/sys/kernel/mm/lru_gen/enabled"

static const char *const lists[] = { "classic", "generations", "keep", NULL };

static const struct option_row options[] = {
	REGION_OPTION_PAGES("81876"),
	REGION_OPTION_CONTENTS,
	NEIGHBOURS_OPTION,
	PLACEMENT_OPTIONS,
	RECLAIM_OPTION,
	{ .name = "lru",
	  .type = OPTION_CHOICE,
	  .fallback = "classic",
	  .choices = lists,
	  .metavar = "KIND",
	  .help = "page lists that reclaim goes by: active and inactive, generations, or those "
		  "that the machine uses; set for the run" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_ROOT },
	{ .kind = NEED_CGROUP_RECLAIM },
	{ .kind = NEED_DEMOTION },
	{ .kind = NEED_FILE,
	  .path = LRU_PATH,
	  .words = "the multi-generational LRU",
	  .option = "lru",
	  .value = "generations" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_KNOB, .path = NODES_DEMOTION_PATH, .text = "1" },
	PLACEMENT_KNOB,
	{ .kind = ENVIRONMENT_KNOB,
	  .path = LRU_PATH,
	  .text = "0",
	  .option = "lru",
	  .value = "classic" },
	{ .kind = ENVIRONMENT_KNOB,
	  .path = LRU_PATH,
	  .text = "y",
	  .option = "lru",
	  .value = "generations" },
	{ .kind = ENVIRONMENT_CGROUP, .text = "cpuset" },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "pages_demoted", "pages", "same",
	  "pages of the target found on the lower tier's node after the window; with to=auto "
	  "also on others that are as near" },
	{ "pages_counted", "pages", "same",
	  "what the kernel's pgdemote counters say, system-wide" },
	{ NULL },
};

/* The pgdemote rows of /proc/vmstat; a kernel has some of them. */
static const char *const counters[] = { "pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged",
					"pgdemote_proactive", NULL };

struct state {
	struct region region; /* first: region_teardown() */
	struct placement placement;
	uint64_t counted_before;
	struct reclaim reclaim; /* driver only */
};

static uint64_t memory_bytes(const struct point *point)
{
	return (option_uint(point->parameters, "pages") + 8192) * point->page_bytes;
}

/* An inactive list: pages not looked at yet are at its tail, those put back at its head. */
struct list {
	uint64_t fresh, seen;
	uint64_t flushes;
};

/* One shrink_lruvec(); the pages that were demoted. */
static uint64_t shrink_list(struct list *list, uint64_t to_scan, uint64_t wanted)
{
	uint64_t demoted = 0;

	while (to_scan && demoted < wanted) {
		uint64_t isolated = to_scan < CLUSTER_PAGES ? to_scan : CLUSTER_PAGES;
		uint64_t kept = isolated < list->fresh ? isolated : list->fresh;
		uint64_t ready = list->seen < isolated - kept ? list->seen : isolated - kept;

		list->fresh -= kept;
		list->seen += kept - ready;
		list->flushes += ready > 0;
		demoted += ready;
		to_scan -= isolated;
	}
	return demoted;
}

/* One do_try_to_free_pages() for the cgroup. */
static uint64_t reclaim_some(struct list *list, uint64_t wanted)
{
	uint64_t demoted = 0;

	for (int priority = PRIORITIES; priority >= 0 && demoted < wanted; priority--)
		demoted += shrink_list(list, (list->fresh + list->seen) >> priority, wanted);
	return demoted;
}

/* user_proactive_reclaim() for all pages. */
static uint64_t flushes_of(uint64_t pages)
{
	struct list list = { .fresh = pages };
	uint64_t demoted = 0, quarter;

	while (demoted < pages) {
		quarter = (pages - demoted) / 4;
		demoted += reclaim_some(&list, quarter > CLUSTER_PAGES ? quarter : CLUSTER_PAGES);
	}
	return list.flushes;
}

static unsigned int predict(const struct point *point, struct prediction *list)
{
	bool idle = !strcmp(option_string(point->parameters, "neighbours"), "idle");
	uint64_t pages = option_uint(point->parameters, "pages");
	double others = idle ? 0 : point->cpu_count - 1;
	double flushes = point->cpu_count > 1 ? flushes_of(pages) : 0;
	unsigned int count = 0;

	list[count++] = (struct prediction){ "pages_demoted", pages };
	if (strcmp(option_string(point->parameters, "lru"), "classic") ||
	    option_uint(point->parameters, "swappiness") != RECLAIM_ANONYMOUS)
		return count;
	/* sleeping neighbours: the flush is counted, and finds only lazy CPUs */
	list[count++] = (struct prediction){ "flushes", flushes };
	list[count++] = (struct prediction){ "remote_ipis", flushes * others };
	return count;
}

/*
 * The sum of the counters. They are kept by CPU and folded now and then; a write
 * to stat_refresh folds them (Documentation/admin-guide/sysctl/vm.rst).
 */
static int read_counted(uint64_t *sum)
{
	char *text;
	int rc;

	fs_write("", "/proc/sys/vm/stat_refresh", "1");
	rc = fs_read("", "/proc/vmstat", &text, NULL);
	if (rc)
		return rc;
	*sum = 0;
	for (unsigned int i = 0; counters[i]; i++) {
		uint64_t value;

		if (!vmstat_find(text, counters[i], &value))
			*sum += value;
	}
	free(text);
	return 0;
}

/* Writes a file of the target's cgroup; one that this kernel or machine has not is left. */
static int limit_cgroup(struct task *task, const char *name, const char *text)
{
	int file = openat(task->cgroup_folder, name, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (file < 0 && errno == ENOENT)
		return 0;
	if (file < 0 || write(file, text, strlen(text)) < 0)
		rc = task_say(task, OUTCOME_BROKEN, "cannot write \"%s\" to %s: %s", text, name,
			      strerror(errno));
	if (file >= 0)
		close(file);
	return rc;
}

/* Pages that could be swapped would be, on the lower tier or when there is no room there. */
static int forbid_swap(struct task *task)
{
	return limit_cgroup(task, "memory.swap.max", "0");
}

static int keep_to_nodes(struct task *task, const struct placement *placement)
{
	char list[32];

	snprintf(list, sizeof(list), "%u,%u", placement->from, placement->to);
	return limit_cgroup(task, "cpuset.mems", list);
}

/* The cgroup's other pages, some tens, would be demoted in place of as many of the region. */
static int keep_own_memory(struct task *task)
{
	if (mlockall(MCL_CURRENT))
		return task_say(task, OUTCOME_BROKEN, "cannot lock the target's own memory: %s",
				strerror(errno));
	return 0;
}

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	rc = forbid_swap(task);
	if (!rc)
		rc = keep_own_memory(task);
	if (!rc)
		rc = placement_choose(task, true, &state->placement);
	if (!rc)
		rc = keep_to_nodes(task, &state->placement);
	if (!rc)
		rc = placement_make_region(task, &state->region, state->placement.from);
	if (rc)
		return rc;
	rc = read_counted(&state->counted_before);
	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot read /proc/vmstat: %s",
				strerror(-rc));
	return region_prime(task, &state->region);
}

static int arm(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	return reclaim_arm(task, &state->reclaim,
			   task_uint(task, "pages") * task->point->page_bytes);
}

static int run(struct task *task)
{
	const struct state *state = task->state;

	return reclaim_run(task, &state->reclaim);
}

/*
 * The pages that went where they were to go: with to=auto any of the nodes that the kernel
 * has to choose from, should it not keep to cpuset.mems. A negative errno: it cannot be asked.
 */
static long count_demoted(const struct task *task, const struct state *state)
{
	bool any = !strcmp(task_string(task, "to"), "auto");
	const struct node *from;
	struct nodes *nodes;
	long sum = 0, there;
	int rc = nodes_read("", &nodes);

	if (rc)
		return rc;
	from = nodes_find(nodes, state->placement.from);
	for (unsigned int i = 0; sum >= 0 && i < nodes->count; i++) {
		const struct node *node = &nodes->list[i];

		if (node->number != state->placement.to &&
		    !(any && from && nodes_demotes_to(nodes, from, node)))
			continue;
		there = placement_count(&state->region, node->number);
		sum = there < 0 ? -errno : sum + there;
	}
	nodes_free(nodes);
	return sum;
}

/* Pages that are neither where they were nor where they were to go, and what to do then. */
static const char *advise(long elsewhere)
{
	return elsewhere > 0
		       ? "this kernel goes on to other nodes (Linux 6.16 and later, with cgroup v2's "
			 "cpuset controller, can be kept from it): give to=auto, or a from=NODE "
			 "that has one lower node"
		       : "is there room, and does the kernel demote there?";
}

static int judge(struct task *task, const struct state *state, long demoted, uint64_t counted,
		 size_t damaged)
{
	long pages = state->region.pages;
	long left = placement_count(&state->region, state->placement.from);

	if (damaged)
		return task_say(task, OUTCOME_FAIL,
				"%zu of %ld pages have other contents since they were moved",
				damaged, pages);
	if (demoted * 100 < pages * 99)
		return task_say(task, OUTCOME_BROKEN,
				"only %ld of %ld pages are on node %u (%ld are still on node %u; "
				"99%% are needed): %s",
				demoted, pages, state->placement.to, left, state->placement.from,
				advise(pages - demoted - left));
	if (counted * 100 < (uint64_t)demoted * 99)
		return task_say(task, OUTCOME_FAIL,
				"%ld pages were demoted, but the pgdemote counters say %llu",
				demoted, (unsigned long long)counted);
	return 0;
}

static int verify(struct task *task)
{
	const struct state *state = task->state;
	long demoted = count_demoted(task, state);
	uint64_t counted;
	int rc = read_counted(&counted);

	if (demoted < 0 || rc)
		return task_say(task, OUTCOME_BROKEN, "cannot tell what was demoted: %s",
				strerror(rc ? -rc : (int)-demoted));
	counted -= state->counted_before;
	task_report(task, "pages_demoted", demoted);
	task_report(task, "pages_counted", counted);
	return judge(task, state, demoted, counted, region_damaged(&state->region));
}

const struct stressor demote_stressor = {
	.name = "demote",
	.version = 1,
	.summary = "anonymous pages demoted to a lower memory tier",
	.description =
		"A target with P pages in the fastest memory tier has run on every CPU and now sleeps "
		"on one; an unrelated task runs on each of the others. Demotion is turned on for the "
		"run, the target's cgroup gets no swap, and memory.reclaim pushes the pages to the "
		"next tier, such as CXL memory. Reclaim isolates 32 pages at a time and flushes once "
		"for those that it demotes, so a kernel that does not filter stale CPUs sends a "
		"little more than P / 32 x (N-1) interrupts to N CPUs.\n\n"
		"Of several lower nodes the kernel takes those that cpuset.mems of the target's cgroup "
		"names, which are the two of the run. Before Linux 6.16, or without the cpuset "
		"controller of cgroup v2, the node is the kernel's choice: to=auto takes any that "
		"is as near, and another end is a broken run. The prediction holds for lru=classic, swappiness=200 and a "
		"kernel that takes swappiness with memory.reclaim (6.10).\n\n"
		"Verified: where every page is afterwards (at least 99% on the node they go to), "
		"the kernel's pgdemote counters, and the contents.",
	.example = "demote --runs 3 --set pages=1024",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "remote_ipis",
	.memory_bytes = memory_bytes,
	.predict = predict,
	.setup = setup,
	.arm = arm,
	.run = run,
	.verify = verify,
	.teardown = region_teardown,
};
