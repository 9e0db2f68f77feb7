// SPDX-License-Identifier: GPL-2.0-only
/* Perf events by name through libpfm4; see event_names.h. */
#include "event_names.h"

#include <ctype.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

/* The name alone, without "unit::" before it and ":attributes" after it, in small letters. */
static char *bare_name(const char *name)
{
	const char *unit = strstr(name, "::");
	char *bare = strdup(unit ? unit + 2 : name), *at;

	if (!bare)
		return NULL;
	bare[strcspn(bare, ":")] = '\0';
	for (at = bare; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return bare;
}

/* Calls visit() for each event of the units that are on this machine, or of all; stops when it
 * returns true. */
static bool each_event(bool present_only, bool (*visit)(const char *name, void *context),
		       void *context)
{
	pfm_event_info_t event;
	pfm_pmu_info_t unit;
	int pmu, index;

	pfm_for_all_pmus(pmu)
	{
		memset(&unit, 0, sizeof(unit));
		unit.size = sizeof(unit);
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &unit) != PFM_SUCCESS)
			continue;
		if (present_only && !unit.is_present)
			continue;
		for (index = unit.first_event; index != -1; index = pfm_get_event_next(index)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS)
				continue;
			if (visit(event.name, context))
				return true;
		}
	}
	return false;
}

int event_name_encode(const char *name, struct perf_event_attr *attr, const char **why)
{
	struct perf_event_attr encoded = { .size = sizeof(encoded) };
	pfm_perf_encode_arg_t argument = { .attr = &encoded, .size = sizeof(argument) };
	pfm_err_t err;

	if (pfm_initialize() != PFM_SUCCESS)
		return -ENOENT;
	err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT,
					&argument);
	if (err == PFM_SUCCESS) {
		*attr = encoded;
		return 0;
	}
	if (err == PFM_ERR_NOTFOUND || err == PFM_ERR_NOTSUPP)
		return -ENOENT;
	if (err == PFM_ERR_NOMEM)
		return -ENOMEM;
	*why = pfm_strerror(err);
	return -EINVAL;
}

static bool is_name(const char *name, void *context)
{
	return !strcasecmp(name, context);
}

bool event_name_known(const char *name)
{
	char *bare;
	bool known;

	if (pfm_initialize() != PFM_SUCCESS)
		return false;
	bare = bare_name(name);
	known = bare && each_event(false, is_name, bare);
	free(bare);
	return known;
}

struct names {
	char **list;
	size_t count, room;
};

static bool add_name(const char *name, void *context)
{
	struct names *names = context;
	char **longer;

	if (names->count + 1 >= names->room) {
		names->room = names->room ? 2 * names->room : 256;
		longer = realloc(names->list, names->room * sizeof(*longer));
		if (!longer)
			return true;
		names->list = longer;
	}
	names->list[names->count] = bare_name(name);
	if (!names->list[names->count])
		return true;
	names->list[++names->count] = NULL;
	return false;
}

/* Among the units of this machine first: what is meant is more likely one that can be counted. */
static char *nearest_among(const char *bare, bool present_only)
{
	struct names names = { 0 };
	const char *nearest = NULL;
	char *copy = NULL;

	if (!each_event(present_only, add_name, &names) && names.count)
		nearest = nearest_name(bare, (const char *const *)names.list);
	if (nearest)
		copy = strdup(nearest);
	while (names.count)
		free(names.list[--names.count]);
	free(names.list);
	return copy;
}

char *event_name_nearest(const char *name)
{
	char *bare, *nearest;

	if (pfm_initialize() != PFM_SUCCESS)
		return NULL;
	bare = bare_name(name);
	if (!bare)
		return NULL;
	nearest = nearest_among(bare, true);
	if (!nearest)
		nearest = nearest_among(bare, false);
	free(bare);
	return nearest;
}

unsigned int event_name_units(const char **first)
{
	unsigned int count = 0;
	pfm_pmu_info_t unit;
	int pmu;

	if (pfm_initialize() != PFM_SUCCESS)
		return 0;
	pfm_for_all_pmus(pmu)
	{
		memset(&unit, 0, sizeof(unit));
		unit.size = sizeof(unit);
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &unit) != PFM_SUCCESS)
			continue;
		if (!unit.is_present || unit.type != PFM_PMU_TYPE_CORE)
			continue;
		if (!count++)
			*first = unit.desc;
	}
	return count;
}
