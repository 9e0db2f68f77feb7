// SPDX-License-Identifier: GPL-2.0-only
/* The index: what is written of a run, and what is taken out. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "run_folders.h"
#include "store_private.h"

/* One value of a passed repetition, to be sorted into medians. */
struct entry {
	double value;
	uint32_t place;
	uint16_t metric;
};

static int by_place_metric_value(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* Binds text or NULL to the statement's next value. */
static void bind_text(sqlite3_stmt *statement, int *at, const char *text)
{
	sqlite3_bind_text(statement, (*at)++, text, -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *statement, int *at, int64_t number)
{
	sqlite3_bind_int64(statement, (*at)++, number);
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int64_t number_at(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* A document of the lab beside the run, NULL when there is none. */
static json_t *load_beside(const char *folder, const char *name)
{
	char *path = format_string("%s/%s", folder, name);
	json_t *json = path ? json_load_file(path, 0, NULL) : NULL;

	free(path);
	return json;
}

static int64_t first_start(const struct loaded_run *run)
{
	uint64_t first = 0;

	for (size_t i = 0; i < run->outcome_count; i++)
		if (run->outcomes[i].started_ns && run->outcomes[i].started_ns <= INT64_MAX &&
		    (!first || run->outcomes[i].started_ns < first))
			first = run->outcomes[i].started_ns;
	return (int64_t)first;
}

/* "pageout, null": each stressor once, in the plan's order. */
static char *stressor_names(const struct loaded_run *run)
{
	char *text = strdup("");

	for (unsigned int i = 0; text && i < run->point_count; i++) {
		bool known = false;
		char *longer;

		for (unsigned int j = 0; j < i && !known; j++)
			known = !strcmp(run->points[i].stressor, run->points[j].stressor);
		if (known)
			continue;
		longer = format_string("%s%s%s", text, i ? ", " : "", run->points[i].stressor);
		free(text);
		text = longer;
	}
	return text;
}

static int put_row(struct store *store, const struct loaded_run *run, const char *real,
		   const char *id)
{
	const json_t *kernel = json_object_get(run->machine, "kernel");
	json_t *lab = load_beside(real, "../../lab.json"), *boot = load_beside(real, "boot.json");
	char *machine = store_machine(run->machine), *stressors = stressor_names(run);
	sqlite3_stmt *statement = NULL;
	int at = 1, ret = machine && stressors ? 0 : -ENOMEM;

	if (!ret)
		ret = store_prepare(
			store,
			"INSERT INTO runs(id, folder, started_ns, machine, arch, kernel,"
			" kernel_version, series, arm, stressors, outcome, failure, cpus,"
			" page_bytes, boot, samples, verified)"
			" VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			&statement);
	if (ret)
		goto out;
	bind_text(statement, &at, id);
	bind_text(statement, &at, real);
	bind_number(statement, &at, first_start(run));
	bind_text(statement, &at, machine);
	bind_text(statement, &at, text_at(run->machine, "arch"));
	bind_text(statement, &at, text_at(kernel, "release"));
	bind_text(statement, &at, text_at(kernel, "version") ? text_at(kernel, "version") : "");
	bind_text(statement, &at, text_at(lab, "series"));
	bind_text(statement, &at, text_at(run->machine, "arm"));
	bind_text(statement, &at, stressors);
	bind_text(statement, &at, run->complete ? outcome_name(run->end) : "unfinished");
	bind_text(statement, &at, text_at(boot, "failure"));
	bind_number(statement, &at, number_at(json_object_get(run->machine, "cpus"), "used"));
	bind_number(statement, &at, number_at(run->machine, "page_size"));
	bind_number(statement, &at, number_at(run->machine, "boot"));
	bind_number(statement, &at, (int64_t)run->sample_count);
	bind_number(statement, &at, run->verified);
	ret = store_finish(store, "write to", statement);
out:
	free(stressors);
	free(machine);
	json_decref(boot);
	json_decref(lab);
	return ret;
}

/* The number of a row of a table of shared values, which is made when it is not there. */
static int find_or_add(struct store *store, const char *insert, const char *select,
		       const char *first, const char *second, const char *third, int64_t *number)
{
	const char *const statements[] = { insert, select };
	int ret = 0;

	for (size_t i = 0; !ret && i < 2; i++) {
		sqlite3_stmt *statement;
		int at = 1, code;

		ret = store_prepare(store, statements[i], &statement);
		if (ret)
			return ret;
		bind_text(statement, &at, first);
		bind_text(statement, &at, second);
		bind_text(statement, &at, third);
		code = sqlite3_step(statement);
		if (code == SQLITE_ROW)
			*number = sqlite3_column_int64(statement, 0);
		else if (code != SQLITE_DONE || i == 1)
			ret = store_say(store, "write to", code);
		sqlite3_finalize(statement);
	}
	return ret;
}

static int put_point(struct store *store, int64_t row, const struct run_point *point,
		     uint32_t place)
{
	char *parameters = json_dumps(point->parameters, JSON_COMPACT | JSON_SORT_KEYS);
	char *version = format_string("%u", point->stressor_version);
	sqlite3_stmt *statement;
	int64_t number = 0;
	int at = 1, ret = -ENOMEM;

	if (parameters && version)
		ret = find_or_add(store,
				  "INSERT OR IGNORE INTO points(stressor, version, parameters)"
				  " VALUES(?,CAST(? AS INTEGER),?)",
				  "SELECT number FROM points WHERE stressor=?"
				  " AND version=CAST(? AS INTEGER) AND parameters=?",
				  point->stressor, version, parameters, &number);
	if (!ret)
		ret = store_prepare(store,
				    "INSERT INTO run_points(run, place, point) VALUES(?,?,?)",
				    &statement);
	if (!ret) {
		bind_number(statement, &at, row);
		bind_number(statement, &at, place);
		bind_number(statement, &at, number);
		ret = store_finish(store, "write to", statement);
	}
	free(version);
	free(parameters);
	return ret;
}

/* values of one place and metric, sorted. */
static int put_median(struct store *store, const struct loaded_run *run, int64_t row,
		      const struct entry *values, size_t count)
{
	const struct run_metric *metric = &run->metrics[values->metric];
	const char *better = text_at(
		json_object_get(run->points[values->place].metrics, metric->name), "better");
	double median = count % 2 ? values[count / 2].value
				  : values[count / 2 - 1].value / 2 + values[count / 2].value / 2;
	sqlite3_stmt *statement;
	int64_t number = 0;
	int at = 1;
	int ret = find_or_add(store,
			      "INSERT OR IGNORE INTO metrics(name, unit, better) VALUES(?,?,?)",
			      "SELECT number FROM metrics WHERE name=? AND unit=? AND better=?",
			      metric->name, metric->unit, better ? better : "", &number);

	if (!ret)
		ret = store_prepare(
			store,
			"INSERT INTO medians(run, place, metric, n, median) VALUES(?,?,?,?,?)",
			&statement);
	if (ret)
		return ret;
	bind_number(statement, &at, row);
	bind_number(statement, &at, values->place);
	bind_number(statement, &at, number);
	bind_number(statement, &at, (int64_t)count);
	sqlite3_bind_double(statement, at, median);
	return store_finish(store, "write to", statement);
}

static size_t take_entries(const struct loaded_run *run, struct entry *entries)
{
	const struct run_outcome *outcome = NULL;
	size_t count = 0;

	for (size_t i = 0; i < run->sample_count; i++) {
		const struct run_sample *sample = &run->samples[i];

		if (!outcome || outcome->point != sample->point ||
		    outcome->repetition != sample->repetition)
			outcome = run_find_outcome(run, sample->point, sample->repetition);
		/* A value that points share depends on what else ran beside this one. */
		if (outcome && outcome->outcome == OUTCOME_PASS && isfinite(sample->value) &&
		    sample->status != VALUE_SHARED)
			entries[count++] = (struct entry){ .value = sample->value,
							   .place = sample->point,
							   .metric = sample->metric };
	}
	return count;
}

static int put_medians(struct store *store, const struct loaded_run *run, int64_t row)
{
	struct entry *entries = calloc(run->sample_count + 1, sizeof(*entries));
	size_t count, end;
	int ret = 0;

	if (!entries)
		return -ENOMEM;
	count = take_entries(run, entries);
	if (count)
		qsort(entries, count, sizeof(*entries), by_place_metric_value);
	for (size_t at = 0; !ret && at < count; at = end) {
		for (end = at + 1; end < count && entries[end].place == entries[at].place &&
				   entries[end].metric == entries[at].metric;)
			end++;
		ret = put_median(store, run, row, &entries[at], end - at);
	}
	free(entries);
	return ret;
}

int store_put_run(struct store *store, const struct loaded_run *run, const char *real,
		  const char *id)
{
	int ret = put_row(store, run, real, id);
	int64_t row;

	if (ret)
		return ret;
	row = sqlite3_last_insert_rowid(store->db);
	for (uint32_t i = 0; !ret && i < run->point_count; i++)
		ret = put_point(store, row, &run->points[i], i);
	return ret ? ret : put_medians(store, run, row);
}

int store_delete(struct store *store, const char *column, const char *value)
{
	char *sql = format_string("DELETE FROM runs WHERE %s=?", column);
	sqlite3_stmt *statement;
	int at = 1, ret = sql ? store_prepare(store, sql, &statement) : -ENOMEM;

	free(sql);
	if (ret)
		return ret;
	bind_text(statement, &at, value);
	return store_finish(store, "write to", statement);
}

static bool is_gone(const char *folder)
{
	char *path = format_string("%s/samples.jsonl", folder);
	struct stat status;
	bool gone = path && lstat(path, &status) && (errno == ENOENT || errno == ENOTDIR);

	free(path);
	return gone;
}

/* The folder of the run with this id; NULL: none, or no memory. */
static int known_folder(struct store *store, const char *id, char **folder)
{
	sqlite3_stmt *statement;
	int at = 1, code, ret;

	*folder = NULL;
	ret = store_prepare(store, "SELECT folder FROM runs WHERE id=?", &statement);
	if (ret)
		return ret;
	bind_text(statement, &at, id);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*folder = strdup((const char *)sqlite3_column_text(statement, 0));
	else if (code != SQLITE_DONE)
		ret = store_say(store, "read", code);
	sqlite3_finalize(statement);
	return ret;
}

static int replace_run(struct store *store, const char *real, const char *id,
		       enum store_added *added)
{
	struct loaded_run *run;
	int ret = run_load(real, false, store->log, &run), before;

	if (ret)
		return ret;
	ret = store_begin(store);
	if (ret)
		goto free_run;
	before = sqlite3_total_changes(store->db);
	ret = store_delete(store, "folder", real);
	if (!ret)
		ret = store_delete(store, "id", id);
	*added = sqlite3_total_changes(store->db) > before ? STORE_CHANGED : STORE_NEW;
	if (!ret)
		ret = store_put_run(store, run, real, id);
	if (ret)
		store_rollback(store);
	else
		ret = store_commit(store);
free_run:
	run_free(run);
	return ret;
}

int store_add(struct store *store, const char *folder, enum store_added *added)
{
	char *real = realpath(folder, NULL), *known = NULL;
	char id[RUN_ID_LENGTH + 1];
	int ret;

	if (!real) {
		ret = -errno;
		log_error(store->log, "cannot read the folder %s: %s", folder, strerror(errno));
		return ret;
	}
	ret = run_identity(real, id);
	if (ret)
		log_error(store->log, "cannot read the run in %s: %s", folder, strerror(-ret));
	if (!ret)
		ret = known_folder(store, id, &known);
	if (ret)
		goto out;
	*added = STORE_KNOWN;
	if (known && strcmp(known, real) && !is_gone(known)) {
		/* Its checksums are those of the other; its files may not be. */
		ret = checksums_end(checksums_begin(real), store->log);
		if (ret >= 0)
			ret = 0;
		if (!ret)
			log_info(store->log, "%s is a copy of run %s, which is in %s", folder, id,
				 known);
	} else if (!known || strcmp(known, real)) {
		ret = replace_run(store, real, id, added);
	}
out:
	free(known);
	free(real);
	return ret;
}

int store_remove(struct store *store, const char *id)
{
	int before = sqlite3_total_changes(store->db);
	int ret = store_delete(store, "id", id);

	if (!ret && sqlite3_total_changes(store->db) == before) {
		log_error(store->log, "the index has no run %s", id);
		ret = -ENOENT;
	}
	return ret;
}

/* Within a transaction. */
static int drop_gone(struct store *store)
{
	sqlite3_stmt *statement;
	int ret = store_prepare(store, "SELECT folder FROM runs", &statement), code;
	int dropped = 0;

	if (ret)
		return ret;
	while (!ret && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *folder = (const char *)sqlite3_column_text(statement, 0);

		if (!is_gone(folder))
			continue;
		log_info(store->log, "%s is gone", folder);
		ret = store_delete(store, "folder", folder);
		dropped++;
	}
	if (!ret && code != SQLITE_DONE)
		ret = store_say(store, "read", code);
	sqlite3_finalize(statement);
	return ret ? ret : dropped;
}

int store_gc(struct store *store)
{
	int ret = store_begin(store), dropped;

	if (ret)
		return ret;
	dropped = drop_gone(store);
	if (dropped < 0) {
		store_rollback(store);
		return dropped;
	}
	ret = store_run_sql(store, "write to",
			    "DELETE FROM points WHERE number NOT IN (SELECT point FROM run_points);"
			    "DELETE FROM metrics WHERE number NOT IN (SELECT metric FROM medians)");
	if (ret) {
		store_rollback(store);
		return ret;
	}
	ret = store_commit(store);
	return ret ? ret : dropped;
}
