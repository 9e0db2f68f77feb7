// SPDX-License-Identifier: GPL-2.0-only
/* Estimates from boots. */
#include "compare_estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics_bootstrap.h"
#include "statistics_rank.h"

#define BOOTSTRAP_DRAWS 2000
#define BOOTSTRAP_SEED	0x5eedULL

/* Boots' values; of pairs as many in x as in y. */
struct sides {
	double *x, *y;
	size_t m, n;
	bool paired;
	bool positive; /* all of them */
	bool negative; /* one of them: a ratio says nothing */
};

/* What one kind of differences says, from all of them in their order. */
struct shift {
	double estimate, low, high;
};

static double combine(double x, double y)
{
	return y - x;
}

/* 0 / 0: nothing changed. */
static double divide(double x, double y)
{
	return x == y ? 1 : y / x;
}

static const struct compared_boot *find_boot(const struct compared_value *value,
					     unsigned int number)
{
	for (size_t i = 0; number && i < value->boot_count; i++)
		if (value->boots[i].number == number)
			return &value->boots[i];
	return NULL;
}

/* Runs that are not a lab's are paired in the order in which they were given. */
static void take_pairs(const struct compared_value *base, const struct compared_value *value,
		       struct sides *sides)
{
	for (size_t i = 0; i < value->boot_count; i++) {
		const struct compared_boot *boot = &value->boots[i];
		const struct compared_boot *other = find_boot(base, boot->number);

		if (!other && !boot->number && i < base->boot_count)
			other = &base->boots[i];
		if (!other)
			continue;
		sides->x[sides->m++] = other->value;
		sides->y[sides->n++] = boot->value;
	}
}

static void look_at_signs(struct sides *sides)
{
	sides->positive = true;
	for (size_t i = 0; i < sides->m + sides->n; i++) {
		double number = i < sides->m ? sides->x[i] : sides->y[i - sides->m];

		sides->positive &= number > 0;
		sides->negative |= number < 0;
	}
}

static int take_sides(const struct compared_value *base, const struct compared_value *value,
		      bool paired, struct sides *sides)
{
	*sides = (struct sides){ .paired = paired };
	sides->x = calloc(base->boot_count + value->boot_count, sizeof(*sides->x));
	sides->y = calloc(value->boot_count, sizeof(*sides->y));
	if (!sides->x || !sides->y)
		return -ENOMEM;
	if (paired) {
		take_pairs(base, value, sides);
	} else {
		for (size_t i = 0; i < base->boot_count; i++)
			sides->x[sides->m++] = base->boots[i].value;
		for (size_t i = 0; i < value->boot_count; i++)
			sides->y[sides->n++] = value->boots[i].value;
	}
	look_at_signs(sides);
	return 0;
}

static void release_sides(struct sides *sides)
{
	free(sides->x);
	free(sides->y);
}

/* For ratios the mean is the geometric one. */
static double middle(double one, double other, bool ratios)
{
	if (one == other)
		return one;
	return ratios ? sqrt(one) * sqrt(other) : (one + other) / 2;
}

/* All m * n differences or ratios; of pairs the n (n + 1) / 2 Walsh averages of theirs. */
static int all_shifts(const struct sides *sides, bool ratios, double **list, size_t *count)
{
	double (*of)(double x, double y) = ratios ? divide : combine;
	size_t n = 0;

	*count = sides->paired ? sides->n * (sides->n + 1) / 2 : sides->m * sides->n;
	*list = malloc((*count + 1) * sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; i < sides->m; i++)
		for (size_t j = sides->paired ? i : 0; j < sides->n; j++)
			(*list)[n++] = sides->paired ? middle(of(sides->x[i], sides->y[i]),
							      of(sides->x[j], sides->y[j]), ratios)
						     : of(sides->x[i], sides->y[j]);
	qsort(*list, *count, sizeof(**list), statistics_ascending);
	return 0;
}

/* depth 0: no interval. */
static int find_shift(const struct sides *sides, bool ratios, size_t depth, struct shift *shift)
{
	double *list;
	size_t count;
	int ret = all_shifts(sides, ratios, &list, &count);

	if (ret)
		return ret;
	*shift = (struct shift){ NAN, NAN, NAN };
	if (count)
		shift->estimate = middle(list[(count - 1) / 2], list[count / 2], ratios);
	if (depth && depth <= count - depth + 1) {
		shift->low = list[depth - 1];
		shift->high = list[count - depth];
	}
	free(list);
	return 0;
}

static void logarithms(double *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i] = log(list[i]);
}

/* The sides are logarithms. Where it cannot be made the order-statistic interval stays. */
static int bootstrap(const struct sides *sides, struct compared_interval *interval)
{
	double low, high;
	int ret;

	size_t least = sides->m < sides->n ? sides->m : sides->n;

	if (sides->paired || !sides->positive || least < COMPARED_BCA_LEAST ||
	    sides->m + sides->n - least > COMPARED_BCA_MOST)
		return 0;
	ret = shift_bootstrap(sides->x, sides->m, sides->y, sides->n, COMPARED_ALPHA,
			      BOOTSTRAP_DRAWS, BOOTSTRAP_SEED, &low, &high);
	if (!ret)
		*interval = (struct compared_interval){ exp(low), exp(high), 1 - COMPARED_ALPHA,
							INTERVAL_BCA };
	return ret == -ENOMEM ? ret : 0;
}

static int find_p(const struct sides *sides, double *p)
{
	double *differences;
	int ret;

	if (!sides->paired)
		return rank_sum_test(sides->x, sides->m, sides->y, sides->n, p);
	differences = malloc((sides->n + 1) * sizeof(*differences));
	if (!differences)
		return -ENOMEM;
	for (size_t i = 0; i < sides->n; i++)
		differences[i] = combine(sides->x[i], sides->y[i]);
	ret = signed_rank_test(differences, sides->n, p);
	free(differences);
	return ret;
}

void compare_no_estimate(struct compared_value *value)
{
	value->test = (struct compared_test){
		.ratio = NAN,
		.difference = NAN,
		.interval = { NAN, NAN, NAN, INTERVAL_NONE },
		.difference_low = NAN,
		.difference_high = NAN,
		.p = NAN,
		.p_holm = NAN,
		.smallest_p = NAN,
		.noise = NAN,
	};
	value->change = NAN;
}

static int estimate(struct sides *sides, struct compared_test *test)
{
	double level;
	size_t depth = sides->paired ? signed_rank_depth(sides->n, COMPARED_ALPHA, &level)
				     : rank_sum_depth(sides->m, sides->n, COMPARED_ALPHA, &level);
	struct shift difference, ratio = { NAN, NAN, NAN };
	int ret = find_shift(sides, false, depth, &difference);

	if (!ret && !sides->negative)
		ret = find_shift(sides, true, depth, &ratio);
	if (ret)
		return ret;
	test->difference = difference.estimate;
	test->difference_low = difference.low;
	test->difference_high = difference.high;
	test->ratio = isfinite(ratio.estimate) ? ratio.estimate : NAN;
	if (!isnan(ratio.low) && !isnan(test->ratio))
		test->interval = (struct compared_interval){ ratio.low, ratio.high, level,
							     INTERVAL_ORDER };
	test->smallest_p = sides->paired ? signed_rank_smallest_p(sides->n)
					 : rank_sum_smallest_p(sides->m, sides->n);
	if (sides->positive) {
		logarithms(sides->x, sides->m);
		logarithms(sides->y, sides->n);
	}
	ret = find_p(sides, &test->p);
	return ret ? ret : bootstrap(sides, &test->interval);
}

int compare_estimate(const struct compared_value *base, struct compared_value *value, bool paired)
{
	struct sides sides;
	int ret = take_sides(base, value, paired, &sides);

	if (!ret)
		ret = estimate(&sides, &value->test);
	release_sides(&sides);
	return ret;
}

static double variance_of(const double *list, size_t n)
{
	struct statistics of;

	return statistics_of(list, n, &of) ? NAN : of.stddev * of.stddev;
}

static size_t needed_for_variance(struct sides *sides, double difference, double ratio,
				  double alpha)
{
	double variance;

	if (sides->positive) {
		logarithms(sides->x, sides->m);
		logarithms(sides->y, sides->n);
		difference = log(ratio);
	}
	if (sides->paired)
		for (size_t i = 0; i < sides->n; i++)
			sides->y[i] -= sides->x[i];
	variance = variance_of(sides->y, sides->n);
	if (!sides->paired)
		variance += variance_of(sides->x, sides->m);
	return rank_needed(difference, variance, alpha);
}

unsigned int compare_boots_needed(const struct compared_value *base,
				  const struct compared_value *value, double alpha, bool paired)
{
	size_t least = paired ? signed_rank_least(alpha) : rank_sum_least(alpha), needed = 0, there;
	struct sides sides;

	if (!take_sides(base, value, paired, &sides))
		needed = needed_for_variance(&sides, value->test.difference, value->test.ratio,
					     alpha);
	there = sides.m < sides.n ? sides.m : sides.n;
	release_sides(&sides);
	if (needed < least)
		needed = least;
	return needed > there ? (unsigned int)needed : 0;
}

struct started {
	uint64_t ns;
	size_t index;
};

static int by_start(const void *one, const void *other)
{
	const struct started *a = one, *b = other;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void set_order(const struct compared_value *value, struct started *order, double *values)
{
	for (size_t i = 0; i < value->boot_count; i++)
		order[i] = (struct started){ value->boots[i].started_ns, i };
	qsort(order, value->boot_count, sizeof(*order), by_start);
	for (size_t i = 0; i < value->boot_count; i++)
		values[i] = value->boots[order[i].index].value;
}

int compare_find_drift(struct compared_value *value)
{
	size_t boots = value->boot_count;
	struct started *order = calloc(boots + 1, sizeof(*order));
	double *values = calloc(boots + 1, sizeof(*values));
	size_t *counts = calloc(boots + 1, sizeof(*counts));
	struct trend over = { NAN, NAN }, within = { NAN, NAN };
	int ret = order && values && counts ? 0 : -ENOMEM;

	if (!ret && boots) {
		set_order(value, order, values);
		for (size_t i = 0; i < boots; i++)
			counts[i] = value->boots[i].n;
		ret = statistics_trend(values, &boots, 1, &over);
	}
	if (!ret && boots)
		ret = statistics_trend(value->samples, counts, boots, &within);
	value->drift = (struct compared_drift){ over.tau, over.p, within.tau, within.p };
	free(counts);
	free(values);
	free(order);
	return ret;
}
