/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHOOTDOWN_KBUILD_H
#define SHOOTDOWN_KBUILD_H

/* clang-format off */
/*
 * Rows of a spawn's environment for make in a kernel's tree: nothing of what our own environment
 * may hold changes which kernel, which configuration or which code comes out, or what make says
 * (Documentation/kbuild/kbuild.rst, kconfig.rst and llvm.rst of the kernel, and what scripts/kconfig
 * and init/Makefile read; an option that is off is no variable of make, which then takes CONFIG_* of
 * the environment). No part of a make that called us. A row that is set comes after these.
 */
#define KBUILD_ENVIRONMENT                                                                        \
	"ARCH", "SUBARCH", "CROSS_COMPILE", "LLVM", "LLVM_IAS", "LOCALVERSION",                   \
	"KCPPFLAGS", "KAFLAGS", "KCFLAGS", "KRUSTFLAGS",                                          \
	"CONFIG_*", "KCONFIG_*", "KBUILD_*", "sub_make_done",                                     \
	"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MFLAGS", "MAKELEVEL", "LC_ALL=C"
/* clang-format on */

#endif
