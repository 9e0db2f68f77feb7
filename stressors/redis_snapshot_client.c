// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of the server's protocol as is needed: commands as arrays of strings,
 * replies that are a line or one string (the RESP2 description of Redis).
 */
#include "redis_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REPLY_LIMIT_S 60

int redis_connect(struct redis_client *client, const char *path)
{
	struct timeval limit = { .tv_sec = REPLY_LIMIT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int rc;

	client->socket = -1;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->socket < 0)
		return errno == ENOSYS ? -EAFNOSUPPORT : -errno;
	if (!setsockopt(client->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) &&
	    !connect(client->socket, (struct sockaddr *)&address, sizeof(address)))
		return 0;
	rc = -errno;
	redis_close(client);
	return rc;
}

void redis_close(struct redis_client *client)
{
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
}

static int send_all(const struct redis_client *client, const char *bytes, size_t length)
{
	ssize_t done;

	for (; length; bytes += done, length -= done) {
		done = send(client->socket, bytes, length, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done < 0)
			return -errno;
	}
	return 0;
}

/* More of a reply behind `used` bytes; how many there are then. */
static ssize_t receive(struct redis_client *client, size_t used)
{
	ssize_t got;

	if (used + 1 >= sizeof(client->reply))
		return -EMSGSIZE;
	do
		got = recv(client->socket, client->reply + used, sizeof(client->reply) - 1 - used,
			   0);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return -ECONNRESET;
	if (got < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	client->reply[used + got] = '\0';
	return used + got;
}

/* "+OK", "-ERR ...", ":1", or "$5" with a string of that length behind it. */
static int read_reply(struct redis_client *client)
{
	ssize_t used = 0, wanted;
	char *text, type;
	long length;

	do {
		used = receive(client, used);
		if (used < 0)
			return used;
		text = strstr(client->reply, "\r\n");
	} while (!text);
	type = client->reply[0];
	length = strtol(client->reply + 1, NULL, 10);
	if (type != '$') {
		*text = '\0';
		memmove(client->reply, client->reply + 1, text - client->reply);
		return type == '-' ? -EREMOTEIO : 0;
	}
	text += 2;
	wanted = length < 0 ? used : text - client->reply + length + 2;
	while (used < wanted) {
		used = receive(client, used);
		if (used < 0)
			return used;
	}
	length = length < 0 ? 0 : length;
	memmove(client->reply, text, length);
	client->reply[length] = '\0';
	return 0;
}

int redis_command(struct redis_client *client, const char *const *words)
{
	unsigned int count = 0;
	char head[32];
	int rc;

	while (words[count])
		count++;
	snprintf(head, sizeof(head), "*%u\r\n", count);
	rc = send_all(client, head, strlen(head));
	for (unsigned int i = 0; !rc && i < count; i++) {
		snprintf(head, sizeof(head), "$%zu\r\n", strlen(words[i]));
		rc = send_all(client, head, strlen(head));
		if (!rc)
			rc = send_all(client, words[i], strlen(words[i]));
		if (!rc)
			rc = send_all(client, "\r\n", 2);
	}
	return rc ? rc : read_reply(client);
}

/* What is behind the name's colon; NULL: there is no such line. */
static const char *value_of(const char *info, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = info; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

long long redis_number(const char *info, const char *name)
{
	const char *value = value_of(info, name);

	return value ? strtoll(value, NULL, 10) : -1;
}

enum redis_save redis_save_state(const char *info)
{
	const char *status = value_of(info, "rdb_last_bgsave_status");

	if (redis_number(info, "rdb_bgsave_in_progress"))
		return REDIS_SAVE_RUNS;
	return status && !strncmp(status, "ok\r\n", 4) ? REDIS_SAVE_ENDED : REDIS_SAVE_FAILED;
}
