// SPDX-License-Identifier: GPL-2.0-only
/* memory.reclaim, with swappiness where it is known. */
#include "reclaim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A kernel that does not know the key refuses even a request for nothing. */
static bool takes_swappiness(int file, unsigned int swappiness)
{
	char probe[32];
	int length = snprintf(probe, sizeof(probe), "0 swappiness=%u", swappiness);

	return write(file, probe, length) == length;
}

int reclaim_arm(struct task *task, struct reclaim *reclaim, uint64_t bytes)
{
	unsigned int swappiness = task_uint(task, "swappiness");
	unsigned long long amount = bytes;
	bool taken;

	reclaim->file = openat(task->cgroup_folder, "memory.reclaim", O_WRONLY | O_CLOEXEC);
	if (reclaim->file < 0)
		return task_say(task, OUTCOME_BROKEN, "cannot open memory.reclaim: %s",
				strerror(errno));
	taken = takes_swappiness(reclaim->file, swappiness);
	/* get_scan_count() in mm/vmscan.c; what is not taken is vm.swappiness, 60 by default */
	if (taken && !swappiness)
		return task_say(task, OUTCOME_SKIP,
				"swappiness=0 spares anonymous pages, and here are no others to "
				"reclaim: give 1 to %d",
				RECLAIM_ANONYMOUS);
	reclaim->length = taken ? snprintf(reclaim->request, sizeof(reclaim->request),
					   "%llu swappiness=%u", amount, swappiness)
				: snprintf(reclaim->request, sizeof(reclaim->request), "%llu",
					   amount);
	return 0;
}

int reclaim_run(struct task *task, const struct reclaim *reclaim)
{
	if (write(reclaim->file, reclaim->request, reclaim->length) < 0 && errno != EAGAIN)
		return task_say(task, OUTCOME_BROKEN, "memory.reclaim: %s", strerror(errno));
	return 0;
}
