// SPDX-License-Identifier: GPL-2.0-only
/* The index: runs and values selected, ids found. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "store_private.h"

/* A statement that grows, and the texts that belong to its question marks. */
struct query {
	char *sql; /* NULL once memory ran out */
	char **texts;
	size_t text_count;
};

static void query_free(struct query *query)
{
	for (size_t i = 0; i < query->text_count; i++)
		free(query->texts[i]);
	free(query->texts);
	free(query->sql);
}

static void add_sql(struct query *query, const char *sql)
{
	char *longer = query->sql ? format_string("%s%s", query->sql, sql) : NULL;

	free(query->sql);
	query->sql = longer;
}

static void add_text(struct query *query, const char *text, size_t length)
{
	char **longer = reallocarray(query->texts, query->text_count + 1, sizeof(*longer));
	char *copy = strndup(text, length);

	if (longer)
		query->texts = longer;
	if (longer && copy) {
		query->texts[query->text_count++] = copy;
		return;
	}
	free(copy);
	free(query->sql);
	query->sql = NULL;
}

static void add_number(struct query *query, const char *sql, int64_t number)
{
	char text[32];

	add_sql(query, sql);
	snprintf(text, sizeof(text), "%lld", (long long)number);
	add_sql(query, text);
}

/* column is exact, or a pattern when it has * or ?. */
static void add_name(struct query *query, const char *column, const char *name)
{
	if (!name)
		return;
	add_sql(query, " AND ");
	add_sql(query, column);
	add_sql(query, strpbrk(name, "*?") ? " GLOB ?" : "=?");
	add_text(query, name, strlen(name));
}

/*
 * A parameter as its JSON has it: text without quotes, numbers, true and false. The
 * name is a quoted label of the path, so that none of its characters has a meaning.
 */
static void add_parameter(struct query *query, const char *text)
{
	size_t name = strcspn(text, "=");
	const char *value = text[name] ? text + name + 1 : "";

	add_sql(query, " AND EXISTS(SELECT 1 FROM json_each(points.parameters) WHERE key=? AND"
		       " CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
		       " ELSE CAST(value AS TEXT) END=?)");
	add_text(query, text, name);
	add_text(query, value, strlen(value));
}

static void add_point_terms(struct query *query, const struct store_filter *filter)
{
	add_name(query, "points.stressor", filter->stressor);
	for (const char *const *text = filter->parameters; text && *text; text++)
		add_parameter(query, *text);
}

static void add_run_terms(struct query *query, const struct store_filter *filter)
{
	add_name(query, "runs.machine", filter->machine);
	add_name(query, "runs.kernel", filter->kernel);
	add_name(query, "runs.series", filter->series);
	add_name(query, "runs.arm", filter->arm);
	if (filter->since_ns)
		add_number(query, " AND runs.started_ns>=", filter->since_ns);
	if (filter->until_ns)
		add_number(query, " AND runs.started_ns<", filter->until_ns);
}

static int prepare_query(struct store *store, struct query *query, sqlite3_stmt **statement)
{
	int ret = query->sql ? store_prepare(store, query->sql, statement) : -ENOMEM;

	for (size_t i = 0; !ret && i < query->text_count; i++)
		sqlite3_bind_text(*statement, (int)i + 1, query->texts[i], -1, SQLITE_TRANSIENT);
	return ret;
}

/* The end of a statement's rows: code is what sqlite3_step() gave last. */
static int end_rows(struct store *store, sqlite3_stmt *statement, int code, int ret)
{
	if (!ret && code != SQLITE_DONE)
		ret = store_say(store, "read", code);
	sqlite3_finalize(statement);
	return ret;
}

static const char *text_column(sqlite3_stmt *statement, int column)
{
	return (const char *)sqlite3_column_text(statement, column);
}

#define RUN_COLUMNS                                                                                \
	"id, folder, started_ns, machine, arch, kernel, kernel_version, series, arm, stressors,"   \
	" outcome, failure, cpus, page_bytes, boot, samples, verified"

static struct store_run run_row(sqlite3_stmt *statement)
{
	return (struct store_run){
		.id = text_column(statement, 0),
		.folder = text_column(statement, 1),
		.started_ns = sqlite3_column_int64(statement, 2),
		.machine = text_column(statement, 3),
		.arch = text_column(statement, 4),
		.kernel = text_column(statement, 5),
		.kernel_version = text_column(statement, 6),
		.series = text_column(statement, 7),
		.arm = text_column(statement, 8),
		.stressors = text_column(statement, 9),
		.outcome = text_column(statement, 10),
		.failure = text_column(statement, 11),
		.cpus = sqlite3_column_int64(statement, 12),
		.page_bytes = sqlite3_column_int64(statement, 13),
		.boot = sqlite3_column_int64(statement, 14),
		.sample_count = sqlite3_column_int64(statement, 15),
		.verified = sqlite3_column_int64(statement, 16),
	};
}

int store_select(struct store *store, const struct store_filter *filter,
		 int (*take)(void *context, const struct store_run *run), void *context)
{
	struct query query = { .sql = strdup("SELECT " RUN_COLUMNS " FROM runs WHERE 1") };
	sqlite3_stmt *statement;
	int code = SQLITE_DONE, ret;

	add_run_terms(&query, filter);
	if (filter->stressor || (filter->parameters && *filter->parameters)) {
		add_sql(&query, " AND number IN (SELECT run FROM run_points WHERE point IN"
				" (SELECT number FROM points WHERE 1");
		add_point_terms(&query, filter);
		add_sql(&query, "))");
	}
	add_sql(&query, " ORDER BY started_ns DESC, id");
	if (filter->limit)
		add_number(&query, " LIMIT ", filter->limit);
	ret = prepare_query(store, &query, &statement);
	if (ret)
		goto out;
	while (!ret && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct store_run run = run_row(statement);

		ret = take(context, &run);
	}
	ret = end_rows(store, statement, code, ret);
out:
	query_free(&query);
	return ret;
}

int store_values(struct store *store, const struct store_filter *filter, const char *metric,
		 int (*take)(void *context, const struct store_value *value), void *context)
{
	struct query query = {
		.sql = strdup(
			"SELECT runs.id, machine, arch, arm, kernel, stressor, parameters, unit, better,"
			" version, cpus, page_bytes, started_ns, n, median"
			" FROM metrics CROSS JOIN runs CROSS JOIN medians ON medians.run=runs.number"
			" AND medians.metric=metrics.number CROSS JOIN run_points ON"
			" run_points.run=runs.number AND run_points.place=medians.place CROSS JOIN"
			" points ON points.number=run_points.point WHERE runs.failure IS NULL")
	};
	sqlite3_stmt *statement;
	int code = SQLITE_DONE, ret;

	add_name(&query, "metrics.name", metric);
	add_run_terms(&query, filter);
	add_point_terms(&query, filter);
	add_sql(&query, " ORDER BY started_ns, runs.id, medians.place");
	ret = prepare_query(store, &query, &statement);
	if (ret)
		goto out;
	while (!ret && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *better = text_column(statement, 8);
		struct store_value value = {
			.run = text_column(statement, 0),
			.machine = text_column(statement, 1),
			.arch = text_column(statement, 2),
			.arm = text_column(statement, 3),
			.kernel = text_column(statement, 4),
			.stressor = text_column(statement, 5),
			.parameters = text_column(statement, 6),
			.unit = text_column(statement, 7),
			.better = better && *better ? better : NULL,
			.stressor_version = sqlite3_column_int64(statement, 9),
			.cpus = sqlite3_column_int64(statement, 10),
			.page_bytes = sqlite3_column_int64(statement, 11),
			.started_ns = sqlite3_column_int64(statement, 12),
			.n = sqlite3_column_int64(statement, 13),
			.median = sqlite3_column_double(statement, 14),
		};

		ret = take(context, &value);
	}
	ret = end_rows(store, statement, code, ret);
out:
	query_free(&query);
	return ret;
}

static int say_not_one(struct store *store, const char *id, int found)
{
	if (found) {
		log_error(store->log, "several runs begin with %s; give more of the id", id);
		return -EEXIST;
	}
	log_error(
		store->log,
		"the index %s has no run %s; \"shootdown db ls\" lists them, \"shootdown db import\" "
		"adds folders",
		store->path, id);
	return -ENOENT;
}

int store_find(struct store *store, const char *id, char full[RUN_ID_LENGTH + 1], char **folder)
{
	char pattern[RUN_ID_LENGTH + 2], *copy = NULL;
	sqlite3_stmt *statement;
	int found = 0, ret;

	if (!store_looks_like_id(id)) {
		log_error(store->log,
			  "\"%s\" is no id of a run: those are %d hexadecimal digits, of which the "
			  "first four or more will do",
			  id, RUN_ID_LENGTH);
		return -EINVAL;
	}
	ret = store_prepare(store, "SELECT id, folder FROM runs WHERE id>=? AND id<? LIMIT 2",
			    &statement);
	if (ret)
		return ret;
	snprintf(pattern, sizeof(pattern), "%sg", id);
	sqlite3_bind_text(statement, 1, id, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(statement, 2, pattern, -1, SQLITE_TRANSIENT);
	while (sqlite3_step(statement) == SQLITE_ROW && !found++) {
		snprintf(full, RUN_ID_LENGTH + 1, "%s", text_column(statement, 0));
		copy = strdup(text_column(statement, 1));
	}
	sqlite3_finalize(statement);
	if (found != 1)
		ret = say_not_one(store, id, found);
	else if (!copy)
		ret = -ENOMEM;
	if (ret || !folder)
		free(copy);
	else
		*folder = copy;
	return ret;
}

int store_add_root(struct store *store, const char *folder)
{
	char *real = realpath(folder, NULL);
	sqlite3_stmt *statement;
	int ret = real ? store_prepare(store, "INSERT OR IGNORE INTO roots(folder) VALUES(?)",
				       &statement)
		       : -errno;

	if (!ret) {
		sqlite3_bind_text(statement, 1, real, -1, SQLITE_TRANSIENT);
		ret = store_finish(store, "write to", statement);
	}
	free(real);
	return ret;
}

void store_free_list(char **list)
{
	for (char **text = list; text && *text; text++)
		free(*text);
	free(list);
}

/* Takes over the statement; its first column, NULL at the end. */
int store_text_list(sqlite3_stmt *statement, char ***out)
{
	char **list = calloc(1, sizeof(*list)), **longer;
	size_t count = 0;
	int ret = list ? 0 : -ENOMEM;

	while (!ret && sqlite3_step(statement) == SQLITE_ROW) {
		longer = reallocarray(list, count + 2, sizeof(*list));
		if (!longer) {
			ret = -ENOMEM;
			break;
		}
		list = longer;
		list[count] = strdup(text_column(statement, 0));
		list[++count] = NULL;
		ret = list[count - 1] ? 0 : -ENOMEM;
	}
	sqlite3_finalize(statement);
	if (ret)
		store_free_list(list);
	else
		*out = list;
	return ret;
}

int store_roots(struct store *store, char ***out)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "SELECT folder FROM roots ORDER BY folder", &statement);

	return ret ? ret : store_text_list(statement, out);
}
