// SPDX-License-Identifier: GPL-2.0-only
/* Areas with guards, the file below them, and their first contents. */
#include "storm_area.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_WORD 0x5eedf11ec0de0001ULL /* in the first words of each page of a file */

const char *const storm_sharings[] = { "private", "shared", NULL };
const char *const storm_backings[] = { "anonymous", "file", NULL };

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static bool is_file(const struct point *point)
{
	return !strcmp(option_string(point->parameters, "backing"), "file");
}

bool storm_memory_is_private(const struct point *point)
{
	return !strcmp(option_string(point->parameters, "sharing"), "private");
}

static size_t area_bytes(const struct point *point, size_t map_bytes)
{
	size_t call_bytes = option_uint(point->parameters, "pages") * point->page_bytes;

	return round_up(map_bytes > call_bytes ? map_bytes : call_bytes, call_bytes);
}

uint64_t storm_memory_bytes(const struct point *point, size_t map_bytes, unsigned int workers)
{
	uint64_t once = (uint64_t)workers * area_bytes(point, map_bytes);

	return is_file(point) ? 2 * once : once;
}

/* ---- the file ---- */

static int open_file(const char *folder)
{
	int file = strcmp(folder, "memfd") ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
					   : memfd_create("shootdown-storm", MFD_CLOEXEC);

	return file < 0 ? -errno : file;
}

/* Known words at the head of every page, by writes and not by a mapping: no mm is flushed. */
static int fill_file(const struct storm_memory *memory, unsigned int workers)
{
	const uint64_t words[3] = { FILE_WORD, FILE_WORD, FILE_WORD };
	off_t end = (off_t)memory->area_bytes * workers;

	if (ftruncate(memory->file, end))
		return -errno;
	for (off_t at = 0; at < end; at += memory->page_bytes) {
		ssize_t written = pwrite(memory->file, words, sizeof(words), at);

		if (written != sizeof(words))
			return written < 0 ? -errno : -ENOSPC;
	}
	return 0;
}

int storm_memory_open(struct task *task, size_t unit_bytes, size_t map_bytes, unsigned int workers,
		      struct storm_memory *memory)
{
	const struct point *point = task->point;
	int rc;

	*memory = (struct storm_memory){
		.page_bytes = point->page_bytes,
		.unit_bytes = unit_bytes,
		.call_bytes = task_uint(task, "pages") * point->page_bytes,
		.area_bytes = area_bytes(point, map_bytes),
		.shared = !storm_memory_is_private(point),
		.file = -1,
	};
	if (!is_file(point))
		return 0;
	rc = open_file(task_string(task, "folder"));
	if (rc < 0)
		return task_say(task, OUTCOME_BROKEN,
				"cannot make an unlinked file in %s: %s; give another folder",
				task_string(task, "folder"), strerror(-rc));
	memory->file = rc;
	memory->fresh = FILE_WORD;
	rc = fill_file(memory, workers);
	if (!rc)
		return 0;
	storm_memory_close(memory);
	return task_say(task, OUTCOME_BROKEN, "cannot fill %zu bytes of a file: %s",
			memory->area_bytes * workers, strerror(-rc));
}

void storm_memory_close(struct storm_memory *memory)
{
	if (memory->file >= 0)
		close(memory->file);
	memory->file = -1;
}

/* ---- areas ---- */

static int map_at(const struct storm_area *area, int fixed)
{
	const struct storm_memory *memory = area->memory;
	int flags = fixed | (memory->shared ? MAP_SHARED : MAP_PRIVATE);
	void *at;

	if (memory->file < 0)
		flags |= MAP_ANONYMOUS;
	at = mmap(area->base, memory->area_bytes, PROT_READ | PROT_WRITE, flags, memory->file,
		  memory->file < 0 ? 0 : area->offset);
	if (at == MAP_FAILED)
		return -errno;
	return at == area->base ? 0 : -EEXIST;
}

int storm_area_map(const struct storm_area *area)
{
	return map_at(area, MAP_FIXED_NOREPLACE);
}

int storm_area_renew(const struct storm_area *area)
{
	return map_at(area, MAP_FIXED);
}

size_t storm_table_bytes(size_t page_bytes)
{
	return page_bytes / sizeof(uint64_t) * page_bytes;
}

/* Over the reservation, which is never given up: other threads map memory at the same time. */
int storm_area_make(const struct storm_memory *memory, unsigned int worker, struct storm_area *area)
{
	size_t table_bytes = storm_table_bytes(memory->page_bytes);
	size_t align = memory->unit_bytes > table_bytes ? memory->unit_bytes : table_bytes;
	size_t bytes = round_up(memory->area_bytes, align) + 2 * align;
	unsigned char *place = mmap(NULL, bytes, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int rc;

	if (place == MAP_FAILED)
		return -errno;
	area->memory = memory;
	area->base = (unsigned char *)round_up((uintptr_t)place + 1, align);
	area->offset = (off_t)memory->area_bytes * worker;
	rc = storm_area_renew(area);
	if (rc || memory->unit_bytes == memory->page_bytes)
		return rc;
	return madvise(area->base, memory->area_bytes, MADV_HUGEPAGE) ? -errno : 0;
}

long storm_faults(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return -errno;
	return usage.ru_minflt + usage.ru_majflt;
}

long storm_area_fill(const struct storm_area *area)
{
	const struct storm_memory *memory = area->memory;
	long before = storm_faults(), after;

	for (size_t at = 0; at < memory->area_bytes; at += memory->page_bytes)
		*(volatile uint64_t *)(area->base + at) = 0;
	after = storm_faults();
	return before < 0 || after < 0 ? -EINVAL : after - before;
}
