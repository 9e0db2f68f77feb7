// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index: opened, its tables, transactions. Rows are written in store_add.c
 * and read in store_select.c.
 *
 * Many processes may use one file: write-ahead log (readers never wait), each
 * change in an immediate transaction, TIMEOUT_MS of patience with others. With
 * synchronous=NORMAL a power failure may lose the last rows and never the file's
 * integrity (SQLite, "PRAGMA synchronous"); the folders still have them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "store_private.h"

#define TIMEOUT_MS     20000
#define SCHEMA_VERSION 1
/* "sdwn": a file that SQLite can open and that is no index of ours is refused. */
#define APPLICATION_ID 1935963502

/*
 * Points and metrics are kept once: a nightly job has few of them in many runs.
 * parameters is compact JSON with sorted names.
 */
static const char tables[] =
	"CREATE TABLE runs(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
	" folder TEXT NOT NULL UNIQUE, started_ns INTEGER NOT NULL, machine TEXT NOT NULL,"
	" arch TEXT NOT NULL, kernel TEXT NOT NULL, kernel_version TEXT NOT NULL, series TEXT,"
	" arm TEXT, stressors TEXT NOT NULL, outcome TEXT NOT NULL, failure TEXT,"
	" cpus INTEGER NOT NULL, page_bytes INTEGER NOT NULL, boot INTEGER NOT NULL,"
	" samples INTEGER NOT NULL, verified INTEGER NOT NULL);"
	"CREATE INDEX runs_by_start ON runs(started_ns DESC, id);"
	"CREATE TABLE points(number INTEGER PRIMARY KEY, stressor TEXT NOT NULL,"
	" version INTEGER NOT NULL, parameters TEXT NOT NULL,"
	" UNIQUE(stressor, version, parameters));"
	"CREATE TABLE run_points(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,"
	" place INTEGER NOT NULL, point INTEGER NOT NULL REFERENCES points,"
	" PRIMARY KEY(run, place)) WITHOUT ROWID;"
	"CREATE INDEX run_points_by_point ON run_points(point, run);"
	"CREATE TABLE metrics(number INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,"
	" better TEXT NOT NULL, UNIQUE(name, unit, better));"
	"CREATE TABLE medians(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,"
	" place INTEGER NOT NULL, metric INTEGER NOT NULL REFERENCES metrics,"
	" n INTEGER NOT NULL, median REAL NOT NULL,"
	" PRIMARY KEY(run, place, metric)) WITHOUT ROWID;"
	"CREATE TABLE roots(folder TEXT PRIMARY KEY) WITHOUT ROWID;";

static int errno_of(int code)
{
	static const struct {
		int code, error;
	} codes[] = {
		{ SQLITE_BUSY, -EBUSY },      { SQLITE_LOCKED, -EBUSY },
		{ SQLITE_CORRUPT, -EBADMSG }, { SQLITE_NOTADB, -EBADMSG },
		{ SQLITE_FULL, -ENOSPC },     { SQLITE_NOMEM, -ENOMEM },
		{ SQLITE_READONLY, -EACCES }, { SQLITE_CANTOPEN, -EACCES },
		{ SQLITE_PERM, -EACCES },     { SQLITE_INTERRUPT, -EINTR },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if ((code & 0xff) == codes[i].code)
			return codes[i].error;
	return -EIO;
}

int store_say(struct store *store, const char *what, int code)
{
	static const struct {
		int error;
		const char *advice;
	} advices[] = {
		{ -EBADMSG, "make it anew with \"shootdown db rebuild\"" },
		{ -EBUSY, "another shootdown is writing to it; try again" },
		{ -ENOSPC, "make room" },
		{ -EACCES, "give another with --db, or make it writable" },
	};
	const char *advice = "see whether its disk is in order";
	int error = errno_of(code);

	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (advices[i].error == error)
			advice = advices[i].advice;
	log_error(store->log, "cannot %s the index %s: %s; %s", what, store->path,
		  store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code), advice);
	return error;
}

int store_run_sql(struct store *store, const char *what, const char *sql)
{
	int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return code ? store_say(store, what, code) : 0;
}

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **statement)
{
	int code = sqlite3_prepare_v2(store->db, sql, -1, statement, NULL);

	return code ? store_say(store, "use", code) : 0;
}

int store_finish(struct store *store, const char *what, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);
	int ret = code == SQLITE_DONE ? 0 : store_say(store, what, code);

	sqlite3_finalize(statement);
	return ret;
}

int store_begin(struct store *store)
{
	return store_run_sql(store, "write to", "BEGIN IMMEDIATE");
}

int store_commit(struct store *store)
{
	int ret = store_run_sql(store, "write to", "COMMIT");

	if (ret)
		store_rollback(store);
	return ret;
}

void store_rollback(struct store *store)
{
	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

static int pragma(struct store *store, const char *name, int64_t *value)
{
	char sql[64];
	sqlite3_stmt *statement;
	int ret, code;

	snprintf(sql, sizeof(sql), "PRAGMA %s", name);
	ret = store_prepare(store, sql, &statement);
	if (ret)
		return ret;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(statement, 0);
	else
		ret = store_say(store, "read", code);
	sqlite3_finalize(statement);
	return ret;
}

/* Within an immediate transaction, so that of two first users one makes the tables. */
static int make_tables(struct store *store)
{
	char sql[128];
	int64_t version = 0, application = 0, entries = 0;
	int ret = pragma(store, "user_version", &version);

	if (!ret)
		ret = pragma(store, "application_id", &application);
	if (!ret)
		ret = pragma(store, "schema_version", &entries);
	if (ret)
		return ret;
	if (application != APPLICATION_ID && (version || entries)) {
		log_error(store->log,
			  "%s is an SQLite file and no index of shootdown; give another with --db",
			  store->path);
		return -EINVAL;
	}
	if (version == SCHEMA_VERSION)
		return 0;
	if (version) {
		log_error(
			store->log,
			"the index %s was made by another shootdown (version %lld, not %d); give "
			"another with --db, or remove it and use \"shootdown db rebuild FOLDER...\"",
			store->path, (long long)version, SCHEMA_VERSION);
		return -EINVAL;
	}
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 APPLICATION_ID, SCHEMA_VERSION);
	ret = store_run_sql(store, "make", tables);
	return ret ? ret : store_run_sql(store, "make", sql);
}

/* Changing the mode does not wait for others by itself. */
static int use_write_ahead_log(struct store *store)
{
	int code = SQLITE_BUSY;

	for (unsigned int i = 0; i < TIMEOUT_MS / 10; i++) {
		code = sqlite3_exec(store->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
		if ((code & 0xff) != SQLITE_BUSY)
			break;
		usleep(10000);
	}
	return code ? store_say(store, "open", code) : 0;
}

static int set_up(struct store *store)
{
	int64_t version = 0, application = 0;
	int ret = use_write_ahead_log(store);

	if (!ret)
		ret = store_run_sql(store, "open",
				    "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
				    "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536");
	if (!ret)
		ret = pragma(store, "user_version", &version);
	if (!ret)
		ret = pragma(store, "application_id", &application);
	if (ret || (version == SCHEMA_VERSION && application == APPLICATION_ID))
		return ret;
	ret = store_begin(store);
	if (ret)
		return ret;
	ret = make_tables(store);
	if (ret) {
		store_rollback(store);
		return ret;
	}
	return store_commit(store);
}

static int make_parent(struct store *store)
{
	char *folder = strdup(store->path), *slash = folder ? strrchr(folder, '/') : NULL;
	int ret = 0;

	if (!folder)
		return -ENOMEM;
	if (slash && slash != folder) {
		*slash = '\0';
		ret = fs_make_folders(folder, 0755);
		if (ret)
			log_error(store->log,
				  "cannot make the folder %s for the index: %s; give another file "
				  "with --db",
				  folder, strerror(-ret));
	}
	free(folder);
	return ret;
}

int store_open(const char *path, struct log *log, struct store **out)
{
	struct store *store = calloc(1, sizeof(*store));
	int ret, code;

	if (!store)
		return -ENOMEM;
	store->log = log;
	store->path = path ? strdup(path) : store_path("index.db");
	ret = store->path ? make_parent(store) : -ENOENT;
	if (!store->path)
		log_error(log, "there is no HOME for the index; name its file with --db");
	if (ret)
		goto close;
	code = sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			       NULL);
	if (code) {
		ret = store_say(store, "open", code);
		goto close;
	}
	sqlite3_busy_timeout(store->db, TIMEOUT_MS);
	ret = set_up(store);
	if (ret)
		goto close;
	*out = store;
	return 0;
close:
	store_close(store);
	return ret;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

/* Puts what the damaged index consists of aside; its log belongs to it. */
static int put_aside(const char *path)
{
	static const char *const parts[] = { "-wal", "-shm", "" };
	int ret = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *from = format_string("%s%s", path, parts[i]);
		char *to = format_string("%s.damaged%s", path, parts[i]);

		if (!from || !to)
			ret = -ENOMEM;
		else if (!ret && rename(from, to) && errno != ENOENT)
			ret = -errno;
		free(to);
		free(from);
	}
	return ret;
}

static int check_integrity(struct store *store)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "PRAGMA quick_check(1)", &statement);
	const char *said;

	if (ret)
		return ret;
	said = sqlite3_step(statement) == SQLITE_ROW
		       ? (const char *)sqlite3_column_text(statement, 0)
		       : NULL;
	if (!said || strcmp(said, "ok"))
		ret = -EBADMSG;
	sqlite3_finalize(statement);
	return ret;
}

int store_open_anew(const char *path, struct log *log, struct store **out)
{
	char *own = path ? strdup(path) : store_path("index.db");
	int ret = own ? store_open(own, log, out) : -ENOMEM;

	if (!ret) {
		ret = check_integrity(*out);
		if (ret)
			store_close(*out);
	}
	if (ret == -EBADMSG) {
		log_warn(log, "the index %s is damaged; it is put aside as %s.damaged", own, own);
		ret = put_aside(own);
		if (!ret)
			ret = store_open(own, log, out);
	}
	free(own);
	return ret;
}
