// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of an archive that somebody sent. What is taken must not lead out of its
 * folder, whatever the line looks like.
 */
#include "fuzz.h"

#include "../../results/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *copy = fuzz_text(data, size);

	if (!import_check_list("x.tar", text, fuzz_log()) && strstr(copy, "/../"))
		abort();
	free(copy);
	free(text);
	return 0;
}
