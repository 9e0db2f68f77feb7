// SPDX-License-Identifier: GPL-2.0-only
/* Runs an A/B: kernels, boots, one plan. */
#include "ab.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "boot.h"
#include "cache.h"
#include "guest.h"
#include "image.h"
#include "lab.h"
#include "prepare.h"
#include "program.h"

#define SIDE_BY_SIDE_MAX 2
/* what QEMU 10 needs for each virtual CPU beside the guest's memory: 7.9 GB for 512 */
#define EMULATED_CPU_BYTES (16ULL << 20)
#define STEP_TIMEOUT_NS	   (600ULL * 1000000000)
/* a repetition's own limit ends it in the guest; this much later the guest is given up */
#define STEP_GRACE_NS (60ULL * 1000000000)

/* One boot of the order that is under way. */
struct slot {
	struct boot *boot; /* NULL: free */
	struct boot_request request;
	struct ab_boot which;
	char *folder;
	json_t *job;
};

struct ab {
	const struct lab_ab_request *request;
	struct log *log;
	struct lab_setup setup;
	struct lab_prepared prepared;
	struct lab_emulator emulator;
	char *program;
	char *initramfs;
	char *out;
	struct lab_memory memory;
	char *layout; /* as text; NULL: plain memory */
	char options_key[CONTENT_KEY_SIZE];
	struct ab_boot *order;
	unsigned int boot_count, next;
	struct slot slots[SIDE_BY_SIDE_MAX];
	unsigned int slot_count;
	json_t *plan;
	json_t *boots;		       /* for lab.json, as they end */
	unsigned int outcomes;	       /* of boots that ended */
	unsigned int failed, codes[4]; /* done, failed, broken, skipped */
	int write_error;
	time_t started;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	/* splitmix64 */
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

struct ab_boot *ab_order(unsigned int arms, unsigned int boots, uint64_t seed)
{
	struct ab_boot *order = calloc((size_t)arms * boots + 1, sizeof(*order));

	for (unsigned int block = 0; order && block < boots; block++) {
		struct ab_boot *row = order + (size_t)block * arms;

		for (unsigned int i = 0; i < arms; i++)
			row[i] = (struct ab_boot){ i, block + 1 };
		if (block % 2 && arms == 2) {
			row[0].arm = row[-1].arm;
			row[1].arm = row[-2].arm;
			continue;
		}
		for (unsigned int i = arms; i > 1; i--) {
			unsigned int j = next_random(&seed) % i, kept = row[i - 1].arm;

			row[i - 1].arm = row[j].arm;
			row[j].arm = kept;
		}
	}
	return order;
}

static unsigned int usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
						       : CPU_COUNT(&set);
}

/* How many guests fit beside each other in this machine's CPUs and memory. */
static unsigned int side_by_side(const struct ab *ab)
{
	bool kvm = !strcmp(ab->emulator.accel, "kvm");
	unsigned int cores = kvm ? ab->request->cpus : 1;
	uint64_t guest_bytes = ab->memory.ram_bytes + ab->memory.cxl_bytes +
			       (kvm ? 0 : ab->request->cpus * EMULATED_CPU_BYTES);
	uint64_t free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
	unsigned int count = usable_cpus() / cores;
	char *text, *at;

	if (!fs_read("", "/proc/meminfo", &text, NULL)) {
		at = strstr(text, "MemAvailable:");
		if (at)
			free_bytes = strtoull(at + 13, NULL, 10) * 1024;
		free(text);
	}
	if (count > free_bytes / guest_bytes)
		count = free_bytes / guest_bytes;
	if (count > SIDE_BY_SIDE_MAX)
		count = SIDE_BY_SIDE_MAX;
	return count ? count : 1;
}

static int take_folder(const char *out, struct log *log)
{
	struct dirent **entries;
	int rc = fs_make_folders(out, 0755), count;

	if (rc)
		return cache_say(log, out, rc);
	count = scandir(out, &entries, NULL, NULL);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	if (count == 2)
		return 0;
	log_error(log, "the folder %s is not empty: remove it, or give another with --out", out);
	return -EEXIST;
}

static json_t *describe_arm(const struct lab_arm *arm, const struct lab_kernel *kernel)
{
	json_t *patches = json_array(), *row;

	for (unsigned int i = arm->instrument_count; i < arm->patch_count; i++)
		json_array_append_new(patches, json_pack("{s:s,s:b}", "file", arm->patches[i].path,
							 "undo", arm->patches[i].reverse));
	row = json_pack("{s:s,s:o,s:s?,s:s?,s:s?}", "name", arm->name, "patches", patches,
			"arguments", arm->arguments, "git", arm->git_ref, "image", arm->image);
	if (row && kernel->image)
		json_object_set_new(row, "kernel",
				    json_pack("{s:s,s:s,s:s,s:s}", "key", kernel->key, "image",
					      kernel->image, "release", kernel->release, "version",
					      kernel->version));
	return row;
}

/* outcome NULL: still running. */
static int write_lab_json(struct ab *ab, const char *outcome)
{
	const struct lab_series *series = &ab->prepared.series;
	json_t *arms = json_array(), *order = json_array(), *facts;
	char *path = format_string("%s/lab.json", ab->out), *text = NULL;
	int rc;

	for (unsigned int i = 0; i < series->arm_count; i++)
		json_array_append_new(arms,
				      describe_arm(&series->arms[i], &ab->prepared.kernels[i]));
	for (unsigned int i = 0; i < ab->boot_count; i++)
		json_array_append_new(order, json_pack("[s,i]", series->arms[ab->order[i].arm].name,
						       (int)ab->order[i].number));
	facts = json_pack(
		"{s:s,s:i,s:s,s:s,s:s?,s:s?,s:o,s:o,s:i,s:I,s:s?,s:s,s:s,s:i,s:i,s:I,s:o,s:O,s:s?,s:I}",
		"schema", "shootdown-lab", "version", 1, "series", series->name, "arch",
		series->arch->name, "source", ab->prepared.source.identity, "instruments",
		ab->prepared.instruments.names, "given", lab_ab_given(ab->request), "arms", arms,
		"cpus", (int)ab->request->cpus, "memory_bytes", (json_int_t)ab->memory.ram_bytes,
		"layout", ab->layout, "emulator", ab->emulator.version, "accel", ab->emulator.accel,
		"side_by_side", (int)ab->slot_count, "boots_each", (int)ab->request->boots, "seed",
		(json_int_t)ab->request->seed, "order", order, "boots", ab->boots, "outcome",
		outcome, "started", (json_int_t)ab->started);
	text = facts ? json_dumps(facts, JSON_INDENT(1)) : NULL;
	rc = path && text ? fs_replace(path, text, strlen(text)) : -ENOMEM;
	if (rc && path)
		cache_say(ab->log, path, rc);
	json_decref(facts);
	free(text);
	free(path);
	return rc;
}

/* What every guest of the A/B has in common. */
static struct lab_guest make_guest(const struct ab *ab, unsigned int arm)
{
	const struct lab_kernel *kernel = &ab->prepared.kernels[arm];

	return (struct lab_guest){ .arch = ab->prepared.series.arch,
				   .emulator = ab->emulator.path,
				   .image = kernel->image ? kernel->image : "IMAGE",
				   .initramfs = ab->initramfs ? ab->initramfs : "INITRAMFS",
				   .instrument_arguments = ab->prepared.instruments.arguments,
				   .arm_arguments = ab->prepared.series.arms[arm].arguments,
				   .arguments = ab->request->kernel_arguments,
				   .accel = ab->emulator.accel,
				   .cpus = ab->request->cpus,
				   .memory_bytes = ab->memory.ram_bytes,
				   .memory = &ab->memory,
				   .channel = -1 };
}

static void release_slot(struct slot *slot)
{
	json_decref(slot->job);
	free(slot->folder);
	*slot = (struct slot){ 0 };
}

static int start_boot(struct ab *ab, struct slot *slot)
{
	const struct lab_ab_request *request = ab->request;
	uint64_t step_ns = request->plan->timeout_ns ? request->plan->timeout_ns : STEP_TIMEOUT_NS;
	int rc;

	slot->which = ab->order[ab->next];
	slot->folder = format_string("%s/%s/boot-%u", ab->out,
				     ab->prepared.series.arms[slot->which.arm].name,
				     slot->which.number);
	slot->job = json_pack("{s:s,s:O}", "kind", "plan", "plan", ab->plan);
	rc = slot->folder && slot->job ? 0 : -ENOMEM;
	slot->request = (struct boot_request){
		.guest = make_guest(ab, slot->which.arm),
		.kernel = &ab->prepared.kernels[slot->which.arm],
		.emulator_version = ab->emulator.version,
		.instruments = ab->prepared.instruments.names,
		.options_key = ab->prepared.series.arms[slot->which.arm].image ? NULL
									       : ab->options_key,
		.folder = slot->folder,
		.arm = ab->prepared.series.arms[slot->which.arm].name,
		.number = slot->which.number,
		.job = slot->job,
		.records = true,
		.boot_timeout_ns = request->boot_timeout_ns ? request->boot_timeout_ns
							    : guest_boot_timeout_ns(request->cpus),
		.step_timeout_ns = step_ns + STEP_GRACE_NS,
	};
	if (!rc)
		rc = boot_start(&slot->request, ab->log, &slot->boot);
	if (rc) {
		slot->boot = NULL;
		release_slot(slot);
	} else {
		ab->next++;
	}
	return rc;
}

static void say_end(struct ab *ab, const struct slot *slot, const struct boot_result *result)
{
	const char *arm = slot->request.arm;

	if (result->failure)
		log_error(ab->log, "arm %s, boot %u failed: %s: %s\nits console is %s/console.log",
			  arm, slot->which.number, result->failure,
			  result->detail ? result->detail : "", slot->folder);
	else if (result->outcome == OUTCOME_PASS)
		log_debug(ab->log, "arm %s, boot %u: pass in %.1f s (greeting after %.1f s)", arm,
			  slot->which.number, result->total_s, result->hello_s);
	else
		log_warn(ab->log, "arm %s, boot %u: %s", arm, slot->which.number,
			 outcome_name(result->outcome));
}

static void count_end(struct ab *ab, const struct boot_result *result)
{
	switch (result->outcome) {
	case OUTCOME_PASS:
		ab->codes[0]++;
		break;
	case OUTCOME_FAIL:
		ab->codes[1]++;
		break;
	case OUTCOME_SKIP:
		ab->codes[3]++;
		break;
	default:
		ab->codes[2]++;
		break;
	}
	ab->failed += result->failure != NULL;
}

static void finish_boot(struct ab *ab, struct slot *slot)
{
	struct boot_result result;
	json_t *row;
	int rc;

	ab->outcomes += boot_outcomes(slot->boot);
	rc = boot_finish(slot->boot, &result);
	if (rc && !ab->write_error)
		ab->write_error = rc;
	row = json_pack("{s:s,s:i,s:s,s:s?,s:o,s:f}", "arm", slot->request.arm, "boot",
			(int)slot->which.number, "outcome", outcome_name(result.outcome), "failure",
			result.failure, "hello_s",
			result.hello_s < 0 ? json_null() : json_real(result.hello_s), "total_s",
			result.total_s);
	json_array_append_new(ab->boots, row);
	say_end(ab, slot, &result);
	count_end(ab, &result);
	boot_result_release(&result);
	release_slot(slot);
}

static void show_progress(struct ab *ab)
{
	const struct plan *plan = ab->request->plan;
	uint64_t done = ab->outcomes, total = plan->duration_ns ? 0 : plan->step_count;

	for (unsigned int i = 0; i < ab->slot_count; i++)
		done += ab->slots[i].boot ? boot_outcomes(ab->slots[i].boot) : 0;
	log_progress(ab->log, "running the plan in guests", done, total * ab->boot_count);
}

/* Waits until a guest has something to say, a tenth of a second at most. */
static void wait_for_guests(const struct ab *ab)
{
	struct pollfd channels[SIDE_BY_SIDE_MAX];
	unsigned int count = 0;

	for (unsigned int i = 0; i < ab->slot_count; i++)
		if (ab->slots[i].boot)
			channels[count++] = (struct pollfd){ boot_channel(ab->slots[i].boot),
							     POLLIN, 0 };
	poll(channels, count, 100);
}

static int run_boots(struct ab *ab)
{
	bool running = true;
	int rc = 0;

	while (running) {
		running = false;
		for (unsigned int i = 0; i < ab->slot_count; i++) {
			struct slot *slot = &ab->slots[i];

			if (slot->boot && !boot_step(slot->boot))
				finish_boot(ab, slot);
			if (!slot->boot && ab->next < ab->boot_count && !rc && !ab->write_error &&
			    !spawn_interrupted())
				rc = start_boot(ab, slot);
			running |= slot->boot != NULL;
		}
		show_progress(ab);
		if (running)
			wait_for_guests(ab);
	}
	log_progress_end(ab->log);
	return rc ? rc : ab->write_error;
}

static void set_up(struct ab *ab, const struct lab_ab_request *request, struct log *log)
{
	*ab = (struct ab){ .request = request, .log = log };
	ab->setup = (struct lab_setup){ .series_name = request->series,
					.arms = request->arms,
					.source = request->source,
					.configs = request->configs,
					.instruments = request->instruments,
					.arch = request->arch,
					.cache = request->cache,
					.jobs = request->jobs,
					.twice = request->twice };
	ab->started = time(NULL);
}

static int set_up_memory(struct ab *ab)
{
	const struct lab_ab_request *request = ab->request;
	int rc = lab_memory_parse(request->numa, request->cxl, ab->prepared.series.arch,
				  request->cpus, ab->log, &ab->memory);

	if (!rc)
		rc = lab_memory_settle(&ab->memory, request->memory_bytes,
				       lab_memory_for(request->plan, request->cpus, &ab->memory),
				       ab->log);
	if (!rc)
		ab->layout = lab_memory_text(&ab->memory, &rc);
	return rc;
}

/* All that needs no time: a mistake in the request shows before a kernel is built. */
static int check_request(struct ab *ab)
{
	const struct lab_ab_request *request = ab->request;
	int rc = prepare_arms(&ab->setup, ab->log, &ab->prepared);

	if (!rc)
		rc = set_up_memory(ab);
	if (!rc)
		rc = prepare_options_key(&ab->prepared, ab->log, ab->options_key);
	if (rc)
		return rc;
	ab->boot_count = ab->prepared.series.arm_count * request->boots;
	ab->order = ab_order(ab->prepared.series.arm_count, request->boots, request->seed);
	ab->plan = plan_json(request->plan, request->cpus, GUEST_PAGE_BYTES);
	ab->boots = json_array();
	if (!ab->order || !ab->plan || !ab->boots)
		return -ENOMEM;
	rc = guest_emulator(ab->prepared.series.arch, request->accel ? request->accel : "auto",
			    request->cpus, ab->prepared.cache, ab->log, &ab->emulator);
	if (!rc)
		rc = guest_program(request->program, ab->prepared.series.arch, ab->log,
				   &ab->program);
	if (!rc)
		ab->slot_count = side_by_side(ab);
	return rc;
}

static int make_kernels(struct ab *ab)
{
	int rc = prepare_instruments(&ab->prepared, ab->log);

	for (unsigned int i = 0; !rc && i < ab->prepared.series.arm_count; i++)
		rc = prepare_check(&ab->prepared, i, ab->log);
	for (unsigned int i = 0; !rc && i < ab->prepared.series.arm_count; i++)
		rc = prepare_kernel(&ab->prepared, i, ab->log);
	if (!rc)
		rc = image_initramfs(ab->prepared.cache, ab->program, NULL,
				     ab->prepared.series.arch, ab->log, &ab->initramfs);
	return rc;
}

static void release(struct ab *ab)
{
	prepare_release(&ab->prepared);
	guest_emulator_release(&ab->emulator);
	lab_memory_release(&ab->memory);
	free(ab->layout);
	free(ab->program);
	free(ab->initramfs);
	free(ab->out);
	free(ab->order);
	json_decref(ab->plan);
	json_decref(ab->boots);
}

static char *default_out(time_t now)
{
	char text[32];

	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", localtime(&now));
	return format_string("shootdown-ab-%s", text);
}

/* Nothing was measured: nothing is left behind. */
static void remove_out(const struct ab *ab)
{
	char *path = format_string("%s/lab.json", ab->out);

	if (path)
		unlink(path);
	rmdir(ab->out);
	free(path);
}

static int exit_code(const struct ab *ab, int rc)
{
	if (ab->codes[1])
		return EXIT_FAILED;
	if (spawn_interrupted())
		return 128 + spawn_stop_signal;
	if (rc || ab->codes[2])
		return EXIT_BROKEN;
	return ab->codes[3] && !ab->codes[0] ? EXIT_SKIPPED : EXIT_DONE;
}

static const char *outcome_of(const struct ab *ab, int rc)
{
	if (ab->codes[1])
		return outcome_name(OUTCOME_FAIL);
	if (spawn_interrupted())
		return outcome_name(OUTCOME_INTERRUPTED);
	if (rc || ab->codes[2])
		return outcome_name(OUTCOME_BROKEN);
	return outcome_name(ab->codes[3] && !ab->codes[0] ? OUTCOME_SKIP : OUTCOME_PASS);
}

static int fill_result(const struct ab *ab, int rc, struct lab_ab_result *result)
{
	unsigned int count = ab->prepared.series.arm_count;

	result->out = strdup(ab->out);
	result->arm_folders = calloc(count + 1, sizeof(*result->arm_folders));
	for (unsigned int i = 0; result->arm_folders && i < count; i++)
		result->arm_folders[i] = format_string("%s/%s", ab->out,
						       ab->prepared.series.arms[i].name);
	result->failed_boots = ab->failed;
	result->exit_code = exit_code(ab, rc);
	return result->out && result->arm_folders ? 0 : -ENOMEM;
}

int lab_ab(const struct lab_ab_request *request, struct log *log, struct lab_ab_result *result)
{
	struct ab ab;
	int rc;

	memset(result, 0, sizeof(*result));
	set_up(&ab, request, log);
	rc = check_request(&ab);
	if (!rc && !(ab.out = request->out ? strdup(request->out) : default_out(ab.started)))
		rc = -ENOMEM;
	if (!rc)
		rc = take_folder(ab.out, log);
	if (rc)
		goto out;
	rc = write_lab_json(&ab, NULL);
	if (!rc)
		rc = make_kernels(&ab);
	if (rc) {
		remove_out(&ab);
		goto out;
	}
	rc = write_lab_json(&ab, NULL);
	if (!rc)
		rc = run_boots(&ab);
	write_lab_json(&ab, outcome_of(&ab, rc));
	rc = fill_result(&ab, rc, result);
	if (rc)
		lab_ab_release(result);
out:
	log_progress_end(log);
	release(&ab);
	return rc;
}

void lab_ab_release(struct lab_ab_result *result)
{
	for (char **folder = result->arm_folders; folder && *folder; folder++)
		free(*folder);
	free(result->arm_folders);
	free(result->out);
	memset(result, 0, sizeof(*result));
}

int lab_ab_describe(const struct lab_ab_request *request, FILE *out, struct log *log)
{
	struct ab ab;
	int rc;

	set_up(&ab, request, log);
	rc = check_request(&ab);
	if (rc)
		goto out;
	json_dumpf(ab.plan, out, JSON_INDENT(1));
	fputc('\n', out);
	for (unsigned int i = 0; !rc && i < ab.boot_count; i++) {
		const struct ab_boot *which = &ab.order[i];
		struct lab_guest guest = make_guest(&ab, which->arm);
		char **command, *text;

		guest.console_path = "console.log";
		command = guest_command(&guest);
		text = command ? guest_command_text(command) : NULL;
		rc = text ? 0 : -ENOMEM;
		fprintf(out, "%s boot %u: %s\n", ab.prepared.series.arms[which->arm].name,
			which->number, text ? text : "");
		guest_command_free(command);
		free(text);
	}
	fprintf(out, "%u at once\n", ab.slot_count);
out:
	release(&ab);
	return rc;
}
