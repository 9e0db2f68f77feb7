// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inputs that were kept, as a test: main() for a fuzzing target that is built
 * without libFuzzer. Reads $SHOOTDOWN_FIXTURES/fuzz/TARGET, or the files it is given.
 */
#include <dirent.h>

#include "fuzz.h"

static int replay(const char *path)
{
	size_t length;
	char *text;

	if (fs_read("", path, &text, &length))
		return 1;
	LLVMFuzzerTestOneInput((const uint8_t *)text, length);
	free(text);
	printf("ok - %s\n", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return 0;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, visible, alphasort), failed = 0;

	if (count < 0) {
		printf("not ok - there is no %s\n", folder);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		char *path = format_string("%s/%s", folder, entries[i]->d_name);

		failed |= !path || replay(path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	const char *fixtures = getenv("SHOOTDOWN_FIXTURES"), *name = strrchr(argv[0], '/');
	char *folder;
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	if (argc > 1)
		return failed;
	name = name ? name + 1 : argv[0];
	folder = format_string("%s/fuzz/%s", fixtures ? fixtures : ".",
			       strncmp(name, "replay_", 7) ? name : name + 7);
	failed = !folder || replay_folder(folder);
	free(folder);
	return failed;
}
