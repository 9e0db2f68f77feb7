/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of /proc/vmstat (and files of its form, "key value" lines) by exact key. */
#ifndef SHOOTDOWN_VMSTAT_H
#define SHOOTDOWN_VMSTAT_H

#include <stdint.h>

/* -ENOENT when no line has exactly this key, -EBADMSG when its value is no number. */
int vmstat_find(const char *text, const char *key, uint64_t *value);

#endif
