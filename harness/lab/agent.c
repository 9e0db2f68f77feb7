// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process 1 of a guest: mounts what a run needs, greets, takes its job from the
 * channel (boot.h has the protocol), does it in a child, sends the kernel's log and
 * powers off. In the measured window it waits for that child and does nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/cpus.h"
#include "../../lib/cxl_create.h"
#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "guest.h"
#include "lab.h"

#define PORT_WAIT_MS	    60000
#define KERNEL_RECORD_BYTES 8192

struct mount_row {
	const char *target, *type, *options;
	bool optional; /* kernels without it are fine */
};

static const struct mount_row mounts[] = {
	{ "/proc", "proc", NULL, false },
	{ "/sys", "sysfs", NULL, false },
	{ "/dev", "devtmpfs", NULL, false },
	{ "/dev/shm", "tmpfs", "mode=1777", true },
	{ "/run", "tmpfs", "mode=0755", false },
	{ "/tmp", "tmpfs", "mode=1777", false },
	{ "/sys/fs/cgroup", "cgroup2", NULL, true },
	{ "/sys/kernel/debug", "debugfs", NULL, true },
	{ "/sys/kernel/tracing", "tracefs", NULL, true },
};

static void mount_all(struct log *log)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const struct mount_row *row = &mounts[i];

		if (mkdir(row->target, 0755) && errno != EEXIST && row->optional)
			continue;
		if (mount(row->type, row->target, row->type, 0, row->options) && !row->optional &&
		    errno != EBUSY)
			log_error(log, "cannot mount %s on %s: %s", row->type, row->target,
				  strerror(errno));
	}
}

/* Our own streams are the console, whatever the kernel gave us. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	for (int i = 0; fd >= 0 && i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* The device of the port with our name; -ENOENT when there is none (yet). */
static int find_port(void)
{
	static const char ports[] = "/sys/class/virtio-ports";
	DIR *folder = opendir(ports);
	struct dirent *entry;
	int fd = -ENOENT;

	while (folder && fd < 0 && (entry = readdir(folder))) {
		char *name_path = format_string("%s/%s/name", ports, entry->d_name), *name = NULL;
		char *device = format_string("/dev/%s", entry->d_name);

		if (name_path && device && !fs_read_value("", name_path, &name) &&
		    !strcmp(name, GUEST_PORT))
			fd = open(device, O_RDWR | O_CLOEXEC);
		free(name_path);
		free(device);
		free(name);
	}
	if (folder)
		closedir(folder);
	return fd;
}

/* The host names the port some time after the device is there. */
static int open_port(void)
{
	int fd = find_port();

	for (int waited_ms = 0; fd < 0 && waited_ms < PORT_WAIT_MS; waited_ms += 10) {
		usleep(10000);
		fd = find_port();
	}
	return fd;
}

static int send_record(int port, const char *kind, json_t *data)
{
	json_t *record = json_pack("{s:s,s:o}", "record", kind, "data", data);
	char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0, sent = 0;
	int rc = text ? 0 : -ENOMEM;

	if (text)
		text[length++] = '\n'; /* in the place of its NUL */
	while (!rc && sent < length) {
		ssize_t put = write(port, text + sent, length - sent);

		if (put > 0)
			sent += put;
		else if (put < 0 && errno != EINTR)
			rc = -errno;
	}
	free(text);
	json_decref(record);
	return rc;
}

/*
 * CPUs that the kernel was told to leave for later (maxcpus=1 and isolcpus, see
 * guest.c); from here on everything may run on all of them. What stays offline is
 * for the host to notice: the hello says how many are there.
 */
static void bring_up_cpus(void)
{
	hwloc_bitmap_t present, online;
	unsigned int cpu;
	char path[64];

	if (cpus_from_file("", "/sys/devices/system/cpu/present", &present))
		return;
	hwloc_bitmap_foreach_begin(cpu, present)
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fs_write("", path, "1");
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(present);
	if (cpus_from_file("", "/sys/devices/system/cpu/online", &online))
		return;
	cpus_set_affinity(online);
	hwloc_bitmap_free(online);
}

static int send_hello(int port)
{
	struct utsname names;
	struct timespec uptime;

	uname(&names);
	clock_gettime(CLOCK_BOOTTIME, &uptime);
	return send_record(port, "hello",
			   json_pack("{s:s,s:s,s:s,s:i,s:f}", "release", names.release, "version",
				     names.version, "machine", names.machine, "cpus",
				     (int)sysconf(_SC_NPROCESSORS_ONLN), "uptime_s",
				     uptime.tv_sec + uptime.tv_nsec / 1e9));
}

/* One line; caller frees. NULL: the host has gone or memory is out. */
static char *read_line(int port)
{
	size_t used = 0, size = 65536;
	char *line = malloc(size);

	while (line) {
		ssize_t got = read(port, line + used, size - used - 1);
		char *newline;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += got;
		line[used] = '\0';
		newline = strchr(line + used - got, '\n');
		if (newline) {
			*newline = '\0';
			return line;
		}
		if (size - used < 4096) {
			char *larger = realloc(line, size *= 2);

			if (!larger)
				break;
			line = larger;
		}
	}
	free(line);
	return NULL;
}

/* In the child: the run, its records straight to the port. */
static int run_job_plan(int port, const json_t *job, struct log *log)
{
	json_t *machine = machine_describe("");
	struct run_result result = { 0 };
	struct record *record = NULL;
	struct plan *plan = NULL;
	int rc = machine ? plan_from_json(json_object_get(job, "plan"), log, &plan) : -ENOMEM;

	if (!rc)
		rc = record_stream(port, &record);
	if (!rc)
		rc = run_plan(plan, machine, record, log, &result);
	record_close(record);
	plan_free(plan);
	json_decref(machine);
	return rc ? EXIT_BROKEN : (int)run_exit_code(&result);
}

/* What is no text would be no JSON. */
static json_t *make_text(char *bytes, size_t length)
{
	json_t *text = json_stringn(bytes, length);

	for (size_t i = 0; !text && i < length; i++)
		if ((unsigned char)bytes[i] >= 0x80)
			bytes[i] = '?';
	return text ? text : json_stringn(bytes, length);
}

/* False at the stream's end. */
static bool forward(int port, int from, const char *stream)
{
	char bytes[16384];
	ssize_t got = read(from, bytes, sizeof(bytes));

	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	return !send_record(port, "output",
			    json_pack("{s:s,s:o}", "stream", stream, "text",
				      make_text(bytes, got)));
}

static int exit_code_of(pid_t pid)
{
	pid_t ended;
	int status;

	/* orphans of the job are ours to reap, too */
	do {
		ended = wait(&status);
	} while (ended != pid && (ended > 0 || errno == EINTR));
	if (ended != pid)
		return EXIT_BROKEN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void become_command(char *const *argv, int out, int err)
{
	int in = open("/dev/null", O_RDONLY);

	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	execvp(argv[0], argv);
	dprintf(2,
		"shootdown: error: cannot start %s in the guest: %s (--add takes programs along)\n",
		argv[0], strerror(errno));
	_exit(127);
}

static int run_job_command(int port, const json_t *job)
{
	json_t *list = json_object_get(job, "argv"), *entry;
	char **argv = calloc(json_array_size(list) + 1, sizeof(*argv));
	int out[2], err[2];
	size_t i;
	pid_t pid;

	if (!argv || !json_array_size(list) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		free(argv);
		return EXIT_BROKEN;
	}
	json_array_foreach(list, i, entry)
		argv[i] = (char *)json_string_value(entry);
	pid = fork();
	if (!pid)
		become_command(argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	for (bool out_open = true, err_open = true; pid > 0 && (out_open || err_open);) {
		struct pollfd streams[] = { { out_open ? out[0] : -1, POLLIN, 0 },
					    { err_open ? err[0] : -1, POLLIN, 0 } };

		if (poll(streams, 2, -1) < 0 && errno != EINTR)
			break;
		if (streams[0].revents)
			out_open = forward(port, out[0], "out");
		if (streams[1].revents)
			err_open = forward(port, err[0], "err");
	}
	close(out[0]);
	close(err[0]);
	free(argv);
	return pid > 0 ? exit_code_of(pid) : EXIT_BROKEN;
}

/* CXL memory is online before anything runs. What went wrong is told to the host. */
static bool make_memory(int port, const json_t *job)
{
	const json_t *wanted = json_object_get(job, "cxl");
	struct cxl_wish wish = {
		.size_bytes = json_integer_value(json_object_get(wanted, "size_bytes")),
		.ways = json_integer_value(json_object_get(wanted, "ways")),
	};
	char *why = NULL;
	int err = wanted ? cxl_create(&wish, &why) : 0;

	if (err)
		send_record(port, "unready",
			    json_pack("{s:o}", "detail",
				      json_sprintf("the CXL memory cannot be used: %s",
						   why ? why : strerror(-err))));
	free(why);
	return !err;
}

static int do_job(int port, struct log *log)
{
	char *line = read_line(port);
	json_t *job = line ? json_loads(line, 0, NULL) : NULL;
	const char *kind = json_string_value(json_object_get(job, "kind"));
	int code = EXIT_BROKEN;
	pid_t pid;

	if (job && json_dump_file(json_object_get(job, "machine"), MACHINE_LAB_PATH, 0)) {
		log_error(log, "cannot keep what the host says of this guest (is it the same "
			       "version of shootdown?)");
	} else if (job && !make_memory(port, job)) {
		log_error(log, "the guest's CXL memory could not be made");
	} else if (kind && !strcmp(kind, "plan")) {
		pid = fork();
		if (!pid) {
			spawn_catch_signals();
			_exit(run_job_plan(port, job, log));
		}
		code = pid > 0 ? exit_code_of(pid) : EXIT_BROKEN;
	} else if (kind && !strcmp(kind, "command")) {
		code = run_job_command(port, job);
	} else {
		log_error(log, "the host sent no job that this guest knows");
	}
	json_decref(job);
	free(line);
	return code;
}

/* "PRIORITY,SEQUENCE,MICROSECONDS,...;TEXT" as the kernel's console shows it. */
static void print_kernel_record(FILE *to, const char *record)
{
	unsigned long long sequence, time_us;
	unsigned int priority;
	const char *text = strchr(record, ';');

	if (!text || sscanf(record, "%u,%llu,%llu", &priority, &sequence, &time_us) != 3)
		return;
	text++;
	fprintf(to, "<%u>[%5llu.%06llu] %.*s\n", priority & 7, time_us / 1000000, time_us % 1000000,
		(int)strcspn(text, "\n"), text);
}

/* The whole kernel log; caller frees, NULL: not readable. */
static char *read_kernel_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[KERNEL_RECORD_BYTES], *text = NULL;
	size_t length;
	FILE *to = fd < 0 ? NULL : open_memstream(&text, &length);
	ssize_t got;

	/* EPIPE: older records were overwritten meanwhile */
	while (to &&
	       ((got = read(fd, record, sizeof(record) - 1)) > 0 || (got < 0 && errno == EPIPE))) {
		if (got < 0)
			continue;
		record[got] = '\0';
		print_kernel_record(to, record);
	}
	if (to)
		fclose(to);
	if (fd >= 0)
		close(fd);
	return text;
}

static void send_exit(int port, int code)
{
	char *text = read_kernel_log();
	json_t *log = text ? make_text(text, strlen(text)) : NULL;

	send_record(port, "exit",
		    json_pack("{s:i,s:o}", "code", code, "log", log ? log : json_null()));
	free(text);
}

int lab_agent(void)
{
	struct log log;
	int port;

	log_open(&log, stderr, LOG_LEVEL_WARN);
	mount_all(&log);
	open_console();
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	umask(022);
	bring_up_cpus();
	port = open_port();
	if (port < 0)
		log_error(&log,
			  "there is no port \"" GUEST_PORT "\": this program is process 1 of the "
			  "lab's guests");
	else if (!send_hello(port))
		send_exit(port, do_job(port, &log));
	reboot(RB_POWER_OFF);
	return EXIT_BROKEN;
}
