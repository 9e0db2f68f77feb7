// SPDX-License-Identifier: GPL-2.0-only
/* Environment rows applied, each change journalled first. Undoing them is undo.c's. */
#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "undo.h"

/* ---- zram and swap ---- */

static int add_zram(struct environment *environment, long long *number)
{
	unsigned int entry;
	unsigned long long device;
	int rc = journal_begin(environment->journal, "zram",
			       json_pack("{s:o}", "before", zram_devices()), &entry);

	/* reading hot_add is what adds the device (Documentation/admin-guide/blockdev/zram.rst) */
	if (!rc)
		rc = fs_read_u64("", "/sys/class/zram-control/hot_add", &device);
	if (!rc)
		rc = journal_done(environment->journal, entry,
				  json_pack("{s:I, s:I}", "device", (json_int_t)device, "sequence",
					    (json_int_t)zram_sequence(device)));
	if (!rc)
		*number = device;
	return rc;
}

/*
 * An empty swap area: version 1, the last page, and the magic at the end of the
 * first page (union swap_header in include/linux/swap.h).
 */
static int format_swap(const char *path, uint64_t size, size_t page_bytes)
{
	uint32_t *header = calloc(1, page_bytes);
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC), rc = 0;

	if (!header)
		rc = -ENOMEM;
	else if (fd < 0)
		rc = -errno;
	if (!rc) {
		header[1024 / 4] = 1;
		header[1024 / 4 + 1] = size / page_bytes - 1;
		memcpy((char *)header + page_bytes - 10, "SWAPSPACE2", 10);
		if (pwrite(fd, header, page_bytes, 0) != (ssize_t)page_bytes || fsync(fd))
			rc = errno ? -errno : -EIO;
	}
	if (fd >= 0)
		close(fd);
	free(header);
	return rc;
}

/* The highest priority, so that nothing goes to a swap that was there before. */
static int turn_on_swap(struct environment *environment, long long device, const char *path)
{
	unsigned int entry;
	int rc = journal_begin(environment->journal, "swap",
			       json_pack("{s:s, s:I, s:I}", "path", path, "device",
					 (json_int_t)device, "sequence",
					 (json_int_t)zram_sequence(device)),
			       &entry);

	if (!rc && swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		rc = -errno;
	return rc ? rc : journal_done(environment->journal, entry, NULL);
}

/* ---- cgroup ---- */

char *environment_cgroup_mount(const char *root, const char **reason)
{
	char *text, *rest, *line, *mount = NULL, *controllers = NULL;

	*reason =
		"cgroup v2 is not mounted; mount it, or boot with systemd.unified_cgroup_hierarchy=1";
	if (fs_read(root, "/proc/self/mounts", &text, NULL))
		return NULL;
	for (rest = text; !mount && (line = strsep(&rest, "\n"));) {
		char device[256], folder[1024], kind[64];

		if (sscanf(line, "%255s %1023s %63s", device, folder, kind) == 3 &&
		    !strcmp(kind, "cgroup2"))
			mount = strdup(folder);
	}
	free(text);
	if (!mount)
		return NULL;
	*reason = "cgroup v2 has no memory controller here; boot with cgroup_no_v1=memory";
	text = format_string("%s/cgroup.controllers", mount);
	if (text && !fs_read_value(root, text, &controllers) && strstr(controllers, "memory"))
		*reason = NULL;
	free(controllers);
	free(text);
	if (!*reason)
		return mount;
	free(mount);
	return NULL;
}

static int enable_controller(struct environment *environment, const char *mount, const char *name)
{
	char *path = format_string("%s/cgroup.subtree_control", mount), text[64];
	unsigned int entry;
	int rc = path ? 0 : -ENOMEM;

	if (!rc && !controller_is_on(path, name)) {
		rc = journal_begin(environment->journal, "controller",
				   json_pack("{s:s, s:s}", "path", path, "controller", name),
				   &entry);
		snprintf(text, sizeof(text), "+%s", name);
		if (!rc)
			rc = fs_write("", path, text);
		if (!rc)
			rc = journal_done(environment->journal, entry, NULL);
	}
	free(path);
	return rc;
}

/*
 * The controller that a row names beside memory, where it can be had. Not before Linux
 * 6.2: there a cpuset that comes to be forgets what CPUs its tasks, anybody's, were
 * pinned to (cpuset_attach() in kernel/cgroup/cpuset.c).
 */
static int enable_further(struct environment *environment, const char *mount, const char *name)
{
	unsigned int major = 0, minor = 0;
	char *path, *release;
	bool there;

	if (!name || fs_read_value("", "/proc/sys/kernel/osrelease", &release))
		return 0;
	sscanf(release, "%u.%u", &major, &minor);
	free(release);
	if (major < 6 || (major == 6 && minor < 2))
		return 0;
	path = format_string("%s/cgroup.controllers", mount);
	if (!path)
		return -ENOMEM;
	there = controller_is_on(path, name);
	free(path);
	return there ? enable_controller(environment, mount, name) : 0;
}

static int make_cgroup(struct environment *environment, const char *mount)
{
	char *path = format_string("%s/shootdown-%d-%u", mount, (int)getpid(), environment->index);
	unsigned int entry;
	int rc = path ? 0 : -ENOMEM;

	/* what exists under this name is not ours: never journal it */
	if (!rc && fs_exists("", path))
		rc = -EEXIST;
	if (!rc)
		rc = journal_begin(environment->journal, "cgroup", json_pack("{s:s}", "path", path),
				   &entry);
	if (!rc && mkdir(path, 0755))
		rc = -errno;
	if (!rc)
		rc = journal_done(environment->journal, entry, NULL);
	if (!rc) {
		environment->cgroup_folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (environment->cgroup_folder < 0)
			rc = -errno;
	}
	free(path);
	return rc;
}

/* ---- a folder ---- */

#define MEMORY_FOLDER "/dev/shm"

static int make_folder(struct environment *environment)
{
	const char *above = access(MEMORY_FOLDER, W_OK | X_OK) ? "/tmp" : MEMORY_FOLDER;
	char *path = format_string("%s/shootdown-%d-%u", above, (int)getpid(), environment->index);
	unsigned int entry;
	struct stat status;
	int rc = path ? 0 : -ENOMEM;

	/* what exists under this name is not ours: never journal it */
	if (!rc && !lstat(path, &status))
		rc = -EEXIST;
	if (!rc)
		rc = journal_begin(environment->journal, "folder", json_pack("{s:s}", "path", path),
				   &entry);
	if (!rc && mkdir(path, 0700))
		rc = -errno;
	if (!rc)
		rc = journal_done(environment->journal, entry, NULL);
	if (rc) {
		free(path);
		return rc;
	}
	environment->folder = path;
	return 0;
}

/* ---- knobs ---- */

static int set_knob(struct environment *environment, const struct environment_row *row)
{
	char *before, *after;
	unsigned int entry;
	int rc = fs_read_value("", row->path, &before);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (!strcmp(before, row->text)) {
		free(before);
		return 0;
	}
	rc = journal_begin(environment->journal, "knob",
			   json_pack("{s:s, s:s}", "path", row->path, "before", before), &entry);
	free(before);
	if (!rc)
		rc = fs_write("", row->path, row->text);
	if (!rc)
		rc = fs_read_value("", row->path, &after);
	if (rc)
		return rc;
	rc = journal_done(environment->journal, entry, json_pack("{s:s}", "after", after));
	free(after);
	return rc;
}

/* ---- rows of a stressor ---- */

static int apply_knob(struct environment *environment, const struct environment_row *row,
		      const struct point *point, char *reason, size_t size)
{
	int rc = set_knob(environment, row);

	(void)point;
	if (rc)
		snprintf(reason, size, "cannot write \"%s\" to %s: %s", row->text, row->path,
			 strerror(-rc));
	return rc;
}

static int apply_cgroup(struct environment *environment, const struct environment_row *row,
			const struct point *point, char *reason, size_t size)
{
	const char *why;
	char *mount = environment_cgroup_mount("", &why);
	int rc;

	(void)point;
	if (!mount) {
		snprintf(reason, size, "%s", why);
		return -ENODEV;
	}
	rc = enable_controller(environment, mount, "memory");
	if (!rc)
		rc = enable_further(environment, mount, row->text);
	if (!rc)
		rc = make_cgroup(environment, mount);
	if (rc)
		snprintf(reason, size, "cannot make a cgroup under %s: %s", mount, strerror(-rc));
	free(mount);
	return rc;
}

static int apply_folder(struct environment *environment, const struct environment_row *row,
			const struct point *point, char *reason, size_t size)
{
	int rc = make_folder(environment);

	(void)row;
	(void)point;
	if (rc)
		snprintf(reason, size, "cannot make a folder for the run: %s", strerror(-rc));
	return rc;
}

static int set_zram(long long device, const char *attribute, const char *text, char *reason,
		    size_t size)
{
	char path[80];
	int rc;

	snprintf(path, sizeof(path), "/sys/block/zram%lld/%s", device, attribute);
	rc = fs_write("", path, text);
	if (rc)
		snprintf(reason, size, "%s refuses \"%s\": %s", path, text, strerror(-rc));
	return rc;
}

/* Pages, half as many again for what the kernel adds, and room for its clusters. */
static uint64_t zram_bytes(const struct point *point)
{
	uint64_t given = option_uint(point->parameters, "zram-size");
	uint64_t pages = option_uint(point->parameters, "pages");

	return given ? given : (pages + pages / 2 + 4096) * point->page_bytes;
}

static int apply_zram_swap(struct environment *environment, const struct environment_row *row,
			   const struct point *point, char *reason, size_t size)
{
	const char *algorithm = option_string(point->parameters, "zram-algorithm");
	uint64_t bytes = zram_bytes(point);
	char text[64], path[64];
	long long device;
	int rc = add_zram(environment, &device);

	(void)row;
	if (rc) {
		snprintf(reason, size, "cannot add a zram device: %s", strerror(-rc));
		return rc;
	}
	environment->zram = device;
	if (algorithm && strcmp(algorithm, "default"))
		rc = set_zram(device, "comp_algorithm", algorithm, reason, size);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	if (!rc)
		rc = set_zram(device, "disksize", text, reason, size);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/dev/zram%lld", device);
	rc = format_swap(path, bytes, point->page_bytes);
	if (!rc)
		rc = turn_on_swap(environment, device, path);
	if (rc)
		snprintf(reason, size, "cannot swap to %s: %s", path, strerror(-rc));
	return rc;
}

static int (*const apply_kind[])(struct environment *environment, const struct environment_row *row,
				 const struct point *point, char *reason, size_t size) = {
	[ENVIRONMENT_ZRAM_SWAP] = apply_zram_swap,
	[ENVIRONMENT_CGROUP] = apply_cgroup,
	[ENVIRONMENT_FOLDER] = apply_folder,
	[ENVIRONMENT_KNOB] = apply_knob,
};

static bool applies(const struct environment_row *row, const struct point *point)
{
	return !row->option || !strcmp(option_string(point->parameters, row->option), row->value);
}

/* The first row from this one on that applies to the point and sets a knob; NULL: none. */
static const struct environment_row *next_knob(const struct environment_row *row,
					       const struct point *point)
{
	for (; row && row->kind != ENVIRONMENT_END; row++)
		if (row->kind == ENVIRONMENT_KNOB && applies(row, point))
			return row;
	return NULL;
}

const struct environment_row *environment_conflict(const struct point *first,
						   const struct point *second)
{
	const struct environment_row *one = first->stressor->environment, *other;

	for (; (one = next_knob(one, first)); one++)
		for (other = second->stressor->environment; (other = next_knob(other, second));
		     other++)
			if (!strcmp(one->path, other->path) && strcmp(one->text, other->text))
				return one;
	return NULL;
}

int environment_apply(struct environment *environment, const struct point *point, char *reason,
		      size_t reason_size)
{
	const struct environment_row *row = point->stressor->environment;
	int rc = 0;

	environment->cgroup_folder = -1;
	environment->zram = -1;
	for (; !rc && row && row->kind != ENVIRONMENT_END; row++)
		if (applies(row, point))
			rc = apply_kind[row->kind](environment, row, point, reason, reason_size);
	return rc;
}

void environment_release(struct environment *environment)
{
	if (environment->cgroup_folder >= 0)
		close(environment->cgroup_folder);
	environment->cgroup_folder = -1;
	free(environment->folder);
	environment->folder = NULL;
}
