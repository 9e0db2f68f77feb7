/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzzing targets share: a log that nobody reads, and a folder of their
 * own for readers that take files. Each target is LLVMFuzzerTestOneInput() of
 * libFuzzer; tests/fuzz/replay.c calls it for the inputs that were kept.
 */
#ifndef SHOOTDOWN_FUZZ_H
#define SHOOTDOWN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../lib/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct log *fuzz_log(void)
{
	static struct log log;

	if (!log.stream)
		log_open(&log, fopen("/dev/null", "w"), LOG_LEVEL_DEBUG);
	return &log;
}

static char fuzz_folder_name[256];

static inline void fuzz_remove_folder(void)
{
	fs_remove_tree(fuzz_folder_name);
}

/* Made at the first call, removed at the end of the program. */
static inline const char *fuzz_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (!*fuzz_folder_name) {
		snprintf(fuzz_folder_name, sizeof(fuzz_folder_name), "%s/shootdown-fuzz-XXXXXX",
			 parent ? parent : "/tmp");
		if (!mkdtemp(fuzz_folder_name))
			abort();
		atexit(fuzz_remove_folder);
	}
	return fuzz_folder_name;
}

static inline void fuzz_put(const char *name, const void *data, size_t size)
{
	char *path = format_string("%s/%s", fuzz_folder(), name);
	FILE *stream = path ? fopen(path, "w") : NULL;

	if (!stream || fwrite(data, 1, size, stream) != size)
		abort();
	fclose(stream);
	free(path);
}

/* A NUL-terminated copy. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
