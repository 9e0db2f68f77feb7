/* SPDX-License-Identifier: GPL-2.0-only */
/* A log whose text a test can look at, and the end of a test program. */
#ifndef SHOOTDOWN_TEST_QUIET_H
#define SHOOTDOWN_TEST_QUIET_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/log.h"

static FILE *said_stream;

/* A fresh log in a temporary file; said() reads it back. */
static inline struct log *quiet_log(void)
{
	static struct log log;

	if (said_stream)
		fclose(said_stream);
	said_stream = tmpfile();
	log_open(&log, said_stream, LOG_LEVEL_INFO);
	return &log;
}

static inline const char *said(void)
{
	static char text[4096];
	size_t length;

	fflush(said_stream);
	rewind(said_stream);
	length = fread(text, 1, sizeof(text) - 1, said_stream);
	text[length] = '\0';
	return text;
}

#define ck_assert_said(words)                                                                      \
	ck_assert_msg(strstr(said(), words), "not said: %s; but: %s", words, said())

static inline int run_suite(const char *name, TCase *tests)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
