// SPDX-License-Identifier: GPL-2.0-only
/* When cow-snapshot begins a snapshot, and when it gives up. */
#include "quiet.h"

#include "../../stressors/cow_snapshot.h"

#define MS 1000000

static struct cow_writer *new_writer(void)
{
	static struct cow_writer writer;

	memset(&writer, 0, sizeof(writer));
	writer.data.pages = 10;
	writer.interval_ns = 1000;
	return &writer;
}

/* A run without snapshots stops when it would begin one; times are told, none passes. */
static struct cow_state new_state(void)
{
	struct cow_state state = { .writer = new_writer(), .pause_ns = 50 * MS };

	cow_rest(&state, 20 * MS);
	return state;
}

static enum cow_stop attend(struct cow_state *state, uint64_t ms, uint64_t waited_ms)
{
	if (waited_ms)
		state->writer->waited_ns = state->rest_ns + waited_ms * MS;
	cow_attend(state, state->rest_ns + ms * MS);
	return atomic_load(&state->writer->stop);
}

START_TEST(the_pause_begins_without_a_backlog)
{
	struct cow_state state = new_state();

	for (uint64_t ms = 0; ms < 200; ms += 10)
		ck_assert_int_eq(attend(&state, ms, 0), COW_GO_ON);
	ck_assert_int_eq(state.stage, COW_CATCHING_UP);
	ck_assert_int_eq(attend(&state, 200, 199), COW_GO_ON);
	ck_assert_int_eq(state.stage, COW_PAUSING);
	ck_assert_int_eq(attend(&state, 249, 249), COW_GO_ON);
	/* late again when the pause is over */
	ck_assert_int_eq(attend(&state, 260, 0), COW_GO_ON);
	ck_assert_int_eq(attend(&state, 270, 269), COW_FINISH);
}
END_TEST

START_TEST(a_writer_that_waits_for_nothing_is_on_time)
{
	struct cow_state state = new_state();

	state.writer->interval_ns = 0;
	ck_assert_int_eq(attend(&state, 1, 0), COW_GO_ON);
	ck_assert_int_eq(attend(&state, 50, 0), COW_GO_ON);
	ck_assert_int_eq(attend(&state, 51, 0), COW_FINISH);
}
END_TEST

START_TEST(a_rate_that_cannot_be_made_ends_the_run)
{
	struct cow_state state = new_state();

	/* the first time round the pages are still write-protected, however long that takes */
	atomic_store(&state.writer->written, 9);
	for (uint64_t s = 0; s <= 100; s++)
		ck_assert_int_eq(attend(&state, s * 1000, 0), COW_GO_ON);
	/* four times as long as that, and as it was disturbed, and a second */
	atomic_store(&state.writer->written, 1000);
	ck_assert_int_eq(attend(&state, 401200, 0), COW_GO_ON);
	ck_assert_int_eq(attend(&state, 401300, 0), COW_QUIT);
	ck_assert_double_eq_tol(state.late_per_s, 1000 / 401.3, 0.01);
}
END_TEST

/* ---- huge pages ---- */

static const char smaps[] =
	"55d0c0000000-55d0c0100000 rw-p 00000000 00:00 0                          [heap]\n"
	"AnonHugePages:      2048 kB\n"
	"7f00003ff000-7f0000a00000 rw-p 00000000 00:00 0 \n"
	"Size:               6148 kB\n"
	"AnonHugePages:      4096 kB\n"
	"ShmemPmdMapped:     8192 kB\n"
	"VmFlags: rd wr mr mw me ac sd hg \n"
	"7f0000a00000-7f0000e00000 rw-p 00000000 00:00 0 \n"
	"AnonHugePages:      2048 kB\n";

START_TEST(huge_pages_are_those_of_the_mappings)
{
	static const struct {
		uintptr_t from, to;
		uint64_t kib;
	} rows[] = {
		{ 0x7f0000400000, 0x7f0000a00000, 4096 },
		{ 0x7f0000400000, 0x7f0000b00000, 6144 },
		{ 0x7f0000a00000, 0x7f0000b00000, 2048 },
		{ 0x7f0001000000, 0x7f0002000000, 0 },
	};

	ck_assert_uint_eq(cow_huge_bytes(smaps, rows[_i].from, rows[_i].to), rows[_i].kib << 10);
	ck_assert_uint_eq(cow_huge_bytes("", rows[_i].from, rows[_i].to), 0);
}
END_TEST

/*
 * After each snapshot but the last, the writer is told before the pages are made huge, and
 * after it. These are none that can be: then the run ends.
 */
START_TEST(pages_are_made_huge_before_each_snapshot)
{
	struct cow_state state = new_state();
	static char text[4096];

	state.huge = true;
	state.wanted = 2;
	state.made = state.prepared = 1;
	ck_assert_int_eq(attend(&state, 200, 199), COW_GO_ON);
	ck_assert_int_eq(state.stage, COW_PREPARING);
	ck_assert_uint_eq(atomic_load(&state.writer->current), COW_CURRENT_ASIDE);
	state.smaps = (struct snapshot){ .file = -1, .size = 4096, .text = { text, text } };
	state.bytes = 4096;
	ck_assert_int_eq(attend(&state, 201, 0), COW_QUIT);
	/* had they become so, the writer would be waited for again, and have its pause */
	state.prepared = 2;
	state.next_ns = 0;
	atomic_store(&state.writer->stop, COW_GO_ON);
	ck_assert_int_eq(attend(&state, 202, 0), COW_GO_ON);
	ck_assert_uint_eq(atomic_load(&state.writer->current), 0);
	ck_assert_int_eq(state.stage, COW_CATCHING_UP);
	ck_assert_int_eq(attend(&state, 300, 299), COW_GO_ON);
	ck_assert_int_eq(state.stage, COW_PAUSING);
}
END_TEST

START_TEST(nothing_is_made_huge_for_no_snapshot)
{
	struct cow_state state = new_state();

	state.huge = true;
	state.wanted = state.made = state.prepared = 1;
	ck_assert_int_eq(attend(&state, 200, 199), COW_GO_ON);
	ck_assert_int_eq(state.stage, COW_PAUSING);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("cow_steps");

	tcase_add_test(tests, the_pause_begins_without_a_backlog);
	tcase_add_test(tests, a_writer_that_waits_for_nothing_is_on_time);
	tcase_add_test(tests, a_rate_that_cannot_be_made_ends_the_run);
	tcase_add_loop_test(tests, huge_pages_are_those_of_the_mappings, 0, 4);
	tcase_add_test(tests, pages_are_made_huge_before_each_snapshot);
	tcase_add_test(tests, nothing_is_made_huge_for_no_snapshot);
	return run_suite("cow_steps", tests);
}
