// SPDX-License-Identifier: GPL-2.0-only
/* samples.jsonl, line by line: what record.h says of its lines, and no other. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_private.h"
#include "scan.h"

/* Keys of all kinds of lines. The order is that of field_names. */
enum field {
	FIELD_POINT,
	FIELD_REPETITION,
	FIELD_METRIC,
	FIELD_UNIT,
	FIELD_VALUE,
	FIELD_STATUS,
	FIELD_BY_CPU,
	FIELD_REASON,
	FIELD_OUTCOME,
	FIELD_STARTED,
	FIELD_SECONDS,
	FIELD_END,
	FIELD_RESTORED,
	FIELD_SCHEMA,
	FIELD_VERSION,
	FIELD_COUNT,
};

static const char *const field_names[FIELD_COUNT] = {
	"point",   "repetition", "metric",  "unit", "value",	"status", "by_cpu",  "reason",
	"outcome", "started_ns", "seconds", "end",  "restored", "schema", "version",
};

#define BIT(field) (1U << (field))

struct line {
	unsigned int there; /* BIT()s of the fields that it has */
	uint64_t point, repetition, started_ns;
	double value, seconds, version;
	bool restored;
	char *metric, *unit, *status, *reason, *outcome, *end, *schema;
	size_t by_cpu; /* entries added to run->by_cpu */
};

struct loader {
	struct loaded_run *run;
	struct log *log;
	const char *path;
	unsigned long number; /* of the line */
	bool with_by_cpu;
	bool ended;	    /* the end line was seen */
	json_t *text_index; /* text -> index into run->texts */
	size_t text_room, metric_room, sample_room, by_cpu_room, outcome_room;
	size_t next_metric; /* the one that is likely next */
};

__attribute__((format(printf, 2, 3))) static int bad_line(struct loader *loader, const char *format,
							  ...)
{
	char what[256];
	va_list list;

	va_start(list, format);
	vsnprintf(what, sizeof(what), format, list);
	va_end(list);
	log_error(loader->log,
		  "%s line %lu: %s; the file is damaged, leave this folder out or run again",
		  loader->path, loader->number, what);
	return -EBADMSG;
}

/* Room for one more element; NULL: no memory. */
static void *grow(void *list, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room + *room / 2 : 64;
	void *grown;

	if (count < *room)
		return list;
	grown = reallocarray(list, wanted, size);
	if (grown)
		*room = wanted;
	return grown;
}

/* The text's index, kept once. */
static int intern(struct loader *loader, const char *text, uint32_t *index)
{
	struct loaded_run *run = loader->run;
	json_t *known = json_object_get(loader->text_index, text);
	char **texts;

	if (known) {
		*index = (uint32_t)json_integer_value(known);
		return 0;
	}
	texts = grow(run->texts, run->text_count, &loader->text_room, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	run->texts = texts;
	texts[run->text_count] = strdup(text);
	if (!texts[run->text_count])
		return -ENOMEM;
	*index = (uint32_t)run->text_count++;
	return json_object_set_new(loader->text_index, text, json_integer(*index)) ? -ENOMEM : 0;
}

static int add_metric(struct loader *loader, const struct line *line)
{
	struct loaded_run *run = loader->run;
	struct run_metric *metrics;
	uint32_t name, unit;
	int ret;

	if (run->metric_count > UINT16_MAX)
		return bad_line(loader, "more than %d different metrics", UINT16_MAX);
	metrics = grow(run->metrics, run->metric_count, &loader->metric_room, sizeof(*metrics));
	if (!metrics)
		return -ENOMEM;
	run->metrics = metrics;
	ret = intern(loader, line->metric, &name);
	if (!ret)
		ret = intern(loader, line->unit, &unit);
	if (ret)
		return ret;
	metrics[run->metric_count++] = (struct run_metric){ .name = run->texts[name],
							    .unit = run->texts[unit] };
	return 0;
}

/* Metrics come in the same order in each repetition, so the first guess is nearly always right. */
static int find_metric(struct loader *loader, const struct line *line, uint16_t *index)
{
	struct loaded_run *run = loader->run;
	size_t at = loader->next_metric, looked;
	int ret;

	for (looked = 0; looked < run->metric_count; looked++, at++) {
		if (at >= run->metric_count)
			at = 0;
		if (!strcmp(run->metrics[at].name, line->metric))
			break;
	}
	if (looked == run->metric_count) {
		ret = add_metric(loader, line);
		if (ret)
			return ret;
		at = run->metric_count - 1;
	}
	if (strcmp(run->metrics[at].unit, line->unit))
		return bad_line(loader, "metric \"%s\" has the unit \"%s\" here and \"%s\" before",
				line->metric, line->unit, run->metrics[at].unit);
	*index = (uint16_t)at;
	loader->next_metric = at + 1;
	return 0;
}

static int scan_by_cpu(struct loader *loader, struct scan *scan, struct line *line)
{
	struct loaded_run *run = loader->run;
	struct run_cpu_value *list;
	bool first = true;
	char *key, *rest;

	if (!loader->with_by_cpu)
		return scan_skip(scan) ? 0 : -EBADMSG;
	if (!scan_take(scan, '{'))
		return -EBADMSG;
	while (scan_key(scan, &first, &key)) {
		if (!key)
			return 0;
		list = grow(run->by_cpu, run->by_cpu_count, &loader->by_cpu_room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		run->by_cpu = list;
		list[run->by_cpu_count].cpu = (unsigned int)strtoul(key, &rest, 10);
		if (rest == key || *rest || !scan_number(scan, &list[run->by_cpu_count].value))
			return -EBADMSG;
		run->by_cpu_count++;
		line->by_cpu++;
	}
	return -EBADMSG;
}

static bool scan_field(struct scan *scan, enum field field, struct line *line)
{
	switch (field) {
	case FIELD_POINT:
		return scan_u64(scan, &line->point);
	case FIELD_REPETITION:
		return scan_u64(scan, &line->repetition);
	case FIELD_STARTED:
		return scan_u64(scan, &line->started_ns);
	case FIELD_VALUE:
		return scan_number(scan, &line->value);
	case FIELD_SECONDS:
		return scan_number(scan, &line->seconds);
	case FIELD_VERSION:
		return scan_number(scan, &line->version);
	case FIELD_RESTORED:
		return scan_bool(scan, &line->restored);
	case FIELD_METRIC:
		return scan_string(scan, &line->metric);
	case FIELD_UNIT:
		return scan_string(scan, &line->unit);
	case FIELD_STATUS:
		return scan_string(scan, &line->status);
	case FIELD_REASON:
		return scan_string(scan, &line->reason);
	case FIELD_OUTCOME:
		return scan_string(scan, &line->outcome);
	case FIELD_END:
		return scan_string(scan, &line->end);
	case FIELD_SCHEMA:
		return scan_string(scan, &line->schema);
	default:
		return scan_skip(scan);
	}
}

static int scan_line(struct loader *loader, char *text, size_t length, struct line *line)
{
	struct scan scan = { .at = text, .end = text + length };
	bool first = true;
	char *key;
	int ret;

	*line = (struct line){ .value = NAN };
	if (!scan_take(&scan, '{'))
		return bad_line(loader, "not a JSON object");
	while (scan_key(&scan, &first, &key)) {
		unsigned int field = 0;

		if (!key)
			return scan_done(&scan) ? 0
						: bad_line(loader, "something follows the object");
		while (field < FIELD_COUNT && strcmp(key, field_names[field]))
			field++;
		if (field < FIELD_COUNT && line->there & BIT(field))
			return bad_line(loader, "\"%s\" is there twice", key);
		/* An absent value or reason may be written as null. */
		if ((field == FIELD_VALUE || field == FIELD_REASON) && scan_null(&scan))
			continue;
		if (field == FIELD_BY_CPU)
			ret = scan_by_cpu(loader, &scan, line);
		else
			ret = scan_field(&scan, (enum field)field, line) ? 0 : -EBADMSG;
		if (ret == -EBADMSG)
			return bad_line(loader, "\"%s\" has no proper value", key);
		if (ret)
			return ret;
		if (field < FIELD_COUNT)
			line->there |= BIT(field);
	}
	return bad_line(loader, "not a whole JSON object");
}

static int check_point(struct loader *loader, const struct line *line, uint64_t least)
{
	if (line->point >= loader->run->point_count)
		return bad_line(loader, "point %llu is not in plan.json, which has %u",
				(unsigned long long)line->point, loader->run->point_count);
	if (line->repetition < least || line->repetition > UINT32_MAX)
		return bad_line(loader, "repetition %llu is out of range",
				(unsigned long long)line->repetition);
	return 0;
}

/* The lines of one repetition come together, so only those right before can say the same. */
static int check_single(struct loader *loader, const struct run_sample *sample)
{
	const struct run_sample *first = loader->run->samples;

	for (const struct run_sample *other = first + loader->run->sample_count; other-- > first;) {
		if (other->point != sample->point || other->repetition != sample->repetition)
			break;
		if (other->metric == sample->metric)
			return bad_line(loader, "metric \"%s\" is there twice for this repetition",
					loader->run->metrics[sample->metric].name);
	}
	return 0;
}

static int take_sample(struct loader *loader, const struct line *line)
{
	struct loaded_run *run = loader->run;
	int status = value_status_parse(line->status);
	struct run_sample *samples, sample;
	bool has_value;
	int ret;

	if (status < 0)
		return bad_line(loader, "unknown status \"%s\"", line->status);
	has_value = value_status_has_value((enum value_status)status);
	if (has_value != !!(line->there & BIT(FIELD_VALUE)))
		return bad_line(loader, "status \"%s\" %s a value", line->status,
				has_value ? "without" : "with");
	ret = check_point(loader, line, 1);
	if (ret)
		return ret;
	samples = grow(run->samples, run->sample_count, &loader->sample_room, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	run->samples = samples;
	sample = (struct run_sample){
		.value = line->value,
		.point = (uint32_t)line->point,
		.repetition = (uint32_t)line->repetition,
		.by_cpu = (uint32_t)(run->by_cpu_count - line->by_cpu),
		.by_cpu_count = (uint32_t)line->by_cpu,
		.status = (uint8_t)status,
	};
	ret = find_metric(loader, line, &sample.metric);
	if (!ret)
		ret = check_single(loader, &sample);
	if (!ret && line->reason)
		ret = intern(loader, line->reason, &sample.reason);
	if (!ret)
		samples[run->sample_count++] = sample;
	return ret;
}

static int take_outcome(struct loader *loader, const struct line *line)
{
	struct loaded_run *run = loader->run;
	int word = outcome_parse(line->outcome);
	struct run_outcome *outcomes, outcome;
	int ret;

	if (word < 0)
		return bad_line(loader, "unknown outcome \"%s\"", line->outcome);
	ret = check_point(loader, line, word == OUTCOME_SKIP ? 0 : 1);
	if (ret)
		return ret;
	outcomes = grow(run->outcomes, run->outcome_count, &loader->outcome_room,
			sizeof(*outcomes));
	if (!outcomes)
		return -ENOMEM;
	run->outcomes = outcomes;
	outcome = (struct run_outcome){
		.seconds = line->seconds,
		.started_ns = line->started_ns,
		.point = (uint32_t)line->point,
		.repetition = (uint32_t)line->repetition,
		.outcome = (enum outcome)word,
	};
	if (line->reason)
		ret = intern(loader, line->reason, &outcome.reason);
	if (!ret)
		outcomes[run->outcome_count++] = outcome;
	return ret;
}

static int take_end(struct loader *loader, const struct line *line)
{
	int word = outcome_parse(line->end);
	uint32_t reason = 0;
	int ret = 0;

	if (word < 0)
		return bad_line(loader, "unknown outcome \"%s\"", line->end);
	if (line->reason)
		ret = intern(loader, line->reason, &reason);
	if (ret)
		return ret;
	loader->run->end = (enum outcome)word;
	loader->run->restored = line->restored;
	loader->run->end_reason = loader->run->texts[reason];
	loader->ended = true;
	return 0;
}

static int take_header(struct loader *loader, const struct line *line)
{
	return load_check_schema(loader->path, "shootdown-samples", line->schema, line->version,
				 loader->log);
}

/* Kinds of lines after the first, told apart by what they must have. */
static const struct {
	unsigned int mark, needs;
	int (*take)(struct loader *loader, const struct line *line);
} line_kinds[] = {
	{ BIT(FIELD_METRIC),
	  BIT(FIELD_POINT) | BIT(FIELD_REPETITION) | BIT(FIELD_UNIT) | BIT(FIELD_STATUS),
	  take_sample },
	{ BIT(FIELD_OUTCOME), BIT(FIELD_POINT) | BIT(FIELD_REPETITION), take_outcome },
	{ BIT(FIELD_END), BIT(FIELD_RESTORED), take_end },
};

static int take_line(struct loader *loader, char *text, size_t length)
{
	struct line line;
	int ret = scan_line(loader, text, length, &line);

	if (ret)
		return ret;
	if (loader->number == 1)
		return take_header(loader, &line);
	if (loader->ended)
		return bad_line(loader, "it follows the run's end line");
	for (size_t i = 0; i < sizeof(line_kinds) / sizeof(line_kinds[0]); i++) {
		if (!(line.there & line_kinds[i].mark))
			continue;
		for (unsigned int field = 0; field < FIELD_COUNT; field++)
			if (line_kinds[i].needs & ~line.there & BIT(field))
				return bad_line(loader, "\"%s\" is missing", field_names[field]);
		return line_kinds[i].take(loader, &line);
	}
	return bad_line(loader, "neither a sample nor an outcome nor the run's end");
}

static int by_point_and_repetition(const void *one, const void *other)
{
	const struct run_outcome *a = one, *b = other;

	if (a->point != b->point)
		return a->point < b->point ? -1 : 1;
	return (a->repetition > b->repetition) - (a->repetition < b->repetition);
}

static int sort_outcomes(struct loader *loader)
{
	struct run_outcome *outcomes = loader->run->outcomes;
	size_t count = loader->run->outcome_count;

	if (count)
		qsort(outcomes, count, sizeof(*outcomes), by_point_and_repetition);
	for (size_t i = 1; i < count; i++)
		if (!by_point_and_repetition(&outcomes[i - 1], &outcomes[i])) {
			log_error(
				loader->log,
				"%s: repetition %u of point %u has two outcomes; the file is damaged, "
				"leave this folder out or run again",
				loader->path, outcomes[i].repetition, outcomes[i].point);
			return -EBADMSG;
		}
	return 0;
}

static int read_lines(struct loader *loader, FILE *stream)
{
	char *text = NULL;
	size_t room = 0;
	bool whole = true;
	ssize_t length;
	int ret = 0;

	while (!ret && (length = getline(&text, &room, stream)) > 0) {
		loader->number++;
		whole = text[length - 1] == '\n';
		if (whole || loader->number == 1)
			ret = take_line(loader, text, (size_t)length);
	}
	free(text);
	if (ret)
		return ret;
	if (ferror(stream)) {
		log_error(loader->log, "cannot read %s: %s", loader->path, strerror(EIO));
		return -EIO;
	}
	if (!loader->number) {
		log_error(loader->log, "%s is empty; leave this folder out or run again",
			  loader->path);
		return -EBADMSG;
	}
	loader->run->complete = whole && loader->ended;
	if (!whole)
		log_warn(
			loader->log,
			"%s line %lu was cut off as it was written (a killed run or a full disk); the "
			"lines before it are used",
			loader->path, loader->number);
	else if (!loader->ended)
		log_warn(
			loader->log,
			"%s has no end line: the run was killed or is still going on; the repetitions "
			"that were finished are used",
			loader->path);
	return 0;
}

int load_samples(struct loaded_run *run, const char *path, bool with_by_cpu, struct log *log)
{
	struct loader loader = {
		.run = run,
		.log = log,
		.path = path,
		.with_by_cpu = with_by_cpu,
	};
	FILE *stream = fopen(path, "re");
	uint32_t empty;
	int ret;

	if (!stream) {
		ret = -errno;
		log_error(log, "cannot read %s: %s", path, strerror(errno));
		return ret;
	}
	loader.text_index = json_object();
	ret = loader.text_index ? intern(&loader, "", &empty) : -ENOMEM;
	if (!ret) {
		run->end_reason = run->texts[0];
		ret = read_lines(&loader, stream);
	}
	if (!ret)
		ret = sort_outcomes(&loader);
	json_decref(loader.text_index);
	fclose(stream);
	return ret;
}
