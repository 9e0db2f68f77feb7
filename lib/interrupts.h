/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of /proc/interrupts as a table: CPUs by the numbers in its header
 * line (offline ones have no column, so numbers have gaps), rows by exact label.
 * Lines and tables of any size.
 *
 * Does not decide which row means what: x86 has the row "TLB" (x86
 * irq_stat_info[]), arm64 names its IPIs in the description (arm64 ipi_types[])
 * and has none for TLB flushes, which are instructions there.
 */
#ifndef SHOOTDOWN_INTERRUPTS_H
#define SHOOTDOWN_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>

struct interrupts_row {
	const char *label;	 /* "24", "TLB", "IPI0", "ERR" */
	const char *description; /* "TLB shootdowns"; "" when there is none */
	const uint64_t *counts;	 /* by column; ERR has one for the whole machine */
	unsigned int count;	 /* how many of them */
};

struct interrupts {
	unsigned int *cpus; /* CPU number of each column */
	unsigned int cpu_count;
	struct interrupts_row *rows;
	unsigned int row_count;
};

/*
 * Parses length bytes of text. -EBADMSG when it is no such table or its last line
 * is cut; -ENOMEM. The caller frees with interrupts_free(); text is not kept.
 */
int interrupts_parse(const char *text, size_t length, struct interrupts **table);
void interrupts_free(struct interrupts *table);

/* The row with exactly this label, or exactly this description; NULL: none. */
const struct interrupts_row *interrupts_find(const struct interrupts *table, const char *label);
const struct interrupts_row *interrupts_find_described(const struct interrupts *table,
						       const char *description);

/*
 * What was added to a count from before to after. The kernel's counters are 32
 * bits wide and wrap.
 */
uint64_t interrupts_added(uint64_t before, uint64_t after);

#endif
