/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the row TLB of /proc/interrupts counts the flushes of other CPUs' TLBs here. A
 * kernel that asks its hypervisor to flush in its place sends no interrupt: under PVM the
 * row exists and stays 0, which must not be taken for a count. Nothing that can be read
 * tells that for sure (in a guest that has just booted, and on a kernel that spares the
 * interrupts, a row of zeros is right), so flushes are provoked.
 */
#ifndef SHOOTDOWN_TLB_ROW_H
#define SHOOTDOWN_TLB_ROW_H

#include <stdbool.h>

#define TLB_ROW_DEAD                                                                               \
	"other CPUs' TLBs are flushed without interrupts here, by a hypervisor: the row TLB of "   \
	"/proc/interrupts stays 0"

/*
 * True: it is 0 on all CPUs, and still is after provoke(cpus), which is called only then
 * and returns 0 or a negative errno. False: it counts, there is none, or nothing can be
 * said: one CPU, or no provoke (NULL, for a recorded machine). root as in lib/fs.h.
 */
bool tlb_row_is_dead(const char *root, const unsigned int cpus[2],
		     int (*provoke)(const unsigned int cpus[2]));

/*
 * Discards pages on one CPU while another thread of the same mm runs on the other one, in a
 * process of its own. Takes milliseconds, 5 s at most (-ETIMEDOUT).
 */
int tlb_row_provoke(const unsigned int cpus[2]);

#endif
