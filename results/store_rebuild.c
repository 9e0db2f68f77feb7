// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index made anew from folders. It is built in a file of its own beside the
 * index, and takes the place of the old rows in one transaction; what others added
 * meanwhile is added again after it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "run_folders.h"
#include "store_private.h"

struct rebuild {
	struct store *fresh;
	unsigned int runs, damaged;
};

static int take_folder(void *context, const char *folder)
{
	struct rebuild *rebuild = context;
	enum store_added added;
	int ret = store_add(rebuild->fresh, folder, &added);

	if (ret == -EBADMSG || ret == -EINVAL || ret == -ENOENT) {
		rebuild->damaged++;
		return 0;
	}
	if (!ret && added == STORE_NEW)
		rebuild->runs++;
	return ret;
}

static int walk_folders(struct rebuild *rebuild, const char *const *folders)
{
	int ret = 0;

	for (; !ret && *folders; folders++) {
		ret = run_folders_walk(*folders, take_folder, rebuild);
		if (ret != -ENOENT)
			continue;
		log_warn(rebuild->fresh->log, "%s is gone; the runs in it are left out", *folders);
		ret = 0;
	}
	return ret;
}

static int attach(struct store *store, const char *path)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "ATTACH ? AS fresh", &statement);

	if (ret)
		return ret;
	sqlite3_bind_text(statement, 1, path, -1, SQLITE_TRANSIENT);
	return store_finish(store, "make", statement);
}

/* The folders that others added since the run with number last, NULL at the end. */
static int added_since(struct store *store, int64_t last, char ***out)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "SELECT folder FROM main.runs WHERE number>?", &statement);

	if (ret)
		return ret;
	sqlite3_bind_int64(statement, 1, last);
	return store_text_list(statement, out);
}

static int last_number(struct store *store, int64_t *last)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "SELECT ifnull(max(number), 0) FROM runs", &statement);

	if (ret)
		return ret;
	*last = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return 0;
}

static int exchange(struct store *store, int64_t last, char ***missed)
{
	int ret = store_begin(store);

	if (ret)
		return ret;
	ret = added_since(store, last, missed);
	if (!ret)
		ret = store_run_sql(store, "write to",
				    "DELETE FROM main.runs; DELETE FROM main.points;"
				    "DELETE FROM main.metrics;"
				    "INSERT INTO main.runs SELECT * FROM fresh.runs;"
				    "INSERT INTO main.points SELECT * FROM fresh.points;"
				    "INSERT INTO main.metrics SELECT * FROM fresh.metrics;"
				    "INSERT INTO main.run_points SELECT * FROM fresh.run_points;"
				    "INSERT INTO main.medians SELECT * FROM fresh.medians");
	if (ret) {
		store_rollback(store);
		return ret;
	}
	return store_commit(store);
}

static int exchange_rows(struct store *store, const char *path, int64_t last)
{
	enum store_added added;
	char **missed = NULL;
	int ret = attach(store, path);

	if (ret)
		return ret;
	ret = exchange(store, last, &missed);
	store_run_sql(store, "make", "DETACH fresh");
	for (char **folder = missed; !ret && *folder; folder++)
		store_add(store, *folder, &added);
	store_free_list(missed);
	return ret;
}

static void remove_file(const char *path)
{
	static const char *const parts[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *part = format_string("%s%s", path, parts[i]);

		if (part)
			unlink(part);
		free(part);
	}
}

int store_rebuild(struct store *store, const char *const *folders, unsigned int *damaged)
{
	char *path = format_string("%s.%d.new", store->path, (int)getpid());
	struct rebuild rebuild = { 0 };
	int64_t last;
	int ret = path ? last_number(store, &last) : -ENOMEM;

	if (ret)
		goto out;
	remove_file(path);
	ret = store_open(path, store->log, &rebuild.fresh);
	if (ret)
		goto out;
	ret = walk_folders(&rebuild, folders);
	store_close(rebuild.fresh);
	if (!ret)
		ret = exchange_rows(store, path, last);
	remove_file(path);
	if (!ret) {
		*damaged = rebuild.damaged;
		ret = (int)rebuild.runs;
	}
out:
	free(path);
	return ret;
}
