// SPDX-License-Identifier: GPL-2.0-only
/* From the text of an event to what perf_event_open(2) takes; see perf.h. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_names.h"
#include "fs.h"
#include "options.h"
#include "perf.h"
#include "tracepoint.h"

/* A text in its parts: NAME or SYSTEM:NAME/FILTER/, and what to count on. */
struct parts {
	char *name; /* all but filter and suffix */
	char *filter;
	bool by_task;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct log *log, const char *text,
							const char *format, ...)
{
	char *why = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&why, format, list) < 0)
		why = NULL;
	va_end(list);
	if (log)
		log_error(log, "event \"%s\": %s", text, why ? why : "out of memory");
	free(why);
	return -EINVAL;
}

static void release_parts(struct parts *parts)
{
	free(parts->name);
	free(parts->filter);
}

/* "@task" or "@cpu" at the end, outside of a filter. */
static int take_suffix(const char *text, char *copy, bool *by_task, struct log *log)
{
	char *at = strrchr(copy, '@'), *slash = strrchr(copy, '/');

	*by_task = false;
	if (!at || (slash && slash > at))
		return 0;
	*by_task = !strcmp(at, "@task");
	if (!*by_task && strcmp(at, "@cpu"))
		return refuse(log, text, "what follows \"@\" must be \"cpu\" or \"task\"");
	*at = '\0';
	return 0;
}

static int split(const char *text, struct parts *parts, struct log *log)
{
	struct parts found = { 0 };
	char *slash, *end;
	int err;

	found.name = strdup(text);
	if (!found.name)
		return -ENOMEM;
	err = take_suffix(text, found.name, &found.by_task, log);
	if (err)
		goto fail;
	slash = strchr(found.name, '/');
	if (slash) {
		end = slash + strlen(slash) - 1;
		if (end <= slash + 1 || *end != '/') {
			err = refuse(log, text, "a filter is written SYSTEM:NAME/FILTER/");
			goto fail;
		}
		*end = '\0';
		*slash = '\0';
		found.filter = strdup(slash + 1);
		err = -ENOMEM;
		if (!found.filter)
			goto fail;
	}
	if (!*found.name) {
		err = refuse(log, text, "the name is empty; write NAME or SYSTEM:NAME");
		goto fail;
	}
	*parts = found;
	return 0;

fail:
	release_parts(&found);
	return err;
}

/* SYSTEM:NAME with one colon, made of letters, digits, '_', '-' and '.'. */
static bool is_tracepoint_shape(const char *name)
{
	const char *colon = strchr(name, ':'), *at;

	if (!colon || colon == name || !colon[1])
		return false;
	for (at = name; *at; at++)
		if (at != colon && !isalnum((unsigned char)*at) && !strchr("_-.", *at))
			return false;
	return true;
}

static int set_status(struct perf_event *event, enum value_status status, char *reason)
{
	event->status = status;
	event->reason = reason;
	return reason ? 0 : -ENOMEM;
}

/* The reason why there is no such tracepoint, with the nearest one there is. */
static char *explain_missing(const struct tracepoint_folder *folder, const char *system,
			     const char *name)
{
	const char *nearest = NULL;
	char **names = NULL, *reason;

	if (!tracepoint_names(folder, system, &names)) {
		nearest = nearest_name(name, (const char *const *)names);
		reason = format_string("this kernel has no tracepoint %s:%s%s%s%s%s", system, name,
				       nearest ? "; the nearest is " : "", nearest ? system : "",
				       nearest ? ":" : "", nearest ? nearest : "");
		tracepoint_names_free(names);
		return reason;
	}
	if (!tracepoint_names(folder, NULL, &names))
		nearest = nearest_name(system, (const char *const *)names);
	reason = format_string("this kernel has no tracepoints named %s:...%s%s", system,
			       nearest ? "; the nearest is " : "", nearest ? nearest : "");
	tracepoint_names_free(names);
	return reason;
}

/* Looks the tracepoint up in the running kernel. */
static int find_tracepoint(struct perf_event *event)
{
	struct tracepoint_folder folder;
	unsigned long long id;
	int err;

	err = tracepoint_open("", &folder);
	if (err == -EACCES)
		return set_status(
			event, VALUE_NOT_PERMITTED,
			strdup("tracefs can be read by root only: run as root, or have it "
			       "mounted with -o gid=GROUP for a group of yours"));
	if (err == -ENOMEM)
		return err;
	if (err)
		return set_status(event, VALUE_UNSUPPORTED,
				  strdup("this kernel has no tracefs (CONFIG_FTRACE and "
					 "CONFIG_ENABLE_DEFAULT_TRACERS or a tracer)"));
	err = tracepoint_id(&folder, event->system, event->name, &id);
	if (!err)
		event->attr.config = id;
	else if (err == -EACCES)
		err = set_status(
			event, VALUE_NOT_PERMITTED,
			strdup("the tracepoint's files can be read by root only: run as root"));
	else if (err != -ENOMEM)
		err = set_status(event, VALUE_UNSUPPORTED,
				 explain_missing(&folder, event->system, event->name));
	tracepoint_close(&folder);
	return err;
}

static int make_tracepoint(struct parts *parts, struct perf_event *event)
{
	char *colon = strchr(parts->name, ':');

	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->system = strndup(parts->name, (size_t)(colon - parts->name));
	event->name = strdup(colon + 1);
	if (!event->system || !event->name)
		return -ENOMEM;
	event->filter = parts->filter;
	parts->filter = NULL;
	return find_tracepoint(event);
}

static int unknown_name(const char *text, const char *name, struct log *log)
{
	char *nearest = event_name_nearest(name);
	int err;

	if (nearest)
		err = refuse(log, text, "no such event; did you mean \"%s\"?", nearest);
	else
		err = refuse(log, text,
			     "no such event; names are those of libpfm4 (\"page-faults\", "
			     "\"cycles\", raw \"r01c2\") or SYSTEM:NAME for a tracepoint");
	free(nearest);
	return err;
}

/* Is what stands before the colon a system of this kernel's tracepoints? */
static bool is_tracepoint_system(const char *name)
{
	char *system = strndup(name, strcspn(name, ":")), **names;
	struct tracepoint_folder folder;
	bool found = false;

	if (system && !tracepoint_open("", &folder)) {
		if (!tracepoint_names(&folder, system, &names)) {
			found = true;
			tracepoint_names_free(names);
		}
		tracepoint_close(&folder);
	}
	free(system);
	return found;
}

/*
 * Which kind of event a name is. "cycles:u" looks like a tracepoint, so libpfm4 is
 * asked first; but it knows tracepoints too, when it finds their files, and is not
 * asked about those.
 */
static int resolve(const char *text, struct parts *parts, struct log *log, struct perf_event *event)
{
	bool tracepoint = is_tracepoint_shape(parts->name);
	const char *why = NULL;
	int err;

	if (tracepoint && is_tracepoint_system(parts->name))
		return make_tracepoint(parts, event);
	if (parts->filter)
		return tracepoint ? make_tracepoint(parts, event)
				  : refuse(log, text,
					   "only a tracepoint, SYSTEM:NAME, takes a filter");
	err = event_name_encode(parts->name, &event->attr, &why);
	if (!err || err == -ENOMEM)
		return err;
	if (tracepoint && !event_name_known(parts->name))
		return make_tracepoint(parts, event);
	if (err == -ENOSYS)
		return refuse(
			log, text,
			"this build has no libpfm4, so only tracepoints "
			"(SYSTEM:NAME) can be named; install libpfm4-dev and configure again");
	if (err == -EINVAL)
		return refuse(log, text, "%s in what follows the event's name", why);
	if (!event_name_known(parts->name))
		return unknown_name(text, parts->name, log);
	return set_status(event, VALUE_UNSUPPORTED,
			  strdup("this machine's counters have no event of that name"));
}

int perf_event_parse(const char *text, struct log *log, struct perf_event *event)
{
	struct perf_event made = { .status = VALUE_OK };
	struct parts parts;
	int err;

	err = split(text, &parts, log);
	if (err)
		return err;
	made.by_task = parts.by_task;
	made.text = strdup(text);
	err = made.text ? resolve(text, &parts, log, &made) : -ENOMEM;
	release_parts(&parts);
	if (err) {
		perf_event_release(&made);
		return err;
	}
	made.attr.size = sizeof(made.attr);
	made.attr.disabled = 1;
	made.attr.inherit = made.by_task;
	made.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	*event = made;
	return 0;
}

void perf_event_release(struct perf_event *event)
{
	free(event->text);
	free(event->system);
	free(event->name);
	free(event->filter);
	free(event->reason);
	*event = (struct perf_event){ 0 };
}

int perf_event_check(const char *text, struct log *log)
{
	struct perf_event event;
	int err;

	err = perf_event_parse(text, log, &event);
	if (err)
		return err;
	if (event.status == VALUE_UNSUPPORTED && event.system)
		log_warn(log, "event \"%s\": %s", text, event.reason);
	perf_event_release(&event);
	return 0;
}
