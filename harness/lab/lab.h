/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lab: kernels built from a source and patches, booted in guests, and the
 * same plan run on each.
 *
 *   arch.c     what differs between architectures
 *   cache.c    the cache's folders, content keys, locks
 *   source.c   tarball, tree or git tree; debian.c: Debian's linux-source packages
 *   instrument.c  series that make every arm's kernel count what it does
 *   series.c   patches/<arch>/<series>/{cover,base,arms,*.patch}; arms given by hand
 *   tree.c     a source unpacked, patched and restored file by file
 *   build.c    tree + configuration + patches -> image, content-addressed; kconfig.c
 *   program.c  the binary for a guest's architecture
 *   image.c    initramfs from a binary and its shared libraries; elf.c
 *   memory.c   a guest's nodes and CXL memory: --numa, --cxl
 *   guest.c    the emulator's command line; emulator.c: which one, does kvm work
 *   boot.c     one boot: start, feed the job, collect records, watch the clock
 *   console.c  what in a console log is a failure, and its name
 *   agent.c    the other side: process 1 of a guest
 *   prepare.c  what a request needs before the first boot: arms and their kernels
 *   ab.c       arms x boots in a seeded, balanced order, two at once when there are cores
 *   commands.c "shootdown lab fetch|build|boot|ab"
 */
#ifndef SHOOTDOWN_LAB_H
#define SHOOTDOWN_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "../../lib/command.h"
#include "../../lib/log.h"
#include "../plan.h"
#include "../run.h"
#include "memory.h"

/* Commands of "shootdown lab" (lib/command.h); NULL name at the end. */
extern const struct command lab_commands[];

/*
 * What "lab ab" and "reproduce" ask for: every arm's kernel is built (or found in
 * the cache), booted boots times, and runs the plan in each boot.
 */
struct lab_ab_request {
	const char *series; /* bundled series by name, a series folder, or "-" for none */
	const char *const
		*arms; /* NAME=PATCHFILES | NAME=git:REF | NAME=image:PATH; NULL at the end */
	const char
		*source; /* debian:X.Y, a tarball, a tree; NULL: the newest in the series' range */
	const char *const *configs;	/* further option fragments, NULL at the end */
	const char *const *instruments; /* as instrument.h has them, NULL at the end */
	const char *arch;  /* "x86_64", "arm64"; NULL: the series' own, else this machine's */
	const char *cache; /* NULL: $XDG_CACHE_HOME/shootdown */
	const char *accel; /* "auto", "kvm", "tcg", "icount" */
	const char *kernel_arguments; /* added to the guest's command line; NULL: none */
	const char *program;	      /* the guests' shootdown; NULL: what program.h finds */
	const char *out;	      /* folder for the results; NULL: ./shootdown-ab-<time> */
	const struct plan *plan;
	unsigned int cpus, boots, jobs;
	uint64_t memory_bytes;	  /* 0: worked out from the plan */
	const char *numa, *cxl;	  /* as memory.h has them; NULL: none */
	uint64_t boot_timeout_ns; /* 0: worked out from the number of CPUs */
	uint64_t seed;
	bool twice; /* an A/A: the first arm as two, to see the noise */
};

/* OUT/<arm>/boot-<k>/ are run folders (results/record.h) with console.log beside; OUT/lab.json
 * tells how. */
struct lab_ab_result {
	char *out;
	char **arm_folders;	   /* OUT/<arm>, baseline first, NULL at the end */
	unsigned int failed_boots; /* a failure is named in the boot's boot.json and was logged */
	int exit_code;
};

/* 0, or a negative errno that was said. The result is the caller's to release. */
int lab_ab(const struct lab_ab_request *request, struct log *log, struct lab_ab_result *result);
void lab_ab_release(struct lab_ab_result *result);

/* The rows that lab_ab_request_from() reads, besides "seed" of PLAN_OPTIONS. */
extern const char *const lab_arch_choices[], *const lab_accel_choices[];
/* clang-format off */
#define LAB_PROGRAM_OPTION                                                                        \
	{ .name = "program",                                                                      \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "FILE",                                                                      \
	  .help = "the shootdown that runs in the guest (default: this one; for guests of "       \
		  "another architecture ARCH/shootdown beside it)" }
#define LAB_INSTRUMENT_OPTION                                                                     \
	{ .name = "instrument",                                                                   \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "SERIES",                                                                    \
	  .help = "a series that makes every arm's kernel count what it does, applied before "    \
		  "the arm's own patches; none leaves them out (default: the architecture's, "    \
		  "for kernels that they are made for)",                                          \
	  .many = true }
#define LAB_CPUS_MAX 512 /* of a guest */
#define LAB_GUEST_OPTIONS                                                                         \
	{ .name = "arm",                                                                          \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "NAME=WHAT",                                                                 \
	  .help = "a further arm: patch files with commas between (-R FILE undoes one), git:REF " \
		  "of --source, image:PATH, or nothing for the plain source",                     \
	  .many = true },                                                                         \
	{ .name = "source",                                                                       \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "SOURCE",                                                                    \
	  .help = "kernel source: debian:X.Y, a tarball, a tree or a git tree (default: the "     \
		  "newest Debian package in the series' range)" },                                \
	{ .name = "config",                                                                       \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "FILE",                                                                      \
	  .help = "kernel options added to the lab's own, for every arm",                         \
	  .many = true },                                                                         \
	LAB_INSTRUMENT_OPTION,                                                                    \
	{ .name = "arch",                                                                         \
	  .type = OPTION_CHOICE,                                                                  \
	  .choices = lab_arch_choices,                                                            \
	  .metavar = "ARCH",                                                                      \
	  .help = "architecture of the guests (default: the series' own)" },                      \
	{ .name = "boots",                                                                        \
	  .type = OPTION_UINT,                                                                    \
	  .fallback = "3",                                                                        \
	  .min = 1,                                                                               \
	  .max = 1000,                                                                            \
	  .metavar = "N",                                                                         \
	  .help = "boots of each arm" },                                                          \
	{ .name = "memory",                                                                       \
	  .type = OPTION_SIZE,                                                                    \
	  .min = 128ULL << 20,                                                                    \
	  .max = 1ULL << 42,                                                                      \
	  .metavar = "SIZE",                                                                      \
	  .help = "memory of each guest (default: what the plan needs)" },                        \
	LAB_MEMORY_OPTIONS,                                                                       \
	LAB_PROGRAM_OPTION,                                                                       \
	{ .name = "accel",                                                                        \
	  .type = OPTION_CHOICE,                                                                  \
	  .fallback = "auto",                                                                     \
	  .choices = lab_accel_choices,                                                           \
	  .metavar = "ACCEL",                                                                     \
	  .help = "how guests run: kvm needs a host CPU for each of the guest's; icount is "      \
		  "emulation whose clock counts instructions, exact and several times slower" },  \
	{ .name = "append",                                                                       \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "ARGUMENTS",                                                                 \
	  .help = "kernel arguments added to every guest's" },                                    \
	{ .name = "boot-timeout",                                                                 \
	  .type = OPTION_DURATION,                                                                \
	  .metavar = "TIME",                                                                      \
	  .help = "how long a boot may take (default: grows with the number of CPUs)" },          \
	{ .name = "jobs",                                                                         \
	  .type = OPTION_UINT,                                                                    \
	  .min = 1,                                                                               \
	  .max = 4096,                                                                            \
	  .metavar = "N",                                                                         \
	  .help = "compilers that run at once (default: one for each CPU)" },                     \
	{ .name = "cache",                                                                        \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "DIR",                                                                       \
	  .help = "where sources and kernels are kept (default: shootdown under "                 \
		  "XDG_CACHE_HOME)" },                                                            \
	{ .name = "out",                                                                          \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "DIR",                                                                       \
	  .help = "folder for the results (default: a new one, named by the time)" }
/* clang-format on */

/* Fills all but series and plan from such rows; strings are borrowed from values. */
void lab_ab_request_from(const struct option_values *values, struct lab_ab_request *request);
/*
 * The way back, for lab.json: what was given, by the names of lab ab's options and in
 * its words, so that a report can tell the command; not what other facts of lab.json tell. A
 * new reference; NULL: no memory.
 */
json_t *lab_ab_given(const struct lab_ab_request *request);

/* Prints the plan, the order of the boots and the guests' command lines; makes nothing. As
 * lab_ab(). */
int lab_ab_describe(const struct lab_ab_request *request, FILE *out, struct log *log);

/* Process 1 of a guest: mounts what is needed, takes its job from the channel, does it, powers off.
 */
int lab_agent(void);

#endif
