// SPDX-License-Identifier: GPL-2.0-only
/* BCa intervals of the Hodges-Lehmann shift. */
#include "statistics_bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"
#include "statistics_rank.h"

#define BISECTIONS 60

struct bootstrap {
	const double *x, *y; /* ascending copies */
	size_t m, n;
	double *rx, *ry; /* a resample of each */
	double *shifts;
};

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* How many differences are at most t. */
static size_t count_up_to(const double *x, size_t m, const double *y, size_t n, double t)
{
	size_t count = 0, i = 0;

	for (size_t j = 0; j < n; j++) {
		/* y[j] - x[i] <= t from this i on; with y it only moves up */
		while (i < m && y[j] - x[i] > t)
			i++;
		count += m - i;
	}
	return count;
}

/* The k-th smallest difference. */
static double kth_shift(const double *x, size_t m, const double *y, size_t n, size_t k)
{
	double low = y[0] - x[m - 1], high = y[n - 1] - x[0];

	for (int i = 0; i < BISECTIONS && low < high; i++) {
		double middle = low + (high - low) / 2;

		if (count_up_to(x, m, y, n, middle) >= k)
			high = middle;
		else
			low = middle;
	}
	return high;
}

double shift_of(const double *x, size_t m, const double *y, size_t n)
{
	size_t pairs = m * n;

	if (pairs % 2)
		return kth_shift(x, m, y, n, pairs / 2 + 1);
	return (kth_shift(x, m, y, n, pairs / 2) + kth_shift(x, m, y, n, pairs / 2 + 1)) / 2;
}

static void resample(const double *from, double *to, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[random_next(state) % n];
	qsort(to, n, sizeof(*to), statistics_ascending);
}

static void leave_out(const double *from, double *to, size_t n, size_t index)
{
	memcpy(to, from, index * sizeof(*to));
	memcpy(to + index, from + index + 1, (n - index - 1) * sizeof(*to));
}

/* The powers of the influence values of one sample, as the acceleration adds them up. */
static void add_influence(const double *without, size_t n, double *squares, double *cubes)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += without[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double influence = (double)(n - 1) * (mean - without[i]) / (double)n;

		*squares += influence * influence;
		*cubes += influence * influence * influence;
	}
}

/* shifts is free for use: the resamples come later. */
static double acceleration(const struct bootstrap *b)
{
	double squares = 0, cubes = 0;

	for (size_t i = 0; i < b->m; i++) {
		leave_out(b->x, b->rx, b->m, i);
		b->shifts[i] = shift_of(b->rx, b->m - 1, b->y, b->n);
	}
	add_influence(b->shifts, b->m, &squares, &cubes);
	for (size_t i = 0; i < b->n; i++) {
		leave_out(b->y, b->ry, b->n, i);
		b->shifts[i] = shift_of(b->x, b->m, b->ry, b->n - 1);
	}
	add_influence(b->shifts, b->n, &squares, &cubes);
	return squares > 0 ? cubes / pow(squares, 1.5) / 6 : 0;
}

/* The draw at the corrected percentile. */
static double corrected(const struct bootstrap *b, size_t draws, double bias, double a, double p)
{
	double z = bias + normal_quantile(p);
	double at = normal_below(bias + z / (1 - a * z)) * (double)(draws + 1);
	size_t index = at < 1 ? 0 : (size_t)at - 1;

	return b->shifts[index < draws ? index : draws - 1];
}

static int make_interval(struct bootstrap *b, double alpha, size_t draws, uint64_t seed,
			 double *low, double *high)
{
	double estimate = shift_of(b->x, b->m, b->y, b->n), a = acceleration(b), below = 0, bias;

	for (size_t i = 0; i < draws; i++) {
		resample(b->x, b->rx, b->m, &seed);
		resample(b->y, b->ry, b->n, &seed);
		b->shifts[i] = shift_of(b->rx, b->m, b->ry, b->n);
		/* a resample that hits it exactly is on neither side */
		below += b->shifts[i] < estimate ? 1 : b->shifts[i] == estimate ? 0.5 : 0;
	}
	if (below <= 0 || below >= (double)draws)
		return -EDOM;
	qsort(b->shifts, draws, sizeof(*b->shifts), statistics_ascending);
	bias = normal_quantile(below / (double)draws);
	*low = corrected(b, draws, bias, a, alpha / 2);
	*high = corrected(b, draws, bias, a, 1 - alpha / 2);
	return isfinite(*low) && isfinite(*high) ? 0 : -EDOM;
}

int shift_bootstrap(const double *x, size_t m, const double *y, size_t n, double alpha,
		    size_t draws, uint64_t seed, double *low, double *high)
{
	size_t most = m > n ? m : n;
	double *room = malloc((2 * (m + n) + (draws > most ? draws : most)) * sizeof(*room));
	struct bootstrap b = { .x = room, .y = room + m, .m = m, .n = n };
	int ret;

	if (!room)
		return -ENOMEM;
	memcpy(room, x, m * sizeof(*room));
	memcpy(room + m, y, n * sizeof(*room));
	qsort(room, m, sizeof(*room), statistics_ascending);
	qsort(room + m, n, sizeof(*room), statistics_ascending);
	b.rx = room + m + n;
	b.ry = b.rx + m;
	b.shifts = b.ry + n;
	ret = m > 1 && n > 1 ? make_interval(&b, alpha, draws, seed, low, high) : -EDOM;
	free(room);
	return ret;
}
