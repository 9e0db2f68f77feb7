// SPDX-License-Identifier: GPL-2.0-only
/* kernel-build with make: the tree configured; what was built, and by which compiler. */
#include "kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "../lib/kbuild.h"
#include "../lib/spawn.h"

/* The same objects every time; no cache of them. */
static const char *const make_environment[] = {
	KBUILD_ENVIRONMENT,
	"CCACHE_DISABLE=1",
	"KBUILD_BUILD_TIMESTAMP=2020-01-01",
	"KBUILD_BUILD_USER=shootdown",
	"KBUILD_BUILD_HOST=shootdown",
	NULL,
};

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
			return helper_say_log(
				task, build->log,
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

/* As the kernel's configuration tells it; 0: it is not GCC. */
static unsigned long long compiler_version(const char *folder)
{
	static const char name[] = "\nCONFIG_GCC_VERSION=";
	char *text, *at;
	unsigned long long version;

	if (fs_read(folder, "/build/.config", &text, NULL))
		return 0;
	at = strstr(text, name);
	version = at ? strtoull(at + strlen(name), NULL, 10) : 0;
	free(text);
	return version;
}

int build_make_setup(struct task *task, struct build *build)
{
	char *output = format_string("O=%s/build", task->folder), parallel[16];
	int rc;

	snprintf(parallel, sizeof(parallel), "-j%u", build->parallel);
	build->log = format_string("%s/make.log", task->folder);
	rc = output && build->log ? build_find_tree(task, build)
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
	unsigned long long compiler = compiler_version(task->folder);

	if (build->status)
		return helper_say_log(task, build->log, "the build failed");
	if (!objects)
		return task_say(task, OUTCOME_BROKEN,
				"make built no object file: give another target than %s",
				task_string(task, "target"));
	task_report(task, "objects", objects);
	task_report(task, "source_version", build->source_version);
	if (compiler)
		task_report(task, "compiler_version", compiler);
	return 0;
}
