// SPDX-License-Identifier: GPL-2.0-only
/* Load generators: how they are called, and what they print. One table row each. */
#include "redis_snapshot.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number as a word; text has room for REDIS_LOAD_WORDS of them. */
struct words {
	const char **next;
	char *text;
	size_t left;
};

static void add_word(struct words *words, const char *word)
{
	*words->next++ = word;
	*words->next = NULL;
}

__attribute__((format(printf, 2, 3))) static void add_text(struct words *words, const char *format,
							   ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(words->text, words->left, format, arguments);
	va_end(arguments);
	add_word(words, words->text);
	words->text += length + 1;
	words->left -= length + 1;
}

/* ---- redis-benchmark ---- */

static void benchmark_command(const struct redis_load_size *size, const char **list, char *text,
			      size_t text_size)
{
	struct words words = { list, text, text_size };

	add_word(&words, "-s");
	add_word(&words, size->socket);
	add_word(&words, "-t");
	add_word(&words, "set");
	add_word(&words, "--csv");
	add_word(&words, "-n");
	add_text(&words, "%llu", (unsigned long long)size->requests);
	add_word(&words, "-r");
	add_text(&words, "%llu", (unsigned long long)size->keys);
	add_word(&words, "-d");
	add_text(&words, "%llu", (unsigned long long)size->value_bytes);
	add_word(&words, "-c");
	add_text(&words, "%u", size->clients);
	add_word(&words, "-P");
	add_text(&words, "%u", size->pipeline);
}

/* The number in the column of a CSV row; *there is false when it has none. */
static double csv_number(const char *heads, const char *row, const char *head, bool *there)
{
	char quoted[64];
	size_t length = snprintf(quoted, sizeof(quoted), "\"%s\"", head);

	*there = false;
	while (heads && row) {
		if (!strncmp(heads, quoted, length)) {
			*there = *row == '"';
			return *there ? strtod(row + 1, NULL) : 0;
		}
		heads = strpbrk(heads, ",\n");
		row = strpbrk(row, ",\n");
		if (!heads || !row || *heads == '\n' || *row == '\n')
			break;
		heads++;
		row++;
	}
	return 0;
}

/* Since 6.2 there is a line of heads; before, a row is the test and its rate. */
static int benchmark_parse(const char *text, struct redis_load_result *result)
{
	const char *row = strstr(text, "\"SET\",\""), *heads = strstr(text, "\"test\",");
	bool there, p50, p99, longest;

	if (!row)
		return -EINVAL;
	*result = (struct redis_load_result){ .requests_per_s = strtod(row + 7, NULL) };
	if (heads) {
		result->requests_per_s = csv_number(heads, row, "rps", &there);
		result->p50_us = csv_number(heads, row, "p50_latency_ms", &p50) * 1000;
		result->p99_us = csv_number(heads, row, "p99_latency_ms", &p99) * 1000;
		result->max_us = csv_number(heads, row, "max_latency_ms", &longest) * 1000;
		result->has_latency = p50 && p99 && longest;
	}
	return result->requests_per_s > 0 ? 0 : -EINVAL;
}

/* ---- memtier_benchmark ---- */

static void memtier_command(const struct redis_load_size *size, const char **list, char *text,
			    size_t text_size)
{
	struct words words = { list, text, text_size };

	add_word(&words, "-S");
	add_word(&words, size->socket);
	add_word(&words, "--ratio=1:0");
	add_word(&words, "--threads=1");
	add_word(&words, "--hide-histogram");
	add_word(&words, "--key-prefix=key:");
	add_word(&words, "--key-minimum=0");
	add_text(&words, "--key-maximum=%llu", (unsigned long long)size->keys - 1);
	add_text(&words, "--requests=%llu", (unsigned long long)size->requests / size->clients);
	add_text(&words, "--data-size=%llu", (unsigned long long)size->value_bytes);
	add_text(&words, "--clients=%u", size->clients);
	add_text(&words, "--pipeline=%u", size->pipeline);
	add_text(&words, "--json-out-file=%s", size->output);
}

static int memtier_parse(const char *text, struct redis_load_result *result)
{
	json_t *whole = json_loads(text, 0, NULL);
	json_t *totals = json_object_get(json_object_get(whole, "ALL STATS"), "Totals");
	json_t *shares = json_object_get(totals, "Percentile Latencies");
	json_t *p50 = json_object_get(shares, "p50.00"), *p99 = json_object_get(shares, "p99.00");
	json_t *longest = json_object_get(totals, "Max Latency");

	*result = (struct redis_load_result){
		.requests_per_s = json_number_value(json_object_get(totals, "Ops/sec")),
		.has_latency = p50 && p99 && longest,
		.p50_us = json_number_value(p50) * 1000,
		.p99_us = json_number_value(p99) * 1000,
		.max_us = json_number_value(longest) * 1000,
	};
	json_decref(whole);
	return result->requests_per_s > 0 ? 0 : -EINVAL;
}

static const struct redis_load loads[] = {
	{ "redis-benchmark", "redis-benchmark", false, "key:%012d", benchmark_command,
	  benchmark_parse },
	{ "memtier", "memtier_benchmark", true, "key:%d", memtier_command, memtier_parse },
	{ NULL },
};

const struct redis_load *redis_load_find(const char *name)
{
	for (const struct redis_load *load = loads; load->name; load++)
		if (!strcmp(load->name, name))
			return load;
	return NULL;
}
