/* SPDX-License-Identifier: GPL-2.0-only */
/* What the CPU itself says, where the kernel's files do not. */
#ifndef SHOOTDOWN_CPUID_H
#define SHOOTDOWN_CPUID_H

/*
 * Whether this CPU has INVLPGB, which flushes all CPUs' TLBs by one instruction (AMD
 * manual volume 3, function 8000_0008h, EBX bit 3; no flag of /proc/cpuinfo). 1, 0, or
 * -1 on a machine that is no x86.
 */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static inline int cpuid_invlpgb(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx) && ebx >> 3 & 1;
}
#else
static inline int cpuid_invlpgb(void)
{
	return -1;
}
#endif

#endif
