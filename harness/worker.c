// SPDX-License-Identifier: GPL-2.0-only
/* Processes of one repetition, and what their callbacks may call. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/spawn.h"

/* ---- what stressors call ---- */

static void say(struct shared *shared, enum outcome outcome, const char *format, va_list arguments)
{
	static const int badness[OUTCOME_COUNT] = {
		[OUTCOME_PASS] = 0,   [OUTCOME_SKIP] = 1, [OUTCOME_INTERRUPTED] = 2,
		[OUTCOME_BROKEN] = 3, [OUTCOME_FAIL] = 4,
	};

	while (atomic_exchange(&shared->saying, 1))
		spin_pause();
	if (badness[outcome] > badness[atomic_load(&shared->outcome)]) {
		atomic_store(&shared->outcome, outcome);
		vsnprintf(shared->reason, sizeof(shared->reason), format, arguments);
	}
	atomic_store(&shared->saying, 0);
}

void shared_say(struct shared *shared, enum outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(shared, outcome, format, arguments);
	va_end(arguments);
}

int task_say(struct task *task, enum outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(task->shared, outcome, format, arguments);
	va_end(arguments);
	return -ECANCELED;
}

/*
 * A signal that a process's own memory accesses caused: it found other memory
 * than it had written, so unless shootdown has a bug the kernel has.
 */
static bool is_memory_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL;
}

static void say_end(struct shared *shared, const char *who, int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number)
		shared_say(shared, is_memory_fault(number) ? OUTCOME_FAIL : OUTCOME_BROKEN,
			   "the %s was killed by signal %d (%s)%s", who, number, strsignal(number),
			   number == SIGKILL ? ": out of memory? see the kernel log" : "");
	else
		shared_say(shared, OUTCOME_BROKEN, "the %s ended with status %d", who,
			   WEXITSTATUS(status));
}

int task_say_end(struct task *task, const char *who, int status)
{
	say_end(task->shared, who, status);
	return -ECANCELED;
}

void task_report(struct task *task, const char *metric, double value)
{
	const struct metric_row *rows = task->point->stressor->metrics;

	for (unsigned int i = 0; rows[i].name && i < REPORTS_MAX; i++)
		if (!strcmp(rows[i].name, metric)) {
			task->shared->reports[i].value = value;
			atomic_store(&task->shared->reports[i].set, true);
		}
}

int task_pin(unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int rc;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	rc = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return rc;
}

uint64_t task_uint(const struct task *task, const char *option)
{
	return option_uint(task->point->parameters, option);
}

const char *task_string(const struct task *task, const char *option)
{
	return option_string(task->point->parameters, option);
}

/* ---- inside a worker ---- */

/* A worker that outlives its supervisor would keep memory, CPUs and the cgroup busy. */
static void bind_to_supervisor(pid_t supervisor)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(1);
}

static int enter_cgroup(int folder)
{
	int fd = openat(folder, "cgroup.procs", O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "0", 1) != 1)
		rc = -errno;
	close(fd);
	return rc;
}

/*
 * What timed_run() touches, touched: a fork shares the mapping but not its page
 * tables, so that the first store to it would fault between the two clock readings.
 */
static void warm_up(struct crew *crew, int answers)
{
	volatile unsigned char *byte = (unsigned char *)crew->shared;

	for (size_t at = 0; at < crew->shared_bytes; at += 4096)
		byte[at] = byte[at];
	crew->shared->window_start_ns = monotonic_ns();
	crew->shared->window_end_ns = 0;
	if (write(answers, "", 0) < 0)
		return;
}

static int timed_run(struct task *task)
{
	int rc;

	task->shared->window_start_ns = monotonic_ns();
	rc = task->point->stressor->run(task);
	task->shared->window_end_ns = monotonic_ns();
	return rc;
}

static int obey(struct task *task, enum worker_command command, bool target)
{
	const struct stressor *stressor = task->point->stressor;
	int rc;

	switch (command) {
	case WORKER_SETUP:
		rc = task->cgroup_folder >= 0 ? enter_cgroup(task->cgroup_folder) : 0;
		if (rc)
			return task_say(task, OUTCOME_BROKEN, "cannot enter the cgroup: %s",
					strerror(-rc));
		return stressor->setup(task);
	case WORKER_ARM:
		rc = target ? 0 : task_pin(task->point->cpus[0]);
		if (rc)
			return task_say(task, OUTCOME_BROKEN, "cannot pin the driver to CPU %u: %s",
					task->point->cpus[0], strerror(-rc));
		return stressor->arm ? stressor->arm(task) : 0;
	case WORKER_RUN:
		return timed_run(task);
	case WORKER_VERIFY:
		return stressor->verify ? stressor->verify(task) : 0;
	case WORKER_TEARDOWN:
		if (stressor->teardown)
			stressor->teardown(task);
		return 0;
	}
	return -EINVAL;
}

static void serve(struct crew *crew, int commands, int answers, bool target)
{
	struct task task = {
		.point = crew->point,
		.target = crew->target.pid,
		.cgroup_folder = crew->cgroup_folder,
		.folder = crew->folder,
		.shared = crew->shared,
		.common = &crew->shared->neighbours[crew->point->cpu_count],
	};
	int command, rc;

	while (read(commands, &command, sizeof(command)) == sizeof(command)) {
		rc = obey(&task, command, target);
		if (command == WORKER_ARM)
			warm_up(crew, answers);
		if (write(answers, &rc, sizeof(rc)) != sizeof(rc))
			break;
	}
	_exit(0);
}

static void neighbour_spin(struct crew *crew, struct turns *turns)
{
	while (!atomic_load_explicit(&crew->shared->stop, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&turns->count, 1, memory_order_relaxed);
		spin_pause();
	}
}

/* Always in the kernel or on its way: the CPU has a user mm and is not lazy. */
static void neighbour_kernel(struct crew *crew, struct turns *turns)
{
	while (!atomic_load_explicit(&crew->shared->stop, memory_order_relaxed)) {
		syscall(SYS_getppid);
		atomic_fetch_add_explicit(&turns->count, 1, memory_order_relaxed);
		spin_pause();
	}
}

/* Sleeps: its CPU is idle, keeps a mm it borrows, and is lazy. */
static void neighbour_idle(struct crew *crew, struct turns *turns)
{
	(void)crew;
	atomic_fetch_add(&turns->count, 1);
	for (;;)
		pause();
}

static const struct {
	const char *name;
	void (*live)(struct crew *crew, struct turns *turns);
} neighbour_kinds[] = {
	{ "spin", neighbour_spin },
	{ "idle", neighbour_idle },
	{ "kernel", neighbour_kernel },
};

static void live_as_neighbour(struct crew *crew, unsigned int index)
{
	const char *kind = option_string(crew->point->parameters, "neighbours");
	struct turns *turns = &crew->shared->neighbours[index];

	if (task_pin(crew->point->cpus[index]))
		_exit(1);
	for (size_t i = 0; i < sizeof(neighbour_kinds) / sizeof(neighbour_kinds[0]); i++)
		if (!strcmp(neighbour_kinds[i].name, kind))
			neighbour_kinds[i].live(crew, turns);
	_exit(0);
}

/* ---- the supervisor's side ---- */

int crew_open(struct crew *crew, const struct point *point, int cgroup_folder,
	      void (*forget)(void *context), void *forget_context)
{
	size_t size = sizeof(struct shared) + point->cpu_count * sizeof(struct turns) +
		      point->stressor->common_bytes;

	*crew = (struct crew){
		.point = point,
		.shared_bytes = size,
		.cgroup_folder = cgroup_folder,
		.first_neighbour = 1,
		.target = { .commands = -1, .answers = -1, .role = "target" },
		.driver = { .commands = -1, .answers = -1, .role = "driver" },
		.forget = forget,
		.forget_context = forget_context,
	};
	if (point->stressor->own_cpus)
		crew->first_neighbour += point->stressor->own_cpus(point);
	crew->shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (crew->shared == MAP_FAILED) {
		crew->shared = NULL;
		return -errno;
	}
	return 0;
}

static void close_worker(struct worker *worker)
{
	if (worker->commands >= 0)
		close(worker->commands);
	if (worker->answers >= 0)
		close(worker->answers);
	worker->commands = worker->answers = -1;
}

/* The child's side of a start: keep nothing that is the supervisor's or another worker's. */
static void become_worker(struct crew *crew, pid_t supervisor)
{
	bind_to_supervisor(supervisor);
	if (crew->forget)
		crew->forget(crew->forget_context);
	close_worker(&crew->target);
	close_worker(&crew->driver);
}

/* Pipes, since a lab kernel has no sockets. */
static int start_served(struct crew *crew, struct worker *worker, bool target)
{
	pid_t supervisor = getpid();
	int commands[2], answers[2], rc;

	if (pipe2(commands, O_CLOEXEC))
		return -errno;
	if (pipe2(answers, O_CLOEXEC)) {
		rc = -errno;
		goto close_commands;
	}
	worker->pid = fork();
	if (!worker->pid) {
		close(commands[1]);
		close(answers[0]);
		become_worker(crew, supervisor);
		serve(crew, commands[0], answers[1], target);
	}
	rc = worker->pid < 0 ? -errno : 0;
	close(commands[0]);
	close(answers[1]);
	if (!rc) {
		worker->commands = commands[1];
		worker->answers = answers[0];
		return 0;
	}
	worker->pid = 0;
	close(answers[0]);
	close(commands[1]);
	return rc;
close_commands:
	close(commands[0]);
	close(commands[1]);
	return rc;
}

int crew_start_target(struct crew *crew)
{
	return start_served(crew, &crew->target, true);
}

int crew_start_driver(struct crew *crew)
{
	return start_served(crew, &crew->driver, false);
}

uint64_t crew_turns(const struct crew *crew, unsigned int neighbour)
{
	return atomic_load(&crew->shared->neighbours[crew->first_neighbour + neighbour].count);
}

int crew_await_turn(const struct crew *crew, unsigned int neighbour, uint64_t seen,
		    uint64_t deadline_ns)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	sigset_t none;

	sigemptyset(&none);
	while (crew_turns(crew, neighbour) == seen) {
		if (spawn_interrupted())
			return -EINTR;
		if (monotonic_ns() > deadline_ns)
			return -ETIMEDOUT;
		ppoll(NULL, 0, &millisecond, &none);
	}
	return 0;
}

int crew_start_neighbours(struct crew *crew, uint64_t deadline_ns)
{
	unsigned int first = crew->first_neighbour, cpu_count = crew->point->cpu_count;
	unsigned int count = cpu_count > first ? cpu_count - first : 0;
	pid_t supervisor = getpid();
	int rc = 0;

	crew->neighbours = calloc(count ? count : 1, sizeof(*crew->neighbours));
	if (!crew->neighbours)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid) {
			become_worker(crew, supervisor);
			live_as_neighbour(crew, first + i);
		}
		if (pid < 0)
			return -errno;
		crew->neighbours[i] = (struct worker){ pid, -1, -1, "neighbour" };
		crew->neighbour_count = i + 1;
	}
	for (unsigned int i = 0; !rc && i < count; i++)
		rc = crew_await_turn(crew, i, 0, deadline_ns);
	return rc;
}

static void say_death(struct crew *crew, struct worker *worker)
{
	int status = 0;

	if (waitpid(worker->pid, &status, 0) != worker->pid)
		return;
	worker->pid = 0;
	say_end(crew->shared, worker->role, status);
}

/* Sleeps until the answer: wake-ups in the window would cost time on the control CPU. */
static int await_answer(struct worker *worker, uint64_t deadline_ns)
{
	struct pollfd answer = { .fd = worker->answers, .events = POLLIN };
	uint64_t now = monotonic_ns();
	struct timespec left;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	while (!spawn_interrupted() && now < deadline_ns) {
		left.tv_sec = (deadline_ns - now) / NS_PER_S;
		left.tv_nsec = (deadline_ns - now) % NS_PER_S;
		rc = ppoll(&answer, 1, &left, &none);
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
		now = monotonic_ns();
	}
	return spawn_interrupted() ? -EINTR : -ETIMEDOUT;
}

int crew_send(struct crew *crew, struct worker *worker, enum worker_command command)
{
	int message = command;

	if (write(worker->commands, &message, sizeof(message)) == sizeof(message))
		return 0;
	say_death(crew, worker);
	return -ESRCH;
}

int crew_await(struct crew *crew, struct worker *worker, uint64_t deadline_ns)
{
	int answer, rc = await_answer(worker, deadline_ns);

	if (rc)
		return rc;
	if (read(worker->answers, &answer, sizeof(answer)) == sizeof(answer))
		return answer;
	say_death(crew, worker);
	return -ESRCH;
}

int crew_command(struct crew *crew, struct worker *worker, enum worker_command command,
		 uint64_t deadline_ns)
{
	int rc = crew_send(crew, worker, command);

	return rc ? rc : crew_await(crew, worker, deadline_ns);
}

pid_t *crew_pids(const struct crew *crew, unsigned int *count)
{
	pid_t *pids = calloc(crew->neighbour_count + 2, sizeof(*pids));

	if (!pids)
		return NULL;
	pids[0] = crew->target.pid;
	pids[1] = crew->driver.pid;
	for (unsigned int i = 0; i < crew->neighbour_count; i++)
		pids[i + 2] = crew->neighbours[i].pid;
	*count = crew->neighbour_count + 2;
	return pids;
}

static void end_worker(struct worker *worker)
{
	close_worker(worker);
	if (worker->pid > 0) {
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
	}
	worker->pid = 0;
}

void crew_close(struct crew *crew)
{
	if (crew->shared)
		atomic_store(&crew->shared->stop, true);
	for (unsigned int i = 0; i < crew->neighbour_count; i++)
		end_worker(&crew->neighbours[i]);
	end_worker(&crew->driver);
	end_worker(&crew->target);
	free(crew->neighbours);
	if (crew->shared)
		munmap(crew->shared, crew->shared_bytes);
	crew->shared = NULL;
}
