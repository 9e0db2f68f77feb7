// SPDX-License-Identifier: GPL-2.0-only
/* A patch series: its arms, base and cover, chosen by the first byte; and --arm. */
#include "fuzz.h"

#include "../../harness/lab/series.h"

static const struct {
	const char *name, *text;
} files[] = {
	{ "arms", "baseline\npatched 0001-x.patch\n" },
	{ "base", "7.2 7.3\n" },
	{ "cover", "Subject: x\n\nText\n" },
	{ "0001-x.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lab_series series;
	char *text;
	size_t chosen;

	if (!size)
		return 0;
	chosen = *data % 4;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (i == chosen && i < 3)
			fuzz_put(files[i].name, data + 1, size - 1);
		else
			fuzz_put(files[i].name, files[i].text, strlen(files[i].text));
	if (series_open(fuzz_folder(), "x86", fuzz_log(), &series))
		return 0;
	if (chosen == 3) {
		text = fuzz_text(data + 1, size - 1);
		series_add_arm(&series, text, fuzz_log());
		free(text);
	}
	series_release(&series);
	return 0;
}
