/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be measured on this machine and what not, and why: the model behind
 * `shootdown check` and its two renderers. Collecting reads, opens and closes; it
 * adds no device, loads no module, mounts nothing that others see.
 */
#ifndef SHOOTDOWN_CAPABILITIES_H
#define SHOOTDOWN_CAPABILITIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "../lib/log.h"

enum capability_status {
	CAPABILITY_OK,
	CAPABILITY_MISSING,	  /* this machine, kernel or build does not have it */
	CAPABILITY_NOT_PERMITTED, /* it does, but not for this user */
};

struct capability {
	const char *area; /* static: "perf", "memory", ... */
	char *name;
	enum capability_status status;
	char *detail; /* what was found, or why it is missing */
	char *advice; /* what to do about it; NULL: nothing */
};

struct capabilities {
	struct capability *rows;
	unsigned int count;
	bool out_of_memory; /* a row is missing */
};

/*
 * root as in lib/fs.h; with a recorded machine's folder, what only a running
 * kernel can answer is "missing" with that reason. 0 or -ENOMEM. The caller frees.
 */
int capabilities_collect(const char *root, struct log *log, struct capabilities **capabilities);
void capabilities_free(struct capabilities *capabilities);

/* A table for people. 0 or a negative errno. */
int capabilities_text(const struct capabilities *capabilities, FILE *stream);

/*
 * {"schema":"shootdown-check","version":1,"capabilities":[{area,name,status,detail,advice}]}.
 * NULL: no memory.
 */
json_t *capabilities_json(const struct capabilities *capabilities);

/* "ok", "missing", "not-permitted" */
const char *capability_status_name(enum capability_status status);

/*
 * For the files that collect: adds a row. advice is copied, NULL when nothing is to
 * be done. A lack of memory is kept and returned by capabilities_collect().
 */
__attribute__((format(printf, 6, 7))) void
capabilities_add(struct capabilities *capabilities, const char *area, const char *name,
		 enum capability_status status, const char *advice, const char *detail, ...);

/* "7.3" of the kernel as 7003; 0: not known. */
unsigned int capabilities_kernel_version(const char *root);

/*
 * Whether this kernel sends IPIs to flush, on a CPU with INVLPGB or without: Linux uses
 * it from 6.15 on (arch_tlbbatch_flush() in arch/x86/mm/tlb.c).
 */
void capabilities_broadcast(const char *root, bool invlpgb, struct capabilities *capabilities);

/* The collectors, one file each. */
/* perf, tracepoints, /proc/interrupts, /proc/vmstat */
void capabilities_counters(const char *root, struct capabilities *capabilities);
/* zram, swap, cgroup */
void capabilities_memory(const char *root, struct capabilities *capabilities);
/* nodes, memory tiers, CXL */
void capabilities_nodes(const char *root, struct capabilities *capabilities);
/* QEMU, compilers, libraries: the machine's own, whatever root is */
void capabilities_tools(struct capabilities *capabilities);

#endif
