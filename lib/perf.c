// SPDX-License-Identifier: GPL-2.0-only
/* Opens, starts, stops and reads counters of perf events; see perf.h. */
#include "perf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpus.h"
#include "fs.h"

#define UNITS_FOLDER "/sys/bus/event_source/devices"

/* Descriptors left free for everything else when the limit is raised. */
#define SPARE_FILES 64

int perf_paranoid(const char *root, int *level)
{
	char *text, *end;
	long value;
	int err;

	err = fs_read_value(root, "/proc/sys/kernel/perf_event_paranoid", &text);
	if (err)
		return err;
	value = strtol(text, &end, 10);
	err = end == text || *end ? -EINVAL : 0;
	free(text);
	if (!err)
		*level = (int)value;
	return err;
}

int perf_need_files(unsigned int more)
{
	struct rlimit limit, wanted;
	int lowest;

	lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (lowest < 0)
		return -errno;
	close(lowest);
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	wanted = limit;
	wanted.rlim_cur = (rlim_t)lowest + more + SPARE_FILES;
	if (limit.rlim_cur != RLIM_INFINITY && wanted.rlim_cur <= limit.rlim_cur)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && wanted.rlim_cur > limit.rlim_max)
		wanted.rlim_max = wanted.rlim_cur;
	return setrlimit(RLIMIT_NOFILE, &wanted) ? -EMFILE : 0;
}

/* The folder of the counting unit that has this type number; NULL: none, or no memory. */
static char *find_unit(unsigned int type)
{
	unsigned long long number;
	struct dirent *entry;
	char *path = NULL;
	DIR *folder;

	folder = opendir(UNITS_FOLDER);
	if (!folder)
		return NULL;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		path = format_string(UNITS_FOLDER "/%s", entry->d_name);
		if (path && !fs_read_u64(path, "/type", &number) && number == type)
			break;
		free(path);
		path = NULL;
	}
	closedir(folder);
	return path;
}

/*
 * The CPUs to open an event on. A unit outside of the cores lists one CPU a socket in
 * cpumask: opened on every CPU it would be counted many times. The unit of one
 * kind of core lists its CPUs in cpus.
 */
static int choose_cpus(unsigned int type, const struct perf_targets *targets, hwloc_bitmap_t *cpus)
{
	hwloc_bitmap_t chosen = hwloc_bitmap_alloc(), listed = NULL;
	char *unit = NULL;
	unsigned int i;

	if (!chosen)
		return -ENOMEM;
	for (i = 0; i < targets->cpu_count; i++)
		hwloc_bitmap_set(chosen, targets->cpus[i]);
	if (type >= PERF_TYPE_MAX)
		unit = find_unit(type);
	if (unit && !cpus_from_file(unit, "/cpumask", &listed))
		hwloc_bitmap_copy(chosen, listed);
	else if (unit && !cpus_from_file(unit, "/cpus", &listed))
		hwloc_bitmap_and(chosen, chosen, listed);
	hwloc_bitmap_free(listed);
	free(unit);
	*cpus = chosen;
	return 0;
}

static char *explain_denied(const struct perf_event *event)
{
	int level;

	if (perf_paranoid("", &level))
		return format_string("the kernel refuses: run as root or with CAP_PERFMON");
	if (event->by_task)
		return format_string(
			"perf_event_paranoid is %d: run as root or with CAP_PERFMON, set "
			"kernel.perf_event_paranoid to 1 or less, or count user mode "
			"alone (NAME:u@task)",
			level);
	return format_string("perf_event_paranoid is %d: to count on every CPU run as root or with "
			     "CAP_PERFMON, or set kernel.perf_event_paranoid to 0 or less",
			     level);
}

static char *explain_unsupported(const struct perf_event *event, int err)
{
	switch (err) {
	case ENOSYS:
		return strdup("this kernel has no perf events (CONFIG_PERF_EVENTS)");
	case ENOENT:
	case EOPNOTSUPP:
		return strdup(
			event->attr.type == PERF_TYPE_HARDWARE ||
					event->attr.type == PERF_TYPE_HW_CACHE ||
					event->attr.type == PERF_TYPE_RAW
				? "this machine has no hardware counter for it (a virtual machine often has none)"
				: "this kernel cannot count it");
	case EINVAL:
		return strdup(event->by_task ? "it cannot be counted by task here; try @cpu"
					     : "this kernel does not take this event");
	case EBUSY:
	case ENOSPC:
		return strdup("all counters are taken by another user of perf");
	default:
		return format_string("perf_event_open: %s", strerror(err));
	}
}

/* From an errno of perf_event_open(2) to a status with its reason. */
static int note_failure(const struct perf_event *event, int err, struct perf_counter *counter)
{
	if (err == EMFILE || err == ENFILE)
		return -EMFILE;
	if (err == ENOMEM)
		return -ENOMEM;
	if (err == EACCES || err == EPERM) {
		counter->status = VALUE_NOT_PERMITTED;
		counter->reason = explain_denied(event);
	} else if (err == ESRCH) {
		counter->status = VALUE_FAILED;
		counter->reason = strdup("a task of the run had ended before it could be counted");
	} else {
		counter->status = VALUE_UNSUPPORTED;
		counter->reason = explain_unsupported(event, err);
	}
	return counter->reason ? 0 : -ENOMEM;
}

/* 0 with counter->status set when the kernel refuses this event. */
static int open_one(const struct perf_event *event, pid_t task, int cpu,
		    struct perf_counter *counter)
{
	struct perf_event_attr attr = event->attr;
	int file;

	file = (int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (file < 0)
		return note_failure(event, errno, counter);
	if (event->filter && ioctl(file, PERF_EVENT_IOC_SET_FILTER, event->filter)) {
		counter->status = VALUE_UNSUPPORTED;
		counter->reason = format_string("the kernel does not take the filter \"%s\": %s",
						event->filter, strerror(errno));
		close(file);
		return counter->reason ? 0 : -ENOMEM;
	}
	counter->files[counter->count] = file;
	counter->cpus[counter->count] = cpu;
	counter->count++;
	return 0;
}

static int make_room(struct perf_counter *counter, unsigned int count)
{
	counter->files = calloc(count + 1, sizeof(*counter->files));
	counter->cpus = calloc(count + 1, sizeof(*counter->cpus));
	counter->before = calloc(count + 1, sizeof(*counter->before));
	if (!counter->files || !counter->cpus || !counter->before)
		return -ENOMEM;
	return perf_need_files(count);
}

static int open_tasks(const struct perf_event *event, const struct perf_targets *targets,
		      struct perf_counter *counter)
{
	unsigned int i;
	int err;

	err = make_room(counter, targets->task_count);
	for (i = 0; !err && counter->status == VALUE_OK && i < targets->task_count; i++)
		if (targets->tasks[i])
			err = open_one(event, targets->tasks[i], -1, counter);
	return err;
}

static int open_cpus(const struct perf_event *event, const struct perf_targets *targets,
		     struct perf_counter *counter)
{
	hwloc_bitmap_t cpus;
	int err, cpu;

	err = choose_cpus(event->attr.type, targets, &cpus);
	if (err)
		return err;
	err = make_room(counter, (unsigned int)hwloc_bitmap_weight(cpus));
	for (cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu)) {
		if (err || counter->status != VALUE_OK)
			break;
		err = open_one(event, -1, cpu, counter);
	}
	hwloc_bitmap_free(cpus);
	return err;
}

static void close_files(struct perf_counter *counter)
{
	while (counter->count)
		close(counter->files[--counter->count]);
}

int perf_counter_open(const struct perf_event *event, const struct perf_targets *targets,
		      struct perf_counter *counter)
{
	struct perf_counter made = { .status = event->status };
	int err = 0;

	if (event->status != VALUE_OK) {
		made.reason = strdup(event->reason);
		err = made.reason ? 0 : -ENOMEM;
	} else if (event->by_task) {
		err = open_tasks(event, targets, &made);
	} else {
		err = open_cpus(event, targets, &made);
	}
	if (!err && made.status == VALUE_OK && !made.count) {
		made.status = VALUE_UNSUPPORTED;
		made.reason = strdup("nothing of this run can be counted with it");
		err = made.reason ? 0 : -ENOMEM;
	}
	if (err) {
		perf_counter_close(&made);
		return err;
	}
	/* a part of the CPUs or tasks would be a wrong number */
	if (made.status != VALUE_OK)
		close_files(&made);
	*counter = made;
	return 0;
}

static int control(const struct perf_counter *counter, unsigned long request)
{
	unsigned int i;

	for (i = 0; i < counter->count; i++)
		if (ioctl(counter->files[i], request, 0))
			return -errno;
	return 0;
}

int perf_counter_start(struct perf_counter *counter)
{
	return control(counter, PERF_EVENT_IOC_ENABLE);
}

int perf_counter_stop(struct perf_counter *counter)
{
	return control(counter, PERF_EVENT_IOC_DISABLE);
}

/* What one file counted since the last reading. */
static int read_one(struct perf_counter *counter, unsigned int i, struct perf_reading *added)
{
	struct perf_reading now, *before = &counter->before[i];

	if (read(counter->files[i], &now, sizeof(now)) != (ssize_t)sizeof(now))
		return -EIO;
	added->value = now.value - before->value;
	added->enabled_ns = now.enabled_ns - before->enabled_ns;
	added->running_ns = now.running_ns - before->running_ns;
	*before = now;
	return 0;
}

static enum value_status fail(struct perf_counter *counter, char *why, const char **reason)
{
	free(counter->reason);
	counter->reason = why;
	*reason = why ? why : "out of memory";
	return VALUE_FAILED;
}

/* Sums all files; smallest is the least share of its time that any of them was counted. */
static enum value_status sum_files(struct perf_counter *counter, double *value, double *smallest,
				   double *by_cpu, const char **reason)
{
	struct perf_reading added;
	double scaled, share;
	unsigned int i;

	*value = 0;
	*smallest = 1;
	for (i = 0; i < counter->count; i++) {
		if (read_one(counter, i, &added))
			return fail(counter,
				    strdup("a counter could not be read; its CPU may have "
					   "gone offline"),
				    reason);
		if (added.enabled_ns && !added.running_ns)
			return fail(counter,
				    strdup("no counter was free during the window; ask for "
					   "fewer events at once"),
				    reason);
		share = added.running_ns < added.enabled_ns
				? (double)added.running_ns / (double)added.enabled_ns
				: 1;
		scaled = (double)added.value / share;
		*smallest = fmin(*smallest, share);
		*value += scaled;
		if (by_cpu && counter->cpus[i] >= 0)
			by_cpu[counter->cpus[i]] = scaled;
	}
	return VALUE_OK;
}

enum value_status perf_counter_read(struct perf_counter *counter, double *value, double *by_cpu,
				    unsigned int cpu_count, const char **reason)
{
	enum value_status status;
	double sum, smallest;
	unsigned int i;

	*reason = counter->reason;
	if (counter->status != VALUE_OK)
		return counter->status;
	for (i = 0; i < counter->count; i++)
		if (counter->cpus[i] >= (int)cpu_count)
			by_cpu = NULL;
	for (i = 0; by_cpu && counter->cpus[0] >= 0 && i < cpu_count; i++)
		by_cpu[i] = NAN;
	status = sum_files(counter, &sum, &smallest, by_cpu, reason);
	if (status != VALUE_OK)
		return status;
	*value = sum;
	if (smallest >= 1)
		return VALUE_OK;
	free(counter->reason);
	counter->reason =
		format_string("counted for %.0f%% of the time and scaled up; ask for fewer "
			      "events at once",
			      smallest * 100);
	*reason = counter->reason ? counter->reason
				  : "counted for a part of the time and scaled up";
	return VALUE_MULTIPLEXED;
}

void perf_counter_close(struct perf_counter *counter)
{
	if (counter->files)
		close_files(counter);
	free(counter->files);
	free(counter->cpus);
	free(counter->before);
	free(counter->reason);
	*counter = (struct perf_counter){ 0 };
}
