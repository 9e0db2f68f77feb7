// SPDX-License-Identifier: GPL-2.0-only
/* The command table, and main(): the only place that exits and owns standard output. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "harness/lab/lab.h"
#include "harness/lab/reproduce.h"
#include "lib/spawn.h"

static const struct option_row no_options[] = { { NULL } };

const struct command commands[] = {
	{
		.name = "list",
		.usage = "[--json]",
		.summary = "list the stressors and whether this machine can run them",
		.example = "--json",
		.options = list_options,
		.run = list_command,
	},
	{
		.name = "check",
		.usage = "[--json]",
		.summary = "tell what can be measured here and what not, and why",
		.example = "",
		.options = check_options,
		.run = check_command,
	},
	{
		.name = "run",
		.usage = "STRESSOR...|all [OPTION]...",
		.summary = "run stressors on the running kernel and keep a record",
		.description =
			"Runs each point (a stressor with its parameters) --runs times, as a benchmark, or "
			"round after round for --duration, as a stress test. The record is a folder with "
			"machine.json, plan.json and samples.jsonl; a summary is printed at the end. What a "
			"point changes on the machine is undone after each repetition, also when the run is "
			"stopped; after a SIGKILL the next run or \"shootdown restore\" undoes it. "
			"\"shootdown list\" names the stressors, and --help behind one's name is about "
			"it and its options.",
		.example = "null --runs 3 --set pages=64 --set window=20ms",
		.options = run_options,
		.help = stressor_help,
		.run = run_command,
	},
	{
		.name = "compare",
		.usage = "RUN RUN... [OPTION]...",
		.summary = "compare run folders; the first is the baseline",
		.description =
			"RUN is a run's folder, or a folder of run folders (the boots of one arm). One lab "
			"folder stands for all its arms. Runs of different plans, machines or sizes are "
			"refused, unless --allow names what may differ.\n\n"
			"A boot (of a machine that is not rebooted: a run) counts as one observation, "
			"the median of its repetitions. A difference is called one (better, worse, "
			"differs) when the exact test of boots says so at 0.05 after Holm's correction "
			"over the point's primary metrics, and, with --noise-floor, when it is larger "
			"than what one kernel shows against itself. Counts that every boot repeats are "
			"compared as counts.",
		.example = "shootdown-ab/baseline shootdown-ab/patched --format markdown",
		.options = compare_options,
		.run = compare_command,
	},
	{
		.name = "db",
		.usage = "COMMAND [ARGUMENT]...",
		.summary = "keep an index of run folders: add, list, show, remove",
		.options = no_options,
		.commands = db_commands,
	},
	{
		.name = "export",
		.usage = "RUN... [--format FORMAT]",
		.summary = "write runs as CSV, JSON, KTAP or a KCIDB submission",
		.description =
			"RUN is a run's folder, a folder with runs below it, or a run's id in the index. "
			"KTAP is what the kernel's own test tools read; a KCIDB submission goes to KernelCI.",
		.example = "shootdown-ab --format ktap",
		.options = export_options,
		.run = export_command,
	},
	{
		.name = "import",
		.usage = "FOLDER|ARCHIVE... [OPTION]...",
		.summary = "take runs of another machine into the store and the index",
		.description =
			"Copies the runs below a folder, or in an archive that tar reads, after comparing "
			"them with their checksums. An archive with anything but a run's files is refused.",
		.example = "runs-of-the-big-machine.tar.xz",
		.options = import_options,
		.run = import_command,
	},
	{
		.name = "trend",
		.usage = "--stressor STRESSOR --metric METRIC [OPTION]...",
		.summary = "show a metric over time, and whether it moved",
		.description =
			"Takes the runs of the index, one value (the median) a run, and looks for change "
			"points with the energy statistic of E-divisive and a permutation test. A run of "
			"another machine, arm, parameter or number of CPUs is a series of its own; a new "
			"kernel is not. Exit status 0: nothing moved; 1: something did, for better or worse; "
			"77: too few runs to tell.",
		.example = "--stressor pageout --metric remote_ipis --since 90d",
		.options = trend_options,
		.run = trend_command,
	},
	{
		.name = "restore",
		.usage = "",
		.summary = "undo what killed runs left on the machine",
		.example = "",
		.options = restore_options,
		.run = restore_command,
	},
	{
		.name = "lab",
		.usage = "COMMAND [ARGUMENT]...",
		.summary = "build kernels, boot them in guests, compare them",
		.options = no_options,
		.commands = lab_commands,
	},
	{
		.name = "reproduce",
		.usage = "SERIES [OPTION]...",
		.summary = "put a published table beside what is predicted and measured",
		.description =
			"Runs the tests of a published posting in the lab, for each of its platforms' CPU "
			"counts or for --cpus, and prints published, predicted and measured values side by "
			"side. Times of an emulated guest are marked and never compared with published ones. "
			"A count that differs from its prediction, or an arm that breaks a rule of the table, "
			"makes exit status 1. "
			"What is finished in --out is not run again: the same call goes on where one "
			"was interrupted.",
		.example = "batched-stale-cpus --test 1 --cpus 16 --scale 0.05",
		.options = reproduce_options,
		.run = reproduce_run,
	},
	{
		.name = "help",
		.usage = "[COMMAND [COMMAND]|STRESSOR] [--format FORMAT]",
		.summary = "explain a command or a stressor",
		.example = "run",
		.options = help_options,
		.run = help_command,
	},
	{ NULL },
};

static bool asks(const char *word, const char *longest, const char *shortest)
{
	return !strcmp(word, longest) || !strcmp(word, shortest);
}

/*
 * A standard stream that the caller closed would be the next file that is opened:
 * a record, a pipe. Standard output is made unwritable, so that a result that
 * nobody can get is an error.
 */
static void keep_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_RDWR : O_RDONLY) != fd)
			_exit(EXIT_BROKEN);
}

/* Everything was written, or the exit code says that it was not; a reader who left (head) knows. */
static int finish(int code, struct log *log)
{
	struct stat status;

	log_progress_end(log);
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (!fstat(STDOUT_FILENO, &status) && S_ISFIFO(status.st_mode))
		return 128 + SIGPIPE;
	log_error(log, "cannot write to standard output");
	return EXIT_BROKEN;
}

int main(int argc, char **argv)
{
	enum log_level level = LOG_LEVEL_INFO;
	struct log log;
	int code;

	keep_streams();
	/* the name under which the kernel starts it; any other process 1 is a container's */
	if (getpid() == 1 && !strcmp(argv[0], "/init"))
		return lab_agent();
	while (argc > 1 && (asks(argv[1], "--quiet", "-q") || asks(argv[1], "--verbose", "-v"))) {
		level = asks(argv[1], "--quiet", "-q") ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG;
		argc--;
		argv++;
	}
	log_open(&log, stderr, level);
	spawn_catch_signals();
	if (argc > 1 && asks(argv[1], "--version", "-V")) {
		printf("shootdown %s\n", PACKAGE_VERSION);
		return finish(EXIT_DONE, &log);
	}
	if (argc < 2 || asks(argv[1], "--help", "-h")) {
		char *const words[] = { "help", NULL };

		code = commands_dispatch(commands, "shootdown", 1, words,
					 argc < 2 ? stderr : stdout, &log);
		return finish(argc < 2 ? EXIT_USAGE : code, &log);
	}
	code = commands_dispatch(commands, "shootdown", argc - 1, argv + 1, stdout, &log);
	return finish(code, &log);
}
