// SPDX-License-Identifier: GPL-2.0-only
/* Values that the points of a mix share, as readers see them: never one point's own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "../../results/compare.h"
#include "../../results/format.h"
#include "quiet.h"

#define BOOTS 3

static char folder[64], *output;
static size_t output_length;
static FILE *out;

static void setup(void)
{
	out = open_memstream(&output, &output_length);
	strcpy(folder, "/tmp/shootdown-shared-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
	fclose(out);
	free(output);
	fs_remove_tree(folder);
}

static void write_file(const char *path, const char *name, const char *text)
{
	char *full = format_string("%s/%s", path, name);
	FILE *file = fopen(full, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
	free(full);
}

/* One boot: both points share their IPIs; with skipped the second was none of the mix. */
static void write_boot(const char *arm, unsigned int boot, unsigned int ipis, bool skipped)
{
	static const char metrics[] =
		"\"metrics\":{\"remote_ipis\":{\"unit\":\"interrupts\",\"better\":\"less\"},"
		"\"time_ms\":{\"unit\":\"ms\",\"better\":\"less\"}}";
	static const char *const names[] = { "pageout", "move-pages" };
	char *path = format_string("%s/%s/boot-%u", folder, arm, boot), *text, *samples;

	ck_assert_int_eq(fs_make_folders(path, 0755), 0);
	text = format_string(
		"{\"schema\":\"shootdown-machine\",\"version\":1,\"arch\":\"x86_64\",\"page_size\":4096,"
		"\"kernel\":{\"release\":\"7.3\",\"version\":\"#%s\"},"
		"\"cpus\":{\"online\":16,\"used\":16},\"guest\":null,\"arm\":\"%s\",\"boot\":%u}\n",
		arm, arm, boot);
	write_file(path, "machine.json", text);
	free(text);
	text = format_string(
		"{\"schema\":\"shootdown-plan\",\"version\":1,\"seed\":1,\"repetitions\":1,"
		"\"duration_s\":0,\"interleave\":true,\"points\":["
		"{\"stressor\":\"%s\",\"stressor_version\":1,\"parameters\":{},%s},"
		"{\"stressor\":\"%s\",\"stressor_version\":1,\"parameters\":{},%s}],\"order\":[]}\n",
		names[0], metrics, names[1], metrics);
	write_file(path, "plan.json", text);
	free(text);
	samples = strdup("{\"schema\":\"shootdown-samples\",\"version\":1}\n");
	for (int i = 0; i < (skipped ? 1 : 2); i++) {
		text = format_string(
			"%s{\"point\":%d,\"repetition\":1,\"metric\":\"remote_ipis\","
			"\"unit\":\"interrupts\",\"value\":%u,\"status\":\"%s\"}\n"
			"{\"point\":%d,\"repetition\":1,\"metric\":\"time_ms\",\"unit\":\"ms\","
			"\"value\":5,\"status\":\"ok\"}\n"
			"{\"point\":%d,\"repetition\":1,\"outcome\":\"pass\",\"started_ns\":%u,"
			"\"seconds\":1.0}\n",
			samples, i, ipis, skipped ? "ok" : "shared", i, i, boot * 1000);
		free(samples);
		samples = text;
	}
	text = format_string(
		"%s%s{\"end\":\"pass\",\"restored\":true}\n", samples,
		skipped ? "{\"point\":1,\"repetition\":1,\"outcome\":\"skip\",\"reason\":\"no "
			  "room\",\"started_ns\":1,\"seconds\":0.0}\n"
			: "");
	write_file(path, "samples.jsonl", text);
	free(text);
	free(samples);
	free(path);
}

/* Boots of both arms; the second point is skipped in the first so many boots of each arm. */
static struct comparison *compare(unsigned int skipped, unsigned int skipped_patched)
{
	char *one = format_string("%s/baseline", folder),
	     *other = format_string("%s/patched", folder);
	struct comparison *comparison;
	int rc;

	for (unsigned int i = 0; i < BOOTS; i++) {
		write_boot("baseline", i + 1, 1000, i < skipped);
		write_boot("patched", i + 1, 10, i < skipped_patched);
	}
	rc = compare_folders((const char *const[]){ one, other, NULL }, quiet_log(), &comparison);
	ck_assert_msg(!rc, "%s", said());
	free(other);
	free(one);
	return comparison;
}

static const char *printed(const struct comparison *comparison, const char *format)
{
	ck_assert_int_eq(comparison_render(comparison, format, false, out), 0);
	fflush(out);
	return output;
}

static void ck_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

START_TEST(a_row_says_that_it_is_the_mix)
{
	struct comparison *comparison = compare(0, 0);
	const char *text = printed(comparison, "text");

	ck_contains(text, "remote_ipis (shared)");
	ck_contains(text, "mix better, count");
	ck_contains(text, "(shared): of all points that ran at once (pageout, move-pages), not of");
	ck_assert_ptr_null(strstr(text, "time_ms (shared)"));
	/* one note for all, not one a point, arm and metric */
	ck_assert_ptr_null(strstr(text, "remote_ipis: shared"));
	ck_contains(printed(comparison, "markdown"), "| pageout | remote_ipis (shared) |");
	comparison_free(comparison);
}
END_TEST

START_TEST(json_names_the_points)
{
	struct comparison *comparison = compare(0, 0);
	json_t *json = comparison_json(comparison), *metrics;
	json_t *mix = json_array_get(json_object_get(json, "mixes"), 1);
	const char *arm;
	json_t *points;

	ck_assert_uint_eq(json_array_size(json_object_get(json, "mixes")), 2);
	ck_assert_int_eq(json_unpack(mix, "{s:s, s:o}", "arm", &arm, "points", &points), 0);
	ck_assert_str_eq(arm, "patched");
	ck_assert_uint_eq(json_array_size(points), 2);
	metrics = json_object_get(json_array_get(json_object_get(json, "points"), 1), "metrics");
	ck_assert(json_is_true(json_object_get(json_array_get(metrics, 0), "shared")));
	ck_assert(json_is_false(json_object_get(json_array_get(metrics, 1), "shared")));
	json_decref(json);
	comparison_free(comparison);
}
END_TEST

/* Boots of each arm in which the second point was skipped; is there a verdict? */
static const struct {
	unsigned int skipped, skipped_patched;
	bool judged, shared;
} mixes[] = {
	{ 0, 0, true, true },	   { BOOTS, BOOTS, true, false }, { BOOTS, 0, false, true },
	{ 0, BOOTS, false, true }, { 0, 1, false, true },	  { 1, 1, false, true },
};

START_TEST(other_mixes_are_not_judged)
{
	struct comparison *comparison = compare(mixes[_i].skipped, mixes[_i].skipped_patched);
	const struct compared_metric *ipis = comparison_metric(&comparison->points[0],
							       "remote_ipis");
	const char *text = printed(comparison, "text");

	ck_assert_int_eq(ipis->values[1].test.verdict,
			 mixes[_i].judged ? COMPARED_BETTER : COMPARED_NONE);
	ck_assert(isnan(ipis->values[1].change) == !mixes[_i].judged);
	ck_assert(ipis->shared == mixes[_i].shared);
	ck_assert(!strstr(text, "(shared)") == !mixes[_i].shared);
	if (!mixes[_i].judged)
		ck_contains(text, "baseline and patched did not run the same points at once");
	comparison_free(comparison);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("shared");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_row_says_that_it_is_the_mix);
	tcase_add_test(tests, json_names_the_points);
	tcase_add_loop_test(tests, other_mixes_are_not_judged, 0,
			    (int)(sizeof(mixes) / sizeof(mixes[0])));
	return run_suite("shared", tests);
}
