/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest's command line, and the accelerator it runs on.
 *
 * Emulation is single-threaded (-accel tcg,thread=single): the emulator then goes
 * on to the next CPU at each PAUSE or YIELD, and the kernel waits for IPIs in such
 * a loop. One guest takes one host core; with kvm it takes one for each CPU.
 * "icount" is the same emulation with a clock that counts instructions: the emulated
 * PMU then counts them too, and runs repeat each other nearly exactly.
 */
#ifndef SHOOTDOWN_GUEST_H
#define SHOOTDOWN_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "../../lib/log.h"
#include "arch.h"
#include "memory.h"

#define GUEST_PORT	 "shootdown" /* the virtio port's name */
#define GUEST_PAGE_BYTES 4096

struct lab_guest {
	const struct lab_arch *arch;
	const char *emulator; /* path */
	const char *image, *initramfs;
	const char *instrument_arguments; /* kernel arguments, may be NULL */
	const char *arm_arguments;	  /* more, may be NULL */
	const char *arguments;		  /* and more, may be NULL */
	const char *console_path;
	const char *accel; /* "kvm", "tcg" or "icount" */
	unsigned int cpus;
	uint64_t memory_bytes;		 /* without CXL's */
	const struct lab_memory *memory; /* nodes and CXL memory, may be NULL */
	int channel;			 /* a connected stream socket that the emulator inherits */
};

struct lab_emulator {
	char *path;
	char *version;	   /* "10.0.2" */
	const char *accel; /* "kvm", "tcg" or "icount": what guests will run on */
};

/*
 * Finds the emulator (10 or newer) and chooses: wanted "auto" takes kvm when a tiny
 * guest really runs code and the host has a CPU for each of the guest's; why it
 * does not was said in one line. "kvm" that does not work is -ENODEV, said.
 */
int guest_emulator(const struct lab_arch *arch, const char *wanted, unsigned int cpus,
		   const char *cache, struct log *log, struct lab_emulator *emulator);
void guest_emulator_release(struct lab_emulator *emulator);

/* The arguments, a NULL-terminated array; guest_command_free() frees. NULL: no memory. */
char **guest_command(const struct lab_guest *guest);
void guest_command_free(char **command);
/* As one line for people, quoted for a shell; caller frees. */
char *guest_command_text(char *const *command);

/* How long a boot to the first message may take, generously: emulation slows with CPUs. */
uint64_t guest_boot_timeout_ns(unsigned int cpus);

/* Memory for CPUs, kernel and programs, besides what a plan needs. */
uint64_t guest_base_memory_bytes(unsigned int cpus);

#endif
