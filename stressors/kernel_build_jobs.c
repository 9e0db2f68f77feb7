// SPDX-License-Identifier: GPL-2.0-only
/* kernel-build without a compiler: workers that run one job after the other. */
#include "kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* One job, in a process of its own: as a compiler's driver forks, its passes use memory. */
static _Noreturn void live_as_job(const struct build *build, size_t page_bytes)
{
	char *const argv[] = { build->program, "--version", NULL };
	volatile unsigned char *memory = mmap(NULL, build->job_bytes, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(2);
	for (size_t at = 0; at < build->job_bytes; at += page_bytes)
		memory[at] = 1;
	munmap((void *)memory, build->job_bytes);
	execv(build->program, argv);
	_exit(3);
}

static int run_job(const struct build *build, size_t page_bytes)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		live_as_job(build, page_bytes);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -ECHILD : 0;
}

/* Its part of the jobs, when the gate is open. */
static _Noreturn void live_as_worker(struct task *task, struct build *build, unsigned int index,
				     pid_t parent)
{
	uint64_t jobs = build->job_count / build->parallel +
			(index < build->job_count % build->parallel);
	struct build_common *common = task->common;
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char byte;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		_exit(1);
	close(build->gate[1]);
	while (read(build->gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	for (uint64_t i = 0; i < jobs; i++) {
		if (run_job(build, task->point->page_bytes))
			_exit(1);
		atomic_fetch_add(&common->jobs_done, 1);
	}
	_exit(0);
}

int build_jobs_setup(struct task *task, struct build *build)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	pid_t self = getpid();

	if (length < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot tell where shootdown is: %s",
				strerror(errno));
	path[length] = '\0';
	build->program = strdup(path);
	build->job_bytes = task_uint(task, "job-memory");
	build->job_count = task_uint(task, "jobs");
	for (unsigned int i = 0; i < build->parallel; i++) {
		pid_t pid = fork();

		if (!pid)
			live_as_worker(task, build, i, self);
		if (pid < 0)
			return task_say(task, OUTCOME_BROKEN, "cannot start worker %u: %s", i,
					strerror(errno));
		setpgid(pid, pid);
		build->pids[i] = pid;
		build->started = i + 1;
	}
	return 0;
}

int build_jobs_verify(struct task *task, struct build *build)
{
	struct build_common *common = task->common;
	uint64_t done = atomic_load(&common->jobs_done);

	if (build->status || done != build->job_count)
		return task_say(task, OUTCOME_BROKEN,
				"%llu of %llu jobs came to their end; give less job-memory",
				(unsigned long long)done, (unsigned long long)build->job_count);
	task_report(task, "jobs_per_s", done * 1e9 / build->elapsed_ns);
	return 0;
}
