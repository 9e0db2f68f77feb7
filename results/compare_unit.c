// SPDX-License-Identifier: GPL-2.0-only
/* What an arm has by its name: boots or runs, and parameters with their units. */
#include <stdlib.h>
#include <string.h>

#include "../lib/fs.h"
#include "../lib/quantity.h"
#include "compare.h"

const char *comparison_unit(const struct comparison *comparison)
{
	return comparison->rebooted ? "boot" : "run";
}

/* " of 5 runs"; "" when no repetition came to its end. */
static char *made_text(const struct compared_arm *arm, const char *repetition)
{
	const char *plural = arm->made_most == 1 ? "" : "s";

	if (!arm->made_most)
		return strdup("");
	if (arm->made_least == arm->made_most)
		return format_string(" of %u %s%s", arm->made_most, repetition, plural);
	return format_string(" of %u to %u %s%s", arm->made_least, arm->made_most, repetition,
			     plural);
}

char *compared_arm_text(const struct comparison *comparison, const struct compared_arm *arm)
{
	char *made = made_text(arm, comparison->rebooted ? "run" : "repetition");
	char *failed = arm->failed_boots ? format_string(" (%u failed)", arm->failed_boots)
					 : strdup("");
	char *text = NULL;

	if (made && failed)
		text = format_string("%u %s%s%s%s", arm->boots, comparison_unit(comparison),
				     arm->boots == 1 ? "" : "s", failed, made);
	free(failed);
	free(made);
	return text;
}

char *compared_parameter(const struct compared_point *point, const char *key)
{
	return quantity_json_text(json_object_get(point->parameters, key),
				  json_string_value(json_object_get(point->units, key)));
}
