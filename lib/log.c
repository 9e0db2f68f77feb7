// SPDX-License-Identifier: GPL-2.0-only
/* Messages and progress for people, on one stream. */
#include "log.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define TERMINAL_INTERVAL_NS 200000000ULL
#define PLAIN_INTERVAL_NS    10000000000ULL

void log_open(struct log *log, FILE *stream, enum log_level level)
{
	*log = (struct log){
		.stream = stream,
		.level = level,
		.terminal = isatty(fileno(stream)),
	};
}

static void clear_line(struct log *log)
{
	if (!log->line_open)
		return;
	fputs("\r\033[K", log->stream);
	log->line_open = false;
}

void log_print(struct log *log, enum log_level level, const char *format, ...)
{
	static const char *const prefix[] = { "error: ", "warning: ", "", "" };
	va_list arguments;

	if (level > log->level)
		return;
	clear_line(log);
	fprintf(log->stream, "shootdown: %s", prefix[level]);
	va_start(arguments, format);
	vfprintf(log->stream, format, arguments);
	va_end(arguments);
	fputc('\n', log->stream);
	fflush(log->stream);
}

/* What is left when the rest goes as fast as what is done; nothing before 3 s. */
static void print_estimate(struct log *log, uint64_t elapsed_ns, uint64_t done, uint64_t total)
{
	double left_s;

	if (!done || done >= total || elapsed_ns < 3000000000ULL)
		return;
	left_s = elapsed_ns / 1e9 / done * (total - done);
	fprintf(log->stream, ", about %.0f:%02.0f left", (double)((long)left_s / 60),
		(double)((long)left_s % 60));
}

void log_progress(struct log *log, const char *phase, uint64_t done, uint64_t total)
{
	uint64_t now = monotonic_ns();
	bool fresh = strncmp(log->phase, phase, sizeof(log->phase) - 1) != 0;
	uint64_t interval = log->terminal ? TERMINAL_INTERVAL_NS : PLAIN_INTERVAL_NS;

	if (log->level < LOG_LEVEL_INFO)
		return;
	if (fresh) {
		snprintf(log->phase, sizeof(log->phase), "%s", phase);
		log->phase_started_ns = now;
		log->detail[0] = '\0';
	} else if (now - log->shown_ns < interval) {
		return;
	}
	log->shown_ns = now;
	clear_line(log);
	fprintf(log->stream, "shootdown: %s", phase);
	if (total)
		fprintf(log->stream, ": %llu of %llu", (unsigned long long)done,
			(unsigned long long)total);
	fprintf(log->stream, ", %.0f s", (now - log->phase_started_ns) / 1e9);
	if (total)
		print_estimate(log, now - log->phase_started_ns, done, total);
	if (log->detail[0])
		fprintf(log->stream, ", %s", log->detail);
	if (log->terminal)
		log->line_open = true;
	else
		fputc('\n', log->stream);
	fflush(log->stream);
}

void log_progress_detail(struct log *log, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(log->detail, sizeof(log->detail), format, arguments);
	va_end(arguments);
}

void log_progress_end(struct log *log)
{
	clear_line(log);
	log->phase[0] = '\0';
	log->detail[0] = '\0';
	fflush(log->stream);
}
