// SPDX-License-Identifier: GPL-2.0-only
/* Finds tracepoints in tracefs, mounted or not; see tracepoint.h. */
#include "tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fs.h"
#include "tracepoint_format.h"

/* Where a mounted tracefs is found; the second place is that of older systems. */
static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/*
 * A tracefs of our own that is attached nowhere: the mount exists as long as its
 * descriptor is open.
 */
static int mount_detached(void)
{
	int context, mount;

	context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -errno;
	mount = (int)syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (!mount)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	if (mount < 0)
		mount = -errno;
	close(context);
	return mount;
}

/* -ENOENT, -EACCES or 0 for events/ in one place. */
static int try_place(const char *path)
{
	char *events = format_string("%s/events", path);
	int err = 0;
	DIR *folder;

	if (!events)
		return -ENOMEM;
	folder = opendir(events);
	if (folder)
		closedir(folder);
	else
		err = -errno;
	free(events);
	return err;
}

static int find_mounted(const char *root, char **path)
{
	bool denied = false;
	char *place;
	size_t i;
	int err;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place = format_string("%s%s", root, places[i]);
		if (!place)
			return -ENOMEM;
		err = try_place(place);
		if (!err) {
			*path = place;
			return 0;
		}
		free(place);
		denied = denied || err == -EACCES || err == -EPERM;
	}
	if (!*root && !tracepoint_mounted_elsewhere(path))
		return 0;
	return denied ? -EACCES : -ENOENT;
}

int tracepoint_open(const char *root, struct tracepoint_folder *folder)
{
	struct tracepoint_folder found = { .mount = -1 };
	int err;

	err = find_mounted(root, &found.path);
	if (err == -ENOENT && *root)
		return -ENODEV;
	if (err == -ENOENT) {
		found.mount = mount_detached();
		if (found.mount == -EPERM || found.mount == -EACCES)
			return -EACCES;
		if (found.mount < 0)
			return -ENODEV;
		found.path = format_string("/proc/self/fd/%d", found.mount);
		err = found.path ? try_place(found.path) : -ENOMEM;
	}
	if (err) {
		tracepoint_close(&found);
		return err == -ENOENT ? -ENODEV : err;
	}
	*folder = found;
	return 0;
}

void tracepoint_close(struct tracepoint_folder *folder)
{
	if (folder->mount >= 0)
		close(folder->mount);
	free(folder->path);
	*folder = (struct tracepoint_folder){ .mount = -1 };
}

int tracepoint_id(const struct tracepoint_folder *folder, const char *system, const char *name,
		  unsigned long long *id)
{
	char *path = format_string("/events/%s/%s/id", system, name);
	int err = -ENOMEM;

	if (path)
		err = fs_read_u64(folder->path, path, id);
	free(path);
	return err == -EPERM ? -EACCES : err;
}

static int is_event_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

int tracepoint_names(const struct tracepoint_folder *folder, const char *system, char ***names)
{
	struct dirent **entries;
	char *path, **list;
	int count, i, err;

	path = format_string("%s/events/%s", folder->path, system ? system : "");
	if (!path)
		return -ENOMEM;
	count = scandir(path, &entries, is_event_folder, alphasort);
	err = -errno;
	free(path);
	if (count < 0)
		return err;
	list = calloc((size_t)count + 1, sizeof(*list));
	err = list ? 0 : -ENOMEM;
	for (i = 0; i < count; i++) {
		if (!err) {
			list[i] = strdup(entries[i]->d_name);
			err = list[i] ? 0 : -ENOMEM;
		}
		free(entries[i]);
	}
	free(entries);
	if (err) {
		tracepoint_names_free(list);
		return err;
	}
	*names = list;
	return 0;
}

void tracepoint_names_free(char **names)
{
	char **name;

	for (name = names; name && *name; name++)
		free(*name);
	free(names);
}

int tracepoint_symbols(const struct tracepoint_folder *folder, const char *system, const char *name,
		       const char *field, struct tracepoint_symbol **symbols)
{
	char *path, *text = NULL;
	size_t length;
	int err;

	path = format_string("/events/%s/%s/format", system, name);
	if (!path)
		return -ENOMEM;
	err = fs_read(folder->path, path, &text, &length);
	if (!err)
		err = tracepoint_format_symbols(text, length, system, field, symbols);
	free(text);
	free(path);
	return err;
}

void tracepoint_symbols_free(struct tracepoint_symbol *symbols)
{
	struct tracepoint_symbol *symbol;

	for (symbol = symbols; symbol && symbol->name; symbol++)
		free((void *)symbol->name);
	free(symbols);
}
