// SPDX-License-Identifier: GPL-2.0-only
/* CPUs by number, as hwloc bitmaps. */
#include "cpus.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
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

int cpus_parse(const char *list, hwloc_bitmap_t *cpus)
{
	size_t length = strlen(list);
	hwloc_bitmap_t parsed;
	char *trimmed;
	int rc = 0;

	while (length && isspace((unsigned char)list[length - 1]))
		length--;
	/* no number that hwloc would have to cut: they are at most six digits long */
	if (!length || *list == '-' || strspn(list, "0123456789,-") < length)
		return -EINVAL;
	for (size_t i = 0, digits = 0; i < length; i++) {
		digits = list[i] >= '0' ? digits + 1 : 0;
		if (digits > 6)
			return -EINVAL;
	}
	trimmed = strndup(list, length);
	parsed = hwloc_bitmap_alloc();
	if (!trimmed || !parsed)
		rc = -ENOMEM;
	else if (hwloc_bitmap_list_sscanf(parsed, trimmed) || hwloc_bitmap_weight(parsed) < 1)
		rc = -EINVAL;
	free(trimmed);
	if (rc)
		hwloc_bitmap_free(parsed);
	else
		*cpus = parsed;
	return rc;
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
