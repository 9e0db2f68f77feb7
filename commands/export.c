// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown export": runs in the formats of other programs. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "../results/export.h"
#include "../results/run_folders.h"
#include "../results/store.h"
#include "filter.h"

const struct option_row export_options[] = {
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "csv",
	  .choices = export_formats,
	  .metavar = "FORMAT",
	  .help = "what is written" },
	{ .name = "origin",
	  .type = OPTION_STRING,
	  .fallback = "shootdown",
	  .metavar = "NAME",
	  .help = "for kcidb: the name under which your system submits (a-z, 0-9, _)" },
	DB_OPTION,
	{ NULL },
};

struct folders {
	char **list; /* NULL at the end */
	size_t count;
};

static int add_folder(void *context, const char *folder)
{
	struct folders *folders = context;
	char **longer = reallocarray(folders->list, folders->count + 2, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	folders->list = longer;
	longer[folders->count] = strdup(folder);
	longer[folders->count + 1] = NULL;
	return longer[folders->count++] ? 0 : -ENOMEM;
}

/* An id, a run's folder, or a folder with runs below it. */
static int add_argument(struct folders *folders, const char *argument, const char *db,
			struct log *log)
{
	size_t before = folders->count;
	char *folder;
	int ret = store_resolve(db, argument, log, &folder);

	if (ret)
		return ret;
	ret = run_folders_walk(folder, add_folder, folders);
	/* What is no folder of runs is left to run_load(), which says what it lacks. */
	if (ret == -ENOENT || (!ret && folders->count == before))
		ret = add_folder(folders, folder);
	free(folder);
	return ret;
}

int export_command(const struct option_values *values, const char *const *arguments,
		   unsigned int argument_count, FILE *out, struct log *log)
{
	struct export_request request = { .format = option_string(values, "format"),
					  .origin = option_string(values, "origin") };
	struct folders folders = { 0 };
	int ret = 0;

	if (!argument_count) {
		log_error(log, "export needs run folders or ids of the index");
		return EXIT_USAGE;
	}
	for (; !ret && *arguments; arguments++)
		ret = add_argument(&folders, *arguments, option_string(values, "db"), log);
	request.folders = (const char *const *)folders.list;
	if (!ret)
		ret = export_runs(&request, out, log);
	for (size_t i = 0; i < folders.count; i++)
		free(folders.list[i]);
	free(folders.list);
	if (ret == -EIO || ret == -ENOMEM)
		return EXIT_BROKEN;
	return ret ? EXIT_USAGE : EXIT_DONE;
}
