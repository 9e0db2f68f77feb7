/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the compare_*.c files; for no one else. */
#ifndef SHOOTDOWN_COMPARE_PRIVATE_H
#define SHOOTDOWN_COMPARE_PRIVATE_H

#include "compare.h"
#include "load.h"

/* Takes text over; NULL counts as lack of memory. */
int compare_add_text(char ***list, size_t *count, char *text);

/* compare_gather.c: the first run's points and planned metrics, then every run's samples. */
int compare_take_points(struct comparison *comparison, const struct loaded_run *run);
int compare_gather(struct comparison *comparison, size_t arm, const struct loaded_run *run,
		   const uint32_t *map, struct log *log);
/* Metrics that no arm can have, tlbi_broadcast on x86 say, are not primary where others were
 * measured: they would be rows without a value in every table. */
void compare_drop_unsupported(struct comparison *comparison);
/* Where a metric belongs among its point's: primary ones first, the stressor's own before all. */
size_t compare_metric_rank(const struct compared_metric *metric);

/* compare_verdict.c: fills test, drift and change of every value; statistics and boots are made. */
int compare_judge(struct comparison *comparison);

/* compare_noise.c: takes verdicts back that are inside what the same kernel shows against itself.
 * -EINVAL, said, when noise is no A/A. */
int compare_apply_noise(struct comparison *comparison, const struct comparison *noise,
			const char *source, struct log *log);

/* compare_mix.c: did the arm's boots and the baseline's run the same points at once, or none? */
bool compare_ran_same_mix(const struct comparison *comparison, size_t arm);

/* compare_notes.c: what a reader must know besides the cells. */
void compare_add_notes(struct table *table, const struct comparison *comparison, bool all);
/* compare_table.c: those of the point's parameters that all points of its stressor share, or the
 * others; a fresh string. */
char *compare_point_text(const struct comparison *comparison, const struct compared_point *point,
			 bool common);
/* A point with none of the primary metrics shows what it has. */
bool compare_is_shown(const struct compared_point *point, const struct compared_metric *metric,
		      bool all);

#endif
