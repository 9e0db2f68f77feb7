// SPDX-License-Identifier: GPL-2.0-only
/* The lab, as far as it goes without kernels and guests. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../harness/lab/ab.h"
#include "../../harness/lab/boot.h"
#include "../../harness/lab/build.h"
#include "../../harness/lab/cache.h"
#include "../../harness/lab/console.h"
#include "../../harness/lab/guest.h"
#include "../../harness/lab/image.h"
#include "../../harness/lab/series.h"
#include "../../harness/lab/source.h"
#include "../../harness/lab/tree.h"
#include "../../lib/fs.h"
#include "quiet.h"

static char folder[] = "/tmp/check-lab-XXXXXX";

static void make_folder(void)
{
	strcpy(folder, "/tmp/check-lab-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	ck_assert_int_eq(fs_remove_tree(folder), 0);
}

/* The path of a file in the test's folder, made with its folders when text is given. */
static const char *put(const char *name, const char *text)
{
	static char path[64][512];
	static unsigned int next;
	char *at = path[next++ % 64], *slash;

	snprintf(at, sizeof(path[0]), "%s/%s", folder, name);
	if (text) {
		slash = strrchr(at, '/');
		*slash = '\0';
		ck_assert_int_eq(fs_make_folders(at, 0755), 0);
		*slash = '/';
		ck_assert_int_eq(fs_replace(at, text, strlen(text)), 0);
	}
	return at;
}

static void assert_text(const char *name, const char *text)
{
	char *present;

	ck_assert_int_eq(fs_read("", put(name, NULL), &present, NULL), 0);
	ck_assert_str_eq(present, text);
	free(present);
}

static const struct {
	const char *file, *name;
	bool fatal;
} consoles[] = {
	{ "clean", NULL, false },
	{ "clean-dmesg", NULL, false },
	{ "noise", NULL, false },
	{ "panic", "panic", true },
	{ "warning", "warning", false },
	{ "warning-old", "warning", false },
	{ "oops", "oops", true },
	{ "oops-arm64", "oops", true },
	{ "bug", "bug", true },
	{ "bad-page", "bug", false },
	{ "lockdep", "lockdep", false },
	{ "irq-order", "lockdep", false },
	{ "rcu-stall", "rcu-stall", true },
	{ "soft-lockup", "soft-lockup", true },
	{ "hard-lockup", "hard-lockup", true },
	{ "hung-task", "hung-task", true },
	{ "kasan", "kasan", false },
	{ "ubsan", "ubsan", false },
	{ "out-of-memory", "out-of-memory", false },
};

START_TEST(console_names)
{
	char *path = format_string("%s/console/%s.log", getenv("SHOOTDOWN_FIXTURES"),
				   consoles[_i].file);
	struct console_finding finding = { 0 };
	size_t length;
	char *text;
	int found;

	ck_assert_int_eq(fs_read("", path, &text, &length), 0);
	found = console_scan(text, length, &finding);
	ck_assert_msg(found == (consoles[_i].name != NULL), "%s: found %d %s", consoles[_i].file,
		      found, finding.name ? finding.name : "");
	if (found) {
		ck_assert_str_eq(finding.name, consoles[_i].name);
		ck_assert_int_eq(finding.fatal, consoles[_i].fatal);
		ck_assert_ptr_nonnull(strchr(finding.excerpt, '['));
		free(finding.excerpt);
	}
	free(text);
	free(path);
}
END_TEST

START_TEST(order_is_balanced)
{
	struct ab_boot *order = ab_order(3, 40, 7), *again = ab_order(3, 40, 7);
	struct ab_boot *other = ab_order(3, 40, 8);
	unsigned int first[3] = { 0 };

	for (unsigned int block = 0; block < 40; block++) {
		unsigned int seen = 0;

		for (unsigned int i = 0; i < 3; i++) {
			seen |= 1 << order[block * 3 + i].arm;
			ck_assert_uint_eq(order[block * 3 + i].number, block + 1);
		}
		ck_assert_uint_eq(seen, 7);
		first[order[block * 3].arm]++;
	}
	for (int i = 0; i < 3; i++)
		ck_assert_uint_gt(first[i], 4);
	ck_assert_int_eq(memcmp(order, again, 120 * sizeof(*order)), 0);
	ck_assert_int_ne(memcmp(order, other, 120 * sizeof(*order)), 0);
	free(order);
	free(again);
	free(other);
}
END_TEST

START_TEST(two_arms_take_turns)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct ab_boot *order = ab_order(2, 6, seed);

		for (unsigned int block = 0; block < 6; block += 2)
			ck_assert_uint_ne(order[2 * block].arm, order[2 * block + 2].arm);
		free(order);
	}
}
END_TEST

START_TEST(config_is_checked)
{
	static const char asked[] = "# a comment\nCONFIG_A=y\nCONFIG_B=n\n# CONFIG_C is not set\n"
				    "CONFIG_D=\"-lab\"\nCONFIG_E=512\nCONFIG_A=n\n";
	char *text;

	ck_assert_ptr_null(config_mismatch(asked, "CONFIG_D=\"-lab\"\nCONFIG_E=512\n", 9));
	ck_assert_ptr_null(config_mismatch(asked,
					   "# CONFIG_A is not set\n# CONFIG_B is not set\n"
					   "CONFIG_D=\"-lab\"\nCONFIG_E=512\n",
					   9));
	text = config_mismatch(asked, "CONFIG_C=y\nCONFIG_D=\"-lab\"\nCONFIG_E=5\n", 9);
	ck_assert_str_eq(text, "CONFIG_C is y, not n, CONFIG_E is 5, not 512");
	free(text);
	text = config_mismatch(asked, "CONFIG_A=m\nCONFIG_B=y\n", 1);
	ck_assert_str_eq(text, "CONFIG_B is y, not n");
	free(text);
}
END_TEST

START_TEST(image_is_identified)
{
	unsigned char header[0x400] = { 0 };
	static const char banner[] =
		"\0\0Linux version %s\0Linux version 7.3.4-lab (shootdown@lab) "
		"(gcc 12.2) #0a1b2c3d4e5f SMP PREEMPT Thu Jan  1\nrest";
	char *release, *version;

	ck_assert_int_eq(image_identify(header, sizeof(header), &release, &version), -EINVAL);
	memcpy(header + 0x202, "HdrS", 4);
	header[0x20e] = 0x80;
	strcpy((char *)header + 0x280, "7.3.4-lab+ (u@h) #0123456789ab SMP");
	ck_assert_int_eq(image_identify(header, sizeof(header), &release, &version), 0);
	ck_assert_str_eq(release, "7.3.4-lab+");
	ck_assert_str_eq(version, "#0123456789ab SMP");
	free(release);
	free(version);
	header[0x20f] = 0xff;
	ck_assert_int_eq(image_identify(header, sizeof(header), &release, &version), -EINVAL);
	ck_assert_int_eq(image_identify((const unsigned char *)banner, sizeof(banner), &release,
					&version),
			 0);
	ck_assert_str_eq(release, "7.3.4-lab");
	ck_assert_str_eq(version, "#0a1b2c3d4e5f SMP PREEMPT Thu Jan  1");
	free(release);
	free(version);
}
END_TEST

START_TEST(series_is_read)
{
	struct lab_series series;
	char *name = format_string("%s/x86/mine", folder);

	put("x86/mine/base", "# a range\n6.12..7.3 # inclusive\n");
	put("x86/mine/arms", "# control first\nbaseline: [args: xpfo=off debug]\n\n"
			     "undone: -R 1.patch\nboth: [args: xpfo=on] 1.patch 2.patch # all\n");
	put("x86/mine/cover", "What it claims\n");
	put("x86/mine/1.patch", "1");
	put("x86/mine/2.patch", "2");
	ck_assert_int_eq(series_open(name, NULL, quiet_log(), &series), 0);
	ck_assert_str_eq(series.name, "mine");
	ck_assert_str_eq(series.arch->name, "x86_64");
	ck_assert_uint_eq(series.first.major * 100 + series.first.minor, 612);
	ck_assert_uint_eq(series.last.major * 100 + series.last.minor, 703);
	ck_assert_uint_eq(series.arm_count, 3);
	ck_assert_str_eq(series.arms[0].arguments, "xpfo=off debug");
	ck_assert_uint_eq(series.arms[0].patch_count, 0);
	ck_assert(series.arms[1].patches[0].reverse);
	ck_assert_uint_eq(series.arms[2].patch_count, 2);
	ck_assert(!series.arms[2].patches[1].reverse);
	ck_assert_str_eq(series.cover, "What it claims\n");
	series_release(&series);
	free(name);
}
END_TEST

/* Each: what is wrong, and what is said about it. */
static const struct {
	const char *base, *arms, *words;
} bad_series[] = {
	{ "7.3\n", "a:\n", "no range of kernel versions" },
	{ "7.3..7.2\n", "a:\n", "no range of kernel versions" },
	{ "", "a:\n", "base" },
	{ "7.2..7.3\n", "# none\n", "arms" },
	{ "7.2..7.3\n", "a\n", "is not \"NAME: PATCH...\"" },
	{ "7.2..7.3\n", "a: gone.patch\n", "gone.patch" },
	{ "7.2..7.3\n", "a:\na:\n", "two arms \"a\"" },
	{ "7.2..7.3\n", "../a:\n", "is no name for an arm" },
	{ "7.2..7.3\n", "a: [arg: x]\n", "[args: KERNEL ARGUMENTS]" },
};

START_TEST(bad_series_is_refused)
{
	struct lab_series series;
	char *name = format_string("%s/x86/mine", folder);

	put("x86/mine/base", bad_series[_i].base);
	put("x86/mine/arms", bad_series[_i].arms);
	ck_assert_int_eq(series_open(name, NULL, quiet_log(), &series), -EINVAL);
	ck_assert_said(bad_series[_i].words);
	free(name);
}
END_TEST

START_TEST(unknown_series_names_the_nearest)
{
	struct lab_series series;

	put("x86/alpha/arms", "a:\n");
	put("arm64/beta/arms", "a:\n");
	setenv("SHOOTDOWN_PATCHES", folder, 1);
	ck_assert_int_eq(series_open("alpah", NULL, quiet_log(), &series), -ENOENT);
	ck_assert_said("did you mean \"alpha\"");
	ck_assert_said("Bundled: alpha, beta");
	ck_assert_int_eq(series_open("x", "riscv", quiet_log(), &series), -EINVAL);
}
END_TEST

START_TEST(arms_by_hand)
{
	struct lab_series series;
	char *text;

	put("p/0002-b.patch", "b");
	put("p/0001-a.patch", "a");
	put("p/notes", "no patch");
	ck_assert_int_eq(series_open("-", "x86_64", quiet_log(), &series), 0);
	ck_assert_int_eq(series_add_arm(&series, "plain=", quiet_log()), 0);
	text = format_string("mine=%s/p,-R %s/p/0001-a.patch", folder, folder);
	ck_assert_int_eq(series_add_arm(&series, text, quiet_log()), 0);
	free(text);
	ck_assert_int_eq(series_add_arm(&series, "theirs=git:v7.3", quiet_log()), 0);
	ck_assert_uint_eq(series.arms[1].patch_count, 3);
	ck_assert_ptr_nonnull(strstr(series.arms[1].patches[0].path, "0001-a"));
	ck_assert(series.arms[1].patches[2].reverse);
	ck_assert_str_eq(series.arms[2].git_ref, "v7.3");
	ck_assert_int_eq(series_add_arm(&series, "x", quiet_log()), -EINVAL);
	ck_assert_said("NAME=PATCHFILES");
	ck_assert_int_eq(series_add_arm(&series, "x=/nowhere.patch", quiet_log()), -EINVAL);
	ck_assert_said("/nowhere.patch");
	ck_assert_int_eq(series_add_arm(&series, "x=image:/nowhere", quiet_log()), -EINVAL);
	ck_assert_int_eq(series_add_arm(&series, "mine=", quiet_log()), -EINVAL);
	series_release(&series);
}
END_TEST

START_TEST(versions)
{
	struct kernel_version a, b;

	ck_assert(kernel_version_parse("7.3.4", &a) && a.major == 7 && a.minor == 3);
	ck_assert(kernel_version_parse("6.12", &b));
	ck_assert(kernel_version_compare(a, b) > 0 && kernel_version_compare(b, a) < 0);
	ck_assert(!kernel_version_parse("v7.3", &a) && !kernel_version_parse("7", &a));
}
END_TEST

static bool has_row(char *const *command, const char *option, const char *value)
{
	for (; command[0] && command[1]; command++)
		if (!strcmp(command[0], option) && strstr(command[1], value))
			return true;
	return false;
}

START_TEST(guest_command_line)
{
	struct lab_guest guest = { .arch = lab_arch_find("x86_64"),
				   .emulator = "qemu",
				   .image = "image",
				   .initramfs = "initramfs",
				   .arm_arguments = "xpfo=on",
				   .arguments = "more",
				   .console_path = "a,b/console.log",
				   .accel = "tcg",
				   .cpus = 16,
				   .memory_bytes = 1ULL << 30,
				   .channel = 9 };
	char **command = guest_command(&guest), *text = guest_command_text(command);

	ck_assert(has_row(command, "-accel", "tcg,thread=single"));
	ck_assert(has_row(command, "-smp", "16"));
	ck_assert(has_row(command, "-m", "1024M"));
	ck_assert(has_row(command, "-append", "nohz_full=1-15 rcu_nocbs=1-15 xpfo=on more"));
	ck_assert(has_row(command, "-chardev", "path=a,,b/console.log"));
	ck_assert(!has_row(command, "-device", "intel-iommu"));
	ck_assert_ptr_nonnull(strstr(text, "-append 'console=ttyS0 "));
	free(text);
	guest_command_free(command);
	guest.cpus = 256;
	command = guest_command(&guest);
	ck_assert(has_row(command, "-device", "intel-iommu,intremap=on,eim=on"));
	guest_command_free(command);
	guest.cpus = 1;
	command = guest_command(&guest);
	ck_assert(!has_row(command, "-append", "nohz_full"));
	guest_command_free(command);
}
END_TEST

static const char first_patch[] =
	"--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
	"--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+new\n";
static const char second_patch[] =
	"--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1,3 +1,3 @@\n-one\n+ONE\n TWO\n three\n";

static void make_tree(struct lab_source *source, struct work_tree *tree)
{
	put("tree/Kbuild", "");
	put("tree/Makefile", "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n");
	put("tree/mm/x.c", "one\ntwo\nthree\n");
	put("first.patch", first_patch);
	put("second.patch", second_patch);
	ck_assert_int_eq(fs_make_folders(put("cache/trees", NULL), 0700), 0);
	ck_assert_int_eq(source_open(put("tree", NULL), &(struct lab_series){ 0 },
				     put("cache", NULL), false, quiet_log(), source),
			 0);
	ck_assert_int_eq(tree_open(source, lab_arch_find("x86_64"), put("cache", NULL), quiet_log(),
				   tree),
			 0);
	ck_assert_str_eq(tree->version, "7.3.4");
}

/* The work tree's file by its name in the source. */
static void assert_tree(const struct work_tree *tree, const char *name, const char *text)
{
	char *path = format_string("%s/%s", tree->src, name);

	if (text)
		assert_text(path + strlen(folder) + 1, text);
	else
		ck_assert_int_ne(access(path, F_OK), 0);
	free(path);
}

START_TEST(patches_come_and_go)
{
	struct lab_patch patches[] = { { (char *)put("first.patch", NULL), false },
				       { (char *)put("second.patch", NULL), false } };
	struct lab_arm plain = { .name = (char *)"plain" };
	struct lab_arm both = { .name = (char *)"both", .patches = patches, .patch_count = 2 };
	struct stat before, after;
	struct lab_source source;
	struct work_tree tree;
	char *path;

	make_tree(&source, &tree);
	path = format_string("%s/Makefile", tree.src);
	ck_assert_int_eq(stat(path, &before), 0);
	ck_assert_int_eq(tree_set(&tree, &both, quiet_log()), 0);
	assert_tree(&tree, "mm/x.c", "ONE\nTWO\nthree\n");
	assert_tree(&tree, "mm/new.c", "new\n");
	ck_assert_int_eq(tree_set(&tree, &plain, quiet_log()), 0);
	assert_tree(&tree, "mm/x.c", "one\ntwo\nthree\n");
	assert_tree(&tree, "mm/new.c", NULL);
	/* what no patch names is never written */
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_int_eq(before.st_ino, after.st_ino);
	free(path);
	tree_close(&tree);
	source_release(&source);
}
END_TEST

START_TEST(an_undone_patch)
{
	struct lab_patch patch = { (char *)put("first.patch", NULL), false };
	struct lab_arm forward = { .name = (char *)"f", .patches = &patch, .patch_count = 1 };
	struct lab_source source;
	struct work_tree tree;

	make_tree(&source, &tree);
	patch.reverse = true;
	ck_assert_int_eq(tree_set(&tree, &forward, quiet_log()), -EINVAL);
	ck_assert_said("-R ");
	tree_close(&tree);
	source_release(&source);
	put("tree/mm/x.c", "one\nTWO\nthree\n");
	put("tree/mm/new.c", "new\n");
	ck_assert_int_eq(source_open(put("tree", NULL), &(struct lab_series){ 0 },
				     put("cache", NULL), false, quiet_log(), &source),
			 0);
	ck_assert_int_eq(tree_open(&source, lab_arch_find("x86_64"), put("cache", NULL),
				   quiet_log(), &tree),
			 0);
	ck_assert_int_eq(tree_set(&tree, &forward, quiet_log()), 0);
	assert_tree(&tree, "mm/x.c", "one\ntwo\nthree\n");
	assert_tree(&tree, "mm/new.c", NULL);
	tree_close(&tree);
	source_release(&source);
}
END_TEST

START_TEST(a_patch_that_does_not_apply)
{
	struct lab_patch patches[] = { { (char *)put("first.patch", NULL), false },
				       { (char *)put("bad.patch", NULL), false } };
	struct lab_arm bad = { .name = (char *)"bad", .patches = patches, .patch_count = 2 };
	struct lab_source source;
	struct work_tree tree;

	make_tree(&source, &tree);
	put("bad.patch",
	    "--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1,3 +1,3 @@\n one\n-other\n+OTHER\n three\n");
	ck_assert_int_eq(tree_set(&tree, &bad, quiet_log()), -EINVAL);
	ck_assert_said("bad.patch");
	ck_assert_said("mm/x.c");
	ck_assert_said("Linux 7.3.4");
	assert_tree(&tree, "mm/x.c", "one\ntwo\nthree\n");
	assert_tree(&tree, "mm/new.c", NULL);
	put("bad.patch", "--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n");
	ck_assert_int_eq(tree_set(&tree, &bad, quiet_log()), -EINVAL);
	put("bad.patch", "nothing of the kind\n");
	ck_assert_int_eq(tree_set(&tree, &bad, quiet_log()), -EINVAL);
	ck_assert_said("is no patch");
	tree_close(&tree);
	source_release(&source);
}
END_TEST

START_TEST(sources_that_are_none)
{
	struct lab_series none = { 0 };
	struct lab_source source;

	ck_assert_int_eq(source_open(NULL, &none, folder, false, quiet_log(), &source), -EINVAL);
	ck_assert_said("--source");
	ck_assert_int_eq(source_open("debian:next", &none, folder, false, quiet_log(), &source),
			 -EINVAL);
	ck_assert_said("debian:X.Y");
	ck_assert_int_eq(source_open("/nowhere", &none, folder, false, quiet_log(), &source),
			 -ENOENT);
	put("empty/file", "");
	ck_assert_int_eq(source_open(put("empty", NULL), &none, folder, false, quiet_log(),
				     &source),
			 -EINVAL);
	ck_assert_said("no kernel tree");
}
END_TEST

START_TEST(keys_tell_contents_apart)
{
	char hex[3][CONTENT_KEY_SIZE];
	struct content_key key;

	/* the same bytes in all, cut differently */
	for (int i = 0; i < 3; i++) {
		content_key_start(&key);
		content_key_text(&key, "a", i == 0 ? "xy" : i == 1 ? "x" : "");
		content_key_text(&key, "a", i == 0 ? "z" : i == 1 ? "yz" : "xyz");
		content_key_end(&key, hex[i]);
	}
	ck_assert_str_ne(hex[0], hex[1]);
	ck_assert_str_ne(hex[1], hex[2]);
	put("file", "xy");
	content_key_start(&key);
	ck_assert_int_eq(content_key_file(&key, "a", put("file", NULL)), 0);
	content_key_text(&key, "a", "z");
	content_key_end(&key, hex[1]);
	ck_assert_str_eq(hex[0], hex[1]);
	ck_assert_int_eq(content_key_file(&key, "a", "/nowhere"), -ENOENT);
}
END_TEST

START_TEST(cache_of_others_is_refused)
{
	char *path;

	ck_assert_int_eq(fs_make_folders(put("shared", NULL), 0700), 0);
	ck_assert_int_eq(chmod(put("shared", NULL), 0777), 0);
	ck_assert_int_eq(cache_open(put("shared", NULL), quiet_log(), &path), -EPERM);
	ck_assert_said("--cache");
	ck_assert_int_eq(cache_open(put("own", NULL), quiet_log(), &path), 0);
	free(path);
}
END_TEST

START_TEST(programs_name_their_libraries)
{
	struct elf_needs needs;
	bool libc = false;

	ck_assert_int_eq(elf_needs_read("/proc/self/exe", &needs), 0);
	for (unsigned int i = 0; i < needs.library_count; i++)
		libc |= !strncmp(needs.libraries[i], "libc.", 5);
	ck_assert(libc && needs.interpreter && *needs.interpreter == '/');
	elf_needs_release(&needs);
	ck_assert_int_eq(elf_needs_read(put("script", "#!/bin/sh\n"), &needs), -ENOEXEC);
}
END_TEST

/* Stand-ins for the emulator: the protocol's other side, without a kernel. */
static struct boot_result run_stand_in(const char *script, unsigned int timeout_s)
{
	static struct lab_kernel kernel = { .key = (char *)"k",
					    .release = (char *)"7.3",
					    .version = (char *)"#abc SMP" };
	json_t *job = json_pack("{s:s}", "kind", "plan");
	char *name = format_string("%s/emulator", folder), *run = format_string("%s/run", folder);
	char *text = format_string("#!/bin/sh\nfor a; do case $a in *fd=*) c=${a##*fd=};; "
				   "*path=*) o=${a##*path=};; esac; done\n%s\n",
				   script);
	struct boot_request request = {
		.guest = { .arch = lab_arch_find("x86_64"),
			   .emulator = name,
			   .image = "i",
			   .initramfs = "r",
			   .accel = "tcg",
			   .cpus = 2,
			   .memory_bytes = 1 << 28 },
		.kernel = &kernel,
		.emulator_version = "10",
		.folder = run,
		.arm = "a",
		.number = 1,
		.job = job,
		.records = true,
		.boot_timeout_ns = timeout_s * 1000000000ULL,
		.step_timeout_ns = timeout_s * 1000000000ULL,
	};
	struct boot_result result;
	struct boot *boot;

	put("emulator", text);
	chmod(name, 0755);
	ck_assert_int_eq(boot_start(&request, quiet_log(), &boot), 0);
	while (boot_step(boot))
		usleep(20000);
	ck_assert_int_eq(boot_finish(boot, &result), 0);
	ck_assert_int_eq(access(put("run/boot.json", NULL), R_OK), 0);
	json_decref(job);
	free(name);
	free(run);
	free(text);
	return result;
}

#define HELLO(version, cpus)                                                                       \
	"echo '{\"record\":\"hello\",\"data\":{\"release\":\"7.3\",\"version\":\"" version         \
	"\",\"machine\":\"m\",\"cpus\":" cpus "}}' >&$c\n"
#define BYE(code) "echo '{\"record\":\"exit\",\"data\":{\"code\":" code ",\"log\":null}}' >&$c\n"

static const struct {
	const char *script, *failure;
	enum outcome outcome;
	int exit_code;
} stand_ins[] = {
	{ HELLO("#abc SMP", "2") BYE("0"), NULL, OUTCOME_PASS, 0 },
	{ HELLO("#abc SMP", "2") BYE("77"), NULL, OUTCOME_SKIP, 77 },
	{ HELLO("#abc SMP", "2") BYE("1"), NULL, OUTCOME_FAIL, 1 },
	{ HELLO("#abd SMP", "2") "sleep 60", "wrong-kernel", OUTCOME_BROKEN, -1 },
	{ HELLO("#abc SMP", "1") BYE("0"), "missing-cpus", OUTCOME_BROKEN, 0 },
	{ "sleep 60", "boot-timeout", OUTCOME_FAIL, -1 },
	{ HELLO("#abc SMP", "2") "sleep 60", "hang", OUTCOME_FAIL, -1 },
	{ HELLO("#abc SMP", "2"), "guest-ended", OUTCOME_FAIL, -1 },
	{ "echo no such option >&2; exit 1", "emulator-failed", OUTCOME_BROKEN, -1 },
	{ HELLO("#abc SMP", "2") "echo junk >&$c", "protocol", OUTCOME_BROKEN, -1 },
	{ HELLO("#abc SMP", "2") "echo '[    1.0] WARNING: mm/x.c:1 at f' >$o\n" BYE("0"),
	  "warning", OUTCOME_FAIL, 0 },
	{ HELLO("#abc SMP", "2") "echo '[    1.0] Kernel panic - not syncing: x' >$o\nsleep 60",
	  "panic", OUTCOME_FAIL, -1 },
};

START_TEST(boots_are_judged)
{
	struct boot_result result = run_stand_in(stand_ins[_i].script, 2);

	if (stand_ins[_i].failure)
		ck_assert_str_eq(result.failure, stand_ins[_i].failure);
	else
		ck_assert_msg(!result.failure, "%s: %s", result.failure, result.detail);
	ck_assert_int_eq(result.outcome, stand_ins[_i].outcome);
	ck_assert_int_eq(result.exit_code, stand_ins[_i].exit_code);
	boot_result_release(&result);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof(table[0])))

int main(void)
{
	TCase *tests = tcase_create("lab");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_loop_test(tests, console_names, 0, COUNT(consoles));
	tcase_add_test(tests, order_is_balanced);
	tcase_add_test(tests, two_arms_take_turns);
	tcase_add_test(tests, config_is_checked);
	tcase_add_test(tests, image_is_identified);
	tcase_add_test(tests, series_is_read);
	tcase_add_loop_test(tests, bad_series_is_refused, 0, COUNT(bad_series));
	tcase_add_test(tests, unknown_series_names_the_nearest);
	tcase_add_test(tests, arms_by_hand);
	tcase_add_test(tests, versions);
	tcase_add_test(tests, guest_command_line);
	tcase_add_test(tests, patches_come_and_go);
	tcase_add_test(tests, an_undone_patch);
	tcase_add_test(tests, a_patch_that_does_not_apply);
	tcase_add_test(tests, sources_that_are_none);
	tcase_add_test(tests, keys_tell_contents_apart);
	tcase_add_test(tests, cache_of_others_is_refused);
	tcase_add_test(tests, programs_name_their_libraries);
	tcase_add_loop_test(tests, boots_are_judged, 0, COUNT(stand_ins));
	return run_suite("lab", tests);
}
