// SPDX-License-Identifier: GPL-2.0-only
/* Programs beside a target; see helper.h. */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/cpus.h"
#include "../lib/spawn.h"

static void wait_at_gate(const struct helper_request *request)
{
	char byte;

	if (request->gate < 0)
		return;
	if (request->gate_writer >= 0)
		close(request->gate_writer);
	while (read(request->gate, &byte, 1) < 0 && errno == EINTR)
		;
}

/* In the child: from here on only the program or _exit(). */
static _Noreturn void become(const struct helper_request *request, pid_t parent, int output)
{
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || cpus_set_affinity(request->cpus))
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0)
		_exit(126);
	spawn_set_environment(request->environment);
	wait_at_gate(request);
	execvp(request->argv[0], (char *const *)request->argv);
	_exit(127);
}

int helper_start(const struct helper_request *request, pid_t *pid)
{
	int output = open(request->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pid_t parent = getpid(), child;
	int rc;

	if (output < 0)
		return -errno;
	child = fork();
	if (!child)
		become(request, parent, output);
	rc = child < 0 ? -errno : 0;
	close(output);
	if (rc)
		return rc;
	/* as the child does: whoever is first, the group is there before it is killed */
	setpgid(child, child);
	*pid = child;
	return 0;
}

void helper_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

hwloc_bitmap_t helper_cpus(const unsigned int *numbers, unsigned int count)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	for (unsigned int i = 0; cpus && i < count; i++)
		if (hwloc_bitmap_set(cpus, numbers[i])) {
			hwloc_bitmap_free(cpus);
			return NULL;
		}
	return cpus;
}

int helper_say_log(struct task *task, const char *log, const char *what)
{
	char *tail = spawn_log_tail(log, 4);

	for (char *at = tail; at && *at; at++)
		if (*at == '\n')
			*at = ';';
	task_say(task, OUTCOME_BROKEN, "%s; it says: %s", what, tail && *tail ? tail : "nothing");
	free(tail);
	return -ECANCELED;
}
