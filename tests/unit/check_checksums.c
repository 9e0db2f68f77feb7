// SPDX-License-Identifier: GPL-2.0-only
/* A finished run's checksums: written, right, and each kind of change named. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../results/checksums.h"
#include "../../results/load.h"
#include "../../results/run_folders.h"
#include "store.h"

static const struct made_run plain = { .name = "run", .value = 10, .started_ns = 1000 };

START_TEST(finished_run)
{
	char *path = make_run(&plain), *file = in_folder("run/checksums"), *text;
	struct loaded_run *run;

	ck_assert_int_eq(fs_read("", file, &text, NULL), 0);
	/* as sha256sum writes it: 64 digits, two spaces, the name */
	ck_assert_int_eq(strlen(text), 3 * 67 + 12 + 9 + 13);
	ck_assert_str_eq(strchr(text, '\n') - 12, strstr(text, "machine.json"));
	ck_assert_int_eq(run_load(path, false, quiet_log(), &run), 0);
	ck_assert(run->verified);
	ck_assert_str_eq(said(), "");
	run_free(run);
	free(text);
	free(file);
	free(path);
}
END_TEST

START_TEST(unfinished_run)
{
	struct made_run made = plain;
	struct loaded_run *run;
	char *path;

	made.unfinished = true;
	path = make_run(&made);
	ck_assert_int_eq(run_load(path, false, quiet_log(), &run), 0);
	ck_assert(!run->verified);
	ck_assert_said("no end line");
	run_free(run);
	free(path);
}
END_TEST

static const struct {
	const char *file, *text; /* NULL: removed */
	const char *part;
} changes[] = {
	{ "samples.jsonl",
	  "{\"schema\":\"shootdown-samples\",\"version\":1}\n"
	  "{\"end\":\"pass\",\"restored\":true}\n",
	  "samples.jsonl was changed after the run" },
	{ "machine.json",
	  "{\"schema\":\"shootdown-machine\",\"version\":1,\"arch\":\"x86_64\",\"page_size\":4096,"
	  "\"kernel\":{\"release\":\"other\"},\"cpus\":{\"used\":4}}",
	  "machine.json was changed" },
	{ "checksums", "nonsense\n", "has a line that is none" },
	{ "checksums", "", "checksums is empty" },
	{ "checksums",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  ../../x\n",
	  "has a line that is none" },
	{ "checksums",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  plan.json\n",
	  "plan.json was changed" },
};

START_TEST(changed_file)
{
	char *path = make_run(&plain), *file = format_string("%s/%s", path, changes[_i].file);
	struct loaded_run *run;

	ck_assert_int_eq(fs_replace(file, changes[_i].text, strlen(changes[_i].text)), 0);
	ck_assert_int_eq(run_load(path, false, quiet_log(), &run), -EBADMSG);
	ck_assert_said(changes[_i].part);
	free(file);
	free(path);
}
END_TEST

START_TEST(identity)
{
	struct made_run other = plain;
	char *path = make_run(&plain), *copy = in_folder("copy"), *second;
	char one[RUN_ID_LENGTH + 1], two[RUN_ID_LENGTH + 1];
	char command[512];

	ck_assert_int_eq(run_identity(path, one), 0);
	ck_assert_uint_eq(strlen(one), RUN_ID_LENGTH);
	snprintf(command, sizeof(command), "cp -r %s %s && rm %s/checksums", path, copy, copy);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(run_identity(copy, two), 0);
	ck_assert_str_eq(one, two);
	other.name = "other";
	other.value = 11;
	second = make_run(&other);
	ck_assert_int_eq(run_identity(second, two), 0);
	ck_assert_str_ne(one, two);
	free(second);
	free(copy);
	free(path);
}
END_TEST

static int count_folder(void *context, const char *path)
{
	(void)path;
	++*(int *)context;
	return 0;
}

START_TEST(folders_are_removed_with_care)
{
	struct made_run made = plain;
	char *path, *foreign = in_folder("deep/er/run/notes.txt"), *hidden, *link;
	int count = 0;

	made.name = "deep/er/run";
	path = make_run(&made);
	made.name = "deep/.hidden";
	hidden = make_run(&made);
	link = in_folder("deep/link");
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(run_folders_walk(folder, count_folder, &count), 0);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(fs_replace(foreign, "mine", 4), 0);
	ck_assert_int_eq(run_folders_remove(path, quiet_log()), -EINVAL);
	ck_assert_said("notes.txt");
	ck_assert(fs_exists("", path));
	unlink(foreign);
	ck_assert_int_eq(run_folders_remove(link, quiet_log()), -EINVAL);
	ck_assert_int_eq(run_folders_remove(folder, quiet_log()), -EINVAL);
	ck_assert_int_eq(run_folders_remove(path, quiet_log()), 0);
	ck_assert(!fs_exists("", path));
	free(link);
	free(hidden);
	free(foreign);
	free(path);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("checksums");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, finished_run);
	tcase_add_test(tests, unfinished_run);
	tcase_add_loop_test(tests, changed_file, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(tests, identity);
	tcase_add_test(tests, folders_are_removed_with_care);
	return run_suite("checksums", tests);
}
