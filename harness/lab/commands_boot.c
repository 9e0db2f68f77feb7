// SPDX-License-Identifier: GPL-2.0-only
/* "shootdown lab boot": one command in one guest. */
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "boot.h"
#include "image.h"
#include "prepare.h"
#include "program.h"

const struct option_row lab_boot_options[] = {
	{ .name = "cpus",
	  .type = OPTION_UINT,
	  .fallback = "4",
	  .min = 1,
	  .max = LAB_CPUS_MAX,
	  .metavar = "N",
	  .help = "CPUs of the guest" },
	{ .name = "memory",
	  .type = OPTION_SIZE,
	  .fallback = "2G",
	  .min = 128ULL << 20,
	  .max = 1ULL << 42,
	  .metavar = "SIZE",
	  .help = "memory of the guest" },
	LAB_MEMORY_OPTIONS,
	{ .name = "accel",
	  .type = OPTION_CHOICE,
	  .fallback = "auto",
	  .choices = lab_accel_choices,
	  .metavar = "ACCEL",
	  .help = "how the guest runs: kvm needs a host CPU for each of the guest's; icount is "
		  "emulation whose clock counts instructions, exact and several times slower" },
	{ .name = "append",
	  .type = OPTION_STRING,
	  .metavar = "ARGUMENTS",
	  .help = "kernel arguments added to the guest's" },
	{ .name = "add",
	  .type = OPTION_STRING,
	  .metavar = "PROGRAM",
	  .help = "a program to take along, with its libraries; it is in /bin there",
	  .many = true },
	LAB_PROGRAM_OPTION,
	{ .name = "timeout",
	  .type = OPTION_DURATION,
	  .metavar = "TIME",
	  .help = "how long the command may take (default: no limit)" },
	{ .name = "boot-timeout",
	  .type = OPTION_DURATION,
	  .metavar = "TIME",
	  .help = "how long the boot may take (default: grows with the number of CPUs)" },
	{ .name = "out",
	  .type = OPTION_STRING,
	  .metavar = "DIR",
	  .help = "keep console.log, dmesg.log and boot.json in this new folder (default: only "
		  "when the boot fails)" },
	ROW_SOURCE,
	ROW_CONFIG,
	LAB_INSTRUMENT_OPTION,
	ROW_ARCH,
	ROW_JOBS,
	ROW_CACHE,
	{ .name = NULL },
};

/* The kernel of "lab boot": SERIES:ARM, or the path of an image. */
struct kernel_choice {
	char *series, *arm, *image; /* image: as --arm has it, or NULL */
	const char *arms[3];
	unsigned int index; /* among the prepared arms */
};

static void release_choice(struct kernel_choice *choice)
{
	free(choice->series);
	free(choice->arm);
	free(choice->image);
}

static int parse_kernel(const char *text, struct kernel_choice *choice, struct log *log)
{
	const char *colon = strrchr(text, ':');
	struct stat status;

	if (!stat(text, &status) && S_ISREG(status.st_mode)) {
		choice->series = strdup("-");
		choice->arm = strdup("image");
		choice->image = format_string("image=image:%s", text);
		choice->arms[0] = "baseline=";
		choice->arms[1] = choice->image;
		return choice->series && choice->arm && choice->image ? 0 : -ENOMEM;
	}
	if (!colon) {
		log_error(log,
			  "there is no kernel \"%s\": give SERIES:ARM, or the path of an image",
			  text);
		return -EINVAL;
	}
	choice->series = strndup(text, colon - text);
	choice->arm = strdup(colon + 1);
	return choice->series && choice->arm ? 0 : -ENOMEM;
}

static int find_kernel(const char *text, struct lab_setup *setup, struct kernel_choice *choice,
		       struct lab_prepared *prepared, struct log *log)
{
	const char *wanted[] = { NULL, NULL };
	int rc = parse_kernel(text, choice, log);

	if (rc)
		return rc;
	setup->series_name = choice->series;
	setup->arms = choice->arms;
	rc = prepare_arms(setup, log, prepared);
	if (rc)
		return rc == -ENOENT ? -EINVAL : rc;
	wanted[0] = choice->arm;
	rc = lab_check_arms(&prepared->series, wanted, log);
	while (!rc && strcmp(prepared->series.arms[choice->index].name, choice->arm))
		choice->index++;
	return rc;
}

static int run_boot(const struct boot_request *request, struct log *log, struct boot_result *result)
{
	struct boot *boot;
	int rc = boot_start(request, log, &boot);

	if (rc)
		return rc;
	while (boot_step(boot)) {
		struct pollfd channel = { boot_channel(boot), POLLIN, 0 };

		poll(&channel, 1, 100);
	}
	return boot_finish(boot, result);
}

/* The folder for the boot's files: --out, which has to be new, or a temporary one. */
static char *boot_folder(const char *given, struct log *log)
{
	const char *base = getenv("TMPDIR");
	char *folder;

	if (given) {
		if (!access(given, F_OK)) {
			log_error(log, "%s is there already: remove it, or give another with --out",
				  given);
			return NULL;
		}
		return strdup(given);
	}
	folder = format_string("%s/shootdown-boot-XXXXXX", base && *base ? base : "/tmp");
	if (folder && !mkdtemp(folder)) {
		log_error(log, "cannot make a folder for the boot: %s: give one with --out",
			  strerror(errno));
		free(folder);
		return NULL;
	}
	return folder;
}

static json_t *make_command(const char *const *words)
{
	json_t *argv = json_array();

	if (!*words) {
		json_array_append_new(argv, json_string("shootdown"));
		json_array_append_new(argv, json_string("check"));
	}
	for (; *words; words++)
		if (json_array_append_new(argv, json_string(*words))) {
			json_decref(argv); /* no UTF-8, which boot_start() says */
			return NULL;
		}
	return json_pack("{s:s,s:o}", "kind", "command", "argv", argv);
}

/* Boots with everything ready; the guest's exit code, or one of ours. */
static int boot_prepared(const struct option_values *values, struct boot_request *request,
			 struct log *log)
{
	const char *given = option_string(values, "out");
	char *folder = boot_folder(given, log);
	struct boot_result result = { 0 };
	int rc, code;

	if (!folder)
		return given ? EXIT_USAGE : EXIT_BROKEN;
	request->folder = folder;
	rc = run_boot(request, log, &result);
	if (rc) {
		code = lab_code_of(rc);
	} else if (result.failure) {
		log_error(log, "the boot failed: %s: %s\nits console is %s/console.log",
			  result.failure, result.detail ? result.detail : "", folder);
		code = result.outcome == OUTCOME_BROKEN ? EXIT_BROKEN : EXIT_FAILED;
	} else {
		code = result.exit_code >= 0 ? result.exit_code : lab_code_of(-EINTR);
	}
	log_debug(log, "greeting after %.2f s, %.2f s in all", result.hello_s, result.total_s);
	if (!given && (rc || !result.failure))
		fs_remove_tree(folder);
	boot_result_release(&result);
	free(folder);
	return code;
}

static int prepare_memory(const struct option_values *values, const struct lab_arch *arch,
			  struct lab_memory *memory, struct log *log)
{
	uint64_t bytes = option_uint(values, "memory");
	int rc = lab_memory_parse(option_string(values, "numa"), option_string(values, "cxl"), arch,
				  option_uint(values, "cpus"), log, memory);

	return rc ? rc
		  : lab_memory_settle(memory, option_given(values, "memory") ? bytes : 0, bytes,
				      log);
}

static int prepare_guest(const struct option_values *values, struct lab_prepared *prepared,
			 unsigned int index, char options_key[CONTENT_KEY_SIZE],
			 struct boot_request *request, struct lab_memory *memory,
			 struct lab_emulator *emulator, char **initramfs, struct log *log)
{
	const struct lab_arch *arch = prepared->series.arch;
	unsigned int cpus = option_uint(values, "cpus");
	char *program = NULL;
	int rc = prepare_memory(values, arch, memory, log);

	if (!rc)
		rc = guest_emulator(arch, option_string(values, "accel"), cpus, prepared->cache,
				    log, emulator);

	if (!rc)
		rc = guest_program(option_string(values, "program"), arch, log, &program);
	if (!rc)
		rc = prepare_instruments(prepared, log);
	if (!rc)
		rc = prepare_kernel(prepared, index, log);
	if (!rc)
		rc = prepare_options_key(prepared, log, options_key);
	if (!rc)
		rc = image_initramfs(prepared->cache, program, option_list(values, "add"), arch,
				     log, initramfs);
	free(program);
	if (rc)
		return rc;
	*request = (struct boot_request){
		.guest = { .arch = arch,
			   .emulator = emulator->path,
			   .image = prepared->kernels[index].image,
			   .initramfs = *initramfs,
			   .instrument_arguments = prepared->instruments.arguments,
			   .arm_arguments = prepared->series.arms[index].arguments,
			   .arguments = option_string(values, "append"),
			   .accel = emulator->accel,
			   .cpus = cpus,
			   .memory_bytes = memory->ram_bytes,
			   .memory = memory,
			   .channel = -1 },
		.kernel = &prepared->kernels[index],
		.emulator_version = emulator->version,
		.instruments = prepared->instruments.names,
		.options_key = prepared->series.arms[index].image ? NULL : options_key,
		.arm = prepared->series.arms[index].name,
		.number = 1,
		.boot_timeout_ns = option_given(values, "boot-timeout")
					   ? option_uint(values, "boot-timeout")
					   : guest_boot_timeout_ns(cpus),
		.total_timeout_ns = option_uint(values, "timeout"),
	};
	return 0;
}

int lab_boot(const struct option_values *values, const char *const *arguments,
	     unsigned int argument_count, FILE *out, struct log *log)
{
	struct lab_setup setup = { .source = option_string(values, "source"),
				   .configs = option_list(values, "config"),
				   .instruments = option_list(values, "instrument"),
				   .arch = option_string(values, "arch"),
				   .cache = option_string(values, "cache"),
				   .jobs = option_uint(values, "jobs") };
	struct kernel_choice choice = { 0 };
	char *initramfs = NULL;
	struct lab_prepared prepared = { 0 };
	struct lab_memory memory = { 0 };
	struct lab_emulator emulator = { 0 };
	struct boot_request request = { 0 };
	char options_key[CONTENT_KEY_SIZE];
	int rc, code;

	if (!argument_count) {
		log_error(log, "lab boot needs a kernel: SERIES:ARM, or the path of an image");
		return EXIT_USAGE;
	}
	rc = find_kernel(arguments[0], &setup, &choice, &prepared, log);
	if (!rc)
		rc = prepare_guest(values, &prepared, choice.index, options_key, &request, &memory,
				   &emulator, &initramfs, log);
	request.job = rc ? NULL : make_command(arguments + 1);
	request.out = out;
	request.err = log->stream;
	code = rc ? lab_code_of(rc) : boot_prepared(values, &request, log);
	json_decref(request.job);
	free(initramfs);
	guest_emulator_release(&emulator);
	lab_memory_release(&memory);
	prepare_release(&prepared);
	release_choice(&choice);
	return code;
}
