// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of failures. Patterns are what the kernel prints (kernel/panic.c,
 * lib/bug.c, kernel/locking/lockdep.c, kernel/rcu/tree_stall.h,
 * kernel/watchdog.c, kernel/hung_task.c, mm/oom_kill.c, arch fault handlers).
 */
#include "console.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
	const char *name;
	const char *text;
	bool anywhere; /* in the line; else at its start, after the time stamp */
	bool fatal;
	bool opens; /* the next row that fits names the report */
};

/* The first row that fits a line names it: the special before the general. */
static const struct pattern patterns[] = {
	{ "panic", "Kernel panic - not syncing", false, true },
	{ "kasan", "BUG: KASAN: ", false, false },
	{ "kcsan", "BUG: KCSAN: ", false, false },
	{ "kmsan", "BUG: KMSAN: ", false, false },
	{ "kfence", "BUG: KFENCE: ", false, false },
	{ "ubsan", "UBSAN: ", false, false },
	{ "soft-lockup", "BUG: soft lockup", true, true },
	{ "hard-lockup", "hard LOCKUP", true, true },
	{ "workqueue-lockup", "BUG: workqueue lockup", false, false },
	{ "rcu-stall", "detected stalls on CPUs", true, true },
	{ "rcu-stall", "detected expedited stalls", true, true },
	{ "rcu-stall", "self-detected stall", true, true },
	{ "rcu-stall", "kthread starved for", true, true },
	{ "hung-task", "blocked for more than", true, true },
	{ "hung-task", "blocked in I/O wait for more than", true, true },
	{ "oops", "BUG: unable to handle", false, true },
	{ "oops", "BUG: kernel NULL pointer dereference", false, true },
	{ "oops", "Unable to handle kernel", false, true },
	{ "oops", "Internal error: ", false, true },
	{ "oops", "Oops: ", false, true },
	{ "oops", "Oops[", false, true },
	{ "oops", "general protection fault, ", false, true },
	{ "oops", "PANIC: double fault", false, true },
	{ "bug", "kernel BUG at ", false, true },
	{ "lockdep", "WARNING: possible circular locking", false, false },
	{ "lockdep", "WARNING: possible recursive locking", false, false },
	{ "lockdep", "WARNING: possible irq lock inversion", false, false },
	{ "lockdep", "WARNING: inconsistent lock state", false, false },
	{ "lockdep", "WARNING: bad unlock balance", false, false },
	{ "lockdep", "WARNING: held lock freed", false, false },
	{ "lockdep", "WARNING: lock held when returning", false, false },
	{ "lockdep", "WARNING: Nested lock was not taken", false, false },
	{ "lockdep", "WARNING: suspicious RCU usage", false, false },
	{ "lockdep", "still has locks held!", true, false },
	{ "lockdep", "-safe -> ", true, false },
	{ "lockdep", "INFO: trying to register non-static key", false, false },
	{ "lockdep", "[ BUG: ", false, false },
	{ "bug", "BUG: ", false, false },
	{ "warning", "WARNING: ", false, false },
	{ "warning", "------------[ cut here ]", false, false, true },
	{ "kmemleak", "new suspected memory leaks", true, false },
	{ "machine-check", "mce: [Hardware Error]", false, false },
	{ "irq", ": nobody cared (try booting with", true, false },
	{ "out-of-memory", "Out of memory: Killed process", true, false },
	{ "out-of-memory", "out of memory: Killed process", true, false },
	{ "out-of-memory", "Out of memory and no killable", true, true },
	{ "out-of-memory", "oom-kill:constraint=", true, false },
};

/* Lines that fit a pattern and are no failure. */
static const char *const harmless[] = {
	/* the firmware's tables, not the kernel */
	"[Firmware Bug]",
	"[Firmware Warn]",
	/* reports of what a command line turned off */
	"WARNING: Spectre",
};

/* Behind "<4>", "[   12.345678]" and a caller such as "[   T12]" or "[    C3]". */
static size_t skip_stamp(const char *line, size_t length)
{
	size_t at = 0;

	if (length > 3 && line[0] == '<' && isdigit((unsigned char)line[1]) && line[2] == '>')
		at = 3;
	for (int i = 0; i < 2 && at < length && line[at] == '['; i++) {
		const char *end = memchr(line + at, ']', length - at);
		size_t skip = 1;

		while (at + skip < length && line[at + skip] == ' ')
			skip++;
		/* a stamp is a number or a caller; "[ BUG: " is neither */
		if (!end || (!isdigit((unsigned char)line[at + skip]) &&
			     !((line[at + skip] == 'T' || line[at + skip] == 'C') &&
			       isdigit((unsigned char)line[at + skip + 1]))))
			break;
		at = end - line + 1;
		while (at < length && line[at] == ' ')
			at++;
	}
	/* who complains: the prefix varies with the kernel */
	if (length - at > 10 && !strncmp(line + at, "watchdog: ", 10))
		at += 10;
	return at;
}

static bool is_harmless(const char *line, size_t length)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (memmem(line, length, harmless[i], strlen(harmless[i])))
			return true;
	return false;
}

static const struct pattern *match(const char *line, size_t length)
{
	size_t start = skip_stamp(line, length);

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct pattern *pattern = &patterns[i];
		size_t wanted = strlen(pattern->text);

		if (pattern->anywhere ? !memmem(line + start, length - start, pattern->text, wanted)
				      : length - start < wanted ||
						memcmp(line + start, pattern->text, wanted))
			continue;
		return is_harmless(line, length) ? NULL : pattern;
	}
	return NULL;
}

static size_t line_length(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', end - line);

	return newline ? newline - line : end - line;
}

static char *make_excerpt(const char *start, const char *end)
{
	const char *stop = start;
	char *text, *to;

	for (int i = 0; i < CONSOLE_EXCERPT_LINES && stop < end; i++) {
		stop += line_length(stop, end);
		stop += stop < end;
	}
	text = to = malloc(stop - start + 1);
	if (!text)
		return NULL;
	for (const char *at = start; at < stop; at++)
		if (*at == '\n' || *at == '\t' || (unsigned char)*at >= ' ')
			*to++ = (unsigned char)*at < 0x7f ? *at : '?';
	while (to > text && to[-1] == '\n')
		to--;
	*to = '\0';
	return text;
}

int console_scan(const char *text, size_t length, struct console_finding *finding)
{
	const char *end = text + length, *first = NULL;
	struct console_finding found = { 0 };
	bool opened = false;

	for (const char *line = text; line < end;) {
		size_t size = line_length(line, end);
		const struct pattern *pattern = match(line, size);

		if (pattern && (!first || opened)) {
			first = first ? first : line;
			opened = !found.name && pattern->opens;
			found.name = pattern->name;
		}
		found.fatal |= pattern && pattern->fatal;
		line += size + 1;
	}
	if (!first)
		return 0;
	found.excerpt = make_excerpt(first, end);
	if (!found.excerpt)
		return -ENOMEM;
	*finding = found;
	return 1;
}
