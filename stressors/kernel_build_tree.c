// SPDX-License-Identifier: GPL-2.0-only
/* The source that kernel-build builds: found, of which version, and kept from the lab. */
#include "kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../lib/fs.h"

/* The number of a line "NAME = NUMBER"; -1: there is none. */
static long makefile_number(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && !strncmp(line + length, " = ", 3))
			return strtol(line + length + 3, NULL, 10);
	}
	return -1;
}

unsigned long build_source_version(const char *tree)
{
	long version, patchlevel, sublevel;
	char *text;

	if (fs_read(tree, "/Makefile", &text, NULL))
		return 0;
	version = makefile_number(text, "VERSION");
	patchlevel = makefile_number(text, "PATCHLEVEL");
	sublevel = makefile_number(text, "SUBLEVEL");
	free(text);
	return version > 0 && patchlevel >= 0 && sublevel >= 0
		       ? version * 1000000 + patchlevel * 1000 + sublevel
		       : 0;
}

/* Packages of one kernel are in the order of their revisions, as far as names tell. */
static bool newer(const char *tree, unsigned long version, const char *than,
		  unsigned long than_version)
{
	return version > than_version || (version == than_version && strverscmp(tree, than) > 0);
}

int build_newest_tree(const char *cache, char **tree)
{
	char *pattern = format_string("%s/trees/*/src", cache);
	const char *best = NULL;
	unsigned long best_version = 0, seen;
	bool several = false;
	glob_t found = { 0 };
	int rc = -ENOENT;

	if (pattern && !glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			seen = build_source_version(found.gl_pathv[i]);
			several = several || (best && seen != best_version);
			if (best && !newer(found.gl_pathv[i], seen, best, best_version))
				continue;
			best = found.gl_pathv[i];
			best_version = seen;
		}
	if (best) {
		*tree = strdup(best);
		rc = !*tree ? -ENOMEM : several ? -ENOTUNIQ : 0;
	}
	globfree(&found);
	free(pattern);
	return rc;
}

static char *lab_cache(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		return format_string("%s/shootdown", cache);
	return home ? format_string("%s/.cache/shootdown", home) : NULL;
}

/*
 * The lab's trees are <cache>/trees/<source>-<architecture>/src, and who patches one
 * has a lock on <source>-<architecture>.lock (harness/lab/cache.h). Ours is shared, and
 * given back when the target ends. False: somebody patches it.
 */
static bool keep_from_lab(struct build *build)
{
	const char *src = build->tree;
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

/* Another tree than the newest would be another build, so that none stands in for it. */
static int find_in_cache(struct task *task, struct build *build)
{
	char *cache = lab_cache();
	int rc = cache ? build_newest_tree(cache, &build->tree) : -ENOENT;

	free(cache);
	if (rc == -ENOTUNIQ)
		return task_say(
			task, OUTCOME_SKIP,
			"the lab's cache has kernels of several versions, and builds of two "
			"are not comparable: give the same to all runs, --set tree=%s or "
			"another",
			build->tree);
	if (rc)
		return task_say(task, OUTCOME_SKIP,
				"needs a kernel tree: \"shootdown lab build\" unpacks one, or name "
				"it with --set tree=FOLDER, or --set load=jobs does without");
	if (!keep_from_lab(build))
		return task_say(task, OUTCOME_SKIP,
				"the lab works on its kernel tree; wait for its end, or name "
				"another with --set tree=FOLDER");
	return 0;
}

int build_find_tree(struct task *task, struct build *build)
{
	const char *given = task_string(task, "tree");
	int rc = 0;

	if (!strcmp(given, "auto"))
		rc = find_in_cache(task, build);
	else if (!(build->tree = strdup(given)))
		rc = task_say(task, OUTCOME_BROKEN, "no memory");
	if (rc)
		return rc;
	build->source_version = build_source_version(build->tree);
	return build->source_version && fs_exists(build->tree, "/Kconfig")
		       ? 0
		       : task_say(
				 task, OUTCOME_SKIP,
				 "%s is no kernel tree: it lacks a file Kconfig, or a Makefile that "
				 "tells a version; give another with --set tree=FOLDER",
				 build->tree);
}
