// SPDX-License-Identifier: GPL-2.0-only
/* The journal as another process finds it after its owner was killed. Root's journals are
 * in /run: these tests run as whoever they run as, and touch only what they made. */
#include "quiet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../harness/environment.h"
#include "../../harness/undo.h"
#include "../../lib/fs.h"

struct found {
	unsigned int journals, entries, done;
	char facts[256];
};

static void look(struct journal *journal, void *context)
{
	struct found *found = context;
	const struct journal_entry *entries;
	unsigned int count;

	entries = journal_entries(journal, &count);
	found->journals++;
	found->entries += count;
	while (count--) {
		char *facts = json_dumps(entries[count].facts, JSON_COMPACT | JSON_SORT_KEYS);

		found->done += entries[count].done;
		snprintf(found->facts, sizeof(found->facts), "%s", facts);
		free(facts);
		journal_undone(journal, entries[count].number);
	}
}

/* A process that writes a journal and is killed in the middle; its pid is reaped. */
static void write_and_die(void)
{
	struct journal *journal;
	unsigned int number;
	pid_t pid = fork();

	if (!pid) {
		if (journal_open(quiet_log(), &journal))
			_exit(1);
		journal_begin(journal, "test", json_pack("{s:i}", "a", 1), &number);
		journal_done(journal, number, json_pack("{s:i}", "b", 2));
		journal_begin(journal, "test", json_pack("{s:i}", "a", 3), &number);
		journal_undone(journal, number);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

START_TEST(a_killed_owner_is_found_once)
{
	struct found found = { 0 };

	journal_visit_dead(quiet_log(), look, &found); /* what others left */
	found = (struct found){ 0 };
	write_and_die();
	ck_assert_int_eq(journal_visit_dead(quiet_log(), look, &found), 1);
	ck_assert_uint_eq(found.entries, 1);
	ck_assert_uint_eq(found.done, 1);
	ck_assert_str_eq(found.facts, "{\"a\":1,\"b\":2}");
	ck_assert_int_eq(journal_visit_dead(quiet_log(), look, &found), 0);
}
END_TEST

START_TEST(a_living_owner_is_left_alone)
{
	struct found found = { 0 };
	struct journal *journal;
	unsigned int number;

	ck_assert_int_eq(journal_open(quiet_log(), &journal), 0);
	journal_begin(journal, "test", json_object(), &number);
	ck_assert_int_eq(journal_visit_dead(quiet_log(), look, &found), 0);
	journal_undone(journal, number);
	journal_close(journal);
	ck_assert_int_eq(journal_visit_dead(quiet_log(), look, &found), 0);
}
END_TEST

/* Only as an unprivileged user can the folder's place be chosen. */
START_TEST(a_link_or_an_open_folder_is_refused)
{
	char folder[] = "/tmp/check_journal.XXXXXX", path[128];
	struct journal *journal;
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	chmod(folder, 0777);
	snprintf(path, sizeof(path), "%s/shootdown", folder);
	ck_assert_int_eq(symlink("/tmp", path), 0);
	pid = fork();
	if (!pid) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534))
			_exit(9);
		setenv("XDG_RUNTIME_DIR", folder, 1);
		_exit(journal_open(quiet_log(), &journal) == -ELOOP ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	unlink(path);
	rmdir(folder);
}
END_TEST

/* ---- knobs: an ordinary file stands for one ---- */

static char knob[] = "/tmp/check_journal.knob.XXXXXX";

static void make_knob(const char *value)
{
	int fd;

	strcpy(strchr(knob, '\0') - 6, "XXXXXX");
	fd = mkstemp(knob);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dprintf(fd, "%s", value), (int)strlen(value));
	close(fd);
}

static void ck_assert_knob(const char *value)
{
	char *text;

	ck_assert_int_eq(fs_read_value("", knob, &text), 0);
	ck_assert_str_eq(text, value);
	free(text);
}

/* Opens a journal and writes "new" to the file. */
static void set_knob(struct environment *environment, const char *path, struct log *log)
{
	const struct environment_row rows[] = {
		{ .kind = ENVIRONMENT_KNOB, .path = path, .text = "new" },
		{ ENVIRONMENT_END },
	};
	const struct stressor stressor = { .environment = rows };
	const struct point point = { .stressor = &stressor };
	char reason[256];

	*environment = (struct environment){ .log = log };
	ck_assert_int_eq(journal_open(log, &environment->journal), 0);
	ck_assert_int_eq(environment_apply(environment, &point, reason, sizeof(reason)), 0);
}

START_TEST(a_knob_gets_its_old_value_back)
{
	struct environment environment;

	make_knob("old");
	set_knob(&environment, knob, quiet_log());
	ck_assert_knob("new");
	ck_assert_int_eq(undo_journal(environment.journal, environment.log), 0);
	ck_assert_knob("old");
	journal_close(environment.journal);
	unlink(knob);
}
END_TEST

/* An ordinary file does not move the brackets, as a knob would: it shows what was written. */
START_TEST(a_knob_of_choices_gets_its_old_choice_back)
{
	struct environment environment;

	make_knob("always inherit madvise [never]");
	set_knob(&environment, knob, quiet_log());
	ck_assert_int_eq(undo_journal(environment.journal, environment.log), 0);
	ck_assert_knob("nevers inherit madvise [never]");
	journal_close(environment.journal);
	unlink(knob);
}
END_TEST

START_TEST(a_knob_of_a_killed_run_is_restored)
{
	struct environment environment;
	pid_t pid;

	make_knob("old");
	pid = fork();
	if (!pid) {
		set_knob(&environment, knob, quiet_log());
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	ck_assert_knob("new");
	ck_assert_int_ge(undo_dead_journals(quiet_log()), 0);
	ck_assert_knob("old");
	unlink(knob);
}
END_TEST

/* The owner was killed while it forked a worker, which holds the lock a little longer. */
START_TEST(a_worker_that_dies_later_is_waited_for)
{
	struct environment environment;
	pid_t pid;

	make_knob("old");
	pid = fork();
	if (!pid) {
		set_knob(&environment, knob, quiet_log());
		if (!fork()) {
			usleep(200000);
			_exit(0);
		}
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	ck_assert_int_ge(undo_dead_journals(quiet_log()), 1);
	ck_assert_knob("old");
	unlink(knob);
}
END_TEST

START_TEST(a_knob_that_somebody_else_has_set_is_left)
{
	struct environment environment;

	make_knob("old");
	set_knob(&environment, knob, quiet_log());
	ck_assert_int_eq(fs_write("", knob, "els"), 0);
	ck_assert_int_eq(undo_journal(environment.journal, environment.log), 0);
	ck_assert_knob("els");
	ck_assert_said("somebody else");
	journal_close(environment.journal);
	unlink(knob);
}
END_TEST

/* It may be one that this process may not write. */
START_TEST(a_knob_that_is_set_already_is_not_written)
{
	struct environment environment;
	unsigned int count;

	make_knob("new");
	set_knob(&environment, knob, quiet_log());
	journal_entries(environment.journal, &count);
	ck_assert_uint_eq(count, 0);
	journal_close(environment.journal);
	unlink(knob);
}
END_TEST

START_TEST(a_knob_that_is_missing_changes_nothing)
{
	struct environment environment;
	unsigned int count;

	set_knob(&environment, "/tmp/check_journal.none/knob", quiet_log());
	journal_entries(environment.journal, &count);
	ck_assert_uint_eq(count, 0);
	journal_close(environment.journal);
}
END_TEST

/* ---- controllers: an ordinary file stands for a cgroup.subtree_control ---- */

static const struct {
	const char *before, *controller, *after;
} controllers[] = {
	{ "cpuset memory", "cpuset", "-cpuset" },
	{ "cpuset memory", "memory", "-memory" },
	{ "memory", "cpuset", "memory" }, /* never turned on: killed in between */
	{ "cpuset_of_another_name memory", "cpuset", "cpuset_of_another_name memory" },
};

START_TEST(a_controller_is_turned_off_by_its_name)
{
	char folder[] = "/tmp/check_journal.XXXXXX", path[128], *text;
	struct log *log = quiet_log();
	struct journal *journal;
	unsigned int entry;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", folder);
	ck_assert_int_eq(fs_replace(path, controllers[_i].before, strlen(controllers[_i].before)),
			 0);
	ck_assert_int_eq(journal_open(log, &journal), 0);
	ck_assert_int_eq(journal_begin(journal, "controller",
				       json_pack("{s:s, s:s}", "path", path, "controller",
						 controllers[_i].controller),
				       &entry),
			 0);
	ck_assert_int_eq(undo_journal(journal, log), 0);
	journal_close(journal);
	ck_assert_int_eq(fs_read_value("", path, &text), 0);
	/* an ordinary file keeps what is behind the words that are written */
	ck_assert_int_eq(strncmp(text, controllers[_i].after, strlen(controllers[_i].after)), 0);
	free(text);
	unlink(path);
	rmdir(folder);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("journal");

	tcase_add_test(tests, a_killed_owner_is_found_once);
	tcase_add_test(tests, a_living_owner_is_left_alone);
	tcase_add_test(tests, a_link_or_an_open_folder_is_refused);
	tcase_add_test(tests, a_knob_gets_its_old_value_back);
	tcase_add_test(tests, a_knob_of_choices_gets_its_old_choice_back);
	tcase_add_test(tests, a_knob_of_a_killed_run_is_restored);
	tcase_add_test(tests, a_worker_that_dies_later_is_waited_for);
	tcase_add_test(tests, a_knob_that_somebody_else_has_set_is_left);
	tcase_add_test(tests, a_knob_that_is_set_already_is_not_written);
	tcase_add_test(tests, a_knob_that_is_missing_changes_nothing);
	tcase_add_loop_test(tests, a_controller_is_turned_off_by_its_name, 0,
			    sizeof(controllers) / sizeof(controllers[0]));
	return run_suite("journal", tests);
}
