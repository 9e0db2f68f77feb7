// SPDX-License-Identifier: GPL-2.0-only
/* Work trees: unpacked once, patched and restored file by file. */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "cache.h"

struct names {
	char **list;
	unsigned int count;
};

static void names_release(struct names *names)
{
	for (unsigned int i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct names){ 0 };
}

static bool names_has(const struct names *names, const char *name, size_t length)
{
	for (unsigned int i = 0; i < names->count; i++)
		if (!strncmp(names->list[i], name, length) && !names->list[i][length])
			return true;
	return false;
}

static int names_add(struct names *names, const char *name, size_t length)
{
	char **larger;

	if (names_has(names, name, length))
		return 0;
	larger = realloc(names->list, (names->count + 1) * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	names->list = larger;
	names->list[names->count] = strndup(name, length);
	return names->list[names->count] ? names->count++, 0 : -ENOMEM;
}

/* A name that leads out of the tree is refused. */
static bool inside(const char *name, size_t length)
{
	char *copy = strndup(name, length);
	bool fine = copy && *copy && *copy != '/' && !strstr(copy, "../") && strcmp(copy, "..");

	free(copy);
	return fine;
}

/* Adds the files a patch names: "--- a/x", "+++ b/x", "rename from x", ... -EINVAL when it names
 * none. */
static int patch_names(const char *path, struct names *names)
{
	static const struct {
		const char *label;
		bool prefixed; /* a/ or b/ comes before the name */
	} labels[] = { { "--- ", true },
		       { "+++ ", true },
		       { "rename from ", false },
		       { "rename to ", false },
		       { "copy to ", false } };
	char *text, *rest, *line;
	bool found = false;
	int rc = fs_read("", path, &text, NULL);

	if (rc)
		return rc;
	rest = text;
	while (!rc && (line = strsep(&rest, "\n"))) {
		for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
			size_t skip = strlen(labels[i].label), length;
			const char *name = line + skip;

			if (strncmp(line, labels[i].label, skip))
				continue;
			if (labels[i].prefixed && strncmp(name, "a/", 2) && strncmp(name, "b/", 2))
				continue;
			name += labels[i].prefixed ? 2 : 0;
			length = strcspn(name, "\t\r");
			rc = inside(name, length) ? names_add(names, name, length) : -EINVAL;
			found = true;
		}
	}
	free(text);
	return rc || found ? rc : -EINVAL;
}

/* Copies from FOLDER/name to FOLDER/name; folders above are made. */
static int copy_between(const char *from, const char *to, const char *name)
{
	char *source = format_string("%s/%s", from, name),
	     *target = format_string("%s/%s", to, name);
	char *slash = target ? strrchr(target, '/') : NULL;
	int rc = source && target ? 0 : -ENOMEM;

	if (!rc) {
		*slash = '\0';
		rc = fs_make_folders(target, 0755);
		*slash = '/';
	}
	if (!rc)
		rc = fs_copy(source, target);
	free(source);
	free(target);
	return rc;
}

static char *part(const struct work_tree *tree, const char *name)
{
	return format_string("%s/%s", tree->folder, name);
}

/* originals.list as it stands; entries keep their sign. */
static int read_list(const struct work_tree *tree, struct names *list)
{
	char *path = part(tree, "originals.list"), *text = NULL, *rest, *line;
	int rc = path ? fs_read("", path, &text, NULL) : -ENOMEM;

	rest = text;
	while (!rc && (line = strsep(&rest, "\n")))
		if (*line)
			rc = names_add(list, line, strlen(line));
	free(text);
	free(path);
	return rc == -ENOENT ? 0 : rc;
}

static int write_list(const struct work_tree *tree, const struct names *list)
{
	char *path = part(tree, "originals.list"), *text = strdup("");
	int rc;

	for (unsigned int i = 0; text && i < list->count; i++) {
		char *longer = format_string("%s%s\n", text, list->list[i]);

		free(text);
		text = longer;
	}
	rc = path && text ? fs_replace(path, text, strlen(text)) : -ENOMEM;
	free(path);
	free(text);
	return rc;
}

static bool listed(const struct names *list, const char *name)
{
	for (unsigned int i = 0; i < list->count; i++)
		if (!strcmp(list->list[i] + 1, name))
			return true;
	return false;
}

/* Keeps the originals of names not seen before; src has them unpatched still. */
static int keep_originals(const struct work_tree *tree, const struct names *touched,
			  struct names *list)
{
	char *originals = part(tree, "originals");
	unsigned int before = list->count;
	int rc = originals ? 0 : -ENOMEM;

	for (unsigned int i = 0; !rc && i < touched->count; i++) {
		const char *name = touched->list[i];
		char *path, *entry;

		if (listed(list, name))
			continue;
		path = format_string("%s/%s", tree->src, name);
		entry = path ? format_string("%c%s", access(path, F_OK) ? '-' : '+', name) : NULL;
		rc = entry ? names_add(list, entry, strlen(entry)) : -ENOMEM;
		if (!rc && *entry == '+')
			rc = copy_between(tree->src, originals, name);
		free(path);
		free(entry);
	}
	if (!rc && list->count > before)
		rc = write_list(tree, list);
	free(originals);
	return rc;
}

/* "mm/rmap.c" out of git's "error: patch failed: mm/rmap.c:12" and the like; for the message. */
static void say_refused(const struct work_tree *tree, const struct lab_arm *arm,
			const struct lab_patch *patch, const char *log_path, struct log *log)
{
	char *text = spawn_log_tail(log_path, 12);
	char *error = text ? strstr(text, "error: ") : NULL;
	const char *reason = error ? error + 7 : "git apply refused it";

	if (error && !strncmp(reason, "patch failed: ", 14))
		reason += 14;
	log_error(log,
		  "arm %s: the patch %s%s does not apply to Linux %s: %.*s; nothing was changed. "
		  "Make it for this kernel, or choose another with --source",
		  arm->name, patch->reverse ? "-R " : "", patch->path, tree->version,
		  (int)strcspn(reason, "\n"), reason);
	free(text);
}

static int apply_one(const struct work_tree *tree, const struct lab_arm *arm,
		     const struct lab_patch *patch, const char *scratch, struct log *log)
{
	/* a repository above the cache must not change what names mean */
	char *ceiling = format_string("GIT_CEILING_DIRECTORIES=%s", tree->folder);
	char *output = part(tree, "apply.log"), *full = realpath(patch->path, NULL);
	const char *const argv[] = {
		"git", "apply", "--whitespace=nowarn", full, patch->reverse ? "-R" : NULL, NULL
	};
	const char *const environment[] = { ceiling, "LC_ALL=C", NULL };
	struct spawn spawn = {
		.argv = argv, .folder = scratch, .environment = environment, .output_path = output
	};
	int rc = ceiling && output && full ? 0 : -ENOMEM;

	if (!rc) {
		unlink(output);
		rc = spawn_run(&spawn);
	}
	if (rc == -ENOENT) {
		log_error(log, "patches are applied by git: install it");
	} else if (rc > 0) {
		say_refused(tree, arm, patch, output, log);
		rc = -EINVAL;
	}
	free(ceiling);
	free(output);
	free(full);
	return rc;
}

/* Gives src the wanted contents of one file; untouched when it has them. */
static int put_file(const struct work_tree *tree, const char *from, const char *name)
{
	char *wanted_path = format_string("%s/%s", from, name);
	char *path = format_string("%s/%s", tree->src, name);
	char *wanted = NULL, *present = NULL;
	size_t wanted_length = 0, present_length = 0;
	int rc = wanted_path && path ? 0 : -ENOMEM, want, have;

	if (rc)
		goto out;
	want = fs_read("", wanted_path, &wanted, &wanted_length);
	have = fs_read("", path, &present, &present_length);
	if (want == -ENOENT || want == -ENOTDIR)
		rc = have ? 0 : unlink(path) ? -errno : 0;
	else if (want)
		rc = want;
	else if (have || wanted_length != present_length || memcmp(wanted, present, wanted_length))
		rc = copy_between(from, tree->src, name);
out:
	free(wanted_path);
	free(path);
	free(wanted);
	free(present);
	return rc;
}

/* Everything ever patched gets this arm's contents. */
static int put_all(const struct work_tree *tree, const struct names *list,
		   const struct names *touched, const char *scratch)
{
	char *originals = part(tree, "originals");
	int rc = originals ? 0 : -ENOMEM;

	for (unsigned int i = 0; !rc && i < list->count; i++) {
		const char *name = list->list[i] + 1;
		bool patched = names_has(touched, name, strlen(name));

		rc = put_file(tree, patched ? scratch : originals, name);
	}
	free(originals);
	return rc;
}

static int prepare_scratch(const struct work_tree *tree, const struct names *touched,
			   const struct names *list, const char *scratch)
{
	char *originals = part(tree, "originals");
	int rc = originals ? fs_remove_tree(scratch) : -ENOMEM;

	if (!rc)
		rc = fs_make_folders(scratch, 0755);
	for (unsigned int i = 0; !rc && i < list->count; i++) {
		const char *name = list->list[i] + 1;

		if (list->list[i][0] == '+' && names_has(touched, name, strlen(name)))
			rc = copy_between(originals, scratch, name);
	}
	free(originals);
	return rc;
}

/* The arm's files in scratch, each patch applied to copies; touched and list tell which. */
static int apply_all(struct work_tree *tree, const struct lab_arm *arm, const char *scratch,
		     struct names *touched, struct names *list, struct log *log)
{
	int rc = read_list(tree, list);

	for (unsigned int i = 0; !rc && i < arm->patch_count; i++) {
		rc = patch_names(arm->patches[i].path, touched);
		if (!rc)
			continue;
		log_error(log,
			  "arm %s: %s is no patch (or names files outside of the tree): git "
			  "format-patch makes them",
			  arm->name, arm->patches[i].path);
		return rc;
	}
	if (!rc)
		rc = keep_originals(tree, touched, list);
	if (!rc)
		rc = prepare_scratch(tree, touched, list, scratch);
	if (rc)
		return cache_say(log, tree->folder, rc);
	for (unsigned int i = 0; !rc && i < arm->patch_count; i++)
		rc = apply_one(tree, arm, &arm->patches[i], scratch, log);
	return rc;
}

static int set_or_check(struct work_tree *tree, const struct lab_arm *arm, bool set,
			struct log *log)
{
	struct names touched = { 0 }, list = { 0 };
	char *scratch = part(tree, "scratch");
	int rc = scratch ? apply_all(tree, arm, scratch, &touched, &list, log) : -ENOMEM;

	if (!rc && set) {
		rc = put_all(tree, &list, &touched, scratch);
		if (rc)
			cache_say(log, tree->src, rc);
	}
	if (scratch)
		fs_remove_tree(scratch);
	names_release(&touched);
	names_release(&list);
	free(scratch);
	return rc;
}

int tree_set(struct work_tree *tree, const struct lab_arm *arm, struct log *log)
{
	return set_or_check(tree, arm, true, log);
}

int tree_check(struct work_tree *tree, const struct lab_arm *arm, struct log *log)
{
	return set_or_check(tree, arm, false, log);
}

/* VERSION, PATCHLEVEL, SUBLEVEL of the top Makefile. */
static char *read_version(const char *src)
{
	char *path = format_string("%s/Makefile", src), *text = NULL, *version;
	unsigned int major = 0, minor = 0, sub = 0;
	const char *at;

	if (path && !fs_read("", path, &text, NULL)) {
		at = strstr(text, "VERSION = ");
		if (at)
			sscanf(at, "VERSION = %u PATCHLEVEL = %u SUBLEVEL = %u", &major, &minor,
			       &sub);
	}
	version = sub ? format_string("%u.%u.%u", major, minor, sub)
		      : format_string("%u.%u", major, minor);
	free(path);
	free(text);
	return version;
}

/* Unpacks beside and renames, so that a src that exists is whole. */
static int unpack_new(const struct work_tree *tree, const struct lab_source *source,
		      struct log *log)
{
	char *partial = part(tree, "src.partial");
	int rc = partial ? fs_remove_tree(partial) : -ENOMEM;

	if (!rc)
		rc = fs_make_folders(partial, 0755);
	if (rc)
		cache_say(log, tree->folder, rc);
	if (!rc)
		rc = source_unpack(source, partial, NULL, log);
	if (!rc && rename(partial, tree->src))
		rc = cache_say(log, tree->src, -errno);
	if (rc && partial)
		fs_remove_tree(partial);
	free(partial);
	return rc;
}

/* The commit that src has is remembered; a change of it restores what is patched first. */
static int switch_commit(struct work_tree *tree, const struct lab_source *source, struct log *log)
{
	static const struct lab_arm plain = { .name = (char *)"(none)" };
	char *mark = part(tree, "commit"), *index = part(tree, "index"), *present = NULL;
	char *originals = part(tree, "originals"), *list = part(tree, "originals.list");
	int rc = mark && index && originals && list ? 0 : -ENOMEM;

	if (!rc && !fs_read_value("", mark, &present) && !strcmp(present, source->commit))
		goto out;
	if (!rc)
		rc = fs_make_folders(tree->src, 0755);
	if (!rc)
		rc = tree_set(tree, &plain, log);
	if (!rc) {
		unlink(list);
		unlink(mark);
		rc = fs_remove_tree(originals);
	}
	if (!rc)
		rc = source_unpack(source, tree->src, index, log);
	if (!rc)
		rc = fs_replace(mark, source->commit, strlen(source->commit));
out:
	free(mark);
	free(index);
	free(present);
	free(originals);
	free(list);
	return rc;
}

int tree_open(const struct lab_source *source, const struct lab_arch *arch, const char *cache,
	      struct log *log, struct work_tree *tree)
{
	struct work_tree opened = { .lock = -1 };
	int rc;

	opened.folder = format_string("%s/trees/%s-%s", cache, source->key, arch->name);
	opened.src = format_string("%s/trees/%s-%s/src", cache, source->key, arch->name);
	opened.build = format_string("%s/trees/%s-%s/build", cache, source->key, arch->name);
	rc = opened.folder && opened.src && opened.build ? 0 : -ENOMEM;
	if (!rc)
		rc = opened.lock = cache_lock(opened.folder, source->label, log);
	if (rc < 0)
		goto fail;
	rc = fs_make_folders(opened.build, 0755);
	if (rc) {
		cache_say(log, opened.build, rc);
		goto fail;
	}
	if (source->kind == LAB_SOURCE_GIT)
		rc = switch_commit(&opened, source, log);
	else if (access(opened.src, F_OK))
		rc = unpack_new(&opened, source, log);
	if (rc)
		goto fail;
	opened.version = read_version(opened.src);
	if (!opened.version) {
		rc = -ENOMEM;
		goto fail;
	}
	*tree = opened;
	return 0;
fail:
	tree_close(&opened);
	return rc;
}

void tree_close(struct work_tree *tree)
{
	free(tree->folder);
	free(tree->src);
	free(tree->build);
	free(tree->version);
	if (tree->lock >= 0)
		close(tree->lock);
	*tree = (struct work_tree){ .lock = -1 };
}
