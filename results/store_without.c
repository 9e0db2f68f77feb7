// SPDX-License-Identifier: GPL-2.0-only
/* The index of a build without SQLite: opening it says what is missing. */
#include "store.h"

#include <errno.h>

int store_open(const char *path, struct log *log, struct store **store)
{
	(void)path;
	(void)store;
	log_error(log,
		  "this shootdown was built without SQLite, so it has no index of runs; install "
		  "libsqlite3-dev, then configure and build again (run folders can be given "
		  "instead of ids)");
	return -EOPNOTSUPP;
}

int store_open_anew(const char *path, struct log *log, struct store **store)
{
	return store_open(path, log, store);
}

void store_close(struct store *store)
{
	(void)store;
}

int store_add(struct store *store, const char *folder, enum store_added *added)
{
	(void)store;
	(void)folder;
	(void)added;
	return -EOPNOTSUPP;
}

int store_add_root(struct store *store, const char *folder)
{
	(void)store;
	(void)folder;
	return -EOPNOTSUPP;
}

int store_roots(struct store *store, char ***roots)
{
	(void)store;
	(void)roots;
	return -EOPNOTSUPP;
}

void store_free_list(char **list)
{
	(void)list;
}

int store_select(struct store *store, const struct store_filter *filter,
		 int (*take)(void *context, const struct store_run *run), void *context)
{
	(void)store;
	(void)filter;
	(void)take;
	(void)context;
	return -EOPNOTSUPP;
}

int store_find(struct store *store, const char *id, char full[RUN_ID_LENGTH + 1], char **folder)
{
	(void)store;
	(void)id;
	(void)full;
	(void)folder;
	return -EOPNOTSUPP;
}

int store_remove(struct store *store, const char *id)
{
	(void)store;
	(void)id;
	return -EOPNOTSUPP;
}

int store_gc(struct store *store)
{
	(void)store;
	return -EOPNOTSUPP;
}

int store_rebuild(struct store *store, const char *const *folders, unsigned int *damaged)
{
	(void)store;
	(void)folders;
	(void)damaged;
	return -EOPNOTSUPP;
}

int store_values(struct store *store, const struct store_filter *filter, const char *metric,
		 int (*take)(void *context, const struct store_value *value), void *context)
{
	(void)store;
	(void)filter;
	(void)metric;
	(void)take;
	(void)context;
	return -EOPNOTSUPP;
}
