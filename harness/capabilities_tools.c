// SPDX-License-Identifier: GPL-2.0-only
/* What the lab can work with here: emulators, /dev/kvm, compilers, tools; and this build's
 * libraries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/features.h"
#include "../lib/fs.h"
#include "../lib/spawn.h"
#include "capabilities.h"
#include "lab/cache.h"
#include "lab/guest.h"
#include "lab/program.h"

/* What the lab says, without its prefix. */
static char *message_text(char *message)
{
	char *at = strstr(message, "error: ");

	at = at ? at + strlen("error: ") : message;
	at[strcspn(at, "\n")] = '\0';
	return at;
}

/* One of the lab's own answers: 0 and what was found (a fresh string), or a negative errno, said.
 */
typedef int lab_question(const struct lab_arch *arch, struct log *log, char **found);

static int find_emulator(const struct lab_arch *arch, struct log *log, char **found)
{
	struct lab_emulator emulator;
	char *cache = cache_there(log);
	int err = guest_emulator(arch, "tcg", 1, cache, log, &emulator);

	free(cache);
	if (err)
		return err;
	*found = format_string("version %s", emulator.version);
	guest_emulator_release(&emulator);
	return *found ? 0 : -ENOMEM;
}

static int find_program(const struct lab_arch *arch, struct log *log, char **found)
{
	return guest_program(NULL, arch, log, found);
}

static void add_answer(const char *name, lab_question *ask, const struct lab_arch *arch,
		       const char *advice, struct capabilities *capabilities)
{
	char *message = NULL, *found;
	struct log quiet;
	size_t length;
	FILE *stream;
	int err;

	stream = name ? open_memstream(&message, &length) : NULL;
	if (!stream) {
		capabilities->out_of_memory = true;
		return;
	}
	log_open(&quiet, stream, LOG_LEVEL_ERROR);
	err = ask(arch, &quiet, &found);
	fclose(stream);
	if (err) {
		capabilities_add(capabilities, "lab", name, CAPABILITY_MISSING, advice, "%s",
				 message && *message ? message_text(message) : strerror(-err));
	} else {
		capabilities_add(capabilities, "lab", name, CAPABILITY_OK, NULL, "%s", found);
		free(found);
	}
	free(message);
}

static void add_emulators(struct capabilities *capabilities)
{
	const struct lab_arch *arch;

	for (unsigned int i = 0; (arch = lab_arch_at(i)); i++)
		add_answer(arch->emulator, find_emulator, arch, "ci/setup installs it",
			   capabilities);
}

/* For guests of other architectures; those of this one run this program. */
static void add_programs(struct capabilities *capabilities)
{
	const struct lab_arch *own = lab_arch_find(NULL), *arch;

	for (unsigned int i = 0; (arch = lab_arch_at(i)); i++) {
		char *name = arch == own ? NULL : format_string("shootdown for %s", arch->name);

		if (arch != own)
			add_answer(name, find_program, arch, NULL, capabilities);
		free(name);
	}
}

static void add_kvm(struct capabilities *capabilities)
{
	static const char otherwise[] = "guests are emulated without it";

	if (access("/dev/kvm", F_OK))
		capabilities_add(capabilities, "lab", "/dev/kvm", CAPABILITY_MISSING, NULL,
				 "this machine has none: %s", otherwise);
	else if (access("/dev/kvm", R_OK | W_OK))
		capabilities_add(capabilities, "lab", "/dev/kvm", CAPABILITY_NOT_PERMITTED,
				 "join the group that owns it", "%s: %s", strerror(errno),
				 otherwise);
	else
		capabilities_add(capabilities, "lab", "/dev/kvm", CAPABILITY_OK, NULL,
				 "it is there; whether it works a lab finds out with a tiny guest");
}

/* The version that a compiler tells; "" when it does not. The caller frees; NULL: no memory. */
static char *compiler_version(const char *path)
{
	const char *const argv[] = { path, "-dumpfullversion", NULL };
	char *text = NULL;
	const struct spawn spawn = { .argv = argv, .output = &text, .timeout_s = 10 };

	if (spawn_run(&spawn)) {
		free(text);
		return strdup("");
	}
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void add_compiler(const char *name, const char *gives, const char *advice,
			 struct capabilities *capabilities)
{
	char *path, *version;

	if (!spawn_find(name, &path)) {
		capabilities_add(capabilities, "lab", name, CAPABILITY_MISSING, advice,
				 "it is not in PATH: %s", gives);
		return;
	}
	version = compiler_version(path);
	if (version)
		capabilities_add(capabilities, "lab", name, CAPABILITY_OK, NULL, "%s%s%s", gives,
				 *version ? ", version " : "", version);
	else
		capabilities->out_of_memory = true;
	free(version);
	free(path);
}

/* "aarch64-linux-gnu-" as Debian's package: "gcc-aarch64-linux-gnu"; the caller frees. */
static char *cross_package(const char *prefix)
{
	char *package = format_string("gcc-%.*s", (int)strlen(prefix) - 1, prefix), *at;

	for (at = package; at && *at; at++)
		if (*at == '_')
			*at = '-';
	return package;
}

/* The compiler of each architecture that the lab knows: the machine's own, or a cross compiler. */
static void add_compilers(struct capabilities *capabilities)
{
	const struct lab_arch *own = lab_arch_find(NULL), *arch;
	char *name, *gives, *package, *advice;
	unsigned int i;

	for (i = 0; (arch = lab_arch_at(i)); i++) {
		name = format_string("%sgcc", arch == own ? "" : arch->cross);
		gives = format_string("compiles %s kernels", arch->name);
		package = arch == own ? strdup("gcc") : cross_package(arch->cross);
		advice = format_string("install %s", package ? package : "it");
		if (name && gives && package && advice)
			add_compiler(name, gives, advice, capabilities);
		else
			capabilities->out_of_memory = true;
		free(name);
		free(gives);
		free(package);
		free(advice);
	}
}

/* Programs and the Debian packages they come in. */
static const struct {
	const char *name, *package, *gives;
} tools[] = {
	{ "ccache", "ccache", "keeps objects for the next build" },
	{ "make", "make", "builds kernels" },
	{ "ld", "binutils", "builds kernels" },
	{ "flex", "flex", "builds kernels" },
	{ "bison", "bison", "builds kernels" },
	{ "bc", "bc", "builds kernels" },
	{ "perl", "perl", "builds kernels" },
	{ "cpio", "cpio", "builds kernels with built-in headers" },
	{ "tar", "tar", "unpacks kernel sources" },
	{ "xz", "xz-utils", "unpacks kernel sources" },
	{ "zstd", "zstd", "packs images" },
	{ "patch", "patch", "applies patches" },
	{ "git", "git", "takes arms from a git tree" },
	{ "dpkg-deb", "dpkg", "unpacks Debian's kernel sources" },
	{ "apt-get", "apt", "fetches Debian's kernel sources" },
	{ "gnuplot", "gnuplot-nox", "draws the figures of HTML reports" },
};

static void add_tools(struct capabilities *capabilities)
{
	char *advice, *path;
	size_t i;

	for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (spawn_find(tools[i].name, &path)) {
			capabilities_add(capabilities, "lab", tools[i].name, CAPABILITY_OK, NULL,
					 "%s", tools[i].gives);
			free(path);
			continue;
		}
		advice = format_string("install %s", tools[i].package);
		capabilities_add(capabilities, "lab", tools[i].name, CAPABILITY_MISSING, advice,
				 "it is not in PATH: %s", tools[i].gives);
		free(advice);
	}
	if (fs_exists("", "/usr/include/gelf.h"))
		capabilities_add(capabilities, "lab", "libelf headers", CAPABILITY_OK, NULL,
				 "kernels with objtool are built with them");
	else
		capabilities_add(capabilities, "lab", "libelf headers", CAPABILITY_MISSING,
				 "install libelf-dev",
				 "there is no gelf.h: x86 kernels cannot be built");
}

static void add_libraries(struct capabilities *capabilities)
{
	const struct feature *feature;
	char *advice;

	for (feature = features; feature->name; feature++) {
		if (feature->built) {
			capabilities_add(capabilities, "build", feature->name, CAPABILITY_OK, NULL,
					 "built in: %s", feature->gives);
			continue;
		}
		advice = format_string("install %s and configure again", feature->package);
		capabilities_add(capabilities, "build", feature->name, CAPABILITY_MISSING, advice,
				 "it was not there when this was configured (%s): %s",
				 feature->gives, feature->without);
		free(advice);
	}
}

void capabilities_tools(struct capabilities *capabilities)
{
	add_emulators(capabilities);
	add_programs(capabilities);
	add_kvm(capabilities);
	add_compilers(capabilities);
	add_tools(capabilities);
	add_libraries(capabilities);
}
