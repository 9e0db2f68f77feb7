// SPDX-License-Identifier: GPL-2.0-only
/* The command that makes the same records again, from plan.json and lab.json. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "../lib/quantity.h"
#include "report.h"

/* One word, quoted for a shell where it has to be. */
static void print_word(const char *prefix, const char *word, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.,:/%+-=@";

	fputs(prefix, out);
	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static bool seen_before(const struct comparison *comparison, size_t at, const char *key)
{
	const struct compared_point *point = &comparison->points[at];

	for (size_t i = 0; i < at; i++)
		if (!strcmp(comparison->points[i].stressor, point->stressor) &&
		    (!key || json_equal(json_object_get(comparison->points[i].parameters, key),
					json_object_get(point->parameters, key))))
			return true;
	return false;
}

/* "[STRESSOR.]OPTION=VALUE,VALUE" of the stressor that point first is the first of. */
static void print_setting(const struct comparison *comparison, size_t first, const char *key,
			  bool qualified, FILE *out)
{
	const struct compared_point *point = &comparison->points[first];
	char *text = NULL;
	size_t length;
	FILE *word = open_memstream(&text, &length);

	if (!word)
		return;
	fprintf(word, "%s%s%s=", qualified ? point->stressor : "", qualified ? "." : "", key);
	for (size_t i = first; i < comparison->point_count; i++) {
		char *value;

		if (strcmp(comparison->points[i].stressor, point->stressor) ||
		    seen_before(comparison, i, key))
			continue;
		value = compared_parameter(&comparison->points[i], key);
		fprintf(word, "%s%s", i == first ? "" : ",", value ? value : "");
		free(value);
	}
	if (!fclose(word))
		print_word(" \\\n    --set ", text, out);
	free(text);
}

static void print_stressors(const struct comparison *comparison, FILE *out)
{
	for (size_t i = 0; i < comparison->point_count; i++)
		if (!seen_before(comparison, i, NULL))
			print_word(" ", comparison->points[i].stressor, out);
}

static void print_settings(const struct comparison *comparison, FILE *out)
{
	bool qualified = false;

	for (size_t i = 1; i < comparison->point_count; i++)
		qualified |= strcmp(comparison->points[i].stressor,
				    comparison->points[0].stressor) != 0;
	for (size_t i = 0; i < comparison->point_count; i++) {
		const char *key;
		json_t *value;

		if (seen_before(comparison, i, NULL))
			continue;
		json_object_foreach(comparison->points[i].parameters, key, value)
			if (!json_is_null(value)) /* it has no default and was not given */
				print_setting(comparison, i, key, qualified, out);
	}
}

/* Each of the words with the option before it. */
static void print_words(const char *option, const json_t *words, FILE *out)
{
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word)
		if (json_is_string(word))
			print_word(option, json_string_value(word), out);
}

/* Seconds of a plan, whose options take a year at most; 0: not known. */
static void print_time(const char *option, double seconds, FILE *out)
{
	char *text = NULL;

	if (seconds > 0 && seconds < 1e9)
		text = quantity_text(QUANTITY_TIME, (uint64_t)llround(seconds * 1e9));
	if (text)
		fprintf(out, " --%s %s", option, text);
	free(text);
}

static void print_plan(const json_t *plan, FILE *out)
{
	double duration_s = json_number_value(json_object_get(plan, "duration_s"));
	const char *cpus = json_string_value(json_object_get(plan, "cpu_list"));

	if (duration_s > 0)
		print_time("duration", duration_s, out);
	else
		fprintf(out, " --runs %lld",
			(long long)json_integer_value(json_object_get(plan, "repetitions")));
	print_time("timeout", json_number_value(json_object_get(plan, "timeout_s")), out);
	fprintf(out, " --seed %llu%s",
		(unsigned long long)json_integer_value(json_object_get(plan, "seed")),
		json_is_true(json_object_get(plan, "interleave")) ? " --interleave" : "");
	print_words(" --counter ", json_object_get(plan, "counters"), out);
	print_words(" --event ", json_object_get(plan, "events"), out);
	if (cpus)
		print_word(" --cpus ", cpus, out);
}

/* What lab.json calls "debian linux-source-7.3 ..." is --source debian:7.3. */
static void print_source(const char *source, FILE *out)
{
	static const char debian[] = "debian linux-source-";
	size_t length = strlen(debian);

	if (!strncmp(source, debian, length))
		fprintf(out, " --source debian:%.*s", (int)strspn(source + length, "0123456789."),
			source + length);
}

/* One of an object's values as an option: a flag, a word, or as often as the list is long. */
static void print_option(const json_t *object, const char *key, FILE *out)
{
	const json_t *value = json_object_get(object, key), *one;
	size_t i;

	if (json_is_true(value))
		fprintf(out, " --%s", key);
	if (json_is_string(value)) {
		fprintf(out, " --%s", key);
		print_word(" ", json_string_value(value), out);
	}
	json_array_foreach(value, i, one) {
		fprintf(out, " \\\n    --%s", key);
		print_word(" ", json_string_value(one), out);
	}
}

/* Words of lab.json that are options as they are: facts, and below "given" what was asked for. */
static const char *const fact_options[] = { "arch", "accel" };
static const char *const given_options[] = { "memory", "numa",	 "cxl",	       "program", "append",
					     "aa",     "config", "instrument", "arm" };

static void print_lab(const struct comparison *comparison, const struct report_runs *runs,
		      FILE *out)
{
	const json_t *given = json_object_get(runs->lab, "given");
	const char *series = json_string_value(json_object_get(given, "series"));
	const char *source = json_string_value(json_object_get(runs->lab, "source"));

	fputs("shootdown lab ab", out);
	print_word(" ", series ? series : "-", out);
	print_stressors(comparison, out);
	fprintf(out, " \\\n    --cpus %lld --boots %lld",
		(long long)json_integer_value(json_object_get(runs->lab, "cpus")),
		(long long)json_integer_value(json_object_get(runs->lab, "boots_each")));
	if (runs->count)
		print_plan(runs->list[0].run->plan, out);
	fputs(" \\\n   ", out);
	for (size_t i = 0; i < sizeof(fact_options) / sizeof(fact_options[0]); i++)
		print_option(runs->lab, fact_options[i], out);
	if (json_object_get(given, "source"))
		print_option(given, "source", out);
	else
		print_source(source ? source : "", out);
	fputs(" --out ab", out);
	for (size_t i = 0; i < sizeof(given_options) / sizeof(given_options[0]); i++)
		print_option(given, given_options[i], out);
	print_settings(comparison, out);
	fputs("\nshootdown compare ab", out);
}

/* The folder's own name: where the records were is of no use elsewhere. */
static const char *base_name(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash && slash[1] ? slash + 1 : folder;
}

static void print_runs(const struct comparison *comparison, const struct report_runs *runs,
		       FILE *out)
{
	for (size_t i = 0; i < comparison->arm_count; i++) {
		const json_t *plan = NULL;

		for (size_t j = 0; !plan && j < runs->count; j++)
			if (runs->list[j].arm == i)
				plan = runs->list[j].run->plan;
		fputs("shootdown run", out);
		print_stressors(comparison, out);
		if (plan)
			print_plan(plan, out);
		print_word(" --out ", base_name(comparison->arms[i].folder), out);
		print_settings(comparison, out);
		fputc('\n', out);
	}
	fputs("shootdown compare", out);
	for (size_t i = 0; i < comparison->arm_count; i++)
		print_word(" ", base_name(comparison->arms[i].folder), out);
}

char *report_command(const struct comparison *comparison, const struct report_runs *runs)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	if (runs->lab)
		print_lab(comparison, runs, out);
	else
		print_runs(comparison, runs, out);
	fprintf(out, "%s%s --format html --out report.html\n",
		comparison->paired ? " --paired" : "", comparison->factors ? " --factors" : "");
	if (fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}
