// SPDX-License-Identifier: GPL-2.0-only
/* Files, programs and CPU lists: lib/fs, lib/spawn, lib/cpus. */
#include "quiet.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/cpus.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_fs.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	ck_assert_int_eq(fs_remove_tree(folder), 0);
}

static char *inside(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

START_TEST(files_of_any_length_come_back_whole)
{
	size_t sizes[] = { 0, 1, 4095, 4096, 4097, 300000 }, length;
	char *big = calloc(1, 300001), *text;

	memset(big, 'x', 300000);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(fs_replace(inside("f"), big, sizes[i]), 0);
		ck_assert_int_eq(fs_read(folder, "/f", &text, &length), 0);
		ck_assert_uint_eq(length, sizes[i]);
		ck_assert_uint_eq(strlen(text), sizes[i]);
		free(text);
	}
	free(big);
	ck_assert_int_eq(fs_read(folder, "/none", &text, &length), -ENOENT);
}
END_TEST

START_TEST(numbers_are_numbers_only)
{
	static const struct {
		const char *text;
		int rc;
		unsigned long long value;
	} cases[] = { { "12\n", 0, 12 },
		      { "0x10\n", 0, 16 },
		      { "-1\n", -EINVAL, 0 },
		      { "", -EINVAL, 0 },
		      { "12 kB\n", -EINVAL, 0 } };
	unsigned long long value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fs_replace(inside("n"), cases[i].text, strlen(cases[i].text));
		ck_assert_int_eq(fs_read_u64(folder, "/n", &value), cases[i].rc);
		if (!cases[i].rc)
			ck_assert_uint_eq(value, cases[i].value);
	}
}
END_TEST

START_TEST(private_folders_are_private)
{
	int fd;

	fd = fs_open_private_folder(inside("p"));
	ck_assert_int_ge(fd, 0);
	close(fd);
	chmod(inside("p"), 0755);
	ck_assert_int_eq(fs_open_private_folder(inside("p")), -EPERM);
	ck_assert_int_eq(symlink("/tmp", inside("link")), 0);
	ck_assert_int_eq(fs_open_private_folder(inside("link")), -ELOOP);
}
END_TEST

START_TEST(removing_a_tree_does_not_follow_links)
{
	ck_assert_int_eq(fs_make_folders(inside("a/b/c"), 0755), 0);
	ck_assert_int_eq(fs_replace(inside("kept"), "x", 1), 0);
	ck_assert_int_eq(symlink(folder, inside("a/b/link")), 0);
	ck_assert_int_eq(fs_remove_tree(inside("a")), 0);
	ck_assert(fs_exists(folder, "/kept"));
	ck_assert(!fs_exists(folder, "/a"));
	ck_assert_int_eq(fs_remove_tree(inside("a")), 0);
}
END_TEST

START_TEST(programs_are_run_and_watched)
{
	const char *const echo[] = { "sh", "-c", "printf hello; exit 7", NULL };
	const char *const die[] = { "sh", "-c", "kill -9 $$", NULL };
	const char *const show[] = {
		"sh", "-c",
		"echo \"${OUT-none} ${OUT_2-none}${OUTER-none}${ABOUT-none} ${ADDED-none}\"", NULL
	};
	const char *const environment[] = { "OUT", "OUT_*", "ADDED=*", NULL };
	const char *const none[] = { "no-such-program-anywhere", NULL };
	const char *const slow[] = { "sleep", "30", NULL };
	struct spawn spawn = { .argv = echo };
	char *output;

	spawn.output = &output;
	ck_assert_int_eq(spawn_run(&spawn), 7);
	ck_assert_str_eq(output, "hello");
	free(output);
	setenv("OUT", "1", 1);
	setenv("OUT_1", "1", 1);
	setenv("OUT_2", "1", 1);
	setenv("OUTER", "2", 1);
	setenv("ABOUT", "3", 1);
	spawn = (struct spawn){ .argv = show, .environment = environment, .output = &output };
	ck_assert_int_eq(spawn_run(&spawn), 0);
	ck_assert_str_eq(output, "none none23 *\n");
	free(output);
	spawn = (struct spawn){ .argv = die };
	ck_assert_int_eq(spawn_run(&spawn), 128 + 9);
	spawn.argv = none;
	ck_assert_int_eq(spawn_run(&spawn), -ENOENT);
	spawn = (struct spawn){ .argv = slow, .timeout_s = 1 };
	ck_assert_int_eq(spawn_run(&spawn), -ETIMEDOUT);
}
END_TEST

START_TEST(log_tails)
{
	char *tail;

	fs_replace(inside("log"), "1\n2\n3\n4\n", 8);
	tail = spawn_log_tail(inside("log"), 2);
	ck_assert_str_eq(tail, "3\n4");
	free(tail);
	tail = spawn_log_tail(inside("log"), 100);
	ck_assert_str_eq(tail, "1\n2\n3\n4");
	free(tail);
}
END_TEST

static const struct {
	const char *list;
	int count; /* -1: refused */
} lists[] = { { "0", 1 },      { "0-3,8\n", 5 }, { "0-1199", 1200 }, { "1024-1535", 512 },
	      { "", -1 },      { "x", -1 },	 { "0-", -1 },	     { "0-3;5", -1 },
	      { "88,-3", -1 }, { "0,,3", -1 },	 { "09-12", -1 },    { "5-3", -1 } };

START_TEST(cpu_lists)
{
	hwloc_bitmap_t cpus;
	unsigned int count, *numbers;
	int rc = cpus_parse(lists[_i].list, &cpus);

	if (lists[_i].count < 0) {
		ck_assert_int_eq(rc, -EINVAL);
		return;
	}
	ck_assert_int_eq(rc, 0);
	numbers = cpus_numbers(cpus, &count);
	ck_assert_int_eq((int)count, lists[_i].count);
	free(numbers);
	hwloc_bitmap_free(cpus);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("fs");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, files_of_any_length_come_back_whole);
	tcase_add_test(tests, numbers_are_numbers_only);
	tcase_add_test(tests, private_folders_are_private);
	tcase_add_test(tests, removing_a_tree_does_not_follow_links);
	tcase_add_test(tests, programs_are_run_and_watched);
	tcase_add_test(tests, log_tails);
	tcase_add_loop_test(tests, cpu_lists, 0, sizeof(lists) / sizeof(lists[0]));
	return run_suite("fs", tests);
}
