// SPDX-License-Identifier: GPL-2.0-only
/* Tarballs, trees and git trees as kernel sources. */
#include "source.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "cache.h"

#define KEY_LENGTH 12

void source_release(struct lab_source *source)
{
	free(source->path);
	free(source->identity);
	free(source->commit);
	free(source->label);
	free(source->key);
	memset(source, 0, sizeof(*source));
}

/* key: PREFIX- and the first digits of the hash of what. */
static char *short_key(const char *prefix, const char *what)
{
	struct content_key key;
	char hex[CONTENT_KEY_SIZE];

	content_key_start(&key);
	content_key_text(&key, "source", what);
	content_key_end(&key, hex);
	return format_string("%s-%.*s", prefix, KEY_LENGTH, hex);
}

static int complete(struct lab_source *source)
{
	if (source->path && source->identity && source->label && source->key)
		return 0;
	source_release(source);
	return -ENOMEM;
}

static int open_debian(struct kernel_version first, struct kernel_version last, const char *cache,
		       bool fresh, struct log *log, struct lab_source *source)
{
	char *tarball, *package, *version;
	int rc = debian_source(first, last, cache, fresh, log, &tarball, &package, &version);

	if (rc)
		return rc;
	source->kind = LAB_SOURCE_TARBALL;
	source->path = tarball;
	source->identity = format_string("debian %s %s", package, version);
	source->label = format_string("%s %s", package, version);
	source->key = format_string("%s_%s", package, version);
	free(package);
	free(version);
	return complete(source);
}

static int open_tarball(const char *path, struct log *log, struct lab_source *source)
{
	char hex[CONTENT_KEY_SIZE];

	log_progress(log, "reading the tarball", 0, 0);
	source->kind = LAB_SOURCE_TARBALL;
	source->path = realpath(path, NULL);
	if (!source->path || !SHA256File(source->path, hex)) {
		int rc = -errno;

		log_error(log, "cannot read %s: %s", path, strerror(-rc));
		source_release(source);
		return rc;
	}
	log_progress_end(log);
	source->identity = format_string("tarball %s", hex);
	source->label = strdup(path);
	source->key = format_string("tarball-%.*s", KEY_LENGTH, hex);
	return complete(source);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int open_tree(const char *path, struct log *log, struct lab_source *source)
{
	char *full = realpath(path, NULL), hex[CONTENT_KEY_SIZE];
	char *roots[] = { full, NULL };
	FTS *walk = full ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name) : NULL;
	struct content_key key;
	FTSENT *entry;

	if (!walk) {
		log_error(log, "cannot read %s: %s", path, strerror(errno));
		free(full);
		return -EIO;
	}
	content_key_start(&key);
	while ((entry = fts_read(walk))) {
		char facts[96];

		if (entry->fts_info != FTS_F && entry->fts_info != FTS_SL)
			continue;
		snprintf(facts, sizeof(facts), "%" PRIdMAX " %" PRIdMAX ".%09ld",
			 (intmax_t)entry->fts_statp->st_size,
			 (intmax_t)entry->fts_statp->st_mtim.tv_sec,
			 entry->fts_statp->st_mtim.tv_nsec);
		content_key_text(&key, "file", entry->fts_path + strlen(full));
		content_key_text(&key, "facts", facts);
	}
	fts_close(walk);
	content_key_end(&key, hex);
	source->kind = LAB_SOURCE_TREE;
	source->path = full;
	source->identity = format_string("tree %s", hex);
	source->label = strdup(path);
	source->key = format_string("tree-%.*s", KEY_LENGTH, hex);
	return complete(source);
}

/* One line that git prints; the exit status or a negative errno. */
static int ask_git(const char *folder, const char *const *argv, char **line)
{
	char *output = NULL;
	struct spawn spawn = { .argv = argv, .folder = folder, .output = &output };
	int rc = spawn_run(&spawn);

	if (!rc) {
		output[strcspn(output, "\n")] = '\0';
		*line = output;
	} else {
		free(output);
	}
	return rc;
}

static int set_commit(struct lab_source *source, const char *ref, const char *commit)
{
	source->kind = LAB_SOURCE_GIT;
	source->commit = strdup(commit);
	source->identity = format_string("git %s", commit);
	source->label = format_string("%s (%.12s)", ref, commit);
	source->key = source->path ? short_key("git", source->path) : NULL;
	return source->commit ? complete(source) : -ENOMEM;
}

static int resolve(const char *git_folder, const char *ref, struct log *log, char **commit)
{
	char *wanted = format_string("%s^{commit}", ref);
	const char *const argv[] = { "git",  "rev-parse", "--verify", "--quiet", "--end-of-options",
				     wanted, NULL };
	int rc = wanted ? ask_git(git_folder, argv, commit) : -ENOMEM;

	free(wanted);
	if (rc > 0) {
		log_error(log,
			  "%s has no commit \"%s\": \"git branch -a\" and \"git log\" there show "
			  "what it has",
			  git_folder, ref);
		return -EINVAL;
	}
	return rc;
}

static int open_git(const char *path, struct log *log, struct lab_source *source)
{
	static const char *const find[] = { "git", "rev-parse", "--absolute-git-dir", NULL };
	static const char *const changes[] = { "git", "status", "--porcelain",
					       "--untracked-files=no", NULL };
	char *folder = NULL, *commit = NULL, *changed = NULL;
	int rc = ask_git(path, find, &folder);

	if (rc) {
		log_error(log, "git cannot use the tree %s: %s", path,
			  rc == -ENOENT ? "install git" : "see its message above");
		return rc > 0 ? -EINVAL : rc;
	}
	rc = resolve(folder, "HEAD", log, &commit);
	if (!rc && !ask_git(path, changes, &changed) && *changed)
		log_warn(log, "%s has changes that are not committed: they are not built", path);
	if (!rc) {
		source->path = strdup(folder);
		rc = set_commit(source, path, commit);
	}
	free(folder);
	free(commit);
	free(changed);
	return rc;
}

int source_open_commit(const struct lab_source *tree, const char *ref, struct log *log,
		       struct lab_source *source)
{
	char *commit;
	int rc;

	if (tree->kind != LAB_SOURCE_GIT) {
		log_error(log, "git:%s needs a git tree: give its folder with --source", ref);
		return -EINVAL;
	}
	rc = resolve(tree->path, ref, log, &commit);
	if (rc)
		return rc;
	source->path = strdup(tree->path);
	rc = set_commit(source, ref, commit);
	free(commit);
	return rc;
}

static int open_path(const char *path, struct log *log, struct lab_source *source)
{
	char *git = format_string("%s/.git", path), *makefile = format_string("%s/Kbuild", path);
	struct stat status;
	int rc;

	if (!git || !makefile) {
		rc = -ENOMEM;
	} else if (stat(path, &status)) {
		rc = -errno;
		log_error(log,
			  "there is no source \"%s\" (%s): give debian:X.Y, a tarball, a tree or a "
			  "git tree",
			  path, strerror(errno));
	} else if (S_ISREG(status.st_mode)) {
		rc = open_tarball(path, log, source);
	} else if (!access(git, F_OK)) {
		rc = open_git(path, log, source);
	} else if (!access(makefile, R_OK)) {
		rc = open_tree(path, log, source);
	} else {
		log_error(log, "%s is no kernel tree: it has no Kbuild", path);
		rc = -EINVAL;
	}
	free(git);
	free(makefile);
	return rc;
}

int source_open(const char *spec, const struct lab_series *series, const char *cache, bool fresh,
		struct log *log, struct lab_source *source)
{
	struct kernel_version version;

	memset(source, 0, sizeof(*source));
	if (!spec && series->has_base)
		return open_debian(series->first, series->last, cache, fresh, log, source);
	if (!spec) {
		log_error(
			log,
			"without a series there is no default source: give --source debian:X.Y, a "
			"tarball or a tree");
		return -EINVAL;
	}
	if (strncmp(spec, "debian:", 7))
		return open_path(spec, log, source);
	if (!kernel_version_parse(spec + 7, &version)) {
		log_error(log, "--source %s: the form is debian:X.Y, such as debian:7.3", spec);
		return -EINVAL;
	}
	return open_debian(version, version, cache, fresh, log, source);
}

static int show_progress(void *context)
{
	log_progress(context, "unpacking the kernel tree", 0, 0);
	return 0;
}

/* A folder's files into another; the owner is we. */
static int run_unpack(const char *const *argv, const char *const *environment, const char *label,
		      struct log *log)
{
	struct spawn spawn = {
		.argv = argv, .environment = environment, .tick = show_progress, .tick_context = log
	};
	int rc;

	show_progress(log);
	rc = spawn_run(&spawn);
	log_progress_end(log);
	if (rc > 0 || rc == -ENOENT) {
		log_error(log, "could not unpack %s with %s: %s", label, argv[0],
			  rc > 0 ? "see its message above (is the disk full?)" : "install it");
		rc = -EIO;
	}
	return rc;
}

/* Only what differs from the commit that index remembers is written. */
static int unpack_git(const struct lab_source *source, const char *folder, const char *index,
		      struct log *log)
{
	char *index_row = format_string("GIT_INDEX_FILE=%s", index);
	char *folder_row = format_string("GIT_WORK_TREE=%s", folder);
	char *git_row = format_string("GIT_DIR=%s", source->path);
	const char *const environment[] = { index_row, folder_row, git_row, NULL };
	const char *const refresh[] = { "git", "update-index", "-q", "--refresh", NULL };
	const char *const checkout[] = { "git",
					 "-c",
					 "core.sparseCheckout=false",
					 "-c",
					 "core.autocrlf=false",
					 "read-tree",
					 "--reset",
					 "-u",
					 source->commit,
					 NULL };
	struct spawn spawn = { .argv = refresh, .folder = folder, .environment = environment };
	int rc = index_row && folder_row && git_row ? 0 : -ENOMEM;

	if (!rc)
		rc = spawn_run(&spawn);
	if (rc >= 0)
		rc = run_unpack(checkout, environment, source->label, log);
	free(index_row);
	free(folder_row);
	free(git_row);
	return rc;
}

int source_unpack(const struct lab_source *source, const char *folder, const char *index,
		  struct log *log)
{
	const char *const untar[] = {
		"tar", "-xf",  source->path, "--strip-components=1", "--no-same-owner",
		"-C",  folder, NULL
	};
	char *inside = format_string("%s/.", source->path);
	const char *const copy[] = {
		"cp",	"-R", "--preserve=mode,timestamps,links", "--reflink=auto", inside,
		folder, NULL
	};
	int rc = inside ? 0 : -ENOMEM;

	if (!rc && source->kind == LAB_SOURCE_GIT)
		rc = unpack_git(source, folder, index, log);
	else if (!rc)
		rc = run_unpack(source->kind == LAB_SOURCE_TARBALL ? untar : copy, NULL,
				source->label, log);
	free(inside);
	return rc;
}
