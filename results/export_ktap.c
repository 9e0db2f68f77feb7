// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAP: the kernel's test protocol, which its kunit_parser.py and others read.
 * A name has no '#' (it begins a directive) and no line is a copy of what a
 * result or a plan looks like: texts of the run stand behind "# ".
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export_private.h"

static int begin(const struct export_request *request, size_t total, FILE *out, void **state)
{
	(void)request;
	(void)state;
	fprintf(out, "KTAP version 1\n1..%zu\n", total);
	return 0;
}

/* One line of it: without control characters, and without '#' where it would mean something. */
static void put_text(const char *text, char instead_of_hash, FILE *out)
{
	for (; *text; text++)
		fputc(iscntrl((unsigned char)*text) ? ' '
		      : *text == '#'		    ? instead_of_hash
						    : *text,
		      out);
}

static void put_sample(const struct loaded_run *run, const struct run_sample *sample, FILE *out)
{
	const struct run_metric *metric = &run->metrics[sample->metric];

	fputs("    # ", out);
	put_text(metric->name, '#', out);
	if (isnan(sample->value)) {
		fprintf(out, ": %s", value_status_name((enum value_status)sample->status));
		if (sample->reason) {
			fputs(", ", out);
			put_text(run->texts[sample->reason], '#', out);
		}
	} else {
		json_t *number = json_real(sample->value);

		fputs(": ", out);
		json_dumpf(number, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
		json_decref(number);
		fputc(' ', out);
		put_text(metric->unit, '#', out);
		if (sample->status != VALUE_OK)
			fprintf(out, " (%s)", value_status_name((enum value_status)sample->status));
	}
	fputc('\n', out);
}

/* How KTAP says each outcome. */
static const struct {
	const char *result, *directive;
} words[OUTCOME_COUNT] = {
	[OUTCOME_PASS] = { "ok", NULL },
	[OUTCOME_FAIL] = { "not ok", NULL },
	[OUTCOME_SKIP] = { "ok", "SKIP" },
	[OUTCOME_BROKEN] = { "not ok", "ERROR" },
	[OUTCOME_INTERRUPTED] = { "not ok", "ERROR" },
};

static void put_directive(enum outcome outcome, const char *reason, FILE *out)
{
	if (!words[outcome].directive)
		return;
	fprintf(out, " # %s ", words[outcome].directive);
	if (outcome == OUTCOME_INTERRUPTED)
		fputs(*reason ? "interrupted: " : "interrupted", out);
	put_text(reason, ' ', out);
}

static void put_repetition(const struct loaded_run *run, const struct run_outcome *outcome,
			   size_t number, FILE *out)
{
	const char *reason = run->texts[outcome->reason];

	if (outcome->outcome == OUTCOME_FAIL && *reason) {
		fputs("    # ", out);
		put_text(reason, '#', out);
		fputc('\n', out);
	}
	fprintf(out, "    %s %zu repetition-%u", words[outcome->outcome].result, number,
		outcome->repetition);
	put_directive(outcome->outcome, reason, out);
	fputc('\n', out);
}

struct cursor {
	const struct loaded_run *run;
	const size_t *order;
	size_t sample, outcome;
};

/* The worst of some outcomes; none: skip. */
static enum outcome worst_of(const struct loaded_run *run, size_t from, size_t to)
{
	static const enum outcome order[] = { OUTCOME_FAIL, OUTCOME_BROKEN, OUTCOME_INTERRUPTED,
					      OUTCOME_PASS };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t j = from; j < to; j++)
			if (run->outcomes[j].outcome == order[i])
				return order[i];
	return OUTCOME_SKIP;
}

static void put_point_name(const struct run_point *point, const char *parameters, FILE *out)
{
	put_text(point->stressor, '_', out);
	if (*parameters)
		fputc(' ', out);
	put_text(parameters, '_', out);
}

/* The repetitions that came to an end; their samples before each. */
static void put_repetitions(struct cursor *cursor, uint32_t place, size_t end, FILE *out)
{
	const struct loaded_run *run = cursor->run;
	size_t number = 1;

	for (; cursor->outcome < end; cursor->outcome++, number++) {
		const struct run_outcome *outcome = &run->outcomes[cursor->outcome];

		while (cursor->sample < run->sample_count) {
			const struct run_sample *sample =
				&run->samples[cursor->order[cursor->sample]];

			if (sample->point != place || sample->repetition > outcome->repetition)
				break;
			if (sample->repetition == outcome->repetition)
				put_sample(run, sample, out);
			cursor->sample++;
		}
		put_repetition(run, outcome, number, out);
	}
	while (cursor->sample < run->sample_count &&
	       run->samples[cursor->order[cursor->sample]].point == place)
		cursor->sample++;
}

static int put_point(struct cursor *cursor, uint32_t place, FILE *out)
{
	const struct loaded_run *run = cursor->run;
	const struct run_point *point = &run->points[place];
	char *parameters = export_parameters(point);
	size_t from = cursor->outcome, end = from;
	enum outcome worst;

	if (!parameters)
		return -ENOMEM;
	while (end < run->outcome_count && run->outcomes[end].point == place)
		end++;
	worst = worst_of(run, from, end);
	if (worst == OUTCOME_SKIP) {
		/* a test without subtests: nothing was run */
		fprintf(out, "  ok %u ", place + 1);
		put_point_name(point, parameters, out);
		put_directive(OUTCOME_SKIP,
			      end > from ? run->texts[run->outcomes[from].reason] : "was not run",
			      out);
		fputc('\n', out);
		cursor->outcome = end;
		put_repetitions(cursor, place, end, out);
	} else {
		fputs("    KTAP version 1\n    # Subtest: ", out);
		put_point_name(point, parameters, out);
		fprintf(out, "\n    1..%zu\n", end - from);
		put_repetitions(cursor, place, end, out);
		fprintf(out, "  %s %u ", words[worst].result, place + 1);
		put_point_name(point, parameters, out);
		fputc('\n', out);
	}
	free(parameters);
	return 0;
}

static int put_run(const struct export_run *export, FILE *out)
{
	const struct loaded_run *run = export->run;
	struct cursor cursor = { .run = run };
	size_t *order = export_order(run);
	enum outcome worst = worst_of(run, 0, run->outcome_count);
	int ret = order ? 0 : -ENOMEM;

	cursor.order = order;
	fprintf(out, "  KTAP version 1\n  # Subtest: run-%s\n  1..%u\n", export->id,
		run->point_count);
	fputs("  # kernel: ", out);
	put_text(json_string_value(
			 json_object_get(json_object_get(run->machine, "kernel"), "release")),
		 '#', out);
	fputc('\n', out);
	for (uint32_t i = 0; !ret && i < run->point_count; i++)
		ret = put_point(&cursor, i, out);
	fprintf(out, "%s %zu run-%s", words[worst].result, export->index + 1, export->id);
	if (worst == OUTCOME_SKIP)
		fputs(" # SKIP nothing was run", out);
	fputc('\n', out);
	free(order);
	return ret;
}

const struct export_format export_ktap = { "ktap", begin, put_run, NULL };
