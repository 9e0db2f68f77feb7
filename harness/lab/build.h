/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernels: built once for each content key and found in the cache after that.
 *
 * The key is the SHA-256 of the source's identity, the architecture, the text of
 * the option fragments, the text and order of the patches, and the compiler's
 * version. Its first digits are the "#..." of the kernel's own version string, so
 * that a guest's uname proves which kernel it runs; build user, host and time
 * are fixed.
 *
 * Cost: the first arm of a tree compiles everything (about 1,200 objects). A
 * further arm compiles what its patches touch: seconds for .c files, nearly
 * everything for a header such as asm/tlbflush.h. Arms are built in their order,
 * the baseline first.
 */
#ifndef SHOOTDOWN_BUILD_H
#define SHOOTDOWN_BUILD_H

#include <stdbool.h>

#include "../../lib/log.h"
#include "series.h"
#include "source.h"

#define KERNEL_ID_LENGTH 12

struct lab_kernel {
	char *key;     /* content key; for an image that was given: SHA-256 of its bytes */
	char *image;   /* its path */
	char *release; /* what uname must say: "7.3.4-lab" */
	char *version; /* and the start of the version: "#0123456789ab SMP ..." */
	bool built;    /* by this call */
};

struct build_request {
	const struct lab_source *source;
	const struct lab_arch *arch;
	const struct lab_arm *arm;
	const char *const *configs; /* fragments added to the architecture's own; NULL at the end */
	const char *cache;
	unsigned int jobs; /* 0: one for each CPU */
};

/* Negative errno, said: what failed, the last lines and the log's path. */
int build_kernel(const struct build_request *request, struct log *log, struct lab_kernel *kernel);

/* 1: the kernel is in the cache, 0: it is not. Negative errno, said. */
int build_cached(const struct build_request *request, struct log *log);

/* Do the arm's patches apply? Asked for all arms before the first is built; a kernel that is in
 * the cache is not asked. version (may be NULL) is set when the source was: to its own. Negative
 * errno, said; -EINVAL: they do not. */
int build_check(const struct build_request *request, struct log *log,
		struct kernel_version *version);

/* A kernel that is there already. -EINVAL, said, when the file is no kernel of the architecture. */
int kernel_from_image(const char *path, const struct lab_arch *arch, struct log *log,
		      struct lab_kernel *kernel);
/* Fills release and version from the image's bytes. */
int kernel_identify(struct lab_kernel *kernel);
void kernel_release(struct lab_kernel *kernel);

/* kconfig.c: the options that the fragment asks for and config lacks, at most limit of them, as
 * "CONFIG_X is n, not y" separated by ", "; NULL: none. Caller frees. */
char *config_mismatch(const char *fragment, const char *config, unsigned int limit);

/* kconfig.c: release and version out of an image's bytes (x86 set-up header, else the banner). */
int image_identify(const unsigned char *bytes, size_t length, char **release, char **version);

#endif
