/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of redis-snapshot: the protocol of the server on a Unix socket
 * (redis_snapshot_client.c), the load generators that are known (redis_snapshot_load.c),
 * and which CPUs are whose (redis_snapshot_cpus.c).
 */
#ifndef SHOOTDOWN_REDIS_SNAPSHOT_H
#define SHOOTDOWN_REDIS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper.h"
#include "stressor.h"

/* ---- CPUs ---- */

/*
 * Which CPUs of the point servers and load generators run on, by options server-node
 * and load-node: those of two nodes when there are two, else the halves of one. A
 * single CPU is for both only when both options name its node. root as in lib/fs.h. 0, and
 * both sets are the caller's to free; or 1, and reason says what to do.
 */
int redis_cpus(const char *root, const struct point *point, hwloc_bitmap_t *servers,
	       hwloc_bitmap_t *loads, char *reason, size_t size);

/* ---- client: no memory is allocated between connect and close ---- */

struct redis_client {
	int socket;
	char reply[16384]; /* of the last command, without its type; NUL-terminated */
};

/* -EAFNOSUPPORT: a kernel without Unix sockets; -ENOENT, -ECONNREFUSED: no server yet. */
int redis_connect(struct redis_client *client, const char *path);
void redis_close(struct redis_client *client);

/* words: NULL at the end. -EREMOTEIO: the server says an error, which is in reply. */
int redis_command(struct redis_client *client, const char *const *words);

/* A number of an INFO reply, by its exact name; -1 when there is none. */
long long redis_number(const char *info, const char *name);

enum redis_save {
	REDIS_SAVE_RUNS,
	REDIS_SAVE_ENDED, /* well; or there was none yet */
	REDIS_SAVE_FAILED,
};

/*
 * What became of the last BGSAVE, by a reply of INFO persistence. rdb_saves does not tell: the
 * server counts a snapshot when it begins (rdbSaveBackground()).
 */
enum redis_save redis_save_state(const char *info);

/* ---- load generators ---- */

struct redis_load_size {
	const char *socket, *output;
	uint64_t requests, keys, value_bytes;
	unsigned int clients, pipeline;
};

struct redis_load_result {
	double requests_per_s;
	bool has_latency; /* the generator tells it */
	double p50_us, p99_us, max_us;
};

#define REDIS_LOAD_WORDS 40 /* of a command line, with the NULL */

struct redis_load {
	const char *name; /* of option load; NULL ends the table */
	const char *program;
	bool own_file;		/* writes its result to size->output itself, not to its output */
	const char *key_format; /* how it names key number N, in Lua's string.format() */
	/* the words after the program; numbers are printed into text. */
	void (*command)(const struct redis_load_size *size, const char **words, char *text,
			size_t text_size);
	/* -EINVAL when this is not what the program prints */
	int (*parse)(const char *text, struct redis_load_result *result);
};

const struct redis_load *redis_load_find(const char *name);

#endif
