// SPDX-License-Identifier: GPL-2.0-only
/* Builds the emulator's command line from a table of argument groups. */
#include "guest.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"

#define ARGUMENTS_MAX 96

struct arguments {
	char *list[ARGUMENTS_MAX + 1];
	unsigned int count;
	bool failed;
};

/* A group of arguments: added when wanted() says so (NULL: always). */
struct group {
	bool (*wanted)(const struct lab_guest *guest);
	void (*add)(const struct lab_guest *guest, struct arguments *arguments);
};

/* Takes over text. */
static void add(struct arguments *arguments, char *text)
{
	if (!text || arguments->count == ARGUMENTS_MAX) {
		free(text);
		arguments->failed = true;
		return;
	}
	arguments->list[arguments->count++] = text;
}

static void add_pair(struct arguments *arguments, const char *option, char *value)
{
	add(arguments, strdup(option));
	add(arguments, value);
}

/* A comma in a file name is doubled for QEMU's option parser. */
static char *quote_commas(const char *path)
{
	char *text = malloc(2 * strlen(path) + 1), *to = text;

	for (; text && *path; path++) {
		if (*path == ',')
			*to++ = ',';
		*to++ = *path;
	}
	if (text)
		*to = '\0';
	return text;
}

static bool uses_kvm(const struct lab_guest *guest)
{
	return !strcmp(guest->accel, "kvm");
}

static bool wants_remapping(const struct lab_guest *guest)
{
	return guest->arch->plain_cpus && guest->cpus > guest->arch->plain_cpus;
}

/* Nothing that was not asked for: no network, display, default devices or user configuration. */
static void add_machine(const struct lab_guest *guest, struct arguments *arguments)
{
	bool split = uses_kvm(guest) && wants_remapping(guest);

	add(arguments, strdup(guest->emulator));
	add_pair(arguments, "-M",
		 format_string("%s%s", guest->arch->machine_type,
			       split ? ",kernel-irqchip=split" : ""));
	add(arguments, strdup("-nodefaults"));
	add(arguments, strdup("-no-user-config"));
	add(arguments, strdup("-no-reboot"));
	add_pair(arguments, "-display", strdup("none"));
}

static void add_cpus(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-accel", strdup(uses_kvm(guest) ? "kvm" : "tcg,thread=single"));
	add_pair(arguments, "-cpu", strdup(guest->arch->cpu));
	add_pair(arguments, "-smp", format_string("%u", guest->cpus));
}

static void add_memory(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-m",
		 format_string("%lluM", (unsigned long long)guest->memory_bytes >> 20));
}

/* APIC numbers above 255 reach devices only through interrupt remapping. */
static void add_remapping(const struct lab_guest *guest, struct arguments *arguments)
{
	(void)guest;
	add_pair(arguments, "-device", strdup("intel-iommu,intremap=on,eim=on"));
}

static void add_console(const struct lab_guest *guest, struct arguments *arguments)
{
	char *path = quote_commas(guest->console_path);

	add_pair(arguments, "-chardev",
		 path ? format_string("file,id=console,path=%s", path) : NULL);
	add_pair(arguments, "-serial", strdup("chardev:console"));
	free(path);
}

static void add_channel(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-chardev", format_string("socket,id=channel,fd=%d", guest->channel));
	add_pair(arguments, "-device", strdup("virtio-serial-pci"));
	add_pair(arguments, "-device", strdup("virtserialport,chardev=channel,name=" GUEST_PORT));
}

/*
 * loglevel=5 brings warnings and worse to the console. All CPUs but the control
 * CPU (0) stop their tick while they run one task. An RCU stall is a hang of the
 * guest's own time, which emulation of many CPUs stretches.
 */
static char *kernel_arguments(const struct lab_guest *guest)
{
	const char *arm = guest->arm_arguments ? guest->arm_arguments : "";
	const char *more = guest->arguments ? guest->arguments : "";
	unsigned int stall_s = guest->cpus < 64 ? 60 : 300;
	char *quiet_cpus, *line;

	quiet_cpus = guest->cpus > 1 ? format_string(" nohz_full=1-%u rcu_nocbs=1-%u",
						     guest->cpus - 1, guest->cpus - 1)
				     : strdup("");
	line = quiet_cpus
		       ? format_string("console=%s loglevel=5 panic=-1 oops=panic mitigations=off "
				       "lpj=4000000 rcupdate.rcu_cpu_stall_timeout=%u %s%s%s%s%s%s",
				       guest->arch->console, stall_s, guest->arch->kernel_arguments,
				       quiet_cpus, *arm ? " " : "", arm, *more ? " " : "", more)
		       : NULL;
	free(quiet_cpus);
	return line;
}

static void add_kernel(const struct lab_guest *guest, struct arguments *arguments)
{
	add_pair(arguments, "-kernel", strdup(guest->image));
	add_pair(arguments, "-initrd", strdup(guest->initramfs));
	add_pair(arguments, "-append", kernel_arguments(guest));
}

static const struct group groups[] = {
	{ NULL, add_machine }, { NULL, add_cpus },
	{ NULL, add_memory },  { wants_remapping, add_remapping },
	{ NULL, add_console }, { NULL, add_channel },
	{ NULL, add_kernel },
};

void guest_command_free(char **command)
{
	for (char **argument = command; argument && *argument; argument++)
		free(*argument);
	free(command);
}

char **guest_command(const struct lab_guest *guest)
{
	struct arguments arguments = { .count = 0 };
	char **command = malloc(sizeof(arguments.list));

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!groups[i].wanted || groups[i].wanted(guest))
			groups[i].add(guest, &arguments);
	if (!command || arguments.failed) {
		for (unsigned int i = 0; i < arguments.count; i++)
			free(arguments.list[i]);
		free(command);
		return NULL;
	}
	memcpy(command, arguments.list, sizeof(arguments.list));
	return command;
}

char *guest_command_text(char *const *command)
{
	char *text = strdup("");

	for (; text && *command; command++) {
		bool plain = **command &&
			     strcspn(*command, " \t'\"\\$&;|<>()*?") == strlen(*command);
		char *longer = format_string("%s%s%s%s%s", text, *text ? " " : "", plain ? "" : "'",
					     *command, plain ? "" : "'");

		free(text);
		text = longer;
	}
	return text;
}

uint64_t guest_boot_timeout_ns(unsigned int cpus)
{
	return (120 + 2ULL * cpus) * 1000000000ULL;
}

uint64_t guest_base_memory_bytes(unsigned int cpus)
{
	return (384ULL + 4 * cpus) << 20;
}
