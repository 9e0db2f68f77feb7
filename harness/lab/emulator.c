// SPDX-License-Identifier: GPL-2.0-only
/* Finds QEMU and finds out whether its hardware acceleration really works. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "cache.h"
#include "guest.h"

#define EMULATOR_VERSION_MIN 10
#define PROBE_BYTES	     65536
#define PROBE_TIMEOUT_S	     20

void guest_emulator_release(struct lab_emulator *emulator)
{
	free(emulator->path);
	free(emulator->version);
	*emulator = (struct lab_emulator){ 0 };
}

/* "QEMU emulator version 10.0.2 (...)": the number, marked when it was built by ci/emulator. */
static char *parse_version(const char *output)
{
	const char *at = strstr(output, "version ");

	if (!at)
		return NULL;
	at += strlen("version ");
	return format_string("%.*s%s", (int)strspn(at, "0123456789."), at,
			     strstr(at, "(shootdown)") ? "-shootdown" : "");
}

/* The cache's own (ci/emulator), else the one in PATH; NULL: none. cache may be NULL. Caller frees.
 */
static char *emulator_path(const struct lab_arch *arch, const char *cache)
{
	char *path = cache ? format_string("%s/emulator/%s", cache, arch->emulator) : NULL;

	if (path && !access(path, X_OK))
		return path;
	free(path);
	path = NULL;
	spawn_find(arch->emulator, &path);
	return path;
}

static int find_emulator(const struct lab_arch *arch, const char *cache, struct log *log,
			 struct lab_emulator *emulator)
{
	const char *argv[] = { NULL, "--version", NULL };
	char *output = NULL;
	struct spawn spawn = { .argv = argv, .output = &output };
	int rc;

	emulator->path = emulator_path(arch, cache);
	rc = emulator->path ? 0 : -ENOENT;
	if (!rc) {
		argv[0] = emulator->path;
		rc = spawn_run(&spawn);
	}
	if (!rc)
		emulator->version = parse_version(output);
	free(output);
	if (!rc && emulator->version && atoi(emulator->version) >= EMULATOR_VERSION_MIN)
		return 0;
	if (rc == -EINTR)
		return rc;
	log_error(log,
		  "guests need %s %d or newer, and %s%s: install it (Debian 12: apt-get install -t "
		  "bookworm-backports %s; ci/setup does)",
		  arch->emulator, EMULATOR_VERSION_MIN,
		  emulator->version ? "this one is " : "there is none",
		  emulator->version ? emulator->version : "", arch->package);
	return -ENOENT;
}

/* The firmware that ends the emulator with a status of its own when it runs. */
static int write_firmware(const struct lab_arch *arch, const char *path)
{
	char *bytes = calloc(1, PROBE_BYTES);
	int rc;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + arch->probe_offset, arch->probe, arch->probe_length);
	rc = fs_replace(path, bytes, PROBE_BYTES);
	free(bytes);
	return rc;
}

/* NULL: it works. Else why not, for people; caller frees. */
static char *run_probe(const struct lab_arch *arch, const struct lab_emulator *emulator,
		       const char *firmware, const char *log_path)
{
	const char *argv[24] = { emulator->path,
				 "-M",
				 arch->machine_type,
				 "-accel",
				 "kvm",
				 "-cpu",
				 arch->cpu,
				 "-m",
				 "64M",
				 "-nodefaults",
				 "-no-user-config",
				 "-display",
				 "none",
				 "-no-reboot",
				 "-bios",
				 firmware };
	struct spawn spawn = { .argv = argv,
			       .output_path = log_path,
			       .timeout_s = PROBE_TIMEOUT_S };
	unsigned int count = 16;
	char *tail, *reason;
	int rc;

	for (const char *const *extra = arch->probe_arguments; *extra; extra++)
		argv[count++] = *extra;
	unlink(log_path);
	rc = spawn_run(&spawn);
	if (rc == arch->probe_status)
		return NULL;
	tail = spawn_log_tail(log_path, 1);
	reason = tail && *tail	    ? format_string("a test guest failed: %s", tail)
		 : rc == -ETIMEDOUT ? strdup("a test guest did not run its first instruction")
				    : format_string("a test guest ended with status %d", rc);
	free(tail);
	return reason ? reason : strdup("no memory");
}

/* The result holds for this boot of the host and this emulator. */
static bool cached_probe(const char *path, const char *boot, const struct lab_emulator *emulator,
			 char **reason)
{
	json_t *facts = json_load_file(path, 0, NULL);
	const char *cached_boot, *version, *why = NULL;
	bool valid = facts &&
		     !json_unpack(facts, "{s:s,s:s,s?:s}", "boot", &cached_boot, "version",
				  &version, "reason", &why) &&
		     !strcmp(cached_boot, boot) && !strcmp(version, emulator->version);

	if (valid)
		*reason = why ? strdup(why) : NULL;
	json_decref(facts);
	return valid;
}

static void keep_probe(const char *path, const char *boot, const struct lab_emulator *emulator,
		       const char *reason)
{
	json_t *facts = json_pack("{s:s,s:s}", "boot", boot, "version", emulator->version);
	char *text;

	if (facts && reason)
		json_object_set_new(facts, "reason", json_string(reason));
	text = facts ? json_dumps(facts, JSON_INDENT(1)) : NULL;
	/* without it the next lab probes again */
	if (text)
		fs_replace(path, text, strlen(text));
	free(text);
	json_decref(facts);
}

/* NULL: kvm works here. Else why not; caller frees. */
static char *probe(const struct lab_arch *arch, const struct lab_emulator *emulator,
		   const char *cache)
{
	char *facts = format_string("%s/kvm-%s.json", cache, arch->name);
	char *firmware = format_string("%s/kvm-%s.firmware", cache, arch->name);
	char *log_path = format_string("%s/kvm-%s.log", cache, arch->name);
	char *boot = NULL, *reason = NULL;

	if (!facts || !firmware || !log_path ||
	    fs_read_value("", "/proc/sys/kernel/random/boot_id", &boot)) {
		reason = strdup("it could not be tested");
	} else if (!cached_probe(facts, boot, emulator, &reason)) {
		reason = write_firmware(arch, firmware)
				 ? strdup("the test guest could not be written")
				 : run_probe(arch, emulator, firmware, log_path);
		keep_probe(facts, boot, emulator, reason);
	}
	free(facts);
	free(firmware);
	free(log_path);
	free(boot);
	return reason;
}

static unsigned int host_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
						       : CPU_COUNT(&set);
}

/* Why not kvm; NULL: it can be taken. Caller frees. */
static char *why_not_kvm(const struct lab_arch *arch, unsigned int cpus, const char *cache,
			 const struct lab_emulator *emulator)
{
	if (arch != lab_arch_find(NULL))
		return strdup("this machine has another architecture");
	if (access("/dev/kvm", R_OK | W_OK))
		return format_string("/dev/kvm: %s", strerror(errno));
	if (host_cpus() < cpus)
		return format_string("the guest's %u CPUs are more than this machine's %u", cpus,
				     host_cpus());
	return probe(arch, emulator, cache);
}

int guest_emulator(const struct lab_arch *arch, const char *wanted, unsigned int cpus,
		   const char *cache, struct log *log, struct lab_emulator *emulator)
{
	bool counted = !strcmp(wanted, "icount");
	struct lab_emulator found = { .accel = counted ? "icount" : "tcg" };
	int rc = find_emulator(arch, cache, log, &found);
	char *reason = NULL;

	if (!rc && !counted && strcmp(wanted, "tcg")) {
		reason = why_not_kvm(arch, cpus, cache, &found);
		found.accel = reason ? "tcg" : "kvm";
	}
	if (reason && !strcmp(wanted, "kvm")) {
		log_error(log, "kvm cannot be used: %s; --accel tcg emulates", reason);
		rc = -ENODEV;
	} else if (reason) {
		log_info(log, "guests are emulated: kvm cannot be used (%s)", reason);
	}
	free(reason);
	if (rc)
		guest_emulator_release(&found);
	else
		*emulator = found;
	return rc;
}
