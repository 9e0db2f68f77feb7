/* SPDX-License-Identifier: GPL-2.0-only */
/* A wait that does not sleep. */
#ifndef SHOOTDOWN_SPIN_H
#define SHOOTDOWN_SPIN_H

/* One turn of a polite spin: PAUSE on x86, YIELD on arm64. */
static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
