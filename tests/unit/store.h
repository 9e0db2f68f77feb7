/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder for a test, and runs made in it. */
#ifndef SHOOTDOWN_TEST_STORE_H
#define SHOOTDOWN_TEST_STORE_H

#include "../../lib/fs.h"
#include "../../results/record.h"
#include "quiet.h"

static char *folder; /* of this test */

static inline void make_folder(void)
{
	char template[] = "/tmp/shootdown-check-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(template));
	folder = strdup(template);
	quiet_log();
}

static inline void remove_folder(void)
{
	fs_remove_tree(folder);
	free(folder);
}

static inline char *in_folder(const char *name)
{
	return format_string("%s/%s", folder, name);
}

static inline char *fixture_run(const char *name)
{
	return format_string("%s/runs/%s", getenv("SHOOTDOWN_FIXTURES"), name);
}

struct made_run {
	const char *name, *host, *kernel;
	int pages;
	double value;
	long long started_ns;
	bool unfinished;
};

static inline void put_json(int (*put)(struct record *, const json_t *), struct record *record,
			    json_t *json)
{
	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(put(record, json), 0);
	json_decref(json);
}

/* One point, two repetitions whose values are value and value + 2. Returns its path. */
static inline char *make_run(const struct made_run *made)
{
	char *path = in_folder(made->name);
	struct log *log = quiet_log();
	struct record *record;

	ck_assert_int_eq(record_create(path, log, &record), 0);
	put_json(record_machine, record,
		 json_pack("{s:s,s:i,s:s?,s:s,s:i,s:{s:s,s:s},s:{s:i,s:i},s:n,s:n,s:n}", "schema",
			   "shootdown-machine", "version", 1, "host", made->host, "arch", "x86_64",
			   "page_size", 4096, "kernel", "release",
			   made->kernel ? made->kernel : "7.3.0", "version", "#1", "cpus", "online",
			   4, "used", 4, "guest", "arm", "boot"));
	put_json(record_plan, record,
		 json_pack("{s:s,s:i,s:i,s:i,s:[{s:s,s:i,s:{s:i,s:s,s:b},s:{s:{s:s,s:s,s:n}}}],"
			   "s:[]}",
			   "schema", "shootdown-plan", "version", 1, "seed", 1, "repetitions", 2,
			   "points", "stressor", "pageout", "stressor_version", 1, "parameters",
			   "pages", made->pages ? made->pages : 64, "contents", "random", "fast", 1,
			   "metrics", "remote_ipis", "unit", "interrupts", "better", "less",
			   "predicted", "order"));
	for (int i = 1; i <= 2; i++) {
		put_json(record_sample, record,
			 json_pack("{s:i,s:i,s:s,s:s,s:s,s:f}", "point", 0, "repetition", i,
				   "metric", "remote_ipis", "unit", "interrupts", "status", "ok",
				   "value", made->value + 2.0 * (i - 1)));
		put_json(record_sample, record,
			 json_pack("{s:i,s:i,s:s,s:I,s:f}", "point", 0, "repetition", i, "outcome",
				   "pass", "started_ns", (json_int_t)made->started_ns + i,
				   "seconds", 0.5));
	}
	if (!made->unfinished)
		put_json(record_sample, record,
			 json_pack("{s:s,s:b}", "end", "pass", "restored", 1));
	record_close(record);
	return path;
}

#endif
