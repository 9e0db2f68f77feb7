// SPDX-License-Identifier: GPL-2.0-only
/*
 * Journal entries undone: one table row a kind of change. An undo must work from
 * the facts alone: the process that made the change may be dead, and may have died
 * before, in or after making it.
 */
#include "undo.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "../lib/fs.h"

struct change_kind {
	const char *name; /* in the journal */
	/* done: the change is known to have been made. 0 also when there was nothing to undo. */
	int (*undo)(const json_t *facts, bool done, struct log *log);
};

static long long fact_number(const json_t *facts, const char *name, long long fallback)
{
	const json_t *value = json_object_get(facts, name);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

static const char *fact_text(const json_t *facts, const char *name)
{
	const char *text = json_string_value(json_object_get(facts, name));

	return text ? text : "";
}

/* ---- zram: a device added by us ---- */

json_t *zram_devices(void)
{
	json_t *numbers = json_array();
	DIR *folder = opendir("/sys/block");
	struct dirent *entry;
	int number, end;

	while (folder && (entry = readdir(folder))) {
		end = 0;
		if (sscanf(entry->d_name, "zram%d%n", &number, &end) == 1 && !entry->d_name[end])
			json_array_append_new(numbers, json_integer(number));
	}
	if (folder)
		closedir(folder);
	return numbers;
}

static bool contains(const json_t *numbers, long long number)
{
	size_t i;
	json_t *value;

	json_array_foreach((json_t *)numbers, i, value)
		if (json_integer_value(value) == number)
			return true;
	return false;
}

static bool zram_is_unused(long long number)
{
	char path[64];
	unsigned long long size;

	snprintf(path, sizeof(path), "/sys/block/zram%lld/disksize", number);
	return !fs_read_u64("", path, &size) && size == 0;
}

/*
 * The run died between asking for a device and writing down its number. A device
 * that was not there before and was never given a size is ours, when there is
 * just one: others set the size at once, so more than one means we cannot tell.
 */
static long long find_lost_zram(const json_t *facts, struct log *log)
{
	const json_t *before = json_object_get(facts, "before");
	json_t *now = zram_devices(), *value;
	long long found = -1;
	size_t i;

	json_array_foreach(now, i, value) {
		long long number = json_integer_value(value);

		if (contains(before, number) || !zram_is_unused(number))
			continue;
		if (found >= 0) {
			log_warn(log,
				 "one of zram%lld and zram%lld may be a dead run's; look, then "
				 "write its number to /sys/class/zram-control/hot_remove",
				 found, number);
			found = -1;
			break;
		}
		found = number;
	}
	json_decref(now);
	return found;
}

/*
 * Numbers of devices are used again, a disk's sequence number is not (diskseq,
 * Linux 5.15). -1 when this kernel has none.
 */
long long zram_sequence(long long number)
{
	unsigned long long sequence;
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/zram%lld/diskseq", number);
	return fs_read_u64("", path, &sequence) ? -1 : (long long)sequence;
}

/* Is the device of this number still the one that the run added? */
static bool zram_is_ours(const json_t *facts)
{
	return zram_sequence(fact_number(facts, "device", -1)) ==
	       fact_number(facts, "sequence", -1);
}

static int undo_zram(const json_t *facts, bool done, struct log *log)
{
	long long number = fact_number(facts, "device", -1);
	char path[64], text[32];
	int rc = 0;

	if (!done)
		number = find_lost_zram(facts, log);
	snprintf(path, sizeof(path), "/sys/block/zram%lld", number);
	if (number < 0 || !fs_exists("", path) || (done && !zram_is_ours(facts)))
		return 0;
	snprintf(path, sizeof(path), "/sys/block/zram%lld/reset", number);
	snprintf(text, sizeof(text), "%lld", number);
	/* udev may still look at the device: it is busy for a moment */
	for (int i = 0; i < 50; i++) {
		rc = fs_write("", path, "1");
		if (!rc)
			rc = fs_write("", "/sys/class/zram-control/hot_remove", text);
		if (rc != -EBUSY)
			break;
		usleep(100000);
	}
	return rc;
}

/* ---- swap: an area on a device of ours ---- */

static bool swap_is_on(const char *path)
{
	char *text, *line, *rest;
	size_t length = strlen(path);
	bool found = false;

	if (fs_read("", "/proc/swaps", &text, NULL))
		return false;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (length && !strncmp(line, path, length) && line[length] &&
		    strchr(" \t", line[length]))
			found = true;
	free(text);
	return found;
}

static int undo_swap(const json_t *facts, bool done, struct log *log)
{
	const char *path = fact_text(facts, "path");

	(void)done;
	if (!swap_is_on(path) || !zram_is_ours(facts))
		return 0;
	if (!swapoff(path))
		return 0;
	log_warn(log, "swapoff %s: %s", path, strerror(errno));
	return -errno;
}

/* ---- cgroup: a folder of ours, and the controllers enabled for it ---- */

static int undo_cgroup(const json_t *facts, bool done, struct log *log)
{
	const char *path = fact_text(facts, "path");
	char *kill_path = format_string("%s/cgroup.kill", path);
	int rc = 0;

	(void)done;
	if (!kill_path)
		return -ENOMEM;
	/* the workers died with the run: what is still there after a second hangs */
	for (int i = 0; i < 120; i++) {
		rc = rmdir(path) ? -errno : 0;
		if (rc != -EBUSY)
			break;
		if (i == 20) {
			log_warn(log, "killing what is left in %s", path);
			fs_write("", kill_path, "1");
		}
		usleep(50000);
	}
	free(kill_path);
	return rc == -ENOENT ? 0 : rc;
}

bool controller_is_on(const char *path, const char *controller)
{
	char *text, *rest, *token;
	bool found = false;

	if (fs_read_value("", path, &text))
		return false;
	for (rest = text; (token = strsep(&rest, " \n"));)
		if (!strcmp(token, controller))
			found = true;
	free(text);
	return found;
}

/* Are there folders beside the file path? */
static bool has_child_groups(const char *path)
{
	char *folder = strndup(path, strrchr(path, '/') ? strrchr(path, '/') - path : 0);
	DIR *stream = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	bool found = false;

	while (stream && !found && (entry = readdir(stream)))
		found = entry->d_type == DT_DIR && entry->d_name[0] != '.';
	if (stream)
		closedir(stream);
	free(folder);
	return found;
}

static int undo_controller(const json_t *facts, bool done, struct log *log)
{
	const char *path = fact_text(facts, "path"), *name = fact_text(facts, "controller");
	char text[64];
	int rc;

	(void)done;
	if (!controller_is_on(path, name))
		return 0;
	/* somebody's cgroup may have come to rely on it; enabled, it harms nobody */
	if (has_child_groups(path)) {
		log_info(log, "the %s controller stays enabled: there are other cgroups beside %s",
			 name, path);
		return 0;
	}
	snprintf(text, sizeof(text), "-%s", name);
	rc = fs_write("", path, text);
	if (rc)
		log_warn(log, "the %s controller stays enabled in %s: %s", name, path,
			 strerror(-rc));
	return rc;
}

/* ---- folders ---- */

/* A program that the run started may live a moment longer, and make a file meanwhile. */
static int undo_folder(const json_t *facts, bool done, struct log *log)
{
	const char *path = fact_text(facts, "path");
	struct stat status;
	int rc = 0;

	(void)log;
	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	/* somebody else's, who was faster with the same name */
	if (!done && status.st_uid != geteuid())
		return 0;
	for (int i = 0; i < 60; i++) {
		rc = fs_remove_tree(path);
		if (rc != -ENOTEMPTY && rc != -ENOENT)
			break;
		usleep(50000);
	}
	return rc;
}

/* ---- knobs: a file of /sys or /proc/sys with one value ---- */

/* A knob that shows its choices, "always [madvise] never", takes the one in brackets. */
static int write_knob(const char *path, const char *value)
{
	const char *start = strchr(value, '['), *end = start ? strchr(start, ']') : NULL;
	char *choice;
	int rc;

	if (!end)
		return fs_write("", path, value);
	choice = format_string("%.*s", (int)(end - start - 1), start + 1);
	if (!choice)
		return -ENOMEM;
	rc = fs_write("", path, choice);
	free(choice);
	return rc;
}

/*
 * What is read back need not be what was written ("1" reads "true"), so the journal
 * holds both readings. When the second is missing the run died in between: then a
 * value other than the first one is taken for ours.
 */
static int undo_knob(const json_t *facts, bool done, struct log *log)
{
	const char *path = fact_text(facts, "path"), *before = fact_text(facts, "before");
	const char *after = fact_text(facts, "after");
	char *now;
	int rc = fs_read_value("", path, &now);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (!strcmp(now, before))
		rc = 0;
	else if (done && strcmp(now, after))
		log_warn(log, "%s is left at \"%s\", which somebody else wrote; it was \"%s\"",
			 path, now, before);
	else
		rc = write_knob(path, before);
	free(now);
	return rc;
}

/* ---- journals ---- */

static const struct change_kind change_kinds[] = {
	{ "zram", undo_zram },	   { "swap", undo_swap },
	{ "cgroup", undo_cgroup }, { "controller", undo_controller },
	{ "knob", undo_knob },	   { "folder", undo_folder },
};

static int undo_entry(const struct journal_entry *entry, struct log *log)
{
	for (size_t i = 0; i < sizeof(change_kinds) / sizeof(change_kinds[0]); i++)
		if (!strcmp(change_kinds[i].name, entry->kind))
			return change_kinds[i].undo(entry->facts, entry->done, log);
	return -ENOTSUP;
}

int undo_journal(struct journal *journal, struct log *log)
{
	const struct journal_entry *entries;
	unsigned int count;
	int first = 0;

	entries = journal_entries(journal, &count);
	while (count--) {
		int rc = undo_entry(&entries[count], log);

		if (!rc) {
			rc = journal_undone(journal, entries[count].number);
		} else {
			char *facts = json_dumps(entries[count].facts, JSON_COMPACT);

			log_error(log, "cannot undo %s %s: %s; \"shootdown restore\" tries again",
				  entries[count].kind, facts ? facts : "", strerror(-rc));
			free(facts);
		}
		if (rc && !first)
			first = rc;
	}
	return first;
}

struct restore {
	struct log *log;
	int rc;
};

static void restore_one(struct journal *journal, void *context)
{
	struct restore *restore = context;
	int rc = undo_journal(journal, restore->log);

	if (rc)
		restore->rc = rc;
}

int undo_dead_journals(struct log *log)
{
	struct restore restore = { .log = log };
	int visited = journal_visit_dead(log, restore_one, &restore);

	return visited < 0 ? visited : restore.rc ? restore.rc : visited;
}
