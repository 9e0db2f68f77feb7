// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoint formats through libtraceevent, mounts through libtracefs; see tracepoint_format.h. */
#include "tracepoint_format.h"

#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

/* The __print_symbolic() of the field among the arguments of the event's print format. */
static const struct tep_print_flag_sym *find_symbols(const struct tep_event *event,
						     const char *field)
{
	const struct tep_print_arg *argument, *of;

	for (argument = event->print_fmt.args; argument; argument = argument->next) {
		if (argument->type != TEP_PRINT_SYMBOL)
			continue;
		of = argument->symbol.field;
		if (of && of->type == TEP_PRINT_FIELD && !strcmp(of->field.name, field))
			return argument->symbol.symbols;
	}
	return NULL;
}

static int copy_symbols(const struct tep_print_flag_sym *first, struct tracepoint_symbol **symbols)
{
	const struct tep_print_flag_sym *symbol;
	struct tracepoint_symbol *list;
	size_t count = 0;

	for (symbol = first; symbol; symbol = symbol->next)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	count = 0;
	for (symbol = first; symbol; symbol = symbol->next, count++) {
		list[count].value = strtoll(symbol->value, NULL, 0);
		list[count].name = strdup(symbol->str);
		if (!list[count].name) {
			tracepoint_symbols_free(list);
			return -ENOMEM;
		}
	}
	*symbols = list;
	return 0;
}

int tracepoint_format_symbols(const char *text, size_t length, const char *system,
			      const char *field, struct tracepoint_symbol **symbols)
{
	const struct tep_print_flag_sym *first;
	struct tep_handle *handle;
	int err = -ENOENT;

	handle = tep_alloc();
	if (!handle)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	if (!tep_parse_event(handle, text, length, system) && tep_get_first_event(handle)) {
		first = find_symbols(tep_get_first_event(handle), field);
		if (first)
			err = copy_symbols(first, symbols);
	}
	tep_free(handle);
	return err;
}

int tracepoint_mounted_elsewhere(char **path)
{
	const char *found = NULL;

	if (tracefs_tracing_dir_is_mounted(false, &found) <= 0 || !found)
		return -ENOENT;
	*path = strdup(found);
	return *path ? 0 : -ENOMEM;
}
