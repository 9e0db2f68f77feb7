// SPDX-License-Identifier: GPL-2.0-only
/* kernel-build with make: the tree found and kept, configured; what was built, counted. */
#include "kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/spawn.h"

/* The same objects every time; no cache of them; not part of a make that called us. */
static const char *const make_environment[] = {
	"CCACHE_DISABLE=1",
	"LC_ALL=C",
	"MAKEFLAGS=",
	"KBUILD_BUILD_TIMESTAMP=2020-01-01",
	"MFLAGS=",
	"KBUILD_BUILD_USER=shootdown",
	"MAKELEVEL=",
	"KBUILD_BUILD_HOST=shootdown",
	NULL,
};

static int say_log(struct task *task, const struct build *build, const char *what)
{
	char *tail = spawn_log_tail(build->log, 4);

	for (char *at = tail; at && *at; at++)
		if (*at == '\n')
			*at = ';';
	task_say(task, OUTCOME_BROKEN, "%s; make says: %s", what, tail && *tail ? tail : "nothing");
	free(tail);
	return -ECANCELED;
}

/* ---- the tree ---- */

/*
 * The lab's trees are <cache>/trees/<source>-<architecture>/src, and who patches one
 * has a lock on <source>-<architecture>.lock (harness/lab/cache.h). Ours is shared, and
 * given back when the target ends. False: somebody patches it.
 */
static bool keep_from_lab(struct build *build, const char *src)
{
	char *lock = format_string("%.*s.lock", (int)(strrchr(src, '/') - src), src);
	int file = lock ? open(lock, O_RDONLY | O_CLOEXEC) : -1;
	bool kept = file < 0 || !flock(file, LOCK_SH | LOCK_NB);

	free(lock);
	if (!kept)
		close(file);
	else
		build->lock = file;
	return kept;
}

static char *lab_trees(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		return format_string("%s/shootdown/trees/*/src", cache);
	return home ? format_string("%s/.cache/shootdown/trees/*/src", home) : NULL;
}

static int find_in_cache(struct task *task, struct build *build)
{
	char *pattern = lab_trees();
	glob_t found = { 0 };
	bool busy = false;

	if (pattern && !glob(pattern, 0, NULL, &found))
		for (size_t i = 0; !build->tree && i < found.gl_pathc; i++) {
			busy = !keep_from_lab(build, found.gl_pathv[i]);
			if (!busy)
				build->tree = strdup(found.gl_pathv[i]);
		}
	globfree(&found);
	free(pattern);
	if (build->tree)
		return 0;
	return busy ? task_say(task, OUTCOME_SKIP,
			       "the lab works on its kernel tree; wait for its end, or name "
			       "another with --set tree=FOLDER")
		    : task_say(task, OUTCOME_SKIP,
			       "needs a kernel tree: \"shootdown lab build\" unpacks one, or name "
			       "it with --set tree=FOLDER, or --set load=jobs does without");
}

static int find_tree(struct task *task, struct build *build)
{
	const char *given = task_string(task, "tree");
	char *file;
	bool there;

	if (!strcmp(given, "auto"))
		return find_in_cache(task, build);
	build->tree = strdup(given);
	file = format_string("%s/Kconfig", given);
	there = build->tree && file && fs_exists("", file);
	free(file);
	return there ? 0
		     : task_say(task, OUTCOME_SKIP,
				"tree=%s is no kernel tree: it has no file Kconfig", given);
}

/* ---- make ---- */

/* Outside the window: configuration, tools and generated headers. */
static int prepare(struct task *task, struct build *build, char *output, char *parallel)
{
	static const char *const goals[] = { "tinyconfig", "prepare" };
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(goals) / sizeof(goals[0]); i++) {
		const char *const argv[] = { "make", "-s",     "-C",	 build->tree,
					     output, parallel, goals[i], NULL };
		const struct spawn spawn = { .argv = argv,
					     .environment = make_environment,
					     .output_path = build->log };

		rc = spawn_run(&spawn);
		if (rc)
			return say_log(task, build,
				       "cannot configure the kernel (a tree that was built in? "
				       "\"make mrproper\" there)");
	}
	return 0;
}

static int start_make(struct task *task, struct build *build, char *output, char *parallel)
{
	const char *const argv[] = {
		"make", "-s", "-C", build->tree, output, parallel, task_string(task, "target"), NULL
	};
	const struct helper_request request = {
		.argv = argv,
		.cpus = build->cpus,
		.environment = make_environment,
		.output_path = build->log,
		.gate = build->gate[0],
		.gate_writer = build->gate[1],
	};
	int rc = helper_start(&request, &build->pids[0]);

	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot start make: %s", strerror(-rc));
	build->started = 1;
	return 0;
}

static unsigned long count_objects(const char *folder)
{
	char *const folders[] = { (char *)folder, NULL };
	FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	unsigned long count = 0;
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		count += entry->fts_info == FTS_F && entry->fts_namelen > 2 &&
			 !strcmp(entry->fts_name + entry->fts_namelen - 2, ".o");
	if (walk)
		fts_close(walk);
	return count;
}

int build_make_setup(struct task *task, struct build *build)
{
	char *output = format_string("O=%s/build", task->folder), parallel[16];
	int rc;

	snprintf(parallel, sizeof(parallel), "-j%u", build->parallel);
	build->log = format_string("%s/make.log", task->folder);
	rc = output && build->log ? find_tree(task, build)
				  : task_say(task, OUTCOME_BROKEN, "no memory");
	if (!rc)
		rc = fs_make_folders(output + strlen("O="), 0700);
	if (!rc)
		rc = prepare(task, build, output, parallel);
	if (!rc)
		build->objects_before = count_objects(task->folder);
	if (!rc)
		rc = start_make(task, build, output, parallel);
	free(output);
	return rc;
}

int build_make_verify(struct task *task, struct build *build)
{
	unsigned long objects = count_objects(task->folder) - build->objects_before;

	if (build->status)
		return say_log(task, build, "the build failed");
	if (!objects)
		return task_say(task, OUTCOME_BROKEN,
				"make built no object file: give another target than %s",
				task_string(task, "target"));
	task_report(task, "objects", objects);
	return 0;
}
