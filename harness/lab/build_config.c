// SPDX-License-Identifier: GPL-2.0-only
/* A kernel's configuration: the fragments over tinyconfig, and every option as it was asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "build_private.h"

static int check_config(struct build *build, const char *config_path)
{
	char *config = NULL, *mismatch;
	int rc = fs_read("", config_path, &config, NULL);

	if (rc)
		return rc;
	mismatch = config_mismatch(build->fragments, config, 5);
	if (mismatch) {
		log_error(build->log,
			  "arm %s: Linux %s did not take these options: %s. What they "
			  "depend on is missing or has another name there: change the fragment, or "
			  "add options with --config",
			  build->request->arm->name, build->tree.version, mismatch);
		rc = -EINVAL;
	}
	free(mismatch);
	free(config);
	return rc;
}

/* Names the configuration: fragments, and the patches when they touch Kconfig files. */
static int config_mark(const struct build *build, char hex[CONTENT_KEY_SIZE])
{
	const struct lab_arm *arm = build->request->arm;
	struct content_key key;
	int rc = 0;

	content_key_start(&key);
	content_key_text(&key, "source", build->request->source->identity);
	content_key_text(&key, "config", build->fragments);
	content_key_text(&key, "compiler", build->compiler);
	for (unsigned int i = 0; !rc && i < arm->patch_count; i++) {
		char *text = NULL;

		rc = fs_read("", arm->patches[i].path, &text, NULL);
		if (!rc && strstr(text, "/Kconfig"))
			content_key_text(&key, arm->patches[i].reverse ? "undo" : "patch", text);
		free(text);
	}
	content_key_end(&key, hex);
	return rc;
}

/* tinyconfig, the fragments behind it, olddefconfig; then every option must be as asked. */
static int write_config(struct build *build)
{
	char *path = format_string("%s/.config", build->tree.build), *tiny = NULL, *all = NULL;
	int rc = path ? build_make(build, "tinyconfig", "-j1", false) : -ENOMEM;

	if (!rc)
		rc = fs_read("", path, &tiny, NULL);
	if (!rc && !(all = format_string("%s\n%s", tiny, build->fragments)))
		rc = -ENOMEM;
	if (!rc)
		rc = fs_replace(path, all, strlen(all));
	if (!rc)
		rc = build_make(build, "olddefconfig", "-j1", false);
	if (rc)
		rc = build_say_failed(build, "the configuration", rc);
	else
		rc = check_config(build, path);
	free(path);
	free(tiny);
	free(all);
	return rc;
}

/* The configuration is made anew only when something that decides it changed. */
int build_configure(struct build *build)
{
	char *mark_path = format_string("%s/config-of", build->tree.folder), *present = NULL;
	char mark[CONTENT_KEY_SIZE];
	int rc = mark_path ? config_mark(build, mark) : -ENOMEM;

	if (!rc && !fs_read_value("", mark_path, &present) && !strcmp(present, mark))
		goto out;
	log_progress(build->log, "configuring the kernel", 0, 0);
	if (!rc) {
		unlink(mark_path);
		rc = write_config(build);
	}
	if (!rc)
		rc = fs_replace(mark_path, mark, strlen(mark));
out:
	free(mark_path);
	free(present);
	return rc;
}
