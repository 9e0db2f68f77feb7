// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's files as readers get them: the first byte chooses which of the three the
 * rest is; the others are sound. What loads goes through every export.
 */
#include "fuzz.h"

#include "../../results/export.h"
#include "../../results/load.h"

static const char machine[] =
	"{\"schema\":\"shootdown-machine\",\"version\":1,\"arch\":\"x86_64\",\"page_size\":4096,"
	"\"kernel\":{\"release\":\"7.3\",\"version\":\"#1\"},\"cpus\":{\"online\":4,\"used\":4},"
	"\"guest\":null,\"arm\":\"a\",\"boot\":1}";
static const char plan[] =
	"{\"schema\":\"shootdown-plan\",\"version\":1,\"seed\":1,\"repetitions\":2,\"points\":["
	"{\"stressor\":\"null\",\"stressor_version\":1,\"parameters\":{\"pages\":64},\"metrics\":{}},"
	"{\"stressor\":\"pageout\",\"stressor_version\":2,\"parameters\":{\"x\":\"y\"},"
	"\"metrics\":{\"m\":{\"unit\":\"u\",\"better\":\"less\",\"predicted\":null}}}],\"order\":[]}";
static const char samples[] =
	"{\"schema\":\"shootdown-samples\",\"version\":1}\n"
	"{\"point\":0,\"repetition\":1,\"metric\":\"m\",\"unit\":\"u\",\"status\":\"ok\",\"value\":1}\n"
	"{\"point\":0,\"repetition\":1,\"outcome\":\"pass\",\"started_ns\":1,\"seconds\":1}\n"
	"{\"end\":\"pass\",\"restored\":true}\n";

static const struct {
	const char *name, *text;
} files[] = {
	{ "samples.jsonl", samples },
	{ "plan.json", plan },
	{ "machine.json", machine },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folders[] = { fuzz_folder(), NULL };
	struct export_request request = { .folders = folders, .origin = "fuzz" };
	struct loaded_run *run;
	size_t chosen;
	FILE *out;

	if (!size)
		return 0;
	chosen = *data % (sizeof(files) / sizeof(files[0]));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (i == chosen)
			fuzz_put(files[i].name, data + 1, size - 1);
		else
			fuzz_put(files[i].name, files[i].text, strlen(files[i].text));
	if (run_load(folders[0], true, fuzz_log(), &run))
		return 0;
	run_free(run);
	out = fopen("/dev/null", "w");
	for (const char *const *format = export_formats; out && *format; format++) {
		request.format = *format;
		export_runs(&request, out, fuzz_log());
	}
	if (out)
		fclose(out);
	return 0;
}
