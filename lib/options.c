// SPDX-License-Identifier: GPL-2.0-only
/* Option rows: parsing, checking, JSON, help. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "quantity.h"
#include "text.h"

struct value {
	char *text;	 /* as given, or the default; NULL: none */
	uint64_t number; /* UINT, SIZE, DURATION; FLAG: 1 when present */
	double real;
	bool given;
	const char **list; /* rows with many: borrowed from copies[], NULL at the end */
	unsigned int list_count;
};

struct option_values {
	const struct option_row *rows;
	unsigned int count;
	struct value values[];
};

struct type {
	const char *what; /* for messages: "is not WHAT" */
	bool is_number;	  /* one of quantity */
	enum quantity quantity;
	const char *unit; /* shown after limits */
	uint64_t unit_factor;
};

static const struct type types[] = {
	[OPTION_FLAG] = { "a flag", false, QUANTITY_PLAIN, "", 1 },
	[OPTION_UINT] = { "a whole number", true, QUANTITY_COUNT, "", 1 },
	[OPTION_REAL] = { "a number", false, QUANTITY_PLAIN, "", 1 },
	[OPTION_SIZE] = { "a size such as 512M or 4G", true, QUANTITY_BYTES, " bytes", 1 },
	[OPTION_DURATION] = { "a time such as 20ms, 90s, 10m or 2h", true, QUANTITY_TIME, " s",
			      1000000000ULL },
	[OPTION_STRING] = { "a text", false, QUANTITY_PLAIN, "", 1 },
	[OPTION_CHOICE] = { "a choice", false, QUANTITY_PLAIN, "", 1 },
	[OPTION_NODE] = { "a node's number or auto", false, QUANTITY_PLAIN, "", 1 },
};

static bool is_choice(const struct option_row *row, const char *text)
{
	for (const char *const *choice = row->choices; *choice; choice++)
		if (!strcmp(*choice, text))
			return true;
	return false;
}

static bool is_node(const char *text)
{
	uint64_t number;

	return !strcmp(text, "auto") ||
	       (quantity_parse(QUANTITY_PLAIN, text, &number) && number <= INT_MAX);
}

/* Checks text against the row; false when it does not fit. */
static bool interpret(const struct option_row *row, const char *text, struct value *value)
{
	char *end;

	if (types[row->type].is_number) {
		if (!quantity_parse(types[row->type].quantity, text, &value->number))
			return false;
		return !row->max || (value->number >= row->min && value->number <= row->max);
	}
	if (row->type == OPTION_REAL) {
		value->real = strtod(text, &end);
		if (end == text || *end || !isfinite(value->real))
			return false;
		return !row->max || (value->real >= row->min && value->real <= row->max);
	}
	if (row->type == OPTION_CHOICE)
		return is_choice(row, text);
	if (row->type == OPTION_NODE)
		return is_node(text);
	return true;
}

static void join_choices(const struct option_row *row, char *text, size_t size)
{
	size_t used = snprintf(text, size, "one of");

	for (const char *const *choice = row->choices; *choice && used < size; choice++)
		used += snprintf(text + used, size - used, "%s %s",
				 choice == row->choices ? "" : ",", *choice);
}

/* As a user would type it: sizes and times with their suffix where they are whole. */
static void format_limit(const struct option_row *row, uint64_t limit, char *text, size_t size)
{
	static const char suffixes[] = "KMGT";
	const struct type *type = &types[row->type];
	int power = -1;

	while (row->type == OPTION_SIZE && limit && !(limit % 1024) && power < 3) {
		limit /= 1024;
		power++;
	}
	if (power >= 0)
		snprintf(text, size, "%llu%c", (unsigned long long)limit, suffixes[power]);
	else
		snprintf(text, size, "%.15g%s", (double)limit / type->unit_factor, type->unit);
}

void option_range(const struct option_row *row, char *text, size_t size)
{
	char least[32], most[32];

	*text = '\0';
	if (row->type == OPTION_CHOICE) {
		join_choices(row, text, size);
		return;
	}
	if (!row->max || (!row->min && row->max >= INT64_MAX))
		return;
	format_limit(row, row->min, least, sizeof(least));
	format_limit(row, row->max, most, sizeof(most));
	if (row->max >= INT64_MAX)
		snprintf(text, size, "at least %s", least);
	else
		snprintf(text, size, "%s to %s", least, most);
}

static int find_row(const struct option_row *rows, const char *name, size_t length)
{
	for (int i = 0; rows[i].name; i++)
		if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
			return i;
	return -1;
}

static void say_unknown(const struct option_row *rows, const char *what, const char *name,
			struct log *log)
{
	const char **names = names_of_rows(rows, sizeof(*rows));

	say_unknown_name(log, name, names, "its help lists the options it has",
			 "%s has no option \"%s\"", what, name);
	free(names);
}

static void say_bad_value(const struct option_row *row, const char *what, const char *text,
			  struct log *log)
{
	char range[512];

	option_range(row, range, sizeof(range));
	if (row->type == OPTION_CHOICE)
		log_error(log, "%s: option \"%s\" must be %s, not \"%s\"", what, row->name, range,
			  text);
	else
		log_error(log, "%s: option \"%s\" must be %s%s%s%s, not \"%s\"", what, row->name,
			  types[row->type].what, *range ? " (" : "", range, *range ? ")" : "",
			  text);
}

static int append(struct value *value, const char *text)
{
	const char **larger = realloc(value->list, (value->list_count + 2) * sizeof(*larger));
	char *copy = strdup(text);

	if (larger)
		value->list = larger;
	if (!larger || !copy) {
		free(copy);
		return -ENOMEM;
	}
	value->list[value->list_count++] = copy;
	value->list[value->list_count] = NULL;
	value->given = true;
	return 0;
}

static int assign(const struct option_row *row, struct value *value, const char *text)
{
	struct value fresh = { 0 };

	if (!interpret(row, text, &fresh))
		return -EINVAL;
	fresh.text = strdup(text);
	if (!fresh.text)
		return -ENOMEM;
	free(value->text);
	value->text = fresh.text;
	value->number = fresh.number;
	value->real = fresh.real;
	return 0;
}

struct option_values *options_new(const struct option_row *rows)
{
	struct option_values *values;
	unsigned int count = 0;

	while (rows[count].name)
		count++;
	values = calloc(1, sizeof(*values) + count * sizeof(values->values[0]));
	if (!values)
		return NULL;
	values->rows = rows;
	values->count = count;
	for (unsigned int i = 0; i < count; i++) {
		int rc = rows[i].fallback ? assign(&rows[i], &values->values[i], rows[i].fallback)
					  : 0;

		if (rc == -EINVAL) {
			fprintf(stderr, "bug: option %s refuses its own default\n", rows[i].name);
			abort();
		}
		if (rc) {
			options_free(values);
			return NULL;
		}
	}
	return values;
}

struct option_values *options_copy(const struct option_values *values)
{
	struct option_values *copy = options_new(values->rows);
	int rc = copy ? 0 : -ENOMEM;

	for (unsigned int i = 0; !rc && i < values->count; i++) {
		const struct value *from = &values->values[i];
		struct value *to = &copy->values[i];

		if (from->text)
			rc = assign(&values->rows[i], to, from->text);
		for (unsigned int j = 0; !rc && j < from->list_count; j++)
			rc = append(to, from->list[j]);
		to->number = from->number;
		to->given = from->given;
	}
	if (!rc)
		return copy;
	options_free(copy);
	return NULL;
}

void options_free(struct option_values *values)
{
	if (!values)
		return;
	for (unsigned int i = 0; i < values->count; i++) {
		free(values->values[i].text);
		for (unsigned int j = 0; j < values->values[i].list_count; j++)
			free((char *)values->values[i].list[j]);
		free(values->values[i].list);
	}
	free(values);
}

int options_set(struct option_values *values, const char *what, const char *name, const char *text,
		struct log *log)
{
	int i = find_row(values->rows, name, strlen(name)), rc;

	if (i < 0) {
		say_unknown(values->rows, what, name, log);
		return -EINVAL;
	}
	if (values->rows[i].many)
		return append(&values->values[i], text);
	rc = assign(&values->rows[i], &values->values[i], text);
	if (rc == -EINVAL)
		say_bad_value(&values->rows[i], what, text, log);
	else if (!rc)
		values->values[i].given = true;
	return rc;
}

/* Handles "--name", "--name=value" and "--name value"; *at moves over what was used. */
static int parse_one(struct option_values *values, const char *what, int argc, char *const *argv,
		     int *at, struct log *log)
{
	const char *name = argv[*at] + 2;
	size_t length = strcspn(name, "=");
	int i = find_row(values->rows, name, length);
	char *plain;
	int rc;

	if (i < 0) {
		plain = strndup(name, length);
		if (!plain)
			return -ENOMEM;
		say_unknown(values->rows, what, plain, log);
		free(plain);
		return -EINVAL;
	}
	if (values->rows[i].type == OPTION_FLAG) {
		if (name[length]) {
			log_error(log, "%s: option --%s takes no value", what,
				  values->rows[i].name);
			return -EINVAL;
		}
		values->values[i].number = 1;
		values->values[i].given = true;
		return 0;
	}
	if (name[length])
		return options_set(values, what, values->rows[i].name, name + length + 1, log);
	if (*at + 1 >= argc) {
		log_error(log, "%s: option --%s needs a value (%s)", what, values->rows[i].name,
			  values->rows[i].help);
		return -EINVAL;
	}
	rc = options_set(values, what, values->rows[i].name, argv[*at + 1], log);
	++*at;
	return rc;
}

int options_parse(struct option_values *values, const char *what, int argc, char *const *argv,
		  const char ***rest, unsigned int *rest_count, struct log *log)
{
	const char **positional = calloc(argc + 1, sizeof(*positional));
	unsigned int count = 0;
	bool only_rest = false;
	int rc = positional ? 0 : -ENOMEM;

	for (int at = 0; !rc && at < argc; at++) {
		if (!only_rest && !strcmp(argv[at], "--")) {
			only_rest = true;
		} else if (only_rest || strncmp(argv[at], "--", 2)) {
			if (!only_rest && argv[at][0] == '-' && argv[at][1]) {
				log_error(log, "%s: options are written --NAME, not \"%s\"", what,
					  argv[at]);
				rc = -EINVAL;
			}
			positional[count++] = argv[at];
		} else {
			rc = parse_one(values, what, argc, argv, &at, log);
		}
	}
	if (rc) {
		free(positional);
		return rc;
	}
	*rest = positional;
	if (rest_count)
		*rest_count = count;
	return 0;
}

static const struct value *value_of(const struct option_values *values, const char *name)
{
	int i = find_row(values->rows, name, strlen(name));

	if (i < 0) {
		fprintf(stderr, "bug: no option row \"%s\"\n", name);
		abort();
	}
	return &values->values[i];
}

bool option_given(const struct option_values *values, const char *name)
{
	return value_of(values, name)->given;
}

bool option_flag(const struct option_values *values, const char *name)
{
	return value_of(values, name)->number;
}

uint64_t option_uint(const struct option_values *values, const char *name)
{
	return value_of(values, name)->number;
}

double option_real(const struct option_values *values, const char *name)
{
	return value_of(values, name)->real;
}

const char *option_string(const struct option_values *values, const char *name)
{
	return value_of(values, name)->text;
}

const char *const *option_list(const struct option_values *values, const char *name)
{
	static const char *const nothing[] = { NULL };
	const struct value *value = value_of(values, name);

	return value->list ? value->list : nothing;
}

/* All that was given, in order. */
static json_t *list_json(const struct value *value)
{
	json_t *array = json_array();

	for (unsigned int i = 0; array && i < value->list_count; i++)
		json_array_append_new(array, json_string(value->list[i]));
	return array;
}

static json_t *value_json(const struct option_row *row, const struct value *value)
{
	if (row->type == OPTION_FLAG)
		return json_boolean(value->number);
	if (row->many)
		return list_json(value);
	if (!value->text)
		return json_null();
	if (row->type == OPTION_REAL)
		return json_real(value->real);
	if (types[row->type].is_number && value->number <= INT64_MAX)
		return json_integer(value->number);
	return json_string(value->text);
}

json_t *options_json(const struct option_values *values)
{
	json_t *object = json_object();

	for (unsigned int i = 0; object && i < values->count; i++)
		json_object_set_new(object, values->rows[i].name,
				    value_json(&values->rows[i], &values->values[i]));
	return object;
}

json_t *options_units(const struct option_values *values)
{
	json_t *object = json_object();

	for (unsigned int i = 0; object && i < values->count; i++) {
		const char *unit = quantity_unit(types[values->rows[i].type].quantity);

		if (unit)
			json_object_set_new(object, values->rows[i].name, json_string(unit));
	}
	return object;
}

static int set_list_from_json(struct option_values *values, const char *what, const char *name,
			      const json_t *array, struct log *log)
{
	json_t *element;
	size_t at;
	int rc = 0;

	json_array_foreach((json_t *)array, at, element) {
		const char *text = json_string_value(element);

		if (!rc)
			rc = options_set(values, what, name, text ? text : "", log);
	}
	return rc;
}

static int set_from_json(struct option_values *values, const char *what, const char *name,
			 const json_t *value, struct log *log)
{
	int i = find_row(values->rows, name, strlen(name)), rc;
	char *text;

	if (json_is_null(value))
		return 0;
	if (json_is_array(value))
		return set_list_from_json(values, what, name, value, log);
	if (json_is_boolean(value) && i >= 0 && values->rows[i].type == OPTION_FLAG) {
		values->values[i].number = json_is_true(value);
		return 0;
	}
	text = quantity_json_text(
		value, i < 0 ? NULL : quantity_unit(types[values->rows[i].type].quantity));
	rc = text ? options_set(values, what, name, text, log) : -ENOMEM;
	free(text);
	return rc;
}

int options_from_json(struct option_values *values, const char *what, const json_t *object,
		      struct log *log)
{
	const char *name;
	json_t *value;
	int rc;

	if (!json_is_object(object)) {
		log_error(log, "%s: its parameters are no JSON object", what);
		return -EINVAL;
	}
	json_object_foreach((json_t *)object, name, value) {
		rc = set_from_json(values, what, name, value, log);
		if (rc)
			return rc;
	}
	return 0;
}

static void say_left(const struct option_row *row, const char *prefix, char *text, size_t size)
{
	const char *value = row->metavar ? row->metavar : "VALUE";
	const char *between = *prefix ? " " : "=";

	if (row->type == OPTION_FLAG)
		snprintf(text, size, "%s%s", prefix, row->name);
	else
		snprintf(text, size, "%s%s%s%s", prefix, row->name, between, value);
}

void options_help(FILE *stream, const struct option_row *rows, const char *prefix)
{
	char left[64], range[512], right[2048];

	for (; rows->name; rows++) {
		bool said = rows->fallback && *rows->fallback;

		say_left(rows, prefix, left, sizeof(left));
		option_range(rows, range, sizeof(range));
		snprintf(right, sizeof(right), "%s%s%s%s%s%s%s", rows->help, *range ? "; " : "",
			 range, rows->many ? "; may be repeated" : "", said ? " (default: " : "",
			 said ? rows->fallback : "", said ? ")" : "");
		text_row(stream, left, right);
	}
}
