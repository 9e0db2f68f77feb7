// SPDX-License-Identifier: GPL-2.0-only
/* Known contents, and a primed mm. */
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *const region_contents[] = { "incompressible", "compressible", NULL };
const char *const neighbour_choices[] = { "spin", "idle", "kernel", NULL };

/* xorshift64* (Vigna 2016), started from seed and page so that a page can be checked alone. */
static uint64_t page_state(const struct region *region, size_t page)
{
	uint64_t state = (region->seed + 1) * 0x9e3779b97f4a7c15ULL ^
			 (page + 1) * 0xbf58476d1ce4e5b9ULL;

	return state ? state : 1;
}

static uint64_t next_word(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* A compressible page is random in its first quarter and zero in the rest. */
static size_t random_words(const struct region *region)
{
	size_t words = region->page_bytes / sizeof(uint64_t);

	return region->compressible ? words / 4 : words;
}

static uint64_t *page_at(const struct region *region, size_t page)
{
	return (uint64_t *)(region->base + page * region->page_bytes);
}

int region_make(struct task *task, struct region *region)
{
	size_t bytes;

	*region = (struct region){
		.pages = task_uint(task, "pages"),
		.page_bytes = task->point->page_bytes,
		.seed = task->point->seed,
		.compressible = !strcmp(task_string(task, "contents"), "compressible"),
	};
	bytes = region->pages * region->page_bytes;
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) && errno != EINVAL)
		return task_say(task, OUTCOME_BROKEN, "cannot turn huge pages off: %s",
				strerror(errno));
	region->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (region->base == MAP_FAILED)
		return task_say(task, OUTCOME_BROKEN, "cannot map %zu pages: %s", region->pages,
				strerror(errno));
	for (size_t page = 0; page < region->pages; page++) {
		uint64_t state = page_state(region, page), *words = page_at(region, page);

		for (size_t i = 0; i < random_words(region); i++)
			words[i] = next_word(&state);
	}
	return 0;
}

void region_free(struct region *region)
{
	munmap(region->base, region->pages * region->page_bytes);
	region->base = NULL;
}

void region_teardown(struct task *task)
{
	region_free(task->state);
	free(task->state);
}

int region_prime(struct task *task, struct region *region)
{
	const struct point *point = task->point;
	volatile unsigned char *touched = region->base;

	/* backwards, so that the control CPU comes last */
	for (unsigned int i = point->cpu_count; i--;) {
		int rc = task_pin(point->cpus[i]);

		if (rc)
			return task_say(task, OUTCOME_BROKEN, "cannot run the target on CPU %u: %s",
					point->cpus[i], strerror(-rc));
		touched[0] = touched[0];
	}
	return 0;
}

long region_swapped(const struct region *region)
{
	off_t offset = (uintptr_t)region->base / region->page_bytes * sizeof(uint64_t);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[512];
	long swapped = 0;

	if (fd < 0)
		return -1;
	for (size_t page = 0; page < region->pages; page += 512) {
		size_t count = region->pages - page < 512 ? region->pages - page : 512;
		ssize_t bytes = count * sizeof(entries[0]);

		if (pread(fd, entries, bytes, offset + page * sizeof(entries[0])) != bytes) {
			swapped = -1;
			break;
		}
		for (size_t i = 0; i < count; i++)
			swapped += entries[i] >> 62 & 1;
	}
	close(fd);
	return swapped;
}

static bool page_is_whole(const struct region *region, size_t page)
{
	uint64_t state = page_state(region, page), *words = page_at(region, page);
	size_t random = random_words(region), i;

	for (i = 0; i < random; i++)
		if (words[i] != next_word(&state))
			return false;
	for (; i < region->page_bytes / sizeof(uint64_t); i++)
		if (words[i])
			return false;
	return true;
}

size_t region_damaged(const struct region *region)
{
	size_t damaged = 0;

	for (size_t page = 0; page < region->pages; page++)
		damaged += !page_is_whole(region, page);
	return damaged;
}
