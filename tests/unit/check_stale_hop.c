// SPDX-License-Identifier: GPL-2.0-only
/*
 * stale-hop's judgement: what it takes for a stale access and what not, on memory of
 * this process that is made right or wrong; and that its tables agree.
 */
#include "quiet.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../harness/worker.h"
#include "../../stressors/stale_hop.h"

#define PAGES	8
#define VERSION 6

static struct hop_common common;
static struct shared shared;
static struct task task = { .shared = &shared, .common = &common };

/* Pages 2 to 4 are the span. */
static void make(struct hop *hop)
{
	memset(&common, 0, sizeof(common));
	memset(&shared, 0, sizeof(shared));
	*hop = (struct hop){
		.task = &task,
		.common = &common,
		.what = &hop_cases[3],
		.index = 3,
		.pages = PAGES,
		.page_bytes = sysconf(_SC_PAGESIZE),
		.seed = 1,
	};
	ck_assert_int_eq(hop_map(hop), 0);
	hop->span = (struct hop_span){ .first = 2, .count = 3, .version = VERSION };
	hop_write_all(hop, VERSION);
}

static void set(struct hop *hop, size_t page, uint64_t word)
{
	*(uint64_t *)hop_page(hop, page) = word;
}

static int protect_span(struct hop *hop, int protection)
{
	return mprotect(hop_page(hop, 2), 3 * hop->page_bytes, protection);
}

/* words: what pages 2 to 4 hold; protection: theirs; stale: accesses that must be found. */
static const struct {
	enum hop_expect inside;
	uint64_t words[3];
	int protection;
	unsigned int checks, stale;
} looks[] = {
	{ EXPECT_SAME,
	  { 3ULL << 32 | 6, 4ULL << 32 | 6, 5ULL << 32 | 6 },
	  PROT_READ | PROT_WRITE,
	  8,
	  0 },
	{ EXPECT_NEW,
	  { 3ULL << 32 | 7, 4ULL << 32 | 7, 5ULL << 32 | 7 },
	  PROT_READ | PROT_WRITE,
	  8,
	  0 },
	/* an old word, another page's, what spare pages are filled with */
	{ EXPECT_NEW,
	  { 3ULL << 32 | 6, 3ULL << 32 | 7, 0xa5a5a5a5a5a5a5a5ULL },
	  PROT_READ | PROT_WRITE,
	  8,
	  3 },
	{ EXPECT_ZERO, { 0, 0, 0 }, PROT_READ | PROT_WRITE, 8, 0 },
	{ EXPECT_ZERO, { 0, 4ULL << 32 | 6, 0 }, PROT_READ | PROT_WRITE, 8, 1 },
	{ EXPECT_READ_FAULT, { 1, 1, 1 }, PROT_NONE, 8, 0 },
	{ EXPECT_READ_FAULT, { 1, 1, 1 }, PROT_READ, 8, 3 },
	{ EXPECT_WRITE_FAULT,
	  { 3ULL << 32 | 6, 4ULL << 32 | 6, 5ULL << 32 | 6 },
	  PROT_READ,
	  11,
	  0 },
	{ EXPECT_WRITE_FAULT,
	  { 3ULL << 32 | 6, 4ULL << 32 | 6, 5ULL << 32 | 6 },
	  PROT_READ | PROT_WRITE,
	  11,
	  3 },
};

START_TEST(a_look_finds_what_is_stale_and_nothing_else)
{
	struct hop hop;

	make(&hop);
	hop.span.inside = looks[_i].inside;
	for (size_t i = 0; i < 3; i++)
		set(&hop, 2 + i, looks[_i].words[i]);
	ck_assert_int_eq(protect_span(&hop, looks[_i].protection), 0);
	hop_look(&hop);
	ck_assert_uint_eq(common.tallies[3].checks, looks[_i].checks);
	ck_assert_uint_eq(common.tallies[3].stale, looks[_i].stale);
	ck_assert_int_eq(common.found_any, looks[_i].stale > 0);
	ck_assert_uint_eq(common.tallies[2].stale, 0);
}
END_TEST

START_TEST(a_page_outside_the_span_is_looked_at_too)
{
	struct hop hop;

	make(&hop);
	hop.span.inside = EXPECT_SAME;
	set(&hop, 7, 8ULL << 32 | (VERSION - 2));
	hop_look(&hop);
	ck_assert_uint_eq(common.tallies[3].stale, 1);
	ck_assert_uint_eq(common.first.index, 3);
	ck_assert_uint_eq(common.first.address, (uintptr_t)hop_page(&hop, 7));
	ck_assert_uint_eq(common.first.expected, 8ULL << 32 | VERSION);
	ck_assert_uint_eq(common.first.found, 8ULL << 32 | (VERSION - 2));
}
END_TEST

START_TEST(the_first_finding_stands)
{
	struct hop hop;

	make(&hop);
	hop_judge(&hop, hop_page(&hop, 1), 5, 5);
	hop_judge(&hop, hop_page(&hop, 2), 5, 6);
	hop_judge(&hop, hop_page(&hop, 3), 5, 7);
	ck_assert_uint_eq(common.tallies[3].checks, 3);
	ck_assert_uint_eq(common.tallies[3].stale, 2);
	ck_assert_uint_eq(common.first.found, 6);
}
END_TEST

START_TEST(spans_lie_within_the_pages_and_repeat_with_the_seed)
{
	struct hop hop, again;

	make(&hop);
	make(&again);
	for (int i = 0; i < 1000; i++) {
		uint32_t version = hop.span.version;

		hop_begin(&hop);
		hop_begin(&again);
		ck_assert_uint_ge(hop.span.count, 1);
		ck_assert_uint_le(hop.span.first + hop.span.count, PAGES);
		ck_assert_uint_gt(hop.span.version, version + 1);
		ck_assert_uint_eq(hop.span.first, again.span.first);
		ck_assert_uint_eq(hop.span.count, again.span.count);
	}
}
END_TEST

/* What a shell and waitpid() call a status: the exit code is in the second byte. */
static const struct {
	int status;
	enum outcome outcome;
} ends[] = {
	{ 0, OUTCOME_PASS },	     { SIGSEGV, OUTCOME_FAIL },	 { SIGBUS, OUTCOME_FAIL },
	{ SIGABRT, OUTCOME_FAIL },   { SIGILL, OUTCOME_FAIL },	 { SIGKILL, OUTCOME_BROKEN },
	{ SIGTERM, OUTCOME_BROKEN }, { 1 << 8, OUTCOME_BROKEN },
};

START_TEST(a_crash_is_the_kernels_and_another_end_is_ours)
{
	struct hop hop;

	make(&hop);
	hop_judge_end(&hop, "subject", ends[_i].status);
	ck_assert_int_eq(shared.outcome, ends[_i].outcome);
}
END_TEST

static bool is_choice(const struct option_row *row, const char *name)
{
	for (const char *const *choice = row->choices; *choice; choice++)
		if (!strcmp(*choice, name))
			return true;
	return false;
}

START_TEST(every_case_can_be_asked_for_and_has_a_metric)
{
	const struct stressor *stressor = stressor_find("stale-hop");
	unsigned int cases = 0, choices = 0, metrics = 0;

	for (; hop_cases[cases].name; cases++) {
		const struct metric_row *row = stressor->metrics;

		ck_assert(is_choice(&stressor->options[0], hop_cases[cases].name));
		while (row->name && strcmp(row->name, hop_cases[cases].metric))
			row++;
		ck_assert_ptr_nonnull(row->name);
		ck_assert_ptr_nonnull(hop_cases[cases].live);
	}
	while (stressor->options[0].choices[choices])
		choices++;
	ck_assert_uint_eq(choices, cases + 1);
	while (stressor->metrics[metrics].name)
		metrics++;
	ck_assert_uint_eq(metrics, cases + 4);
	ck_assert_uint_le(metrics, REPORTS_MAX);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("stale-hop");

	tcase_add_loop_test(tests, a_look_finds_what_is_stale_and_nothing_else, 0,
			    sizeof(looks) / sizeof(looks[0]));
	tcase_add_test(tests, a_page_outside_the_span_is_looked_at_too);
	tcase_add_test(tests, the_first_finding_stands);
	tcase_add_test(tests, spans_lie_within_the_pages_and_repeat_with_the_seed);
	tcase_add_loop_test(tests, a_crash_is_the_kernels_and_another_end_is_ours, 0,
			    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tests, every_case_can_be_asked_for_and_has_a_metric);
	return run_suite("stale-hop", tests);
}
