// SPDX-License-Identifier: GPL-2.0-only
/* What memory.reclaim is asked for: an ordinary file stands for it, which takes every key. */
#include "quiet.h"

#include <fcntl.h>
#include <unistd.h>

#include "../../harness/worker.h"
#include "../../lib/fs.h"
#include "../../stressors/reclaim.h"

static const struct {
	const char *swappiness, *request; /* NULL: this is a skip */
} cases[] = {
	{ "200", "8192 swappiness=200" },
	{ "1", "8192 swappiness=1" },
	{ "0", NULL },
};

START_TEST(requests_for_anonymous_pages)
{
	char folder[] = "/tmp/check_reclaim.XXXXXX";
	const struct stressor *stressor = stressor_find("pageout");
	struct option_values *values = options_new(stressor->options);
	const struct point point = { .stressor = stressor, .parameters = values };
	struct shared *shared = calloc(1, sizeof(*shared));
	struct task task = { .point = &point, .shared = shared };
	struct reclaim reclaim = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(folder));
	task.cgroup_folder = open(folder, O_RDONLY | O_DIRECTORY);
	close(openat(task.cgroup_folder, "memory.reclaim", O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(
		options_set(values, "test", "swappiness", cases[_i].swappiness, quiet_log()), 0);
	if (cases[_i].request) {
		ck_assert_int_eq(reclaim_arm(&task, &reclaim, 8192), 0);
		ck_assert_str_eq(reclaim.request, cases[_i].request);
	} else {
		ck_assert_int_ne(reclaim_arm(&task, &reclaim, 8192), 0);
		ck_assert_int_eq(shared->outcome, OUTCOME_SKIP);
		ck_assert_ptr_nonnull(strstr(shared->reason, "give 1 to 200"));
	}
	close(reclaim.file);
	close(task.cgroup_folder);
	ck_assert_int_eq(fs_remove_tree(folder), 0);
	options_free(values);
	free(shared);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("reclaim");

	tcase_add_loop_test(tests, requests_for_anonymous_pages, 0,
			    sizeof(cases) / sizeof(cases[0]));
	return run_suite("reclaim", tests);
}
