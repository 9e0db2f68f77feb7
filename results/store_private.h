/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files of the index that use SQLite; for no one else. */
#ifndef SHOOTDOWN_STORE_PRIVATE_H
#define SHOOTDOWN_STORE_PRIVATE_H

#include <sqlite3.h>

#include "load.h"
#include "store.h"

struct store {
	sqlite3 *db;
	char *path;
	struct log *log; /* borrowed */
};

/* Says what SQLite's last error was while doing what; its negative errno. */
int store_say(struct store *store, const char *what, int code);

/* Runs statements without values. Negative errno, said. */
int store_run_sql(struct store *store, const char *what, const char *sql);

/* Negative errno, said. The caller finalizes. */
int store_prepare(struct store *store, const char *sql, sqlite3_stmt **statement);

/* Runs a statement that gives no rows and finalizes it. Negative errno, said. */
int store_finish(struct store *store, const char *what, sqlite3_stmt *statement);

/* Waits for other writers; ends with store_commit() or store_rollback(). */
int store_begin(struct store *store);
int store_commit(struct store *store);
void store_rollback(struct store *store);

/* The rows of a run, within the caller's transaction; real is its absolute folder. */
int store_put_run(struct store *store, const struct loaded_run *run, const char *real,
		  const char *id);
/* Takes out what column ("id", "folder") names, within the caller's transaction. */
int store_delete(struct store *store, const char *column, const char *value);

/* The first column of a statement's rows, which it takes over, as a list for store_free_list(). */
int store_text_list(sqlite3_stmt *statement, char ***list);

#endif
