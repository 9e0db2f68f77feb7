// SPDX-License-Identifier: GPL-2.0-only
/* Finds the program for a guest. */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "image.h"

static int check_machine(const char *path, const struct lab_arch *arch, struct log *log)
{
	struct elf_needs needs;
	int rc = elf_needs_read(path, &needs);

	if (!rc) {
		rc = needs.machine == arch->elf_machine ? 0 : -ENOEXEC;
		elf_needs_release(&needs);
	}
	if (rc == -ENOEXEC)
		log_error(log, "%s is no program for %s: give a shootdown that was built for it",
			  path, arch->name);
	else if (rc)
		log_error(log, "cannot read the program %s: %s", path, strerror(-rc));
	return rc == -ENOEXEC ? -EINVAL : rc;
}

/* Built earlier than this program: it may lack what the plan asks for. */
static void compare_ages(const char *path, const char *self, const struct lab_arch *arch,
			 struct log *log)
{
	struct stat theirs, ours;

	if (!stat(path, &theirs) && !stat(self, &ours) &&
	    theirs.st_mtim.tv_sec < ours.st_mtim.tv_sec)
		log_warn(log,
			 "the program for %s guests, %s, is older than this one: ci/build brings "
			 "both up to date",
			 arch->name, path);
}

static int find_beside(const char *self, const struct lab_arch *arch, struct log *log, char **path)
{
	const char *slash = strrchr(self, '/');
	char *found = format_string("%.*s/%s/shootdown", slash ? (int)(slash - self) : 0, self,
				    arch->name);
	int rc = found ? 0 : -ENOMEM;

	if (!rc && access(found, R_OK)) {
		log_error(log,
			  "%s guests need a shootdown built for them, and there is none in %s: "
			  "ci/build makes it once %sgcc and the libraries are there (ci/setup "
			  "installs them), or give one with --program",
			  arch->name, found, arch->cross);
		rc = -ENOENT;
	}
	if (!rc)
		rc = check_machine(found, arch, log);
	if (rc) {
		free(found);
		return rc;
	}
	compare_ages(found, self, arch, log);
	*path = found;
	return 0;
}

int guest_program_beside(const char *self, const struct lab_arch *own, const char *given,
			 const struct lab_arch *arch, struct log *log, char **path)
{
	int rc = given ? check_machine(given, arch, log) : 0;

	if (!given && arch != own)
		return find_beside(self, arch, log, path);
	if (!rc && !(*path = strdup(given ? given : self)))
		rc = -ENOMEM;
	return rc;
}

int guest_program(const char *given, const struct lab_arch *arch, struct log *log, char **path)
{
	char *self = realpath("/proc/self/exe", NULL);
	int rc = self ? guest_program_beside(self, lab_arch_find(NULL), given, arch, log, path)
		      : -errno;

	free(self);
	return rc;
}
