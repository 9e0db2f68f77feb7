/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the architectures a lab can build and boot: one row each. */
#ifndef SHOOTDOWN_ARCH_H
#define SHOOTDOWN_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_arch {
	const char *name;	      /* "x86_64", as uname says; "arm64" stands for aarch64 */
	const char *machine;	      /* uname's machine */
	const char *folder;	      /* below patches/, and patches/config/<folder>.config */
	const char *kernel_arch;      /* ARCH= */
	const char *cross;	      /* CROSS_COMPILE= on other machines */
	const char *target;	      /* make's target */
	const char *image;	      /* where it is in the build tree */
	unsigned int typical_objects; /* compiled by a first build, for the progress line */
	uint16_t elf_machine;
	const char *const *library_folders; /* NULL at the end; the first is the loader's own */

	const char *emulator;
	const char *package; /* Debian's, for messages */
	const char *machine_type;
	const char *cpu;
	const char *console;
	const char *kernel_arguments; /* on top of the common ones */
	/* A firmware of a few bytes that proves that code runs: at probe_offset of a
	 * 64 KiB image; the emulator then ends with probe_status. */
	const uint8_t *probe;
	size_t probe_length, probe_offset;
	const char *const *probe_arguments;
	int probe_status;
	bool has_acpi;		 /* guests get ACPI tables: speeds of memory (HMAT), CXL */
	unsigned int plain_cpus; /* more CPUs than this need interrupt remapping; 0: never */
};

/* NULL name: this machine's. NULL: the lab does not know it. */
const struct lab_arch *lab_arch_find(const char *name);
/* By folder name below patches/ ("x86"); NULL when it is none. */
const struct lab_arch *lab_arch_by_folder(const char *folder);
/* In the order of the table; NULL after the last. */
const struct lab_arch *lab_arch_at(unsigned int index);

#endif
