// SPDX-License-Identifier: GPL-2.0-only
/* The undo journal on disk. What the kinds mean is environment.c's affair. */
#include "journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/fs.h"

struct journal {
	int folder;
	int fd;
	char name[80];
	struct journal_entry *entries;
	unsigned int count;
	unsigned int next;
};

static char *folder_path(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		return strdup("/run/shootdown");
	if (runtime && *runtime == '/' && fs_exists("", runtime))
		return format_string("%s/shootdown", runtime);
	return format_string("/tmp/shootdown-%u", (unsigned int)geteuid());
}

/* A folder descriptor, or a negative errno that was said. */
static int open_folder(struct log *log)
{
	char *path = folder_path();
	int fd = path ? fs_open_private_folder(path) : -ENOMEM;

	if (fd == -EPERM || fd == -ELOOP)
		log_error(log,
			  "%s must be a folder of mode 0700 that belongs to you, and no link: "
			  "look who made it, then remove it",
			  path);
	else if (fd < 0)
		log_error(log, "cannot open the journal folder %s: %s", path ? path : "",
			  strerror(-fd));
	free(path);
	return fd;
}

static int write_line(struct journal *journal, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL, *whole;
	int rc = -ENOMEM;
	ssize_t put;

	json_decref(line);
	whole = text ? format_string("%s\n", text) : NULL;
	if (whole) {
		put = write(journal->fd, whole, strlen(whole));
		rc = put < 0 ? -errno : (size_t)put == strlen(whole) ? 0 : -ENOSPC;
		if (!rc && fdatasync(journal->fd))
			rc = -errno;
	}
	free(whole);
	free(text);
	return rc;
}

static char *boot_id(void)
{
	char *text;

	return fs_read_value("", "/proc/sys/kernel/random/boot_id", &text) ? strdup("") : text;
}

static struct journal_entry *find_entry(struct journal *journal, unsigned int number)
{
	for (unsigned int i = 0; i < journal->count; i++)
		if (journal->entries[i].number == number)
			return &journal->entries[i];
	return NULL;
}

static int add_entry(struct journal *journal, unsigned int number, const char *kind, json_t *facts)
{
	struct journal_entry *larger = reallocarray(journal->entries, journal->count + 1,
						    sizeof(*larger));
	char *copy = strdup(kind);

	if (larger)
		journal->entries = larger;
	if (!larger || !copy) {
		free(copy);
		return -ENOMEM;
	}
	journal->entries[journal->count++] = (struct journal_entry){ .number = number,
								     .kind = copy,
								     .facts = json_incref(facts) };
	return 0;
}

static void drop_entry(struct journal *journal, struct journal_entry *entry)
{
	unsigned int i = entry - journal->entries;

	free(entry->kind);
	json_decref(entry->facts);
	memmove(entry, entry + 1, (journal->count - i - 1) * sizeof(*entry));
	journal->count--;
}

static void release(struct journal *journal)
{
	while (journal->count)
		drop_entry(journal, &journal->entries[journal->count - 1]);
	free(journal->entries);
	if (journal->fd >= 0)
		close(journal->fd);
	if (journal->folder >= 0)
		close(journal->folder);
	free(journal);
}

/*
 * The file gets its lock and first line under another name, so that nobody can
 * take it for a dead run's. The clock keeps names apart when a pid comes again.
 */
static int create_file(struct journal *journal)
{
	char *boot = boot_id(), fresh[sizeof(journal->name) + 4];
	int rc;

	snprintf(journal->name, sizeof(journal->name), "%d-%llu.journal", (int)getpid(),
		 (unsigned long long)clock_ns(CLOCK_BOOTTIME));
	snprintf(fresh, sizeof(fresh), "%s.new", journal->name);
	journal->fd = openat(journal->folder, fresh,
			     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = journal->fd < 0 || flock(journal->fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (!rc)
		rc = boot ? write_line(journal,
				       json_pack("{s:s, s:i}", "boot", boot, "pid", (int)getpid()))
			  : -ENOMEM;
	if (!rc && renameat(journal->folder, fresh, journal->folder, journal->name))
		rc = -errno;
	if (rc)
		unlinkat(journal->folder, fresh, 0);
	free(boot);
	return rc;
}

int journal_open(struct log *log, struct journal **out)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int rc;

	if (!journal)
		return -ENOMEM;
	journal->fd = -1;
	journal->next = 1;
	journal->folder = open_folder(log);
	if (journal->folder < 0) {
		rc = journal->folder;
		goto fail;
	}
	rc = create_file(journal);
	if (rc)
		log_error(log, "cannot write the journal %s: %s", journal->name, strerror(-rc));
	if (!rc) {
		*out = journal;
		return 0;
	}
fail:
	release(journal);
	return rc;
}

int journal_begin(struct journal *journal, const char *kind, json_t *facts, unsigned int *number)
{
	int rc = facts ? add_entry(journal, journal->next, kind, facts) : -ENOMEM;

	if (!rc)
		rc = write_line(journal, json_pack("{s:i, s:s, s:O}", "do", (int)journal->next,
						   "kind", kind, "facts", facts));
	if (!rc)
		*number = journal->next++;
	json_decref(facts);
	return rc;
}

int journal_done(struct journal *journal, unsigned int number, json_t *facts)
{
	struct journal_entry *entry = find_entry(journal, number);

	if (!facts)
		facts = json_object();
	entry->done = true;
	json_object_update(entry->facts, facts);
	return write_line(journal, json_pack("{s:i, s:o}", "did", (int)number, "facts", facts));
}

int journal_undone(struct journal *journal, unsigned int number)
{
	drop_entry(journal, find_entry(journal, number));
	return write_line(journal, json_pack("{s:i}", "undone", (int)number));
}

const struct journal_entry *journal_entries(const struct journal *journal, unsigned int *count)
{
	*count = journal->count;
	return journal->entries;
}

void journal_forget(struct journal *journal)
{
	if (journal->fd >= 0)
		close(journal->fd);
	if (journal->folder >= 0)
		close(journal->folder);
	journal->fd = journal->folder = -1;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	if (!journal->count)
		unlinkat(journal->folder, journal->name, 0);
	release(journal);
}

static void take_line(struct journal *journal, const json_t *line)
{
	unsigned int number = json_integer_value(json_object_get(line, "do"));
	const char *kind = json_string_value(json_object_get(line, "kind"));
	json_t *facts = json_object_get(line, "facts");
	struct journal_entry *entry;

	if (number && kind && facts) {
		add_entry(journal, number, kind, facts);
		journal->next = number + 1;
		return;
	}
	number = json_integer_value(json_object_get(line, "did"));
	entry = find_entry(journal, number);
	if (entry) {
		entry->done = true;
		json_object_update(entry->facts, facts);
	}
	entry = find_entry(journal, json_integer_value(json_object_get(line, "undone")));
	if (entry)
		drop_entry(journal, entry);
}

/* A last line that was cut by the kill is no JSON and was not acted on: it ends the reading. */
static int load(struct journal *journal)
{
	char *path = format_string("/proc/self/fd/%d", journal->fd), *text = NULL, *rest, *line;
	char *boot = boot_id();
	bool same_boot = false;
	int rc = path && boot ? fs_read("", path, &text, NULL) : -ENOMEM;
	const char *end = rc ? NULL : strrchr(text, '\n');

	/* what comes after must not be glued to a fragment */
	if (!rc && ftruncate(journal->fd, end ? end + 1 - text : 0))
		rc = -errno;
	for (rest = text; !rc && (line = strsep(&rest, "\n")) && *line;) {
		json_t *json = json_loads(line, 0, NULL);
		const char *written = json_string_value(json_object_get(json, "boot"));

		if (written)
			same_boot = !strcmp(written, boot);
		if (json && same_boot)
			take_line(journal, json);
		json_decref(json);
		if (!json)
			break;
	}
	free(text);
	free(boot);
	free(path);
	return rc;
}

static bool belongs_to_us(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & 077);
}

#define ORPHANS_MS 2000 /* a worker forked just before its owner was killed is gone long before */

/*
 * A worker that was being forked when its owner was killed still holds the lock for the
 * moment until it dies, too: that is waited for, an owner that lives is not.
 */
static bool lock_of_dead(int fd, const char *name)
{
	pid_t owner = atoi(name);

	for (unsigned int ms = 0; flock(fd, LOCK_EX | LOCK_NB); ms += 10) {
		if (errno != EWOULDBLOCK || owner <= 0 || ms >= ORPHANS_MS || !kill(owner, 0) ||
		    errno != ESRCH)
			return false;
		usleep(10000);
	}
	return true;
}

static struct journal *open_dead(int folder, const char *name)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (!journal)
		return NULL;
	journal->next = 1;
	journal->folder = dup(folder);
	journal->fd = openat(folder, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	snprintf(journal->name, sizeof(journal->name), "%s", name);
	if (journal->fd >= 0 && belongs_to_us(journal->fd) && lock_of_dead(journal->fd, name) &&
	    !load(journal))
		return journal;
	release(journal);
	return NULL;
}

/* Calls look, which returns how often it counts, for each journal. The sum or a negative errno. */
static int each_journal(struct log *log, int (*look)(int folder, const char *name, void *context),
			void *context)
{
	struct dirent *entry;
	int folder = open_folder(log), sum = 0;
	DIR *stream;

	if (folder < 0)
		return folder;
	stream = fdopendir(folder);
	if (!stream) {
		close(folder);
		return -ENOMEM;
	}
	while ((entry = readdir(stream))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, ".journal") &&
		    strlen(entry->d_name) < sizeof(((struct journal *)NULL)->name))
			sum += look(folder, entry->d_name, context);
	}
	closedir(stream);
	return sum;
}

struct visitor {
	void (*visit)(struct journal *journal, void *context);
	void *context;
};

static int visit_dead(int folder, const char *name, void *context)
{
	const struct visitor *visitor = context;
	struct journal *journal = open_dead(folder, name);
	int visited = journal && journal->count;

	if (visited)
		visitor->visit(journal, visitor->context);
	journal_close(journal);
	return visited;
}

int journal_visit_dead(struct log *log, void (*visit)(struct journal *journal, void *context),
		       void *context)
{
	struct visitor visitor = { visit, context };

	return each_journal(log, visit_dead, &visitor);
}

static int is_live(int folder, const char *name, void *context)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	(void)context;
	if (fd >= 0)
		close(fd);
	return locked;
}

int journal_count_live(struct log *log)
{
	return each_journal(log, is_live, NULL);
}
