// SPDX-License-Identifier: GPL-2.0-only
#include "quiet.h"

#include <errno.h>

#include "../../lib/options.h"
#include "../../lib/quantity.h"
#include "../../lib/text.h"

static const char *const colours[] = { "red", "green", NULL };
static const struct option_row rows[] = {
	{ .name = "pages",
	  .type = OPTION_UINT,
	  .fallback = "4096",
	  .min = 1,
	  .max = 1000000,
	  .help = "h" },
	{ .name = "size", .type = OPTION_SIZE, .fallback = "1G", .help = "h" },
	{ .name = "time",
	  .type = OPTION_DURATION,
	  .min = 1000000,
	  .max = 3600000000000ULL,
	  .help = "h" },
	{ .name = "scale", .type = OPTION_REAL, .fallback = "1", .max = 10, .help = "h" },
	{ .name = "colour",
	  .type = OPTION_CHOICE,
	  .fallback = "red",
	  .choices = colours,
	  .help = "h" },
	{ .name = "name", .type = OPTION_STRING, .help = "h" },
	{ .name = "set", .type = OPTION_STRING, .many = true, .help = "h" },
	{ .name = "json", .type = OPTION_FLAG, .help = "h" },
	{ NULL },
};

START_TEST(defaults_are_values)
{
	struct option_values *values = options_new(rows);

	ck_assert_uint_eq(option_uint(values, "pages"), 4096);
	ck_assert_uint_eq(option_uint(values, "size"), 1ULL << 30);
	ck_assert_uint_eq(option_uint(values, "time"), 0);
	ck_assert_double_eq(option_real(values, "scale"), 1);
	ck_assert_str_eq(option_string(values, "colour"), "red");
	ck_assert_ptr_null(option_string(values, "name"));
	ck_assert_ptr_null(option_list(values, "set")[0]);
	ck_assert(!option_flag(values, "json"));
	ck_assert(!option_given(values, "pages"));
	options_free(values);
}
END_TEST

static const struct {
	const char *name, *text;
	uint64_t expected;
} numbers[] = {
	{ "pages", "1", 1 },
	{ "pages", "8k", 8000 },
	{ "pages", "1M", 1000000 },
	{ "size", "0", 0 },
	{ "size", "512M", 512 << 20 },
	{ "size", "1.5K", 1536 },
	{ "size", "2T", 2ULL << 40 },
	{ "time", "90", 90000000000ULL },
	{ "time", "10m", 600000000000ULL },
	{ "time", "20ms", 20000000 },
	{ "time", "1500us", 1500000 },
	{ "time", "1000001ns", 1000001 },
	{ "time", "0.5s", 500000000 },
	{ "time", "1h", 3600000000000ULL },
};

static const struct {
	enum quantity quantity;
	uint64_t number;
	const char *text;
} quantities[] = {
	{ QUANTITY_TIME, 0, "0" },
	{ QUANTITY_TIME, 1, "1ns" },
	{ QUANTITY_TIME, 1500000, "1500us" },
	{ QUANTITY_TIME, 50000000, "50ms" },
	{ QUANTITY_TIME, 90000000000ULL, "90s" },
	{ QUANTITY_TIME, 600000000000ULL, "10m" },
	{ QUANTITY_TIME, 31536000000000001ULL, "31536000000000001ns" },
	{ QUANTITY_BYTES, 1023, "1023" },
	{ QUANTITY_BYTES, 1536, "1536" },
	{ QUANTITY_BYTES, 3ULL << 30, "3G" },
	{ QUANTITY_COUNT, 8000, "8k" },
	{ QUANTITY_PLAIN, 8000, "8000" },
};

START_TEST(quantities_read_back)
{
	char *text = quantity_text(quantities[_i].quantity, quantities[_i].number);
	uint64_t number = 1234;

	ck_assert_str_eq(text, quantities[_i].text);
	ck_assert(quantity_parse(quantities[_i].quantity, text, &number));
	ck_assert_uint_eq(number, quantities[_i].number);
	free(text);
}
END_TEST

START_TEST(numbers_with_units)
{
	struct option_values *values = options_new(rows);

	ck_assert_int_eq(
		options_set(values, "test", numbers[_i].name, numbers[_i].text, quiet_log()), 0);
	ck_assert_uint_eq(option_uint(values, numbers[_i].name), numbers[_i].expected);
	options_free(values);
}
END_TEST

static const struct {
	const char *name, *text, *words;
} refused[] = {
	{ "pages", "0", "1 to 1000000" },
	{ "pages", "1000001", "1 to 1000000" },
	{ "pages", "-1", "whole number" },
	{ "pages", "12x", "whole number" },
	{ "pages", "", "whole number" },
	{ "pages", "1.5", "whole number" },
	{ "pages", " 5", "whole number" },
	{ "pages", "99999999999999999999999", "whole number" },
	{ "size", "1Q", "512M or 4G" },
	{ "size", "99999999T", "512M or 4G" },
	{ "time", "10d", "90s, 10m or 2h" },
	{ "time", "2h", "0.001 s to 3600 s" },
	{ "scale", "nan", "a number" },
	{ "scale", "11", "0 to 10" },
	{ "colour", "blue", "one of red, green" },
	{ "pagse", "5", "did you mean \"pages\"" },
	{ "zzzzzzzz", "5", "has no option" },
};

START_TEST(bad_values_are_refused_and_say_what_to_do)
{
	struct option_values *values = options_new(rows);

	ck_assert_int_eq(options_set(values, "test", refused[_i].name, refused[_i].text,
				     quiet_log()),
			 -EINVAL);
	ck_assert_said(refused[_i].words);
	ck_assert_uint_eq(option_uint(values, "pages"), 4096);
	options_free(values);
}
END_TEST

START_TEST(arguments)
{
	char *const argv[] = { "a",	    "--pages=7", "--set", "x=1", "b",
			       "--set=y=2", "--json",	 "--",	  "--c" };
	struct option_values *values = options_new(rows);
	const char **rest;
	unsigned int count;

	ck_assert_int_eq(options_parse(values, "test", 9, argv, &rest, &count, quiet_log()), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(rest[0], "a");
	ck_assert_str_eq(rest[2], "--c");
	ck_assert_ptr_null(rest[3]);
	ck_assert_uint_eq(option_uint(values, "pages"), 7);
	ck_assert(option_given(values, "pages"));
	ck_assert_str_eq(option_list(values, "set")[1], "y=2");
	ck_assert(option_flag(values, "json"));
	free(rest);
	options_free(values);
}
END_TEST

static const struct {
	const char *argument, *words;
} bad_arguments[] = {
	{ "--pages", "needs a value" },
	{ "--json=1", "takes no value" },
	{ "--jsom", "did you mean \"json\"" },
	{ "-x", "written --NAME" },
};

START_TEST(bad_arguments_are_refused)
{
	char *const argv[] = { (char *)bad_arguments[_i].argument };
	struct option_values *values = options_new(rows);
	const char **rest;

	ck_assert_int_eq(options_parse(values, "test", 1, argv, &rest, NULL, quiet_log()), -EINVAL);
	ck_assert_said(bad_arguments[_i].words);
	options_free(values);
}
END_TEST

START_TEST(json_goes_round)
{
	struct option_values *values = options_new(rows), *again = options_new(rows);
	json_t *json, *json_again;

	options_set(values, "test", "time", "1.5s", quiet_log());
	options_set(values, "test", "size", "3K", quiet_log());
	options_set(values, "test", "colour", "green", quiet_log());
	json = options_json(values);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "time")), 1500000000);
	ck_assert_int_eq(options_from_json(again, "test", json, quiet_log()), 0);
	json_again = options_json(again);
	ck_assert(json_equal(json, json_again));
	json_object_set_new(json, "nonsense", json_integer(1));
	ck_assert_int_eq(options_from_json(again, "test", json, quiet_log()), -EINVAL);
	json_decref(json);
	json_decref(json_again);
	options_free(values);
	options_free(again);
}
END_TEST

START_TEST(copies_are_independent)
{
	struct option_values *values = options_new(rows), *copy;

	options_set(values, "test", "set", "a=1", quiet_log());
	options_set(values, "test", "pages", "3", quiet_log());
	copy = options_copy(values);
	options_set(values, "test", "pages", "9", quiet_log());
	ck_assert_uint_eq(option_uint(copy, "pages"), 3);
	ck_assert_str_eq(option_list(copy, "set")[0], "a=1");
	options_free(values);
	options_free(copy);
}
END_TEST

static const struct {
	const char *left, *right, *printed;
} texts[] = {
	{ "a", "b c", "  a                          b c\n" },
	{ "a-name-that-needs-all-of-the-columns", "b",
	  "  a-name-that-needs-all-of-the-columns\n                             b\n" },
	{ "a", "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123 567 more",
	  "  a                          0123456789 0123456789 0123456789 0123456789 0123456789 "
	  "0123456789 0123\n                             567 more\n" },
	{ "a", "b\nc", "  a                          b\n                             c\n" },
	{ "a", "", "  a                          \n" },
};

START_TEST(rows_of_text_are_wrapped)
{
	char *printed;
	size_t size;
	FILE *stream = open_memstream(&printed, &size);

	text_row(stream, texts[_i].left, texts[_i].right);
	fclose(stream);
	ck_assert_str_eq(printed, texts[_i].printed);
	free(printed);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("options");

	tcase_add_test(tests, defaults_are_values);
	tcase_add_loop_test(tests, quantities_read_back, 0,
			    sizeof(quantities) / sizeof(quantities[0]));
	tcase_add_loop_test(tests, numbers_with_units, 0, sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_loop_test(tests, bad_values_are_refused_and_say_what_to_do, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tests, arguments);
	tcase_add_loop_test(tests, bad_arguments_are_refused, 0,
			    sizeof(bad_arguments) / sizeof(bad_arguments[0]));
	tcase_add_test(tests, json_goes_round);
	tcase_add_loop_test(tests, rows_of_text_are_wrapped, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tests, copies_are_independent);
	return run_suite("options", tests);
}
