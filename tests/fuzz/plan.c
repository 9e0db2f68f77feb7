// SPDX-License-Identifier: GPL-2.0-only
/* The plan as a guest is given it, and the records as they come back from one. */
#include "fuzz.h"

#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "../../harness/plan.h"
#include "../../results/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *json = json_loadb((const char *)data, size, 0, NULL);
	struct record *record;
	struct plan *plan;
	int fd;

	if (json && !plan_from_json(json, fuzz_log(), &plan)) {
		json_decref(plan_json(plan, 4, 4096));
		plan_free(plan);
	}
	json_decref(json);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!record_stream(fd, &record)) {
		record_receive(record, (const char *)data, size);
		record_close(record);
	}
	close(fd);
	return 0;
}
