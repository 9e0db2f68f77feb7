// SPDX-License-Identifier: GPL-2.0-only
/* The options that select runs of the index. */
#include "filter.h"

#include <errno.h>
#include <string.h>

#include "../lib/clock.h"

static int take_time(const struct option_values *values, const char *name, int64_t *time_ns,
		     struct log *log)
{
	if (!option_given(values, name))
		return 0;
	if (!store_parse_time(option_string(values, name), clock_ns(CLOCK_REALTIME), time_ns))
		return 0;
	log_error(
		log,
		"--%s \"%s\" is no date: write 2026-11-30, \"2026-11-30 22:00\", or an age in m, h, "
		"d or w such as 7d",
		name, option_string(values, name));
	return -EINVAL;
}

int filter_from(const struct option_values *values, struct store_filter *filter, struct log *log)
{
	int ret;

	*filter = (struct store_filter){
		.machine = option_string(values, "machine"),
		.kernel = option_string(values, "kernel"),
		.series = option_string(values, "series"),
		.arm = option_string(values, "arm"),
		.stressor = option_string(values, "stressor"),
		.parameters = option_list(values, "set"),
	};
	for (const char *const *text = filter->parameters; *text; text++)
		if (!strchr(*text, '=')) {
			log_error(log, "--set \"%s\" has no value; write NAME=VALUE", *text);
			return -EINVAL;
		}
	ret = take_time(values, "since", &filter->since_ns, log);
	return ret ? ret : take_time(values, "until", &filter->until_ns, log);
}
