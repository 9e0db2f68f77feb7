// SPDX-License-Identifier: GPL-2.0-only
/* Builds kernels into the cache. */
#include "build_private.h"

#include <errno.h>
#include <jansson.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/clock.h"
#include "../../lib/data.h"
#include "../../lib/fs.h"
#include "../../lib/kbuild.h"
#include "../../lib/spawn.h"

#define TAIL_LINES 15

static double now_s(void)
{
	return monotonic_ns() / 1e9;
}

static const char *cross_prefix(const struct lab_arch *arch)
{
	return arch == lab_arch_find(NULL) ? "" : arch->cross;
}

static int find_compiler(struct build *build)
{
	char *name = format_string("%sgcc", cross_prefix(build->request->arch));
	const char *const argv[] = { name, "--version", NULL };
	const char *const environment[] = { "LC_ALL=C", NULL };
	char *output = NULL;
	struct spawn spawn = { .argv = argv, .environment = environment, .output = &output };
	int rc = name ? spawn_run(&spawn) : -ENOMEM;

	if (rc > 0 || rc == -ENOENT) {
		log_error(build->log,
			  "kernels for %s are built with %s, which is not there: install "
			  "it (ci/setup does)",
			  build->request->arch->name, name);
		rc = -ENOENT;
	}
	if (!rc) {
		output[strcspn(output, "\n")] = '\0';
		build->compiler = output;
		build->cc = format_string("CC=%s%s", spawn_find("ccache", NULL) ? "ccache " : "",
					  name);
		rc = build->cc ? 0 : -ENOMEM;
	}
	free(name);
	return rc;
}

static int append_file(char **text, const char *path, struct log *log)
{
	char *more = NULL, *longer = NULL;
	int rc = fs_read("", path, &more, NULL);

	if (rc)
		log_error(log, "cannot read the kernel options in %s: %s", path, strerror(-rc));
	else if (!(longer = format_string("%s%s\n", *text ? *text : "", more)))
		rc = -ENOMEM;
	free(more);
	if (!rc) {
		free(*text);
		*text = longer;
	}
	return rc;
}

static int read_fragments(struct build *build)
{
	char *relative = format_string("config/%s.config", build->request->arch->folder);
	char *own = relative ? data_path(DATA_PATCHES, relative) : NULL;
	int rc = own ? append_file(&build->fragments, own, build->log) : -ENOMEM;
	const char *const *config = build->request->configs;

	for (; !rc && config && *config; config++)
		rc = append_file(&build->fragments, *config, build->log);
	free(own);
	free(relative);
	return rc;
}

static int make_key(struct build *build)
{
	const struct build_request *request = build->request;
	struct content_key key;
	int rc = 0;

	content_key_start(&key);
	content_key_text(&key, "layout", "1");
	content_key_text(&key, "source", request->source->identity);
	content_key_text(&key, "arch", request->arch->name);
	content_key_text(&key, "config", build->fragments);
	content_key_text(&key, "compiler", build->compiler);
	for (unsigned int i = 0; !rc && i < request->arm->patch_count; i++) {
		const struct lab_patch *patch = &request->arm->patches[i];

		rc = content_key_file(&key, patch->reverse ? "undo" : "patch", patch->path);
		if (rc)
			log_error(build->log, "cannot read the patch %s: %s", patch->path,
				  strerror(-rc));
	}
	content_key_end(&key, build->key);
	return rc;
}

static int count_objects(void *context)
{
	struct build *build = context;
	char *text;
	size_t length;

	if (fs_read("", build->log_path, &text, &length))
		return 0;
	/* a line is counted when it is whole */
	for (char *at = text + build->counted_to, *end; (end = strchr(at, '\n')); at = end + 1) {
		build->objects += !strncmp(at, "  CC ", 5) || !strncmp(at, "  AS ", 5);
		build->counted_to = end + 1 - text;
	}
	free(text);
	log_progress(build->log, build->phase, build->objects,
		     build->expected > build->objects ? build->expected : 0);
	return 0;
}

/* Runs make in the work tree; its output goes to the log. */
int build_make(struct build *build, const char *target, const char *jobs, bool count)
{
	const struct lab_arch *arch = build->request->arch;
	char *rows[] = {
		format_string("O=%s", build->tree.build),
		format_string("ARCH=%s", arch->kernel_arch),
		format_string("CROSS_COMPILE=%s", cross_prefix(arch)),
		format_string("KBUILD_BUILD_VERSION=%.*s", KERNEL_ID_LENGTH, build->key),
		format_string("CCACHE_DIR=%s/ccache", build->request->cache),
	};
	const char *const argv[] = { "make",  "--no-print-directory",
				     "-C",    build->tree.src,
				     rows[0], rows[1],
				     rows[2], build->cc,
				     jobs,    target,
				     NULL };
	const char *const environment[] = { KBUILD_ENVIRONMENT,
					    rows[3],
					    rows[4],
					    "KBUILD_BUILD_USER=shootdown",
					    "KBUILD_BUILD_HOST=lab",
					    "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
					    NULL };
	struct spawn spawn = { .argv = argv,
			       .environment = environment,
			       .output_path = build->log_path,
			       .tick = count ? count_objects : NULL,
			       .tick_context = build };
	int rc = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rc = rows[i] ? rc : -ENOMEM;
	if (!rc)
		rc = spawn_run(&spawn);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		free(rows[i]);
	return rc;
}

/* "  CC      mm/rmap.o": what make does, not what went wrong. */
static bool is_step(const char *line)
{
	return !strncmp(line, "  ", 2) && line[2] >= 'A' && line[2] <= 'Z';
}

/*
 * The last lines of the log that are no steps: compilers run side by side, so the
 * error is some way above the end. In place, within text.
 */
static char *last_words(char *text, unsigned int lines)
{
	char *to = text, *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		size_t length = strlen(line);

		if (!length || is_step(line))
			continue;
		memmove(to, line, length);
		to += length;
		*to++ = '\n';
	}
	if (to > text)
		to--;
	*to = '\0';
	while (to > text && (to[-1] != '\n' || --lines))
		to--;
	return to;
}

/* What make said last, where the rest is, and a hint when the disk is full. */
int build_say_failed(struct build *build, const char *what, int status)
{
	char *text = NULL;

	log_progress_end(build->log);
	if (status == -EINTR)
		return status;
	if (status == -ENOENT) {
		log_error(build->log, "kernels are built with make: install it (ci/setup does)");
		return status;
	}
	if (!fs_read("", build->log_path, &text, NULL) && strstr(text, "No space left on device")) {
		free(text);
		return cache_say(build->log, build->tree.folder, -ENOSPC);
	}
	log_error(build->log,
		  "arm %s: %s of Linux %s failed. The last lines:\n%s\nthe whole log is %s",
		  build->request->arm->name, what, build->tree.version,
		  text ? last_words(text, TAIL_LINES) : "(none)", build->log_path);
	free(text);
	return -EIO;
}

/* objects.json remembers how many objects each arm compiled, the first build under "". */
static json_t *read_counts(const struct build *build)
{
	char *path = format_string("%s/objects.json", build->tree.folder);
	json_t *counts = path ? json_load_file(path, 0, NULL) : NULL;

	free(path);
	return json_is_object(counts) ? counts : json_object();
}

static void expect_objects(struct build *build)
{
	json_t *counts = read_counts(build);
	json_t *first = json_object_get(counts, "");
	json_t *own = json_object_get(counts, build->request->arm->name);

	build->expected = own	  ? (uint64_t)json_integer_value(own)
			  : first ? (uint64_t)json_integer_value(first)
				  : build->request->arch->typical_objects;
	json_decref(counts);
}

static void remember_objects(const struct build *build)
{
	char *path = format_string("%s/objects.json", build->tree.folder);
	json_t *counts = read_counts(build);
	const char *name = json_object_get(counts, "") ? build->request->arm->name : "";

	json_object_set_new(counts, name, json_integer(build->objects));
	if (path && json_dump_file(counts, path, JSON_INDENT(1)))
		log_debug(build->log, "could not write %s", path);
	json_decref(counts);
	free(path);
}

static unsigned int usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
						       : CPU_COUNT(&set);
}

static int compile(struct build *build)
{
	unsigned int count = build->request->jobs ? build->request->jobs : usable_cpus();
	char *jobs = format_string("-j%u", count);
	int rc;

	build->phase = format_string("building arm %s (Linux %s)", build->request->arm->name,
				     build->tree.version);
	if (!jobs || !build->phase) {
		free(jobs);
		return -ENOMEM;
	}
	expect_objects(build);
	rc = build_make(build, build->request->arch->target, jobs, true);
	if (rc)
		rc = build_say_failed(build, "the build", rc);
	log_progress_end(build->log);
	if (!rc)
		remember_objects(build);
	free(jobs);
	return rc;
}

/* key.json: everything that the key was made of, for people. */
static json_t *describe(const struct build *build, const struct lab_kernel *kernel)
{
	const struct build_request *request = build->request;
	json_t *patches = json_array(), *configs = json_array();
	const char *const *config = request->configs;

	for (unsigned int i = 0; i < request->arm->patch_count; i++)
		json_array_append_new(patches,
				      json_pack("{s:s,s:b}", "file", request->arm->patches[i].path,
						"undo", request->arm->patches[i].reverse));
	for (; config && *config; config++)
		json_array_append_new(configs, json_string(*config));
	return json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:o,s:o,s:s,s:s,s:i,s:f}", "schema",
			 "shootdown-kernel", "version", 1, "key", build->key, "source",
			 request->source->identity, "arch", request->arch->name, "compiler",
			 build->compiler, "patches", patches, "configs", configs, "release",
			 kernel->release, "kernel_version", kernel->version, "objects",
			 (int)build->objects, "seconds", now_s() - build->started_s);
}

static int check_identity(const struct build *build, const struct lab_kernel *kernel)
{
	if (!strncmp(kernel->version + 1, build->key, KERNEL_ID_LENGTH))
		return 0;
	log_error(build->log,
		  "the kernel that was built calls itself \"%s\", not #%.*s: its tree does not "
		  "honour KBUILD_BUILD_VERSION, so a guest could not prove which kernel it runs",
		  kernel->version, KERNEL_ID_LENGTH, build->key);
	return -EINVAL;
}

/* Copies into partial; the caller renames it. */
static int fill_images_folder(struct build *build, const char *partial, struct lab_kernel *kernel)
{
	char *config = format_string("%s/.config", build->tree.build);
	char *config_to = format_string("%s/config", partial), *json = NULL;
	char *image = format_string("%s/%s", build->tree.build, build->request->arch->image);
	char *log_to = format_string("%s/build.log", partial);
	char *key_to = format_string("%s/key.json", partial);
	json_t *facts = NULL;
	int rc = config && config_to && image && log_to && key_to ? 0 : -ENOMEM;

	if (!rc)
		rc = fs_copy(image, kernel->image);
	if (!rc)
		rc = fs_copy(config, config_to);
	if (!rc)
		rc = fs_copy(build->log_path, log_to);
	if (rc)
		cache_say(build->log, partial, rc);
	if (!rc)
		rc = kernel_identify(kernel);
	if (!rc)
		rc = check_identity(build, kernel);
	if (!rc) {
		facts = describe(build, kernel);
		json = facts ? json_dumps(facts, JSON_INDENT(1)) : NULL;
		rc = json ? fs_replace(key_to, json, strlen(json)) : -ENOMEM;
	}
	json_decref(facts);
	free(json);
	free(config);
	free(config_to);
	free(image);
	free(log_to);
	free(key_to);
	return rc;
}

static int store(struct build *build, const char *folder)
{
	char *partial = format_string("%s.partial", folder);
	struct lab_kernel kernel = { 0 };
	int rc = partial ? fs_remove_tree(partial) : -ENOMEM;

	if (!rc)
		rc = fs_make_folders(partial, 0755);
	if (!rc && !(kernel.image = format_string("%s/image", partial)))
		rc = -ENOMEM;
	if (!rc)
		rc = fill_images_folder(build, partial, &kernel);
	if (!rc && rename(partial, folder))
		rc = cache_say(build->log, folder, -errno);
	if (rc && partial)
		fs_remove_tree(partial);
	kernel_release(&kernel);
	free(partial);
	return rc;
}

static int build_new(struct build *build, const char *folder)
{
	const struct build_request *request = build->request;
	int rc = tree_open(request->source, request->arch, request->cache, build->log,
			   &build->tree);

	if (rc)
		return rc;
	build->started_s = now_s();
	build->log_path = format_string("%s/build.log", build->tree.folder);
	rc = build->log_path ? 0 : -ENOMEM;
	/* another lab may have built it while this one waited for the tree */
	if (!rc && !access(folder, F_OK))
		goto out;
	if (!rc && unlink(build->log_path) && errno != ENOENT)
		rc = cache_say(build->log, build->log_path, -errno);
	if (!rc)
		rc = tree_set(&build->tree, request->arm, build->log);
	if (!rc)
		rc = build_configure(build);
	if (!rc)
		rc = compile(build);
	if (!rc)
		rc = store(build, folder);
	if (!rc)
		log_info(build->log, "arm %s: Linux %s built in %.0f s (%llu objects)",
			 request->arm->name, build->tree.version, now_s() - build->started_s,
			 (unsigned long long)build->objects);
out:
	tree_close(&build->tree);
	return rc;
}

static void release(struct build *build)
{
	free(build->fragments);
	free(build->compiler);
	free(build->cc);
	free(build->log_path);
	free(build->phase);
}

/* Key and folder of the kernel that is asked for. */
static int begin(struct build *build, char **folder)
{
	int rc = find_compiler(build);

	if (!rc)
		rc = read_fragments(build);
	if (!rc)
		rc = make_key(build);
	if (!rc) {
		*folder = format_string("%s/images/%s", build->request->cache, build->key);
		rc = *folder ? 0 : -ENOMEM;
	}
	return rc;
}

int build_cached(const struct build_request *request, struct log *log)
{
	struct build build = { .request = request, .log = log, .tree.lock = -1 };
	char *folder = NULL;
	int rc = begin(&build, &folder);

	if (!rc)
		rc = !access(folder, F_OK);
	free(folder);
	release(&build);
	return rc;
}

int build_check(const struct build_request *request, struct log *log,
		struct kernel_version *version)
{
	struct build build = { .request = request, .log = log, .tree.lock = -1 };
	char *folder = NULL;
	int rc = begin(&build, &folder);

	if (!rc && access(folder, F_OK)) {
		rc = tree_open(request->source, request->arch, request->cache, log, &build.tree);
		if (!rc) {
			if (version)
				kernel_version_parse(build.tree.version, version);
			rc = tree_check(&build.tree, request->arm, log);
			tree_close(&build.tree);
		}
	}
	free(folder);
	release(&build);
	return rc;
}

int build_kernel(const struct build_request *request, struct log *log, struct lab_kernel *kernel)
{
	struct build build = { .request = request, .log = log, .tree.lock = -1 };
	struct lab_kernel found = { 0 };
	char *folder = NULL;
	int rc = begin(&build, &folder);

	if (rc)
		goto out;
	found.key = strdup(build.key);
	found.image = format_string("%s/image", folder);
	rc = found.key && found.image ? 0 : -ENOMEM;
	if (!rc && access(folder, F_OK)) {
		rc = build_new(&build, folder);
		found.built = true;
	}
	if (!rc) {
		rc = kernel_identify(&found);
		if (rc)
			log_error(log, "the kernel %s in the cache is damaged: remove its folder",
				  found.image);
	}
out:
	if (rc)
		kernel_release(&found);
	else
		*kernel = found;
	free(folder);
	release(&build);
	return rc;
}
