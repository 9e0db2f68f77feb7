/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's initramfs: the shootdown binary as /init and /bin/shootdown,
 * further programs in /bin, and the shared libraries that they name, found by
 * their ELF headers, so that a binary of another architecture works too.
 * Libraries that a program opens by itself at run time are not found.
 */
#ifndef SHOOTDOWN_IMAGE_H
#define SHOOTDOWN_IMAGE_H

#include "../../lib/log.h"
#include "arch.h"

/*
 * The initramfs in the cache (caller frees path), made when its contents are new.
 * program NULL: the running binary. added: programs, NULL at the end, or NULL.
 * -ENOENT for a library that is not there and -ENOEXEC for a program of another
 * architecture, said.
 */
int image_initramfs(const char *cache, const char *program, const char *const *added,
		    const struct lab_arch *arch, struct log *log, char **path);

/* elf.c: what the loader needs to start a program. */
struct elf_needs {
	uint16_t machine;
	char *interpreter; /* NULL: none */
	char *runpath;	   /* NULL: none */
	char **libraries;
	unsigned int library_count;
};

/* -ENOEXEC when the file is no ELF program or library. */
int elf_needs_read(const char *path, struct elf_needs *needs);
void elf_needs_release(struct elf_needs *needs);

#endif
