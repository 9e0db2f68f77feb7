// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of the real thing: Redis servers on one node, load generators on another,
 * and BGSAVE again as soon as one is done. Each BGSAVE forks, saves to a file in
 * memory and exits, while SET requests make the server copy pages on write.
 *
 * Servers listen on Unix sockets in the point's own folder and keep nothing. What the
 * generators tell is reported as they tell it: of several servers the rates are added up,
 * and of latencies the median server's is taken (of the longest, the longest). What a
 * snapshot costs a writer to the nanosecond is cow-snapshot's.
 */
#include "redis_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "../lib/fs.h"
#include "../lib/spawn.h"

#define INSTANCES_MAX 64
#define SAVES_MAX     65536 /* whose fork time is kept */
#define START_LIMIT_S 20
#define POLL_US	      5000  /* between looks whether a snapshot is done */
#define FILL_KEYS     10000 /* by one command */

static const char *const load_choices[] = { "redis-benchmark", "memtier", NULL };

static const struct option_row options[] = {
	{ .name = "instances",
	  .type = OPTION_UINT,
	  .fallback = "1",
	  .min = 1,
	  .max = INSTANCES_MAX,
	  .metavar = "N",
	  .help = "redis-server processes, and as many load generators" },
	{ .name = "requests",
	  .type = OPTION_UINT,
	  .fallback = "200000",
	  .min = 100,
	  .max = 1ULL << 40,
	  .metavar = "R",
	  .help = "SET requests to each server: the length of the window" },
	{ .name = "keys",
	  .type = OPTION_UINT,
	  .fallback = "100000",
	  .min = 1,
	  .max = 1ULL << 32,
	  .metavar = "K",
	  .help = "keys of each server, all set before the window; requests choose at random" },
	{ .name = "value",
	  .type = OPTION_SIZE,
	  .fallback = "512",
	  .min = 1,
	  .max = 65536,
	  .metavar = "BYTES",
	  .help = "size of a value" },
	{ .name = "clients",
	  .type = OPTION_UINT,
	  .fallback = "8",
	  .min = 1,
	  .max = 10000,
	  .metavar = "C",
	  .help = "connections of each load generator" },
	{ .name = "pipeline",
	  .type = OPTION_UINT,
	  .fallback = "1",
	  .min = 1,
	  .max = 10000,
	  .metavar = "P",
	  .help = "requests in flight on a connection" },
	{ .name = "load",
	  .type = OPTION_CHOICE,
	  .fallback = "redis-benchmark",
	  .choices = load_choices,
	  .metavar = "PROGRAM",
	  .help = "the load generator: Redis's own, or memtier_benchmark" },
	{ .name = "server-node",
	  .type = OPTION_NODE,
	  .fallback = "auto",
	  .metavar = "NODE",
	  .help = "NUMA node on whose CPUs the servers run; auto: the second, or half of the CPUs "
		  "when there is one node" },
	{ .name = "load-node",
	  .type = OPTION_NODE,
	  .fallback = "auto",
	  .metavar = "NODE",
	  .help = "node of the load generators; auto: the first that is not the servers'" },
	{ NULL },
};

static const struct need needs[] = {
	{ .kind = NEED_PROGRAM, .path = "redis-server", .words = "redis-server" },
	{ .kind = NEED_PROGRAM,
	  .path = "redis-benchmark",
	  .words = "redis-tools",
	  .option = "load",
	  .value = "redis-benchmark" },
	{ .kind = NEED_PROGRAM,
	  .path = "memtier_benchmark",
	  .words = "memtier-benchmark (from Redis's own archive)",
	  .option = "load",
	  .value = "memtier" },
	{ .kind = NEED_MEMORY },
	{ NEED_END },
};

static const struct environment_row environment[] = {
	{ .kind = ENVIRONMENT_FOLDER },
	{ ENVIRONMENT_END },
};

static const struct metric_row metrics[] = {
	{ "requests_per_s", "requests/s", "more",
	  "SET requests a second of all servers, as the load generators tell" },
	{ "request_p50_us", "us", "less", "median latency of a request, of the median server" },
	{ "request_p99_us", "us", "less", "99% of the requests are not above this, likewise" },
	{ "request_max_us", "us", "less", "the longest of all" },
	{ "snapshots", "snapshots", "more",
	  "background saves of all servers that began and ended well in the window" },
	{ "snapshots_per_s", "1/s", "more", "the same, by the time of the window" },
	{ "fork_us", "us", "less", "time of fork(), as the servers tell: median of the snapshots" },
	{ "fork_max_us", "us", "less", "the longest fork()" },
	{ "cow_mib", "MiB", "same",
	  "memory copied on write in a snapshot, as the servers tell: median" },
	{ "server_cpus", "CPUs", "same", "CPUs that the servers shared" },
	{ "load_cpus", "CPUs", "same", "CPUs that the load generators shared" },
	{ NULL },
};

struct instance {
	pid_t server, load;
	struct redis_client client;
	char *folder, *socket, *log, *result, *load_log;
	bool saving;			  /* a snapshot was asked for, whose end is not known */
	unsigned int saves;		  /* that ended well */
	char text[REDIS_LOAD_WORDS * 24]; /* numbers of the load's command line */
};

struct state {
	unsigned int count;
	struct instance *instances;
	const struct redis_load *load;
	hwloc_bitmap_t server_cpus, load_cpus;
	int gate[2];
	unsigned int loads_left;
	uint64_t elapsed_ns;
	unsigned int seen; /* snapshots whose figures are in forks and copies */
	uint32_t forks_us[SAVES_MAX];
	uint64_t copies_bytes[SAVES_MAX];
};

/* Data, copies and the file, of each server; 128 bytes a key are the server's own. */
static uint64_t memory_bytes(const struct point *point)
{
	uint64_t keys = option_uint(point->parameters, "keys");
	uint64_t value = option_uint(point->parameters, "value");

	return option_uint(point->parameters, "instances") *
	       (keys * (value + 128) * 4 + (32 << 20));
}

/* ---- servers ---- */

static int name_files(const char *folder, unsigned int index, struct instance *instance)
{
	instance->folder = format_string("%s/%u", folder, index);
	instance->socket = format_string("%s/%u/socket", folder, index);
	instance->log = format_string("%s/%u/server.log", folder, index);
	instance->load_log = format_string("%s/%u/load.log", folder, index);
	instance->result = format_string("%s/%u/result", folder, index);
	if (!instance->folder || !instance->socket || !instance->log || !instance->load_log ||
	    !instance->result)
		return -ENOMEM;
	return mkdir(instance->folder, 0700) ? -errno : 0;
}

/* hz: how often it looks whether a snapshot is done; its usual 10 would be most of the time. */
static int start_server(struct task *task, struct state *state, struct instance *instance)
{
	const char *const argv[] = {
		"redis-server",
		"--port",
		"0",
		"--unixsocket",
		instance->socket,
		"--dir",
		instance->folder,
		"--save",
		"",
		"--appendonly",
		"no",
		"--daemonize",
		"no",
		"--rdbcompression",
		"no",
		"--hz",
		"100",
		NULL,
	};
	const struct helper_request request = {
		.argv = argv, .cpus = state->server_cpus, .output_path = instance->log, .gate = -1
	};
	uint64_t limit_ns = monotonic_ns() + START_LIMIT_S * NS_PER_S;
	int rc = helper_start(&request, &instance->server);

	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot start redis-server: %s",
				strerror(-rc));
	while ((rc = redis_connect(&instance->client, instance->socket))) {
		if (waitpid(instance->server, NULL, WNOHANG) > 0) {
			instance->server = 0;
			return helper_say_log(task, instance->log, "redis-server ended at once");
		}
		if (monotonic_ns() > limit_ns)
			return helper_say_log(task, instance->log, "redis-server does not answer");
		usleep(POLL_US);
	}
	return 0;
}

/* Every key that the load may choose, FILL_KEYS by one command. */
static int fill(struct task *task, const struct state *state, struct instance *instance)
{
	uint64_t keys = task_uint(task, "keys"), bytes = task_uint(task, "value");
	char *script = format_string(
		"for i = ARGV[1], ARGV[2] - 1 do redis.call('SET', string.format('%s', i), ARGV[3]) "
		"end return 'OK'",
		state->load->key_format);
	char *value = malloc(bytes + 1), from[24], to[24];
	int rc = script && value ? 0 : -ENOMEM;

	for (uint64_t i = 0; !rc && i < bytes; i++)
		value[i] = 'a' + i % 26;
	for (uint64_t key = 0; !rc && key < keys; key += FILL_KEYS) {
		uint64_t end = key + FILL_KEYS < keys ? key + FILL_KEYS : keys;
		const char *const words[] = { "EVAL", script, "0", from, to, value, NULL };

		value[bytes] = '\0';
		snprintf(from, sizeof(from), "%llu", (unsigned long long)key);
		snprintf(to, sizeof(to), "%llu", (unsigned long long)end);
		rc = redis_command(&instance->client, words);
	}
	free(value);
	free(script);
	return rc ? task_say(task, OUTCOME_BROKEN, "cannot fill the server: %s",
			     rc == -EREMOTEIO ? instance->client.reply : strerror(-rc))
		  : 0;
}

static int server_info(struct instance *instance, const char *section)
{
	const char *const words[] = { "INFO", section, NULL };

	return redis_command(&instance->client, words);
}

/* ---- load ---- */

static int start_load(struct task *task, struct state *state, struct instance *instance)
{
	const struct redis_load_size size = {
		.socket = instance->socket,
		.output = instance->result,
		.requests = task_uint(task, "requests"),
		.keys = task_uint(task, "keys"),
		.value_bytes = task_uint(task, "value"),
		.clients = task_uint(task, "clients"),
		.pipeline = task_uint(task, "pipeline"),
	};
	const char *argv[REDIS_LOAD_WORDS] = { state->load->program };
	const struct helper_request request = {
		.argv = argv,
		.cpus = state->load_cpus,
		.output_path = state->load->own_file ? instance->load_log : instance->result,
		.gate = state->gate[0],
		.gate_writer = state->gate[1],
	};
	int rc;

	state->load->command(&size, argv + 1, instance->text, sizeof(instance->text));
	rc = helper_start(&request, &instance->load);
	if (!rc)
		state->loads_left++;
	return rc ? task_say(task, OUTCOME_BROKEN, "cannot start %s: %s", state->load->program,
			     strerror(-rc))
		  : 0;
}

static int start_instance(struct task *task, struct state *state, unsigned int index)
{
	struct instance *instance = &state->instances[index];
	int rc = name_files(task->folder, index, instance);

	if (rc)
		return task_say(task, OUTCOME_BROKEN, "cannot make a server's folder: %s",
				strerror(-rc));
	rc = start_server(task, state, instance);
	if (!rc)
		rc = fill(task, state, instance);
	if (!rc && server_info(instance, "persistence"))
		rc = helper_say_log(task, instance->log, "redis-server does not answer");
	if (!rc && redis_number(instance->client.reply, "rdb_last_cow_size") < 0)
		rc = task_say(task, OUTCOME_SKIP,
			      "this redis-server does not tell what a snapshot copied "
			      "(rdb_last_cow_size); install version 4.0 or newer");
	return rc ? rc : start_load(task, state, instance);
}

/* ---- target ---- */

static int setup(struct task *task)
{
	struct state *state = calloc(1, sizeof(*state));
	char reason[256];
	int rc = 0;

	if (!state)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	task->state = state;
	state->load = redis_load_find(task_string(task, "load"));
	state->instances = calloc(task_uint(task, "instances"), sizeof(*state->instances));
	if (!state->instances || pipe2(state->gate, O_CLOEXEC))
		return task_say(task, OUTCOME_BROKEN, "no memory or no pipe");
	state->count = task_uint(task, "instances");
	for (unsigned int i = 0; i < state->count; i++)
		state->instances[i].client.socket = -1;
	if (redis_connect(&state->instances[0].client, "/") == -EAFNOSUPPORT)
		return task_say(task, OUTCOME_SKIP,
				"this kernel has no Unix sockets (CONFIG_NET, CONFIG_UNIX)");
	if (redis_cpus("", task->point, &state->server_cpus, &state->load_cpus, reason,
		       sizeof(reason)))
		return task_say(task, OUTCOME_SKIP, "%s", reason);
	/* touched now, not in the window */
	memset(state->forks_us, 0, sizeof(state->forks_us));
	memset(state->copies_bytes, 0, sizeof(state->copies_bytes));
	for (unsigned int i = 0; !rc && i < state->count; i++)
		rc = start_instance(task, state, i);
	return rc;
}

/* A snapshot ended well: what the server tells of it. INFO persistence is in the reply. */
static int note_snapshot(struct state *state, struct instance *instance)
{
	uint64_t copied = redis_number(instance->client.reply, "rdb_last_cow_size");
	int rc = server_info(instance, "stats");

	if (!rc && state->seen < SAVES_MAX) {
		state->copies_bytes[state->seen] = copied;
		state->forks_us[state->seen++] = redis_number(instance->client.reply,
							      "latest_fork_usec");
	}
	instance->saves += !rc;
	instance->saving = false;
	return rc;
}

static int say_failed(struct task *task, const struct instance *instance)
{
	return helper_say_log(task, instance->log,
			      "a snapshot failed: free memory, or give fewer keys or a smaller "
			      "value");
}

/* Has the snapshot that was asked for come to its end? It is noted then; *idle: none is made. */
static int look_at_snapshot(struct task *task, struct instance *instance, bool *idle)
{
	int rc = server_info(instance, "persistence");
	enum redis_save save = redis_save_state(instance->client.reply);

	*idle = !rc && save != REDIS_SAVE_RUNS;
	if (*idle && instance->saving && save == REDIS_SAVE_FAILED)
		return say_failed(task, instance);
	if (*idle && instance->saving)
		rc = note_snapshot(task->state, instance);
	return rc ? helper_say_log(task, instance->log, "redis-server does not answer") : 0;
}

/* Asks for the next snapshot when the last is done. */
static int keep_saving(struct task *task, struct instance *instance)
{
	static const char *const save[] = { "BGSAVE", NULL };
	bool idle;
	int rc = look_at_snapshot(task, instance, &idle);

	if (rc || !idle)
		return rc;
	rc = redis_command(&instance->client, save);
	if (rc == -EREMOTEIO) /* as when fork() fails */
		return say_failed(task, instance);
	instance->saving = true;
	return rc ? helper_say_log(task, instance->log, "redis-server does not answer") : 0;
}

/* Has the load come to its end? A generator that fails is found in verify(). */
static bool load_ended(struct state *state, struct instance *instance)
{
	if (waitpid(instance->load, NULL, WNOHANG) <= 0)
		return false;
	instance->load = 0;
	state->loads_left--;
	return true;
}

/* A snapshot that the load does not outlast is not one under load: it counts for nothing. */
static int look_at_server(struct task *task, struct instance *instance)
{
	bool idle;

	if (instance->load <= 0)
		return 0;
	if (load_ended(task->state, instance))
		return look_at_snapshot(task, instance, &idle);
	return keep_saving(task, instance);
}

static int run(struct task *task)
{
	struct state *state = task->state;
	uint64_t start_ns = monotonic_ns();
	int rc = 0;

	close(state->gate[1]);
	state->gate[1] = -1;
	while (!rc && state->loads_left) {
		for (unsigned int i = 0; !rc && i < state->count; i++)
			rc = look_at_server(task, &state->instances[i]);
		if (!rc && state->loads_left)
			usleep(POLL_US);
	}
	state->elapsed_ns = monotonic_ns() - start_ns;
	return rc;
}

/* ---- verification ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static int report_load(struct task *task, const struct state *state)
{
	double p50[INSTANCES_MAX], p99[INSTANCES_MAX], longest = 0, rate = 0;
	struct redis_load_result result;
	bool has_latency = true;
	char *text;

	for (unsigned int i = 0; i < state->count; i++) {
		const struct instance *instance = &state->instances[i];
		int rc = fs_read("", instance->result, &text, NULL);

		if (!rc) {
			rc = state->load->parse(text, &result);
			free(text);
		}
		if (rc)
			return helper_say_log(
				task, state->load->own_file ? instance->load_log : instance->result,
				"the load generator told no figures");
		rate += result.requests_per_s;
		p50[i] = result.p50_us;
		p99[i] = result.p99_us;
		longest = result.max_us > longest ? result.max_us : longest;
		has_latency = has_latency && result.has_latency;
	}
	task_report(task, "requests_per_s", rate);
	if (has_latency) {
		task_report(task, "request_p50_us", median(p50, state->count));
		task_report(task, "request_p99_us", median(p99, state->count));
		task_report(task, "request_max_us", longest);
	}
	return 0;
}

/* verify() has seen to it that there is one. */
static int report_snapshots(struct task *task, const struct state *state)
{
	double *values = calloc(state->seen, sizeof(*values));
	unsigned int count = state->seen;

	if (!values)
		return task_say(task, OUTCOME_BROKEN, "no memory");
	for (unsigned int i = 0; i < count; i++)
		values[i] = state->forks_us[i];
	task_report(task, "fork_us", median(values, count));
	task_report(task, "fork_max_us", values[count - 1]);
	for (unsigned int i = 0; i < count; i++)
		values[i] = state->copies_bytes[i] / 1048576.0;
	task_report(task, "cow_mib", median(values, count));
	free(values);
	return 0;
}

static int verify(struct task *task)
{
	const struct state *state = task->state;
	unsigned long saves = 0;
	int rc = report_load(task, state);

	for (unsigned int i = 0; !rc && i < state->count; i++) {
		saves += state->instances[i].saves;
		if (!state->instances[i].saves)
			rc = task_say(task, OUTCOME_BROKEN,
				      "no snapshot of server %u came to its end in the window; "
				      "give more requests, or fewer keys",
				      i);
	}
	if (rc)
		return rc;
	task_report(task, "server_cpus", hwloc_bitmap_weight(state->server_cpus));
	task_report(task, "load_cpus", hwloc_bitmap_weight(state->load_cpus));
	task_report(task, "snapshots", saves);
	task_report(task, "snapshots_per_s", saves * 1e9 / state->elapsed_ns);
	return report_snapshots(task, state);
}

static void teardown(struct task *task)
{
	struct state *state = task->state;

	for (unsigned int i = 0; i < state->count; i++) {
		struct instance *instance = &state->instances[i];

		redis_close(&instance->client);
		helper_end(instance->load);
		helper_end(instance->server);
		free(instance->folder);
		free(instance->socket);
		free(instance->log);
		free(instance->load_log);
		free(instance->result);
	}
	hwloc_bitmap_free(state->server_cpus);
	hwloc_bitmap_free(state->load_cpus);
	close(state->gate[0]);
	free(state->instances);
	free(state);
}

const struct stressor redis_snapshot_stressor = {
	.name = "redis-snapshot",
	.version = 2,
	.summary = "Redis servers under load that make snapshots all the time",
	.description =
		"Starts Redis servers on the CPUs of one node and as many load generators on those "
		"of another (halves of the CPUs where there is one node), fills the servers with "
		"keys, and asks each for a BGSAVE again as soon as the last is done, until the "
		"generators have made their SET requests. Each snapshot forks the server, and the "
		"requests meanwhile are copy-on-write faults. Between two snapshots are up to 15 ms, "
		"in which the server notices the end of one and is asked for the next: give so many "
		"keys that a snapshot takes longer.\n\n"
		"Servers listen on Unix sockets in a folder in memory, which is removed afterwards, "
		"and keep nothing.\n\n"
		"Verified: that at least one snapshot of each server came to its end in the window, "
		"and that none failed. Only those that ended are counted.",
	.example = "redis-snapshot --runs 1 --set keys=10000 --set requests=20000",
	.needs = needs,
	.environment = environment,
	.options = options,
	.metrics = metrics,
	.primary = "requests_per_s",
	.run_in_target = point_always,
	.neighbours = point_never,
	.memory_bytes = memory_bytes,
	.setup = setup,
	.run = run,
	.verify = verify,
	.teardown = teardown,
};
