/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the running kernel: is there one, its number for perf, the
 * names of a field's values. Reads tracefs where it is mounted, or through a
 * mount of its own that no other process sees and that ends with its descriptor.
 *
 * Never enables a tracepoint in tracefs and never reads the trace buffer:
 * counting is done with perf (perf.h).
 */
#ifndef SHOOTDOWN_TRACEPOINT_H
#define SHOOTDOWN_TRACEPOINT_H

#include <stdbool.h>

/* Where the tracefs files are, and how they were reached. */
struct tracepoint_folder {
	char *path; /* under it: events/<system>/<name>/id */
	int mount;  /* descriptor of a mount of our own, or -1 */
};

/*
 * -ENODEV when this kernel has no tracefs, -EACCES when it has one that this user
 * cannot reach. root as in lib/fs.h; a mount of our own is made only with "".
 */
int tracepoint_open(const char *root, struct tracepoint_folder *folder);
void tracepoint_close(struct tracepoint_folder *folder);

/*
 * The number for perf_event_attr.config. -ENOENT: this kernel has no such
 * tracepoint; -EACCES: its files cannot be read by this user.
 */
int tracepoint_id(const struct tracepoint_folder *folder, const char *system, const char *name,
		  unsigned long long *id);

/* The names in events/ or, with system, in events/<system>/; sorted, NULL at the end. */
int tracepoint_names(const struct tracepoint_folder *folder, const char *system, char ***names);
void tracepoint_names_free(char **names);

/* One value of a field that the format file prints by name (__print_symbolic). */
struct tracepoint_symbol {
	long long value;
	const char *name; /* NULL ends a list */
};

/*
 * The names of a field's values, from the tracepoint's format file.
 * -ENOSYS when built without libtracefs and libtraceevent, -ENOENT when the
 * format names none. The caller frees with tracepoint_symbols_free().
 */
int tracepoint_symbols(const struct tracepoint_folder *folder, const char *system, const char *name,
		       const char *field, struct tracepoint_symbol **symbols);
void tracepoint_symbols_free(struct tracepoint_symbol *symbols);

#endif
