// SPDX-License-Identifier: GPL-2.0-only
/* Runs other programs to their end, watched. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fs.h"

volatile int spawn_stop_signal;

static void note_signal(int number)
{
	spawn_stop_signal = number;
}

void spawn_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal }, before;

	sigemptyset(&action.sa_mask);
	/* what the caller had ignored (nohup) stays ignored */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	/* these have an errno as well, which is said */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool spawn_find(const char *program, char **path)
{
	const char *folders = getenv("PATH");
	struct stat status;

	if (strchr(program, '/'))
		folders = "";
	while (folders) {
		size_t length = strcspn(folders, ":");
		char *full = length ? format_string("%.*s/%s", (int)length, folders, program)
				    : strdup(program);

		if (full && !access(full, X_OK) && !stat(full, &status) &&
		    S_ISREG(status.st_mode)) {
			if (path)
				*path = full;
			else
				free(full);
			return true;
		}
		free(full);
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return false;
}

static void take_out_all(const char *prefix, size_t length)
{
	char **row = environ;

	while (row && *row) {
		char *name = strncmp(*row, prefix, length) ? NULL
							   : strndup(*row, strcspn(*row, "="));

		if (name && !unsetenv(name))
			row = environ; /* the rest has moved up */
		else
			row++;
		free(name);
	}
}

void spawn_set_environment(const char *const *rows)
{
	for (; rows && *rows; rows++) {
		const char *star = strchr(*rows, '*');

		if (star && !star[1] && !strchr(*rows, '='))
			take_out_all(*rows, star - *rows);
		else
			putenv((char *)*rows); /* without "=" it takes out */
	}
}

/* In the child: from here on only the new program or _exit(). */
static void become(const struct spawn *spawn, int out, int report)
{
	const char *input = spawn->input_path ? spawn->input_path : "/dev/null";
	int in = open(input, O_RDONLY);
	int error;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    (!spawn->output_path || dup2(out, STDERR_FILENO) >= 0) &&
	    (!spawn->folder || !chdir(spawn->folder))) {
		spawn_set_environment(spawn->environment);
		execvp(spawn->argv[0], (char *const *)spawn->argv);
	}
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

struct running {
	pid_t pid;
	int out; /* read end of standard output, -1 without capture */
	char *text;
	size_t used, size;
};

/* Takes what the program wrote; false at its end. */
static bool collect(struct running *run)
{
	ssize_t got;

	if (run->size - run->used < 4096) {
		char *larger = realloc(run->text, run->size + 65536);

		if (!larger)
			return false;
		run->text = larger;
		run->size += 65536;
	}
	got = read(run->out, run->text + run->used, run->size - run->used - 1);
	if (got <= 0)
		return got < 0 && (errno == EINTR || errno == EAGAIN);
	run->used += got;
	run->text[run->used] = '\0';
	return true;
}

static void end_group(pid_t pid)
{
	int status;

	kill(-pid, SIGTERM);
	for (int i = 0; i < 30; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			kill(-pid, SIGKILL);
			return;
		}
		usleep(100000);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static double monotonic_s(void)
{
	return monotonic_ns() / 1e9;
}

/* Waits for the program's end; the exit status or a negative errno. */
static int attend(const struct spawn *spawn, struct running *run)
{
	double started = monotonic_s(), ticked = started;
	bool open = run->out >= 0;
	int status, rc = 0;

	while (!rc) {
		struct pollfd end = { .fd = open ? run->out : -1, .events = POLLIN };

		poll(&end, 1, open ? 200 : 50);
		if (open && end.revents)
			open = collect(run);
		else if (waitpid(run->pid, &status, WNOHANG) == run->pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (spawn_interrupted())
			rc = -EINTR;
		else if (spawn->timeout_s && monotonic_s() - started > spawn->timeout_s)
			rc = -ETIMEDOUT;
		else if (spawn->tick && monotonic_s() - ticked >= 1) {
			ticked = monotonic_s();
			rc = spawn->tick(spawn->tick_context) ? -EINTR : 0;
		}
	}
	end_group(run->pid);
	return rc;
}

static int open_output(const struct spawn *spawn, struct running *run)
{
	int ends[2], fd;

	if (spawn->output_path || !spawn->output) {
		fd = open(spawn->output_path ? spawn->output_path : "/dev/null",
			  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		return fd < 0 ? -errno : fd;
	}
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	run->out = ends[0];
	return ends[1];
}

int spawn_run(const struct spawn *spawn)
{
	struct running run = { .out = -1 };
	int out, report[2], error, rc;

	out = open_output(spawn, &run);
	if (out < 0)
		return out;
	if (pipe2(report, O_CLOEXEC)) {
		rc = -errno;
		goto close_output;
	}
	run.pid = fork();
	if (!run.pid)
		become(spawn, out, report[1]);
	rc = run.pid < 0 ? -errno : 0;
	close(report[1]);
	close(out);
	out = -1;
	if (!rc && read(report[0], &error, sizeof(error)) == sizeof(error)) {
		waitpid(run.pid, NULL, 0);
		rc = -error;
	} else if (!rc) {
		rc = attend(spawn, &run);
	}
	close(report[0]);
	if (rc >= 0 && spawn->output && !spawn->output_path) {
		*spawn->output = run.text ? run.text : strdup("");
		run.text = NULL;
	}
close_output:
	free(run.text);
	if (run.out >= 0)
		close(run.out);
	if (out >= 0)
		close(out);
	return rc;
}

char *spawn_log_tail(const char *path, unsigned int lines)
{
	char *text, *start, *tail;
	size_t length;

	if (fs_read("", path, &text, &length))
		return NULL;
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	for (start = text + length; start > text && lines; start--)
		if (start[-1] == '\n' && --lines == 0)
			break;
	tail = strdup(start);
	free(text);
	return tail;
}
