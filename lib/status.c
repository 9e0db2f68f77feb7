// SPDX-License-Identifier: GPL-2.0-only
/* The words for value statuses and outcomes. */
#include "status.h"

#include <stddef.h>
#include <string.h>

static const char *const value_status_names[VALUE_STATUS_COUNT] = {
	[VALUE_OK] = "ok",
	[VALUE_SHARED] = "shared",
	[VALUE_MULTIPLEXED] = "multiplexed",
	[VALUE_UNSUPPORTED] = "unsupported",
	[VALUE_NOT_PERMITTED] = "not-permitted",
	[VALUE_FAILED] = "failed",
};

static const char *const outcome_names[OUTCOME_COUNT] = {
	[OUTCOME_PASS] = "pass",
	[OUTCOME_FAIL] = "fail",
	[OUTCOME_SKIP] = "skip",
	[OUTCOME_BROKEN] = "broken",
	[OUTCOME_INTERRUPTED] = "interrupted",
};

static int find(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *value_status_name(enum value_status status)
{
	return value_status_names[status];
}

bool value_status_has_value(enum value_status status)
{
	return status == VALUE_OK || status == VALUE_SHARED || status == VALUE_MULTIPLEXED;
}

int value_status_parse(const char *name)
{
	return find(value_status_names, VALUE_STATUS_COUNT, name);
}

const char *outcome_name(enum outcome outcome)
{
	return outcome_names[outcome];
}

int outcome_parse(const char *name)
{
	return find(outcome_names, OUTCOME_COUNT, name);
}
