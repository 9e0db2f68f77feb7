// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown import": runs of another machine, into the store and the index. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/features.h"
#include "../results/import.h"
#include "../results/run_folders.h"
#include "../results/store.h"
#include "filter.h"

const struct option_row import_options[] = {
	{ .name = "store",
	  .type = OPTION_STRING,
	  .metavar = "DIR",
	  .help = "folder that keeps the runs (default: $XDG_DATA_HOME/shootdown/runs)" },
	DB_OPTION,
	{ NULL },
};

static int add_run(void *context, const char *folder)
{
	enum store_added added;

	return store_add(context, folder, &added);
}

/* The store's folder is a root of the index, so that a rebuild finds what is in it. */
static int index_folder(const char *folder, const char *store_folder, const char *db,
			struct log *log)
{
	struct store *store;
	int ret;

	if (!FEATURE_SQLITE) {
		log_warn(log, "the run is in the store and in no index: this shootdown was built "
			      "without SQLite (libsqlite3-dev)");
		return 0;
	}
	ret = store_open(db, log, &store);
	if (ret)
		return ret;
	ret = run_folders_walk(folder, add_run, store);
	if (!ret)
		ret = store_add_root(store, store_folder);
	store_close(store);
	return ret;
}

int import_command(const struct option_values *values, const char *const *arguments,
		   unsigned int argument_count, FILE *out, struct log *log)
{
	char *store = option_given(values, "store") ? strdup(option_string(values, "store"))
						    : store_path("runs");
	char *folder;
	bool known;
	int ret = 0;

	if (!argument_count || !store) {
		log_error(log, argument_count
				       ? "there is no HOME for the store; name it with --store"
				       : "import needs a folder or an archive of runs");
		free(store);
		return EXIT_USAGE;
	}
	for (; !ret && *arguments; arguments++) {
		ret = import_into(*arguments, store, log, &folder, &known);
		if (ret)
			break;
		fprintf(out, "%s%s\n", folder, known ? " (was there)" : "");
		ret = index_folder(folder, store, option_string(values, "db"), log);
		free(folder);
	}
	free(store);
	if (ret == -ENOENT)
		return EXIT_USAGE;
	return ret ? EXIT_BROKEN : EXIT_DONE;
}
