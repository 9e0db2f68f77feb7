// SPDX-License-Identifier: GPL-2.0-only
/* The architectures' table. */
#include "arch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lab.h"

const char *const lab_arch_choices[] = { "x86_64", "arm64", NULL };
const char *const lab_accel_choices[] = { "auto", "kvm", "tcg", "icount", NULL };

static const char *const x86_libraries[] = { "/lib/x86_64-linux-gnu",
					     "/usr/lib/x86_64-linux-gnu",
					     "/usr/x86_64-linux-gnu/lib",
					     "/lib64",
					     "/usr/lib64",
					     "/lib",
					     "/usr/lib",
					     "/usr/local/lib",
					     NULL };
static const char *const arm64_libraries[] = { "/lib/aarch64-linux-gnu",
					       "/usr/lib/aarch64-linux-gnu",
					       "/usr/aarch64-linux-gnu/lib",
					       "/lib64",
					       "/usr/lib64",
					       "/lib",
					       "/usr/lib",
					       "/usr/local/lib",
					       NULL };

/* At the reset vector: mov $0xf4,%dx; mov $0x10,%al; out %al,(%dx); 1: jmp 1b */
static const uint8_t x86_probe[] = { 0xba, 0xf4, 0x00, 0xb0, 0x10, 0xee, 0xeb, 0xfe };
static const char *const x86_probe_arguments[] = { "-device",
						   "isa-debug-exit,iobase=0xf4,iosize=0x4", NULL };
/* mov w0,#0x84000008 (PSCI SYSTEM_OFF); hvc #0; 1: b 1b */
static const uint8_t arm64_probe[] = { 0x00, 0x01, 0x80, 0x52, 0x00, 0x80, 0xb0, 0x72,
				       0x02, 0x00, 0x00, 0xd4, 0x00, 0x00, 0x00, 0x14 };
static const char *const arm64_probe_arguments[] = { NULL };

static const struct lab_arch arches[] = {
	{
		.name = "x86_64",
		.machine = "x86_64",
		.folder = "x86",
		.kernel_arch = "x86",
		.cross = "x86_64-linux-gnu-",
		.target = "bzImage",
		.image = "arch/x86/boot/bzImage",
		.typical_objects = 1200,
		.elf_machine = EM_X86_64,
		.library_folders = x86_libraries,
		.emulator = "qemu-system-x86_64",
		.package = "qemu-system-x86",
		.machine_type = "q35",
		/* without invtsc the tick of nohz_full CPUs never stops */
		.cpu = "max,+invtsc",
		.console = "ttyS0",
		/* on a busy host the test of the timer comes too late, and the kernel panics */
		.kernel_arguments = "tsc=reliable no_timer_check",
		.probe = x86_probe,
		.probe_length = sizeof(x86_probe),
		.probe_offset = 0xfff0,
		.probe_arguments = x86_probe_arguments,
		.probe_status = 0x10 << 1 | 1,
		.has_acpi = true,
		.plain_cpus = 255,
	},
	{
		.name = "arm64",
		.machine = "aarch64",
		.folder = "arm64",
		.kernel_arch = "arm64",
		.cross = "aarch64-linux-gnu-",
		.target = "Image",
		.image = "arch/arm64/boot/Image",
		.typical_objects = 830,
		.elf_machine = EM_AARCH64,
		.library_folders = arm64_libraries,
		.emulator = "qemu-system-aarch64",
		.package = "qemu-system-arm",
		.machine_type = "virt,gic-version=3",
		.cpu = "max",
		.console = "ttyAMA0",
		.kernel_arguments = "",
		.probe = arm64_probe,
		.probe_length = sizeof(arm64_probe),
		.probe_offset = 0,
		.probe_arguments = arm64_probe_arguments,
		.probe_status = 0,
	},
};

#define ARCH_COUNT (sizeof(arches) / sizeof(arches[0]))

const struct lab_arch *lab_arch_find(const char *name)
{
	struct utsname names;

	if (!name) {
		if (uname(&names))
			return NULL;
		name = names.machine;
	}
	for (size_t i = 0; i < ARCH_COUNT; i++)
		if (!strcmp(arches[i].name, name) || !strcmp(arches[i].machine, name))
			return &arches[i];
	return NULL;
}

const struct lab_arch *lab_arch_by_folder(const char *folder)
{
	for (size_t i = 0; i < ARCH_COUNT; i++)
		if (!strcmp(arches[i].folder, folder))
			return &arches[i];
	return NULL;
}

const struct lab_arch *lab_arch_at(unsigned int index)
{
	return index < ARCH_COUNT ? &arches[index] : NULL;
}
