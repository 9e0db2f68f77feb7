// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown db": the index over run folders. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/spawn.h"
#include "../results/load.h"
#include "../results/run_folders.h"
#include "../results/table.h"
#include "filter.h"

static const struct option_row db_options[] = { DB_OPTION, { NULL } };

static const char *const list_formats[] = { "text", "json", NULL };

static const struct option_row ls_options[] = {
	FILTER_OPTIONS,
	{ .name = "limit",
	  .type = OPTION_UINT,
	  .fallback = "50",
	  .metavar = "N",
	  .help = "show the newest N runs; 0: all" },
	{ .name = "format",
	  .type = OPTION_CHOICE,
	  .fallback = "text",
	  .choices = list_formats,
	  .metavar = "FORMAT",
	  .help = "how the list is printed" },
	DB_OPTION,
	{ NULL },
};

static const struct option_row rm_options[] = {
	{ .name = "files",
	  .type = OPTION_FLAG,
	  .help = "remove the run's folder as well, when it holds nothing but a run's files" },
	DB_OPTION,
	{ NULL },
};

static int exit_code_of(int ret)
{
	if (ret == -ENOENT || ret == -EEXIST || ret == -EINVAL)
		return EXIT_USAGE;
	return ret ? EXIT_BROKEN : EXIT_DONE;
}

/* import */

struct import_walk {
	struct store *store;
	struct log *log;
	unsigned int counts[STORE_KNOWN + 1], damaged;
};

static int import_one(void *context, const char *folder)
{
	struct import_walk *walk = context;
	enum store_added added;
	int ret;

	if (spawn_interrupted())
		return -EINTR;
	ret = store_add(walk->store, folder, &added);
	if (ret == -EBADMSG || ret == -EINVAL || ret == -ENOENT) {
		walk->damaged++;
		return 0;
	}
	if (!ret)
		walk->counts[added]++;
	log_progress(walk->log, "reading runs",
		     walk->counts[0] + walk->counts[1] + walk->counts[2] + walk->damaged, 0);
	return ret;
}

static int import_folder(struct import_walk *walk, const char *folder)
{
	int ret = run_folders_walk(folder, import_one, walk);

	if (ret == -ENOENT)
		log_error(walk->log, "cannot read the folder %s: %s", folder, strerror(-ret));
	if (!ret)
		ret = store_add_root(walk->store, folder);
	return ret;
}

static int db_import(const struct option_values *values, const char *const *arguments,
		     unsigned int argument_count, FILE *out, struct log *log)
{
	struct import_walk walk = { .log = log };
	int ret;

	if (!argument_count) {
		log_error(log, "db import needs folders of runs");
		return EXIT_USAGE;
	}
	if (store_open(option_string(values, "db"), log, &walk.store))
		return EXIT_BROKEN;
	for (ret = 0; !ret && *arguments; arguments++)
		ret = import_folder(&walk, *arguments);
	log_progress_end(log);
	store_close(walk.store);
	fprintf(out, "%u new, %u changed, %u known, %u damaged\n", walk.counts[STORE_NEW],
		walk.counts[STORE_CHANGED], walk.counts[STORE_KNOWN], walk.damaged);
	if (ret == -EINTR)
		return 128 + spawn_stop_signal;
	return !ret && walk.damaged ? EXIT_BROKEN : exit_code_of(ret);
}

/* rebuild */

static int rebuild_from(struct store *store, const char *const *arguments, FILE *out)
{
	unsigned int damaged = 0;
	char **roots = NULL;
	int ret = 0, count;

	for (; !ret && *arguments; arguments++)
		ret = store_add_root(store, *arguments);
	if (!ret)
		ret = store_roots(store, &roots);
	if (ret)
		return ret;
	count = store_rebuild(store, (const char *const *)roots, &damaged);
	store_free_list(roots);
	if (count < 0)
		return count;
	fprintf(out, "%d runs, %u damaged\n", count, damaged);
	return damaged ? -EBADMSG : 0;
}

static int db_rebuild(const struct option_values *values, const char *const *arguments,
		      unsigned int argument_count, FILE *out, struct log *log)
{
	struct store *store;
	int ret;

	(void)argument_count;
	if (store_open_anew(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	ret = rebuild_from(store, arguments, out);
	store_close(store);
	if (ret == -ENOENT)
		log_error(log, "a folder that was given is not there");
	return exit_code_of(ret);
}

/* ls */

struct listing {
	struct table *table;
	FILE *out; /* of JSON, row by row */
	bool some;
};

static void format_time(int64_t ns, char text[32])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;

	if (!ns || !localtime_r(&seconds, &parts) || !strftime(text, 32, "%Y-%m-%d %H:%M", &parts))
		strcpy(text, "-");
}

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

static int list_row(void *context, const struct store_run *run)
{
	struct table *table = ((struct listing *)context)->table;
	char time[32];

	format_time(run->started_ns, time);
	table_cell(table, "%s", run->id);
	table_cell(table, "%s", time);
	table_cell(table, "%s", run->machine);
	table_cell(table, "%s", run->kernel);
	table_cell(table, "%s", or_dash(run->series));
	table_cell(table, "%s", or_dash(run->arm));
	table_cell(table, "%s", run->stressors);
	table_cell(table, "%lld", (long long)run->cpus);
	table_cell(table, "%s", run->failure ? run->failure : run->outcome);
	table_cell(table, "%s", run->folder);
	return 0;
}

static json_t *run_json(const struct store_run *run)
{
	return json_pack("{s:s,s:s,s:I,s:s,s:s,s:s,s:s,s:s?,s:s?,s:I,s:s,s:s,s:s?,s:I,s:I,s:I,s:b}",
			 "id", run->id, "folder", run->folder, "started",
			 (json_int_t)run->started_ns, "machine", run->machine, "arch", run->arch,
			 "kernel", run->kernel, "kernel_version", run->kernel_version, "series",
			 run->series, "arm", run->arm, "boot", (json_int_t)run->boot, "stressors",
			 run->stressors, "outcome", run->outcome, "failure", run->failure, "cpus",
			 (json_int_t)run->cpus, "page_size", (json_int_t)run->page_bytes, "samples",
			 (json_int_t)run->sample_count, "verified", (int)run->verified);
}

static int list_json(void *context, const struct store_run *run)
{
	struct listing *listing = context;
	json_t *json = run_json(run);
	int ret = json ? 0 : -ENOMEM;

	fputs(listing->some ? ",\n" : "\n", listing->out);
	listing->some = true;
	if (json && json_dumpf(json, listing->out, JSON_COMPACT))
		ret = -EIO;
	json_decref(json);
	return ret;
}

static struct table *new_list_table(void)
{
	static const char *const names[] = { "RUN", "STARTED", "MACHINE", "KERNEL",  "SERIES",
					     "ARM", "WHAT",    "CPUS",	  "OUTCOME", "FOLDER" };
	struct table *table = table_new();

	for (size_t i = 0; table && i < sizeof(names) / sizeof(names[0]); i++)
		table_column(table, strcmp(names[i], "CPUS") ? TABLE_LEFT : TABLE_RIGHT, names[i]);
	return table;
}

static int print_table(struct store *store, const struct store_filter *filter, FILE *out)
{
	struct listing listing = { .table = new_list_table() };
	int ret = listing.table ? store_select(store, filter, list_row, &listing) : -ENOMEM;

	if (ret) {
		table_free(listing.table);
		return ret;
	}
	listing.table = table_finish(listing.table);
	ret = listing.table ? render_text(listing.table, out) : -ENOMEM;
	table_free(listing.table);
	return ret;
}

static int print_json(struct store *store, const struct store_filter *filter, FILE *out)
{
	struct listing listing = { .out = out };
	int ret;

	fputs("{\"schema\":\"shootdown-runs\",\"version\":1,\"runs\":[", out);
	ret = store_select(store, filter, list_json, &listing);
	fputs("\n]}\n", out);
	return ret;
}

static int db_ls(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	struct store_filter filter;
	struct store *store;
	int ret;

	if (argument_count) {
		log_error(log,
			  "db ls takes options, not \"%s\"; select with --stressor, --machine "
			  "and the like",
			  arguments[0]);
		return EXIT_USAGE;
	}
	if (filter_from(values, &filter, log))
		return EXIT_USAGE;
	filter.limit = option_uint(values, "limit");
	if (store_open(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	if (!strcmp(option_string(values, "format"), "json"))
		ret = print_json(store, &filter, out);
	else
		ret = print_table(store, &filter, out);
	store_close(store);
	return exit_code_of(ret);
}

/* show */

static json_t *outcomes_json(const struct loaded_run *run)
{
	json_t *object = json_object();
	unsigned int counts[OUTCOME_COUNT] = { 0 };

	for (size_t i = 0; i < run->outcome_count; i++)
		counts[run->outcomes[i].outcome]++;
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (counts[i])
			json_object_set_new(object, outcome_name((enum outcome)i),
					    json_integer(counts[i]));
	return object;
}

/* What the run's own files say; the checksums are compared on the way. */
static int show_folder(const char *id, const char *folder, FILE *out, struct log *log)
{
	struct loaded_run *run;
	json_t *json;
	int ret = run_load(folder, false, log, &run);

	if (ret)
		return ret;
	json = json_pack("{s:s,s:i,s:s,s:s,s:b,s:b,s:s?,s:o,s:I,s:O,s:O}", "schema",
			 "shootdown-run", "version", 1, "id", id, "folder", folder, "verified",
			 run->verified, "complete", run->complete, "end",
			 run->complete ? outcome_name(run->end) : NULL, "outcomes",
			 outcomes_json(run), "samples", (json_int_t)run->sample_count, "machine",
			 run->machine, "plan", run->plan);
	ret = json ? render_json(json, out) : -ENOMEM;
	json_decref(json);
	run_free(run);
	return ret;
}

static int db_show(const struct option_values *values, const char *const *arguments,
		   unsigned int argument_count, FILE *out, struct log *log)
{
	char id[RUN_ID_LENGTH + 1], *folder;
	struct store *store;
	int ret;

	if (argument_count != 1) {
		log_error(log, "db show needs one run's id");
		return EXIT_USAGE;
	}
	if (store_open(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	ret = store_find(store, arguments[0], id, &folder);
	store_close(store);
	if (ret)
		return exit_code_of(ret);
	ret = show_folder(id, folder, out, log);
	free(folder);
	return ret ? EXIT_BROKEN : EXIT_DONE;
}

/* rm, gc */

static int remove_run(struct store *store, const char *argument, bool files, struct log *log)
{
	char id[RUN_ID_LENGTH + 1], *folder;
	int ret = store_find(store, argument, id, &folder);

	if (ret)
		return ret;
	/* The row goes last: while it is there, the folder can be found. */
	if (files)
		ret = run_folders_remove(folder, log);
	if (!ret)
		ret = store_remove(store, id);
	if (!ret && !files)
		log_info(log, "%s stays; \"shootdown db rebuild\" would take it in again", folder);
	free(folder);
	return ret;
}

static int db_rm(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	struct store *store;
	int ret = 0;

	(void)out;
	if (!argument_count) {
		log_error(log, "db rm needs ids of runs; \"shootdown db ls\" lists them");
		return EXIT_USAGE;
	}
	if (store_open(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	for (; !ret && *arguments; arguments++)
		ret = remove_run(store, *arguments, option_flag(values, "files"), log);
	store_close(store);
	return exit_code_of(ret);
}

static int db_gc(const struct option_values *values, const char *const *arguments,
		 unsigned int argument_count, FILE *out, struct log *log)
{
	struct store *store;
	int dropped;

	if (argument_count) {
		log_error(log, "db gc takes no argument, not \"%s\"", arguments[0]);
		return EXIT_USAGE;
	}
	if (store_open(option_string(values, "db"), log, &store))
		return EXIT_BROKEN;
	dropped = store_gc(store);
	store_close(store);
	if (dropped < 0)
		return EXIT_BROKEN;
	fprintf(out, "%d dropped\n", dropped);
	return EXIT_DONE;
}

const struct command db_commands[] = {
	{ .name = "import",
	  .usage = "FOLDER... [--db FILE]",
	  .summary = "add the runs below these folders to the index",
	  .description =
		  "Reads each run that the index does not have yet and compares its files with its "
		  "checksums. A damaged run is named and left out (exit status 3); the others are "
		  "added. The folders are remembered for db rebuild.",
	  .example = "~/runs",
	  .options = db_options,
	  .run = db_import },
	{ .name = "ls",
	  .usage = "[OPTION]...",
	  .summary = "list runs, the newest first",
	  .example = "--stressor pageout --set pages=4096 --since 7d",
	  .options = ls_options,
	  .run = db_ls },
	{ .name = "show",
	  .usage = "RUN [--db FILE]",
	  .summary = "print what a run's folder says, as JSON",
	  .description = "RUN is an id of db ls, or its first four digits or more.",
	  .example = "3f2a9c",
	  .options = db_options,
	  .run = db_show },
	{ .name = "rm",
	  .usage = "RUN... [--files] [--db FILE]",
	  .summary = "take runs out of the index",
	  .description = "Without --files the folder stays as it is.",
	  .example = "3f2a9c --files",
	  .options = rm_options,
	  .run = db_rm },
	{ .name = "gc",
	  .usage = "[--db FILE]",
	  .summary = "drop the runs whose folder is gone",
	  .example = "",
	  .options = db_options,
	  .run = db_gc },
	{ .name = "rebuild",
	  .usage = "[FOLDER]... [--db FILE]",
	  .summary = "make the index anew from the folders",
	  .description =
		  "Reads and verifies every run below the folders that were ever imported, and below "
		  "those given. The old rows are there until the new ones take their place. A damaged "
		  "index is put aside as FILE.damaged; then the folders must be given.",
	  .example = "~/runs",
	  .options = db_options,
	  .run = db_rebuild },
	{ NULL },
};
