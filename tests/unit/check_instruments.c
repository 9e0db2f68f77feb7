// SPDX-License-Identifier: GPL-2.0-only
/* What every arm's kernel is given (instruments), and the guests of other architectures: their
 * program, their command line. */
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../harness/lab/guest.h"
#include "../../harness/lab/instrument.h"
#include "../../harness/lab/prepare.h"
#include "../../harness/lab/program.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "quiet.h"

static char folder[] = "/tmp/check-instruments-XXXXXX";

/* Caller frees. */
static char *path_of(const char *name)
{
	char *path = format_string("%s/%s", folder, name);

	ck_assert_ptr_nonnull(path);
	return path;
}

/* name's "ARCH" is the folder of this machine's architecture, whose compiler is there. */
static void put(const char *name, const char *text)
{
	const char *rest = strstr(name, "ARCH");
	char *full = rest ? format_string("%.*s%s%s", (int)(rest - name), name,
					  lab_arch_find(NULL)->folder, rest + 4)
			  : strdup(name);
	char *path = path_of(full), *slash = strrchr(path, '/');

	*slash = '\0';
	ck_assert_int_eq(fs_make_folders(path, 0755), 0);
	*slash = '/';
	ck_assert_int_eq(fs_replace(path, text, strlen(text)), 0);
	free(path);
	free(full);
}

#define CHANGE(file, from, to) "--- a/" file "\n+++ b/" file "\n@@ -1 +1 @@\n-" from "\n+" to "\n"

/* A count of mm/x.c, a series that changes mm/y.c, and one that the count is in the way of. */
static void make_patches(void)
{
	strcpy(folder, "/tmp/check-instruments-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	put("ARCH/count/base", "7.2..7.3\n");
	put("ARCH/count/arms", "plain:\ncounted: [args: count=1] 1.patch\n");
	put("ARCH/count/1.patch", CHANGE("mm/x.c", "x", "counted"));
	put("ARCH/mine/base", "7.2..7.4\n");
	put("ARCH/mine/arms", "baseline:\npatched: [args: mine] 1.patch\n");
	put("ARCH/mine/1.patch", CHANGE("mm/y.c", "y", "patched"));
	put("ARCH/rival/base", "7.2..7.4\n");
	put("ARCH/rival/arms", "baseline:\npatched: 1.patch\n");
	put("ARCH/rival/1.patch", CHANGE("mm/x.c", "x", "changed"));
	put("config/ARCH.instruments", "# what they count\ncount # flushes\n\n");
	put("config/ARCH.config", "");
	setenv("SHOOTDOWN_PATCHES", folder, 1);
}

static void remove_patches(void)
{
	fs_remove_tree(folder);
}

/* Opens what wanted names (or the architecture's) for the series of that name. */
static int open_for(const char *const *wanted, const char *name, const char *arch,
		    struct lab_instruments *instruments)
{
	struct lab_series series;
	int rc;

	ck_assert_int_eq(series_open(name, arch, quiet_log(), &series), 0);
	rc = instruments_open(wanted, &series, quiet_log(), instruments);
	series_release(&series);
	return rc;
}

START_TEST(instruments_of_an_architecture)
{
	static const char *const none[] = { "none", NULL }, *const empty[] = { NULL };
	static const char *const unknown[] = { "cuont", NULL };
	static const char *const two[] = { "count", "rival", NULL };
	const struct lab_arch *own = lab_arch_find(NULL);
	const char *other = lab_arch_at(own == lab_arch_at(0))->name;
	struct lab_instruments instruments;

	ck_assert_int_eq(open_for(NULL, "mine", NULL, &instruments), 0);
	ck_assert_str_eq(instruments.names, "count");
	ck_assert_str_eq(instruments.arguments, "count=1");
	ck_assert(!instruments.given);
	instruments_release(&instruments);
	ck_assert_int_eq(open_for(empty, "-", own->name, &instruments), 0);
	ck_assert_uint_eq(instruments.count, 1);
	instruments_release(&instruments);
	ck_assert_int_eq(open_for(none, "mine", NULL, &instruments), 0);
	ck_assert_ptr_null(instruments.names);
	instruments_release(&instruments);
	/* the other has no such file; the instrument itself can be measured */
	ck_assert_int_eq(open_for(NULL, "-", other, &instruments), 0);
	ck_assert_uint_eq(instruments.count, 0);
	ck_assert_int_eq(open_for(NULL, "count", NULL, &instruments), 0);
	ck_assert_uint_eq(instruments.count, 0);
	ck_assert_int_eq(open_for(two, "mine", NULL, &instruments), 0);
	ck_assert_str_eq(instruments.names, "count, rival");
	ck_assert(instruments.given);
	instruments_release(&instruments);
	ck_assert_int_eq(open_for(unknown, "mine", NULL, &instruments), -EINVAL);
	ck_assert_said("did you mean \"count\"");
}
END_TEST

START_TEST(instruments_come_first_and_go)
{
	struct lab_instruments instruments;
	struct lab_series series;
	struct lab_arm *arm, plain;
	const char *which;

	ck_assert_int_eq(open_for(NULL, "mine", NULL, &instruments), 0);
	ck_assert_int_eq(series_open("mine", NULL, quiet_log(), &series), 0);
	arm = &series.arms[1];
	ck_assert_int_eq(instruments_add(&instruments, arm), 0);
	ck_assert_int_eq(instruments_add(&instruments, &series.arms[0]), 0);
	ck_assert_uint_eq(series.arms[0].patch_count, 1);
	ck_assert_uint_eq(arm->patch_count, 2);
	ck_assert_uint_eq(arm->instrument_count, 1);
	ck_assert_ptr_nonnull(strstr(arm->patches[0].path, "/count/1.patch"));
	ck_assert_ptr_nonnull(strstr(arm->patches[1].path, "/mine/1.patch"));
	ck_assert_str_eq(arm->arguments, "mine");
	plain = instruments_without(arm);
	ck_assert_uint_eq(plain.patch_count, 1);
	ck_assert_ptr_nonnull(strstr(plain.patches[0].path, "/mine/1.patch"));
	instruments_remove(arm);
	instruments_remove(arm);
	ck_assert_uint_eq(arm->patch_count, 1);
	ck_assert_ptr_nonnull(strstr(arm->patches[0].path, "/mine/1.patch"));
	ck_assert(instruments_cover(&instruments, (struct kernel_version){ 7, 2 }, &which));
	ck_assert(!instruments_cover(&instruments, (struct kernel_version){ 7, 4 }, &which));
	ck_assert_str_eq(which, "count");
	ck_assert(!instruments_cover(&instruments, (struct kernel_version){ 6, 19 }, &which));
	series_release(&series);
	instruments_release(&instruments);
}
END_TEST

/* Each: what is measured, of which kernel, and what is said; NULL: the instrument goes with it. */
static const struct {
	const char *series, *arms[3], *patchlevel, *instruments[2], *words;
	int error;
} sources[] = {
	{ "mine", { NULL }, "3", { NULL }, NULL, 0 },
	{ "mine", { NULL }, "4", { NULL }, "count is not made for Linux 7.4", 0 },
	{ "rival", { NULL }, "3", { NULL }, "together with the patches of arm patched", 0 },
	{ "mine", { "theirs=image:IMAGE" }, "3", { NULL }, "arm theirs is an image", 0 },
	{ "rival", { NULL }, "3", { "count" }, "--instrument none leaves it out", -EINVAL },
	{ "mine", { NULL }, "4", { "none" }, NULL, 0 },
};

START_TEST(instruments_that_do_not_go)
{
	char *tree = path_of("tree"), *cache = path_of("cache"), *image = path_of("image");
	char *makefile = format_string("VERSION = 7\nPATCHLEVEL = %s\nSUBLEVEL = 1\n",
				       sources[_i].patchlevel);
	char *arm = sources[_i].arms[0] ? format_string("theirs=image:%s", image) : NULL;
	const char *const arms[] = { arm, NULL };
	struct lab_setup setup = { .series_name = sources[_i].series,
				   .arms = arms,
				   .source = tree,
				   .instruments = sources[_i].instruments,
				   .cache = cache };
	struct lab_prepared prepared;
	unsigned int expected = !sources[_i].words && !sources[_i].instruments[0];

	put("image", "a kernel");
	put("tree/Kbuild", "");
	put("tree/Makefile", makefile);
	put("tree/mm/x.c", "x\n");
	put("tree/mm/y.c", "y\n");
	ck_assert_int_eq(prepare_arms(&setup, quiet_log(), &prepared), 0);
	ck_assert_int_eq(prepare_instruments(&prepared, quiet_log()), sources[_i].error);
	if (sources[_i].words)
		ck_assert_said(sources[_i].words);
	if (!sources[_i].error)
		for (unsigned int i = 0; i < prepared.series.arm_count; i++)
			ck_assert_uint_eq(prepared.series.arms[i].instrument_count, expected);
	ck_assert(sources[_i].error || (prepared.instruments.names != NULL) == expected);
	prepare_release(&prepared);
	free(arm);
	free(makefile);
	free(tree);
	free(cache);
	free(image);
}
END_TEST

/* An ELF header of no sections: a program for the machine, as far as elf_needs_read() looks. */
static void put_program(const char *name, uint16_t machine)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_EXEC,
			      .e_machine = machine,
			      .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_shentsize = sizeof(Elf64_Shdr) };
	char *path;

	put(name, "");
	path = path_of(name);
	ck_assert_int_eq(fs_replace(path, (const char *)&header, sizeof(header)), 0);
	free(path);
}

START_TEST(program_of_the_guests_architecture)
{
	const struct lab_arch *x86 = lab_arch_find("x86_64"), *arm64 = lab_arch_find("arm64");
	char *self = path_of("bin/shootdown"), *other = path_of("bin/arm64/shootdown"), *path;

	put_program("bin/shootdown", EM_X86_64);
	ck_assert_int_eq(guest_program_beside(self, x86, NULL, x86, quiet_log(), &path), 0);
	ck_assert_str_eq(path, self);
	free(path);
	ck_assert_int_eq(guest_program_beside(self, x86, NULL, arm64, quiet_log(), &path), -ENOENT);
	ck_assert_said("ci/build makes it");
	put_program("bin/arm64/shootdown", EM_X86_64);
	ck_assert_int_eq(guest_program_beside(self, x86, NULL, arm64, quiet_log(), &path), -EINVAL);
	ck_assert_said("is no program for arm64");
	put_program("bin/arm64/shootdown", EM_AARCH64);
	ck_assert_int_eq(guest_program_beside(self, x86, NULL, arm64, quiet_log(), &path), 0);
	ck_assert_str_eq(path, other);
	free(path);
	ck_assert_int_eq(guest_program_beside("/nowhere/shootdown", x86, other, arm64, quiet_log(),
					      &path),
			 0);
	ck_assert_str_eq(path, other);
	free(path);
	ck_assert_int_eq(guest_program_beside(self, x86, "/nowhere", arm64, quiet_log(), &path),
			 -ENOENT);
	ck_assert_int_eq(guest_program_beside(self, x86, self, arm64, quiet_log(), &path), -EINVAL);
	/* a host of the guest's own architecture needs nothing beside it */
	ck_assert_int_eq(guest_program_beside(other, arm64, NULL, arm64, quiet_log(), &path), 0);
	ck_assert_str_eq(path, other);
	free(path);
	free(self);
	free(other);
}
END_TEST

static bool has_row(char *const *command, const char *option, const char *value)
{
	for (; command[0] && command[1]; command++)
		if (!strcmp(command[0], option) && strstr(command[1], value))
			return true;
	return false;
}

START_TEST(arm64_command_line)
{
	struct lab_guest guest = { .arch = lab_arch_find("arm64"),
				   .emulator = "qemu",
				   .image = "image",
				   .initramfs = "initramfs",
				   .instrument_arguments = "count=1",
				   .arm_arguments = "mine",
				   .arguments = "more",
				   .console_path = "console.log",
				   .accel = "tcg",
				   .cpus = 256,
				   .memory_bytes = 1ULL << 30,
				   .channel = 9 };
	char **command = guest_command(&guest);

	ck_assert(has_row(command, "-M", "virt,gic-version=3"));
	ck_assert(has_row(command, "-accel", "tcg,thread=single"));
	ck_assert(has_row(command, "-append", "console=ttyAMA0 "));
	ck_assert(has_row(command, "-append",
			  " maxcpus=1 isolcpus=domain,1-255 nohz_full=1-255 rcu_nocbs=1-255 "
			  "count=1 mine more"));
	ck_assert(!has_row(command, "-append", "tsc="));
	ck_assert(!has_row(command, "-device", "intel-iommu"));
	ck_assert(!has_row(command, "-icount", ""));
	guest_command_free(command);
	guest.accel = "icount";
	guest.instrument_arguments = NULL;
	command = guest_command(&guest);
	ck_assert(has_row(command, "-accel", "tcg,thread=single"));
	ck_assert(has_row(command, "-icount", "shift=0,sleep=off"));
	ck_assert(has_row(command, "-append", "rcu_nocbs=1-255 mine more"));
	guest_command_free(command);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof(table[0])))

int main(void)
{
	TCase *tests = tcase_create("instruments");

	if (!lab_arch_find(NULL) || !spawn_find("gcc", NULL) || !spawn_find("git", NULL)) {
		puts("skipped: gcc and git are needed, and an architecture that the lab knows");
		return 77;
	}
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, make_patches, remove_patches);
	tcase_add_test(tests, instruments_of_an_architecture);
	tcase_add_test(tests, instruments_come_first_and_go);
	tcase_add_loop_test(tests, instruments_that_do_not_go, 0, COUNT(sources));
	tcase_add_test(tests, program_of_the_guests_architecture);
	tcase_add_test(tests, arm64_command_line);
	return run_suite("instruments", tests);
}
