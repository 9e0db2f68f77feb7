// SPDX-License-Identifier: GPL-2.0-only
/* CPUs by number, as hwloc bitmaps. */
#include "cpus.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fs.h"

/* The kernel refuses a mask that is shorter than its own: ask again with a longer one. */
int cpus_usable(hwloc_bitmap_t *cpus)
{
	hwloc_bitmap_t usable = hwloc_bitmap_alloc();
	int rc = usable ? -EINVAL : -ENOMEM;

	for (int count = 1024; usable && rc == -EINVAL && count <= 1 << 20; count *= 2) {
		cpu_set_t *set = CPU_ALLOC(count);

		if (!set) {
			rc = -ENOMEM;
		} else if (!sched_getaffinity(0, CPU_ALLOC_SIZE(count), set)) {
			for (int cpu = 0; cpu < count; cpu++)
				if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(count), set))
					hwloc_bitmap_set(usable, cpu);
			rc = 0;
		} else {
			rc = -errno;
		}
		CPU_FREE(set);
	}
	if (rc)
		hwloc_bitmap_free(usable);
	else
		*cpus = usable;
	return rc;
}

/* One decimal number of at most six digits, as the kernel prints it; hwloc reads octal as well. */
static bool take_number(const char **at, unsigned int *number)
{
	size_t digits = strspn(*at, "0123456789");

	if (!digits || digits > 6 || (**at == '0' && digits > 1))
		return false;
	*number = (unsigned int)strtoul(*at, NULL, 10);
	*at += digits;
	return true;
}

/* "N" or "N-M" with N <= M. */
static bool take_range(const char **at, hwloc_bitmap_t cpus)
{
	unsigned int first, last;

	if (!take_number(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!take_number(at, &last) || last < first)
			return false;
	}
	return !hwloc_bitmap_set_range(cpus, first, (int)last);
}

int cpus_set_affinity(hwloc_const_bitmap_t cpus)
{
	int count = hwloc_bitmap_last(cpus) + 1, rc;
	cpu_set_t *set = count > 0 ? CPU_ALLOC(count) : NULL;
	size_t size = CPU_ALLOC_SIZE(count);
	unsigned int cpu;

	if (!set)
		return count > 0 ? -ENOMEM : -EINVAL;
	CPU_ZERO_S(size, set);
	hwloc_bitmap_foreach_begin(cpu, cpus)
		CPU_SET_S(cpu, size, set);
	hwloc_bitmap_foreach_end();
	rc = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return rc;
}

int cpus_parse(const char *list, hwloc_bitmap_t *cpus)
{
	hwloc_bitmap_t parsed = hwloc_bitmap_alloc();
	const char *at = list;
	bool valid;

	if (!parsed)
		return -ENOMEM;
	while ((valid = take_range(&at, parsed)) && *at == ',')
		at++;
	while (isspace((unsigned char)*at))
		at++;
	if (!valid || *at) {
		hwloc_bitmap_free(parsed);
		return -EINVAL;
	}
	*cpus = parsed;
	return 0;
}

unsigned int *cpus_numbers(hwloc_const_bitmap_t cpus, unsigned int *count)
{
	int weight = hwloc_bitmap_weight(cpus);
	unsigned int *numbers = weight > 0 ? calloc(weight, sizeof(*numbers)) : NULL;
	unsigned int cpu, i = 0;

	if (!numbers)
		return NULL;
	hwloc_bitmap_foreach_begin(cpu, cpus)
		numbers[i++] = cpu;
	hwloc_bitmap_foreach_end();
	if (count)
		*count = i;
	return numbers;
}

char *cpus_format(hwloc_const_bitmap_t cpus)
{
	char *text = NULL;

	return hwloc_bitmap_list_asprintf(&text, cpus) < 0 ? NULL : text;
}

int cpus_from_file(const char *root, const char *path, hwloc_bitmap_t *cpus)
{
	char *text;
	int rc = fs_read(root, path, &text, NULL);

	if (rc)
		return rc;
	rc = cpus_parse(text, cpus);
	free(text);
	return rc;
}
