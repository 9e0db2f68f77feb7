// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers of a run's record: a folder, or lines on a stream.
 *
 * Each line of samples.jsonl is one write(2) to a file opened with O_APPEND, so
 * a killed writer loses at most the line it was writing. The disk is waited for
 * after each outcome and at the end, not after each sample: a crash of the
 * kernel loses at most the repetition that met it, and the wait falls between
 * repetitions. A folder whose run came to its end gets its checksums when it is
 * closed.
 */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/fs.h"
#include "checksums.h"

struct record {
	char *folder;	 /* NULL: a stream */
	int fd;		 /* samples.jsonl, or the stream (borrowed) */
	off_t length;	 /* of samples.jsonl, whole lines only */
	int error;	 /* once a line could not be taken back: nothing more is written */
	bool said;	 /* the failure was logged */
	bool ended;	 /* the end line was written */
	struct log *log; /* NULL: a stream */
};

static const char samples_header[] = "{\"schema\":\"shootdown-samples\",\"version\":1}\n";

/* A line with its newline; the caller frees. */
static char *line_of(const json_t *json, size_t *length)
{
	char *text = json_dumps(json, JSON_COMPACT);
	char *line;

	if (!text)
		return NULL;
	*length = strlen(text) + 1;
	line = realloc(text, *length + 1);
	if (!line) {
		free(text);
		return NULL;
	}
	line[*length - 1] = '\n';
	line[*length] = '\0';
	return line;
}

static int said(struct record *record, int error, const char *file)
{
	if (!record->log || record->said)
		return error;
	record->said = true;
	log_error(record->log, "cannot write %s/%s: %s; what was recorded before is kept%s",
		  record->folder, file, strerror(-error),
		  error == -ENOSPC || error == -EDQUOT
			  ? "; make room or give another folder with --out, then run again"
			  : "");
	return error;
}

/* All of a line or none of it: what a full disk cut off is taken back. */
static int append_to_file(struct record *record, const char *line, size_t length)
{
	ssize_t written;
	int error;

	if (record->error)
		return record->error;
	do {
		written = write(record->fd, line, length);
	} while (written < 0 && errno == EINTR);
	if (written == (ssize_t)length) {
		record->length += (off_t)length;
		return 0;
	}
	/* A short write to a file is how a disk that is nearly full begins to say so. */
	error = written < 0 ? -errno : -ENOSPC;
	if (written > 0 && ftruncate(record->fd, record->length))
		record->error = error;
	return said(record, error, "samples.jsonl");
}

static int append_to_stream(struct record *record, const char *line, size_t length)
{
	struct pollfd poll_fd = { .fd = record->fd, .events = POLLOUT };

	if (record->error)
		return record->error;
	while (length) {
		ssize_t written = write(record->fd, line, length);

		if (written >= 0) {
			line += written;
			length -= (size_t)written;
		} else if (errno == EAGAIN) {
			poll(&poll_fd, 1, -1);
		} else if (errno != EINTR) {
			record->error = -errno;
			return record->error;
		}
	}
	return 0;
}

static int send_record(struct record *record, const char *kind, const json_t *data)
{
	json_t *envelope = json_pack("{s:s, s:O}", "record", kind, "data", data);
	size_t length;
	char *line = envelope ? line_of(envelope, &length) : NULL;
	int ret = -ENOMEM;

	if (line)
		ret = append_to_stream(record, line, length);
	free(line);
	json_decref(envelope);
	return ret;
}

/* 0 when the folder holds nothing. */
static int check_empty(const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int ret = 0;

	if (!stream)
		return -errno;
	while (!ret && (entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			ret = -EEXIST;
	closedir(stream);
	return ret;
}

static int prepare_folder(const char *folder, struct log *log)
{
	int ret = fs_make_folders(folder, 0755);

	if (!ret)
		ret = check_empty(folder);
	if (ret == -EEXIST)
		log_error(log,
			  "the folder %s is there and not empty; a run never adds to another: "
			  "remove it or give another with --out",
			  folder);
	else if (ret)
		log_error(log,
			  "cannot make the folder %s for the results: %s; give another with --out",
			  folder, strerror(-ret));
	return ret;
}

static int open_samples(struct record *record)
{
	char *path = format_string("%s/samples.jsonl", record->folder);

	if (!path)
		return -ENOMEM;
	record->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0644);
	free(path);
	if (record->fd < 0)
		return said(record, -errno, "samples.jsonl");
	return append_to_file(record, samples_header, sizeof(samples_header) - 1);
}

int record_create(const char *folder, struct log *log, struct record **out)
{
	struct record *record;
	int ret = prepare_folder(folder, log);

	if (ret)
		return ret;
	record = calloc(1, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->fd = -1;
	record->log = log;
	record->folder = strdup(folder);
	ret = record->folder ? open_samples(record) : -ENOMEM;
	if (ret) {
		record_close(record);
		return ret;
	}
	*out = record;
	return 0;
}

int record_stream(int fd, struct record **out)
{
	struct record *record = calloc(1, sizeof(*record));

	if (!record)
		return -ENOMEM;
	record->fd = fd;
	*out = record;
	return 0;
}

static int write_document(struct record *record, const char *name, const json_t *json)
{
	char *path = format_string("%s/%s", record->folder, name);
	char *text = json_dumps(json, JSON_INDENT(1));
	char *whole = text ? format_string("%s\n", text) : NULL;
	int ret = -ENOMEM;

	if (path && whole)
		ret = fs_replace(path, whole, strlen(whole));
	free(whole);
	free(text);
	free(path);
	return ret ? said(record, ret, name) : 0;
}

int record_machine(struct record *record, const json_t *machine)
{
	if (!record->folder)
		return send_record(record, "machine", machine);
	return write_document(record, "machine.json", machine);
}

int record_plan(struct record *record, const json_t *plan)
{
	if (!record->folder)
		return send_record(record, "plan", plan);
	return write_document(record, "plan.json", plan);
}

static int wait_for_disk(struct record *record)
{
	/* EINVAL and EROFS: a file that cannot be waited for, such as a pipe. */
	if (fdatasync(record->fd) && errno != EINVAL && errno != EROFS)
		return said(record, -errno, "samples.jsonl");
	return 0;
}

/* The last time that was measured, for whoever watches. */
static void show_value(const struct record *record, const json_t *line)
{
	const char *metric = json_string_value(json_object_get(line, "metric"));
	const json_t *value = json_object_get(line, "value");

	if (record->log && metric && !strcmp(metric, "time_ms") && json_is_number(value))
		log_progress_detail(record->log, "last: point %lld, time_ms %.4g",
				    (long long)json_integer_value(json_object_get(line, "point")),
				    json_number_value(value));
}

int record_sample(struct record *record, const json_t *line)
{
	size_t length;
	char *text;
	int ret;

	if (!record->folder)
		return send_record(record, "sample", line);
	text = line_of(line, &length);
	if (!text)
		return -ENOMEM;
	ret = append_to_file(record, text, length);
	free(text);
	show_value(record, line);
	if (!ret && json_object_get(line, "end"))
		record->ended = true;
	if (!ret && (json_object_get(line, "outcome") || record->ended))
		ret = wait_for_disk(record);
	return ret;
}

static const struct {
	const char *kind;
	int (*take)(struct record *record, const json_t *data);
} kinds[] = {
	{ "machine", record_machine },
	{ "plan", record_plan },
	{ "sample", record_sample },
};

int record_receive(struct record *record, const char *line, size_t length)
{
	json_t *envelope = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *kind = json_string_value(json_object_get(envelope, "record"));
	const json_t *data = json_object_get(envelope, "data");
	int ret = -EBADMSG;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kind && json_is_object(data) && !strcmp(kind, kinds[i].kind))
			ret = kinds[i].take(record, data);
	json_decref(envelope);
	return ret;
}

void record_close(struct record *record)
{
	int ret;

	if (!record)
		return;
	if (record->folder && record->fd >= 0) {
		wait_for_disk(record);
		close(record->fd);
	}
	if (record->ended && !record->error) {
		ret = checksums_write(record->folder);
		if (ret)
			said(record, ret, "checksums");
	}
	free(record->folder);
	free(record);
}
