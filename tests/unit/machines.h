/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of counters: recorded and made machines by name, files of a
 * machine that can be changed, and a sink that keeps what a source reports.
 */
#ifndef SHOOTDOWN_TESTS_MACHINES_H
#define SHOOTDOWN_TESTS_MACHINES_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../harness/sources/source.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"

static char machines_folder[] = "/tmp/shootdown-machines-XXXXXX";
static bool machines_made;

__attribute__((unused)) static void machines_begin(void)
{
	ck_assert_ptr_nonnull(getenv("SHOOTDOWN_FIXTURES"));
	ck_assert_ptr_nonnull(mkdtemp(machines_folder));
	machines_made = true;
}

__attribute__((unused)) static void machines_end(void)
{
	if (machines_made)
		ck_assert_int_eq(fs_remove_tree(machines_folder), 0);
	machines_made = false;
	strcpy(machines_folder + strlen(machines_folder) - 6, "XXXXXX");
}

/* The folder of a machine that make-fixtures writes, in the test's own folder; the caller frees. */
__attribute__((unused)) static char *machine_made(const char *name)
{
	char *script = format_string("%s/make-fixtures", getenv("SHOOTDOWN_FIXTURES"));
	char *root = format_string("%s/%s", machines_folder, name);
	const char *const argv[] = { "sh", script, name, root, NULL };
	const struct spawn spawn = { .argv = argv };

	ck_assert_int_eq(spawn_run(&spawn), 0);
	free(script);
	return root;
}

/* The folder of a recorded machine; the caller frees. */
__attribute__((unused)) static char *machine_recorded(const char *name)
{
	return format_string("%s/%s", getenv("SHOOTDOWN_FIXTURES"), name);
}

/* Writes a file of a machine, in place, so that what is open goes on seeing it. */
__attribute__((unused)) static void machine_write(const char *root, const char *path,
						  const char *text)
{
	char *full = format_string("%s%s", root, path), *slash;
	FILE *file;

	slash = strrchr(full, '/');
	*slash = '\0';
	ck_assert_int_eq(fs_make_folders(full, 0755), 0);
	*slash = '/';
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	free(full);
}

__attribute__((unused)) static char *machine_read(const char *root, const char *path)
{
	char *text;

	ck_assert_int_eq(fs_read(root, path, &text, NULL), 0);
	return text;
}

struct kept_sample {
	char metric[96], unit[32], reason[512];
	struct value value;
	double *by_cpu;
	unsigned int cpu_count;
};

struct keeping_sink {
	struct sample_sink sink;
	struct kept_sample list[64];
	unsigned int count;
};

__attribute__((unused)) static void keep_sample(struct sample_sink *sink, const char *metric,
						const char *unit, const struct value *value,
						const double *by_cpu, unsigned int cpu_count)
{
	struct keeping_sink *keeper = (struct keeping_sink *)sink;
	struct kept_sample *sample = &keeper->list[keeper->count++];

	ck_assert_uint_le(keeper->count, 64);
	snprintf(sample->metric, sizeof(sample->metric), "%s", metric);
	snprintf(sample->unit, sizeof(sample->unit), "%s", unit);
	snprintf(sample->reason, sizeof(sample->reason), "%s", value->reason ? value->reason : "");
	sample->value = *value;
	/* a value that is not there has a reason, one that is there has none */
	if (value->status == VALUE_OK)
		ck_assert_ptr_null(value->reason);
	else
		ck_assert_str_ne(sample->reason, "");
	if (by_cpu) {
		sample->by_cpu = calloc(cpu_count, sizeof(double));
		memcpy(sample->by_cpu, by_cpu, cpu_count * sizeof(double));
		sample->cpu_count = cpu_count;
	}
}

__attribute__((unused)) static const struct kept_sample *kept(const struct keeping_sink *keeper,
							      const char *metric)
{
	unsigned int i;

	for (i = 0; i < keeper->count; i++)
		if (!strcmp(keeper->list[i].metric, metric))
			return &keeper->list[i];
	ck_abort_msg("no sample of %s", metric);
	return NULL;
}

__attribute__((unused)) static void forget_samples(struct keeping_sink *keeper)
{
	while (keeper->count)
		free(keeper->list[--keeper->count].by_cpu);
	*keeper = (struct keeping_sink){ .sink.add = keep_sample };
}

#endif
