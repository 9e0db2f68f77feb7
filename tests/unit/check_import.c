// SPDX-License-Identifier: GPL-2.0-only
/* Import: lists of archives that are taken and refused, folders and archives taken in. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../results/import.h"
#include "../../results/load.h"
#include "store.h"

#define PLAIN "-rw-r--r-- 0/0             123 2026-11-30 20:47:20 "
#define BELOW "drwxr-xr-x 0/0               0 2026-11-30 20:47:20 "

static const struct {
	const char *list;
	const char *part; /* of the message; NULL: it is taken */
} lists[] = {
	{ "", NULL },
	{ BELOW "run/\n" PLAIN "run/samples.jsonl\n" PLAIN "run/plan.json\n", NULL },
	{ BELOW "./\n" PLAIN "./samples.jsonl\n", NULL },
	{ PLAIN "out/a/boot-1/samples.jsonl\n" PLAIN "out/lab.json\n", NULL },
	{ PLAIN "/etc/samples.jsonl\n", "absolute" },
	{ PLAIN "../samples.jsonl\n", "leads out" },
	{ PLAIN "run/../../samples.jsonl\n", "leads out" },
	{ BELOW "..\n", "leads out" },
	{ PLAIN "run/evil.sh\n", "no file of a run" },
	{ PLAIN "run/.bashrc\n", "hidden" },
	{ BELOW ".git/\n", "hidden" },
	{ PLAIN "run/a\\nb\n", "characters" },
	{ PLAIN "a/b/c/d/e/f/samples.jsonl\n", "too deep" },
	{ "lrwxrwxrwx 0/0 0 2026-11-30 20:47:20 run/samples.jsonl -> /etc/passwd\n",
	  "neither a plain file" },
	{ "hrw-r--r-- 0/0 0 2026-11-30 20:47:20 run/samples.jsonl link to run/plan.json\n",
	  "neither a plain file" },
	{ "crw-r--r-- 0/0 1,3 2026-11-30 20:47:20 run/samples.jsonl\n", "neither a plain file" },
	{ "prw-r--r-- 0/0 0 2026-11-30 20:47:20 run/samples.jsonl\n", "neither a plain file" },
	{ "-rw-r--r-- 0/0 99999999999999 2026-11-30 20:47:20 run/samples.jsonl\n", "too large" },
	{ "nonsense\n", "not listed as tar" },
	{ PLAIN "samples.jsonl -> x\n", "no file of a run" },
};

START_TEST(listed_archive)
{
	char *list = strdup(lists[_i].list);

	ck_assert_int_eq(import_check_list("x.tar", list, quiet_log()),
			 lists[_i].part ? -EBADMSG : 0);
	if (lists[_i].part) {
		ck_assert_said(lists[_i].part);
		ck_assert_said("nothing of it was taken");
	}
	free(list);
}
END_TEST

static const struct made_run plain = { .name = "from/run", .value = 10, .started_ns = 1000 };

static char *store;

static void setup(void)
{
	make_folder();
	store = in_folder("store");
}

static void teardown(void)
{
	free(store);
	remove_folder();
}

static void shell(const char *format, const char *one, const char *two)
{
	char command[1024];

	snprintf(command, sizeof(command), format, one, two);
	ck_assert_int_eq(system(command), 0);
}

static void check_taken(const char *source, bool was_there)
{
	struct loaded_run *run;
	char *path;
	bool known;

	ck_assert_int_eq(import_into(source, store, quiet_log(), &path, &known), 0);
	ck_assert_int_eq(known, was_there);
	ck_assert_int_eq(run_load(path, false, quiet_log(), &run), 0);
	ck_assert(run->verified);
	run_free(run);
	free(path);
}

static void check_nothing_left(unsigned int wanted)
{
	char command[512];

	snprintf(command, sizeof(command), "test $(ls -A %s | wc -l) -eq %u", store, wanted);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(taken_folder)
{
	char *path = make_run(&plain);

	shell("touch %s/notes.txt %s/.hidden", path, path);
	check_taken(path, false);
	check_taken(path, true);
	shell("test ! -e %s/*/notes.txt && test ! -e %s/*/.hidden", store, store);
	check_nothing_left(1);
	free(path);
}
END_TEST

static const char *const packings[] = {
	"tar -C %s -cf %s/x.tar run",
	"tar -C %s -czf %s/x.tar run",
	"tar -C %s/run -cf %s/x.tar .",
	"tar --format=pax -C %s -cJf %s/x.tar run",
};

START_TEST(taken_archive)
{
	char *path = make_run(&plain), *from = in_folder("from"), *archive = in_folder("x.tar");

	shell(packings[_i], from, folder);
	check_taken(archive, false);
	check_taken(path, true);
	check_nothing_left(1);
	free(archive);
	free(from);
	free(path);
}
END_TEST

static const struct {
	const char *command; /* in from, which has run/ */
	const char *part;
} refused[] = {
	{ "ln -s /etc/passwd run/boot.json", "neither a plain file" },
	{ "ln run/plan.json run/boot.json", "neither a plain file" },
	{ "mkfifo run/boot.json", "neither a plain file" },
	{ "touch run/evil.sh", "no file of a run" },
	{ "echo ' ' >> run/plan.json", "plan.json was changed" },
	{ "rm run/machine.json", "machine.json" },
	{ "rm -r run && mkdir run && touch run/lab.json", "holds no runs" },
};

START_TEST(refused_archive)
{
	char *path = make_run(&plain), *from = in_folder("from"), *archive = in_folder("x.tar");
	char command[512], *target;
	bool known;

	snprintf(command, sizeof(command), "cd %s && %s", from, refused[_i].command);
	ck_assert_int_eq(system(command), 0);
	shell("tar -C %s -cf %s/x.tar run", from, folder);
	ck_assert_int_eq(import_into(archive, store, quiet_log(), &target, &known), -EBADMSG);
	ck_assert_said(refused[_i].part);
	check_nothing_left(0);
	free(archive);
	free(from);
	free(path);
}
END_TEST

START_TEST(no_archive)
{
	char *file = in_folder("x.tar"), *target;
	bool known;

	ck_assert_int_eq(fs_replace(file, "nonsense", 8), 0);
	ck_assert_int_eq(import_into(file, store, quiet_log(), &target, &known), -EBADMSG);
	ck_assert_said("it is no archive");
	ck_assert_int_eq(import_into("/nowhere", store, quiet_log(), &target, &known), -ENOENT);
	check_nothing_left(0);
	free(file);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	TCase *tests = tcase_create("import");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, listed_archive, 0, COUNT(lists));
	tcase_add_test(tests, taken_folder);
	tcase_add_loop_test(tests, taken_archive, 0, COUNT(packings));
	tcase_add_loop_test(tests, refused_archive, 0, COUNT(refused));
	tcase_add_test(tests, no_archive);
	return run_suite("import", tests);
}
