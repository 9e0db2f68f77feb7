// SPDX-License-Identifier: GPL-2.0-only
/* Runs one guest from start to end. */
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/clock.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "../../results/record.h"
#include "cache.h"
#include "console.h"

#define CONSOLE_CHECK_NS NS_PER_S
/* after a fatal report the kernel may have more to print; after the exit record, to power off */
#define FATAL_GRACE_NS	   (3 * NS_PER_S)
#define POWER_OFF_GRACE_NS (20 * NS_PER_S)
#define LINE_BYTES_MAX	   (256UL << 20)

struct boot {
	const struct boot_request *request;
	struct log *log;
	struct record *record;
	char *console_path, *emulator_log;
	char **command;
	pid_t pid;
	int channel;
	bool channel_open, gone;
	char *job; /* the line, and what of it was sent */
	size_t job_length, job_sent;
	char *input; /* what came and is not a whole line yet */
	size_t input_used, input_size;
	uint64_t started_ns, hello_ns, last_record_ns, deadline_ns;
	uint64_t console_checked_ns;
	off_t console_size;
	unsigned int outcomes;
	struct boot_result result;
	char *kernel_log;
	int write_error; /* of the records */
};

/* The first failure stands. Takes over detail. */
static void fail(struct boot *boot, const char *name, char *detail)
{
	if (boot->result.failure) {
		free(detail);
		return;
	}
	boot->result.failure = name;
	boot->result.detail = detail;
}

static void end_guest(struct boot *boot)
{
	int status;

	if (boot->gone)
		return;
	kill(boot->pid, SIGKILL);
	waitpid(boot->pid, &status, 0);
	boot->gone = true;
}

/* In the child: the emulator dies with the lab, and Ctrl-C is the lab's to handle. */
static void become_guest(const struct boot *boot, int channel, pid_t parent)
{
	int in = open("/dev/null", O_RDONLY);
	int out = open(boot->emulator_log, O_WRONLY | O_CREAT | O_APPEND, 0644);

	setpgid(0, 0);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || fcntl(channel, F_SETFD, 0))
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	execv(boot->command[0], boot->command);
	_exit(127);
}

static int make_folder(struct boot *boot)
{
	const struct boot_request *request = boot->request;
	int rc;

	if (request->records)
		return record_create(request->folder, boot->log, &boot->record);
	rc = fs_make_folders(request->folder, 0755);
	return rc ? cache_say(boot->log, request->folder, rc) : 0;
}

static int start_emulator(struct boot *boot)
{
	struct lab_guest guest = boot->request->guest;
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	boot->channel = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	guest.console_path = boot->console_path;
	guest.channel = ends[1];
	boot->command = guest_command(&guest);
	boot->pid = boot->command ? fork() : -1;
	if (!boot->pid)
		become_guest(boot, ends[1], parent);
	close(ends[1]);
	if (boot->pid < 0)
		return boot->command ? -errno : -ENOMEM;
	boot->gone = false;
	boot->channel_open = true;
	return 0;
}

static void release(struct boot *boot)
{
	record_close(boot->record);
	if (boot->channel >= 0)
		close(boot->channel);
	guest_command_free(boot->command);
	free(boot->console_path);
	free(boot->emulator_log);
	free(boot->job);
	free(boot->input);
	free(boot->kernel_log);
	free(boot);
}

/* Of machine.json, what the guest cannot know. A command's records are no numbered boot. */
static json_t *machine_facts(const struct boot_request *request)
{
	const struct lab_guest *guest = &request->guest;
	json_t *boot = request->records ? json_integer(request->number) : json_null();
	struct utsname host;
	int rc = 0;
	char *memory = guest->memory ? lab_memory_text(guest->memory, &rc) : NULL;
	json_t *facts;

	uname(&host);
	facts = json_pack("{s:s,s:o,s:{s:s,s:o,s:s,s:b,s:s?,s:s?,s:s*,s:s}}", "arm", request->arm,
			  "boot", boot, "guest", "host", host.nodename, "emulator",
			  json_sprintf("QEMU %s", request->emulator_version), "accel", guest->accel,
			  "emulated_time", strcmp(guest->accel, "kvm") != 0, "memory", memory,
			  "instruments", request->instruments, "config", request->options_key,
			  "arguments", guest->arguments ? guest->arguments : "");
	free(memory);
	if (!rc)
		return facts;
	json_decref(facts);
	return NULL;
}

/* The job with what the guest has to know and to make ready first. */
static char *dump_job(const struct boot_request *request)
{
	const struct lab_memory *memory = request->guest.memory;
	json_t *job = json_copy(request->job);
	char *text;

	if (job && json_object_set_new(job, "machine", machine_facts(request))) {
		json_decref(job);
		return NULL;
	}
	if (job && memory && memory->cxl_bytes)
		json_object_set_new(job, "cxl",
				    json_pack("{s:I,s:i}", "size_bytes",
					      (json_int_t)memory->cxl_bytes, "ways",
					      (int)memory->cxl_ways));
	text = job ? json_dumps(job, JSON_COMPACT) : NULL;
	json_decref(job);
	return text;
}

int boot_start(const struct boot_request *request, struct log *log, struct boot **started)
{
	struct boot *boot = calloc(1, sizeof(*boot));
	char *dump = dump_job(request);
	int rc = -ENOMEM;

	if (!boot)
		goto out;
	*boot = (struct boot){ .request = request,
			       .log = log,
			       .channel = -1,
			       .gone = true,
			       .result = { .exit_code = -1, .hello_s = -1 } };
	boot->console_path = format_string("%s/console.log", request->folder);
	boot->emulator_log = format_string("%s/emulator.log", request->folder);
	if (!dump) {
		rc = -EINVAL;
		log_error(log, "what the guest has to do cannot be sent: are the command and "
			       "--append UTF-8?");
		goto out;
	}
	boot->job = format_string("%s\n", dump);
	rc = boot->console_path && boot->emulator_log && boot->job ? make_folder(boot) : -ENOMEM;
	if (rc)
		goto out;
	boot->job_length = strlen(boot->job);
	boot->started_ns = boot->last_record_ns = monotonic_ns();
	boot->deadline_ns = boot->started_ns + request->boot_timeout_ns;
	rc = start_emulator(boot);
	if (rc)
		log_error(log, "cannot start %s: %s", request->guest.emulator, strerror(-rc));
out:
	free(dump);
	if (rc && boot)
		release(boot);
	if (!rc)
		*started = boot;
	return rc;
}

int boot_channel(const struct boot *boot)
{
	return boot->channel_open ? boot->channel : -1;
}

unsigned int boot_outcomes(const struct boot *boot)
{
	return boot->outcomes;
}

/* Is the kernel that greets us the one that was asked for, with all its CPUs? */
static void take_hello(struct boot *boot, json_t *data)
{
	const struct lab_kernel *kernel = boot->request->kernel;
	const char *release, *version;
	size_t length;
	int cpus;

	boot->hello_ns = monotonic_ns();
	boot->result.hello_s = (boot->hello_ns - boot->started_ns) / 1e9;
	if (json_unpack(data, "{s:s,s:s,s:i}", "release", &release, "version", &version, "cpus",
			&cpus)) {
		fail(boot, "protocol", strdup("the guest's greeting is not understood"));
		return;
	}
	/* uname cuts a version at 64 characters */
	length = strlen(version) < strlen(kernel->version) ? strlen(version)
							   : strlen(kernel->version);
	if (strcmp(release, kernel->release) || length < 2 ||
	    strncmp(version, kernel->version, length))
		fail(boot, "wrong-kernel",
		     format_string("asked for \"%s %s\", the guest runs \"%s %s\"", kernel->release,
				   kernel->version, release, version));
	else if (cpus >= 0 && (unsigned int)cpus != boot->request->guest.cpus)
		fail(boot, "missing-cpus",
		     format_string("%u CPUs were asked for, %d are online",
				   boot->request->guest.cpus, cpus));
}

static void take_output(const struct boot *boot, const json_t *data)
{
	const char *stream = json_string_value(json_object_get(data, "stream"));
	const json_t *text = json_object_get(data, "text");
	FILE *to = stream && !strcmp(stream, "err") ? boot->request->err : boot->request->out;

	if (to && text) {
		fwrite(json_string_value(text), 1, json_string_length(text), to);
		fflush(to);
	}
}

static void take_exit(struct boot *boot, const json_t *data)
{
	const json_t *code = json_object_get(data, "code");
	const char *text = json_string_value(json_object_get(data, "log"));

	boot->result.exit_code = json_is_integer(code) ? json_integer_value(code) : EXIT_BROKEN;
	if (text && !boot->kernel_log)
		boot->kernel_log = strdup(text);
	boot->deadline_ns = monotonic_ns() + POWER_OFF_GRACE_NS;
}

static void take_record(struct boot *boot, const json_t *data, const char *line, size_t length)
{
	int rc;

	if (!boot->record || boot->write_error)
		return;
	rc = record_receive(boot->record, line, length);
	if (rc == -EBADMSG) {
		fail(boot, "protocol", format_string("not a record: %.80s", line));
	} else if (rc) {
		boot->write_error = rc;
		fail(boot, rc == -ENOSPC || rc == -EDQUOT ? "disk-full" : "write-error",
		     format_string("records could not be kept: %s; what came before is whole",
				   strerror(-rc)));
	}
	boot->outcomes += json_object_get(data, "outcome") != NULL;
}

static char *json_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? strdup(text) : NULL;
}

static void take_line(struct boot *boot, const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, JSON_ALLOW_NUL, NULL);
	const char *kind = json_string_value(json_object_get(object, "record"));
	json_t *data = json_object_get(object, "data");

	boot->last_record_ns = monotonic_ns();
	if (!kind || !json_is_object(data))
		fail(boot, "protocol",
		     format_string("not a record: %.*s", length < 80 ? (int)length : 80, line));
	else if (!strcmp(kind, "hello"))
		take_hello(boot, data);
	else if (!strcmp(kind, "output"))
		take_output(boot, data);
	else if (!strcmp(kind, "unready"))
		fail(boot, "unready", json_text(json_object_get(data, "detail")));
	else if (!strcmp(kind, "exit"))
		take_exit(boot, data);
	else
		take_record(boot, data, line, length);
	json_decref(object);
}

/* Takes what the channel has; whole lines are handled. */
static void receive(struct boot *boot)
{
	while (boot->channel_open) {
		char *newline, *line;
		ssize_t got;

		if (boot->input_size - boot->input_used < 65536) {
			char *larger = realloc(boot->input, boot->input_size + (1 << 20));

			if (!larger || boot->input_size > LINE_BYTES_MAX) {
				fail(boot, "protocol", strdup("a record without an end"));
				boot->channel_open = false;
				return;
			}
			boot->input = larger;
			boot->input_size += 1 << 20;
		}
		got = read(boot->channel, boot->input + boot->input_used,
			   boot->input_size - boot->input_used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			boot->channel_open = false;
			return;
		}
		boot->input_used += got;
		line = boot->input;
		while ((newline = memchr(line, '\n', boot->input + boot->input_used - line))) {
			*newline = '\0';
			take_line(boot, line, newline - line);
			line = newline + 1;
		}
		boot->input_used -= line - boot->input;
		memmove(boot->input, line, boot->input_used);
	}
}

static void send_job(struct boot *boot)
{
	while (boot->channel_open && boot->job_sent < boot->job_length) {
		ssize_t put = send(boot->channel, boot->job + boot->job_sent,
				   boot->job_length - boot->job_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put <= 0)
			return;
		boot->job_sent += put;
	}
}

/* Names what the console shows; the kernel's report is the cause, whatever else was noticed. */
static bool scan_text(struct boot *boot, const char *text, size_t length)
{
	struct console_finding finding;
	bool fatal;

	if (console_scan(text, length, &finding) != 1)
		return false;
	fatal = finding.fatal;
	if (boot->result.failure && strcmp(boot->result.failure, "wrong-kernel")) {
		free(boot->result.detail);
		boot->result.failure = NULL;
	}
	fail(boot, finding.name, finding.excerpt);
	return fatal;
}

static bool scan_console(struct boot *boot)
{
	char *text;
	size_t length;
	bool fatal;

	if (fs_read("", boot->console_path, &text, &length))
		return false;
	fatal = scan_text(boot, text, length);
	free(text);
	return fatal;
}

/* A kernel that reported its own end gets little time to print the rest. */
static void watch_console(struct boot *boot, uint64_t now)
{
	struct console_finding finding;
	struct stat status;
	char *text;
	size_t length;

	if (now - boot->console_checked_ns < CONSOLE_CHECK_NS ||
	    stat(boot->console_path, &status) || status.st_size == boot->console_size)
		return;
	boot->console_checked_ns = now;
	boot->console_size = status.st_size;
	if (fs_read("", boot->console_path, &text, &length))
		return;
	if (console_scan(text, length, &finding) == 1) {
		free(finding.excerpt);
		if (finding.fatal && boot->deadline_ns > now + FATAL_GRACE_NS)
			boot->deadline_ns = now + FATAL_GRACE_NS;
	}
	free(text);
}

static bool past(uint64_t now, uint64_t since, uint64_t limit)
{
	return limit && now > since && now - since > limit;
}

/* Is the guest out of time? Then why was noted, unless its job is done. */
static bool out_of_time(struct boot *boot, uint64_t now)
{
	const struct boot_request *request = boot->request;

	if (boot->result.exit_code >= 0)
		return now > boot->deadline_ns;
	if (!boot->hello_ns) {
		if (now <= boot->deadline_ns)
			return false;
		fail(boot, "boot-timeout",
		     format_string("no greeting within %.0f s", (now - boot->started_ns) / 1e9));
		return true;
	}
	/* once it greeted, the deadline is only there after a fatal report */
	if (boot->deadline_ns && now > boot->deadline_ns)
		return true;
	if (past(now, boot->last_record_ns, request->step_timeout_ns))
		fail(boot, "hang",
		     format_string("nothing came for %.0f s", (now - boot->last_record_ns) / 1e9));
	else if (past(now, boot->hello_ns, request->total_timeout_ns))
		fail(boot, "timeout",
		     format_string("the command was not done after %.0f s",
				   (now - boot->hello_ns) / 1e9));
	else
		return false;
	return true;
}

/* The emulator ended by itself: whatever it sent last is still in the channel. */
static void take_end(struct boot *boot, int status)
{
	char *tail;

	boot->gone = true;
	receive(boot);
	if (boot->result.exit_code >= 0)
		return;
	tail = spawn_log_tail(boot->emulator_log, 3);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail(boot, "emulator-failed",
		     format_string("%s ended with %s %d: %s", boot->request->guest.emulator,
				   WIFEXITED(status) ? "status" : "signal",
				   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
				   tail && *tail ? tail : "it said nothing"));
	else
		fail(boot, "guest-ended",
		     strdup("it restarted or powered off before its job was done"));
	free(tail);
}

bool boot_step(struct boot *boot)
{
	bool greeted = boot->hello_ns != 0;
	uint64_t now;
	int status;

	if (boot->gone)
		return false;
	send_job(boot);
	receive(boot);
	now = monotonic_ns();
	if (!greeted && boot->hello_ns && boot->result.exit_code < 0)
		boot->deadline_ns = UINT64_MAX;
	if (waitpid(boot->pid, &status, WNOHANG) == boot->pid) {
		take_end(boot, status);
		return false;
	}
	watch_console(boot, now);
	if (spawn_interrupted() || boot->write_error || out_of_time(boot, now) ||
	    (boot->result.failure && !strcmp(boot->result.failure, "wrong-kernel"))) {
		end_guest(boot);
		receive(boot);
		return false;
	}
	return true;
}

static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;

	return value ? value : json_null();
}

static json_t *describe(const struct boot *boot)
{
	const struct boot_request *request = boot->request;
	const struct boot_result *result = &boot->result;
	int rc = 0;
	char *memory = request->guest.memory ? lab_memory_text(request->guest.memory, &rc) : NULL;
	json_t *command = json_array(), *facts;

	for (char **argument = boot->command; *argument; argument++)
		json_array_append_new(command, json_string(*argument));
	facts = json_pack(
		"{s:s,s:i,s:o,s:i,s:s,s:o,s:o,s:o,s:{s:o,s:s,s:s},s:o,s:o,s:s,s:o,s:o,s:o,s:f}",
		"schema", "shootdown-boot", "version", 1, "arm", text_or_null(request->arm), "boot",
		(int)request->number, "outcome", outcome_name(result->outcome), "failure",
		text_or_null(result->failure), "detail", text_or_null(result->detail), "exit_code",
		result->exit_code < 0 ? json_null() : json_integer(result->exit_code), "kernel",
		"key", text_or_null(request->kernel->key), "release", request->kernel->release,
		"version", request->kernel->version, "instruments",
		text_or_null(request->instruments), "emulator",
		text_or_null(request->emulator_version), "accel", request->guest.accel, "memory",
		text_or_null(memory), "command", command, "hello_s",
		result->hello_s < 0 ? json_null() : json_real(result->hello_s), "total_s",
		result->total_s);
	free(memory);
	return facts;
}

static int write_file(const struct boot *boot, const char *name, const char *text)
{
	char *path = format_string("%s/%s", boot->request->folder, name);
	int rc = path ? fs_replace(path, text, strlen(text)) : -ENOMEM;

	if (rc && path)
		cache_say(boot->log, path, rc);
	free(path);
	return rc;
}

static enum outcome judge(const struct boot *boot)
{
	static const char *const set_up[] = { "wrong-kernel", "emulator-failed", "protocol",
					      "disk-full",    "write-error",	 "missing-cpus",
					      "unready" };
	const char *failure = boot->result.failure;

	if (!failure && boot->result.exit_code < 0)
		return OUTCOME_INTERRUPTED;
	for (size_t i = 0; failure && i < sizeof(set_up) / sizeof(set_up[0]); i++)
		if (!strcmp(failure, set_up[i]))
			return OUTCOME_BROKEN;
	if (failure)
		return OUTCOME_FAIL;
	switch (boot->result.exit_code) {
	case EXIT_DONE:
		return OUTCOME_PASS;
	case EXIT_FAILED:
		return OUTCOME_FAIL;
	case EXIT_SKIPPED:
		return OUTCOME_SKIP;
	default:
		return OUTCOME_BROKEN;
	}
}

int boot_finish(struct boot *boot, struct boot_result *result)
{
	struct stat status;
	json_t *facts;
	char *text;
	int rc = boot->write_error;

	end_guest(boot);
	boot->result.total_s = (monotonic_ns() - boot->started_ns) / 1e9;
	scan_console(boot);
	if (boot->kernel_log) {
		scan_text(boot, boot->kernel_log, strlen(boot->kernel_log));
		rc = rc ? rc : write_file(boot, "dmesg.log", boot->kernel_log);
	}
	boot->result.outcome = judge(boot);
	facts = describe(boot);
	text = facts ? json_dumps(facts, JSON_INDENT(1)) : NULL;
	if (!rc)
		rc = text ? write_file(boot, "boot.json", text) : -ENOMEM;
	if (!stat(boot->emulator_log, &status) && !status.st_size)
		unlink(boot->emulator_log);
	free(text);
	json_decref(facts);
	*result = boot->result;
	release(boot);
	return rc;
}

void boot_result_release(struct boot_result *result)
{
	free(result->detail);
	*result = (struct boot_result){ 0 };
}
