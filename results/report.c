// SPDX-License-Identifier: GPL-2.0-only
/* A report: its sections in their order, and the raw data that goes with it. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"

/* Points with figures of their own; the others are in the tables and the curves. */
#define DRAWN_POINTS_MAX 16
/* A page with more raw samples than that is too heavy for a browser. */
#define EMBEDDED_MAX 250000

static struct report_section *add_section(struct report *report, char *heading)
{
	struct report_section *list =
		heading ? reallocarray(report->sections, report->section_count + 1, sizeof(*list))
			: NULL;

	if (!list) {
		free(heading);
		return NULL;
	}
	report->sections = list;
	list[report->section_count] = (struct report_section){ .heading = heading };
	return &list[report->section_count++];
}

static int add_verdicts(struct report *report, const struct comparison *comparison)
{
	struct report_section *section = add_section(report, strdup("Verdicts"));

	if (!section)
		return -ENOMEM;
	if (comparison->arm_count < 2)
		return 0;
	section->table = report_verdicts(comparison, &section->tones);
	return section->table ? 0 : -ENOMEM;
}

static int add_sweeps(struct report *report, const struct comparison *comparison)
{
	struct plot_list plots = { 0 };
	struct report_section *section;
	int ret = plots_of_sweeps(comparison, &plots);

	section = !ret && plots.count ? add_section(report, strdup("Scaling")) : NULL;
	if (section)
		section->plots = plots;
	else
		plots_free(&plots);
	return ret;
}

static int add_points(struct report *report, const struct comparison *comparison,
		      const struct report_runs *runs)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->point_count && i < DRAWN_POINTS_MAX; i++) {
		struct report_section *section =
			add_section(report, report_point_name(comparison, i, false));

		if (!section)
			return -ENOMEM;
		section->folded = comparison->point_count > 2;
		section->text = report_point_name(comparison, i, true);
		ret = plots_of_point(comparison, runs, i, &section->plots);
		for (size_t j = 0; j < comparison->points[i].metric_count; j++)
			report->predicted |= comparison->points[i].metrics[j].predicted ==
					     comparison->points[i].metrics[j].predicted;
	}
	return ret;
}

static int add_tables(struct report *report, const struct comparison *comparison,
		      const struct report_runs *runs)
{
	struct report_section *section = add_section(report, strdup("Every metric"));

	if (!section)
		return -ENOMEM;
	section->folded = true;
	section->table = comparison_table(comparison, true);
	if (!section->table)
		return -ENOMEM;
	section = add_section(report, strdup("Machines, kernels and boots"));
	if (!section)
		return -ENOMEM;
	section->table = report_machines(comparison, runs);
	return section->table ? 0 : -ENOMEM;
}

/* The commands, then the plan and the lab as they were recorded. */
static int add_provenance(struct report *report, const struct comparison *comparison,
			  const struct report_runs *runs)
{
	const json_t *documents[] = { runs->count ? runs->list[0].run->plan : NULL, runs->lab };
	static const char *const names[] = { "The plan", "The lab" };
	struct report_section *section = add_section(report, strdup("To make it again"));

	if (!section)
		return -ENOMEM;
	section->listing = report_command(comparison, runs);
	if (!section->listing)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!documents[i])
			continue;
		section = add_section(report, strdup(names[i]));
		if (!section)
			return -ENOMEM;
		section->folded = true;
		section->listing = json_dumps(documents[i], JSON_INDENT(1));
		if (!section->listing)
			return -ENOMEM;
	}
	return 0;
}

static int add_data(struct report *report, const struct comparison *comparison,
		    const struct report_runs *runs)
{
	json_t *json = comparison_json(comparison), *list = NULL;
	size_t samples = 0;

	for (size_t i = 0; i < runs->count; i++)
		samples += runs->list[i].run->sample_count;
	if (samples <= EMBEDDED_MAX)
		list = report_runs_json(comparison, runs);
	if (json && (samples > EMBEDDED_MAX || !json_object_set_new(json, "runs", list)))
		report->data = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	report->file = strdup("shootdown-report.json");
	return report->data && report->file ? 0 : -ENOMEM;
}

/* "baseline against patched" */
static char *arms_text(const struct comparison *comparison)
{
	char *text = strdup("");

	for (size_t i = 0; text && i < comparison->arm_count; i++) {
		char *longer = format_string("%s%s%s", text,
					     i > 1 ? ", "
					     : i   ? " against "
						   : "",
					     comparison->arms[i].name);

		free(text);
		text = longer;
	}
	return text;
}

/* The arm's name, after what the figures call it where that is something else. */
static char *legend_text(const struct comparison *comparison, size_t arm)
{
	const char *name = comparison->arms[arm].name;
	char *label = plot_arm_label(comparison, arm), *text;

	if (!label || !strcmp(label, name))
		return label;
	text = format_string("%s: %s", label, name);
	free(label);
	return text;
}

static int add_head(struct report *report, const struct comparison *comparison)
{
	const char *arch = json_string_value(json_object_get(comparison->machine, "arch"));
	char *arms = arms_text(comparison), *stressors = strdup("");

	for (size_t i = 0; stressors && i < comparison->point_count; i++) {
		bool seen = false;
		char *longer;

		for (size_t j = 0; j < i; j++)
			seen |= !strcmp(comparison->points[i].stressor,
					comparison->points[j].stressor);
		if (seen)
			continue;
		longer = format_string("%s%s%s", stressors, i ? ", " : "",
				       comparison->points[i].stressor);
		free(stressors);
		stressors = longer;
	}
	if (arms && stressors) {
		report->title = format_string("%s: %s", stressors, arms);
		report->lead = format_string(
			"%s with %u CPUs (%s).%s", comparison->guest ? "A guest" : "A machine",
			comparison->cpus, arch ? arch : "unknown architecture",
			comparison->emulated_time
				? " Times are those of an emulator, not of "
				  "hardware; counts follow from the kernel's code."
				: "");
	}
	free(stressors);
	free(arms);
	report->arms = calloc(comparison->arm_count + 1, sizeof(*report->arms));
	if (!report->arms || !report->title || !report->lead)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->arm_count; i++) {
		report->arms[i] = legend_text(comparison, i);
		if (!report->arms[i])
			return -ENOMEM;
		report->arm_count++;
	}
	return 0;
}

int report_make(const struct comparison *comparison, struct log *log, struct report **out)
{
	struct report *report = calloc(1, sizeof(*report));
	struct report_runs runs = { 0 };
	int ret = report ? report_runs_load(comparison, log, &runs) : -ENOMEM;

	if (!ret)
		ret = add_head(report, comparison);
	if (!ret)
		ret = add_verdicts(report, comparison);
	if (!ret)
		ret = add_sweeps(report, comparison);
	if (!ret)
		ret = add_points(report, comparison, &runs);
	if (!ret)
		ret = add_tables(report, comparison, &runs);
	if (!ret)
		ret = add_provenance(report, comparison, &runs);
	if (!ret)
		ret = add_data(report, comparison, &runs);
	report_runs_free(&runs);
	if (ret)
		report_free(report);
	else
		*out = report;
	return ret;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->section_count; i++) {
		struct report_section *section = &report->sections[i];

		free(section->heading);
		free(section->text);
		free(section->listing);
		free(section->tones);
		table_free(section->table);
		plots_free(&section->plots);
	}
	for (size_t i = 0; i < report->arm_count; i++)
		free(report->arms[i]);
	free(report->arms);
	free(report->sections);
	free(report->title);
	free(report->lead);
	free(report->data);
	free(report->file);
	free(report);
}
