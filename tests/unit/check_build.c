// SPDX-License-Identifier: GPL-2.0-only
/* harness/lab/build.c against a tree whose Makefile only pretends to build a kernel. */
#include <errno.h>
#include <unistd.h>

#include "../../harness/lab/build.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "quiet.h"

static char folder[64];

static const char makefile[] =
	"VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n"
	"tinyconfig:\n"
	"\t@echo CONFIG_TINY=y > $(O)/.config\n"
	"\t@echo configured >> $(O)/../configured\n"
	"olddefconfig:\n"
	"\t@sed -i /UNKNOWN/d $(O)/.config\n"
	"bzImage Image:\n"
	"\t@echo '  CC      mm/x.o'\n"
	"\t@{ cat mm/x.c; printf '%s' '$(KCFLAGS)$(LLVM)$(CONFIG_DEBUG_INFO)'; } >> $(O)/../built\n"
	"\t@! grep -q broken mm/x.c || { echo 'mm/x.c:1: error: broken'; exit 2; }\n"
	"\t@! grep -q full mm/x.c || { echo 'ld: No space left on device'; exit 2; }\n"
	"\t@mkdir -p $(O)/arch/x86/boot $(O)/arch/arm64/boot\n"
	"\t@v=$(KBUILD_BUILD_VERSION); ! grep -q nameless mm/x.c || v=1; \\\n"
	"\techo \"Linux version 7.3.4-lab ($(KBUILD_BUILD_USER)@$(KBUILD_BUILD_HOST)) (cc) #$$v SMP\" | \\\n"
	"\ttee $(O)/arch/x86/boot/bzImage > $(O)/arch/arm64/boot/Image\n";

static char *path_of(const char *name)
{
	return format_string("%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	char *path = path_of(name), *slash = strrchr(path, '/');

	*slash = '\0';
	ck_assert_int_eq(fs_make_folders(path, 0755), 0);
	*slash = '/';
	ck_assert_int_eq(fs_replace(path, text, strlen(text)), 0);
	free(path);
}

static void make_folder(void)
{
	static const char *const parts[] = { "cache/trees/x", "cache/images/x", "cache/sources/x" };
	const struct lab_arch *arch = lab_arch_find(NULL);
	char *config;

	strcpy(folder, "/tmp/check-build-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < 3; i++)
		put(parts[i], "");
	put("tree/Kbuild", "");
	put("tree/Makefile", makefile);
	put("tree/mm/x.c", "plain\n");
	config = format_string("config/%s.config", arch ? arch->folder : "none");
	put(config, "CONFIG_ASKED=y\n");
	free(config);
	setenv("SHOOTDOWN_PATCHES", folder, 1);
}

static void remove_folder(void)
{
	fs_remove_tree(folder);
}

/* Builds the arm whose one patch changes mm/x.c to contents (NULL: no patch). */
static int build(const char *contents, struct lab_kernel *kernel)
{
	char *tree = path_of("tree"), *cache = path_of("cache"), *patch_path = path_of("a.patch");
	struct lab_patch patch = { patch_path, false };
	struct lab_arm arm = { .name = (char *)"mine",
			       .patches = &patch,
			       .patch_count = contents != NULL };
	struct lab_source source;
	struct build_request request = { .source = &source,
					 .arch = lab_arch_find(NULL),
					 .arm = &arm,
					 .cache = cache,
					 .jobs = 1 };
	char *text;
	int rc;

	text = format_string("--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1 +1 @@\n-plain\n+%s\n",
			     contents ? contents : "");
	put("a.patch", text);
	free(text);
	rc = source_open(tree, &(struct lab_series){ 0 }, cache, false, quiet_log(), &source);
	ck_assert_int_eq(rc, 0);
	rc = build_kernel(&request, quiet_log(), kernel);
	source_release(&source);
	free(tree);
	free(cache);
	free(patch_path);
	return rc;
}

/* What is in the work tree's file; there is one work tree. */
static char *work_file(const char *name)
{
	const char *const argv[] = {
		"sh", "-c", "cat \"$0\"/cache/trees/*/$1", folder, name, NULL
	};
	char *text = NULL;
	struct spawn spawn = { .argv = argv, .output = &text };

	spawn_run(&spawn);
	return text;
}

/* What does not go into an image's key must not go into the image. */
START_TEST(the_environment_changes_no_kernel)
{
	struct lab_kernel kernel;
	char *text;

	setenv("KCFLAGS", "-Os", 1);
	setenv("LLVM", "1", 1);
	setenv("GNUMAKEFLAGS", "KCFLAGS=-Og", 1);
	setenv("CONFIG_DEBUG_INFO", "y", 1);
	ck_assert_int_eq(build(NULL, &kernel), 0);
	text = work_file("built");
	ck_assert_str_eq(text, "plain\n");
	free(text);
	kernel_release(&kernel);
}
END_TEST

START_TEST(built_once)
{
	struct lab_kernel one, two, again;
	char *text;

	ck_assert_int_eq(build(NULL, &one), 0);
	ck_assert_int_eq(build("patched", &two), 0);
	ck_assert_int_eq(build(NULL, &again), 0);
	ck_assert(one.built && two.built && !again.built);
	ck_assert_str_eq(one.key, again.key);
	ck_assert_str_ne(one.key, two.key);
	ck_assert_str_eq(one.release, "7.3.4-lab");
	ck_assert_int_eq(strncmp(one.version + 1, one.key, KERNEL_ID_LENGTH), 0);
	text = work_file("built");
	ck_assert_str_eq(text, "plain\npatched\n");
	free(text);
	/* no patch touches a Kconfig file: both arms have one configuration */
	text = work_file("configured");
	ck_assert_str_eq(text, "configured\n");
	free(text);
	kernel_release(&one);
	kernel_release(&two);
	kernel_release(&again);
}
END_TEST

static const struct {
	const char *contents, *words;
	int error;
} failures[] = {
	{ "broken", "mm/x.c:1: error: broken", -EIO },
	{ "broken", "build.log", -EIO },
	{ "full", "is full", -ENOSPC },
	{ "nameless", "KBUILD_BUILD_VERSION", -EINVAL },
};

START_TEST(failures_are_explained)
{
	struct lab_kernel kernel;

	ck_assert_int_eq(build(failures[_i].contents, &kernel), failures[_i].error);
	ck_assert_said(failures[_i].words);
	/* no half image, and the next arm is none the worse */
	ck_assert_int_eq(build(failures[_i].contents, &kernel), failures[_i].error);
	ck_assert_int_eq(build("fine", &kernel), 0);
	kernel_release(&kernel);
}
END_TEST

START_TEST(an_option_that_is_not_taken)
{
	const struct lab_arch *arch = lab_arch_find(NULL);
	char *config = format_string("config/%s.config", arch->folder);
	struct lab_kernel kernel;

	put(config, "CONFIG_UNKNOWN=y\n");
	free(config);
	ck_assert_int_eq(build(NULL, &kernel), -EINVAL);
	ck_assert_said("CONFIG_UNKNOWN is n, not y");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("build");

	if (!lab_arch_find(NULL) || !spawn_find("gcc", NULL) || !spawn_find("make", NULL) ||
	    !spawn_find("git", NULL)) {
		puts("skipped: gcc, make and git are needed, and an architecture that the lab knows");
		return 77;
	}
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, built_once);
	tcase_add_test(tests, the_environment_changes_no_kernel);
	tcase_add_loop_test(tests, failures_are_explained, 0,
			    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tests, an_option_that_is_not_taken);
	return run_suite("build", tests);
}
