/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One boot of a guest: start it, give it its job, take its records, watch its
 * console and the clock, and say what became of it.
 *
 * The channel is a virtio serial port. Lines go over it, each one JSON:
 *   to the guest    the job:
 *     {"kind":"plan","plan":{..}}
 *     {"kind":"command","argv":[..]}
 *   each with "machine":{"arm","boot","guest"}, for the records made in the guest (machine.json),
 *   and with "cxl":{"size_bytes":N,"ways":N} when a region is to be made before it
 *   from the guest
 *     {"record":"hello","data":{"release","version","machine","cpus","uptime_s"}}
 *     {"record":"machine"|"plan"|"sample","data":{..}}               (results/record.h)
 *     {"record":"unready","data":{"detail":T}}                       (then there is no job)
 *     {"record":"output","data":{"stream":"out"|"err","text":T}}     (of a command)
 *     {"record":"exit","data":{"code":N,"log":KERNEL LOG}}
 *
 * The folder holds, beside a run's files: console.log (the serial console, whole),
 * dmesg.log (the kernel's log at the end), emulator.log (what QEMU said, if
 * anything) and boot.json:
 *   {"schema":"shootdown-boot","version":1,"arm":NAME,"boot":K,"outcome":O,
 *    "failure":null|NAME,"detail":null|TEXT,"exit_code":N|null,"kernel":{"key","release","version"},
 *    "instruments":null|NAMES,"emulator":V,"accel":A,"memory":null|TEXT,"command":[..],"hello_s":T|null,"total_s":T}
 */
#ifndef SHOOTDOWN_BOOT_H
#define SHOOTDOWN_BOOT_H

#include <jansson.h>
#include <stdio.h>

#include "../../lib/log.h"
#include "../../lib/status.h"
#include "build.h"
#include "guest.h"

struct boot_request {
	struct lab_guest guest; /* without console_path and channel */
	const struct lab_kernel *kernel;
	const char *emulator_version;
	const char *instruments; /* names; NULL: none */
	const char *options_key; /* of the kernel's options; NULL: an image, whose are not known */
	const char *folder;	 /* made; must not exist or be empty */
	const char *arm;
	unsigned int number;	   /* from 1 */
	json_t *job;		   /* borrowed */
	bool records;		   /* the folder becomes a run folder */
	uint64_t boot_timeout_ns;  /* to the hello */
	uint64_t step_timeout_ns;  /* between records after that; 0: none */
	uint64_t total_timeout_ns; /* after the hello; 0: none */
	FILE *out;		   /* where a command's output goes; NULL: nowhere */
	FILE *err;
};

struct boot_result {
	enum outcome outcome;
	int exit_code;		 /* the guest's; -1: it gave none */
	const char *failure;	 /* static name; NULL: none */
	char *detail;		 /* for people; NULL: none */
	double hello_s, total_s; /* host time; hello_s < 0: there was none */
};

struct boot;

/* Negative errno, said: the guest could not be started. request must outlive the boot. */
int boot_start(const struct boot_request *request, struct log *log, struct boot **boot);

/* Does what is due; false when the guest is gone. Call it when the channel is readable and every
 * 100 ms. */
bool boot_step(struct boot *boot);
int boot_channel(const struct boot *boot);
/* Repetitions whose outcome has come so far. */
unsigned int boot_outcomes(const struct boot *boot);

/* Ends what still runs, writes boot.json, frees. -ENOSPC and the like, said, when it could not be
 * written. */
int boot_finish(struct boot *boot, struct boot_result *result);
void boot_result_release(struct boot_result *result);

#endif
