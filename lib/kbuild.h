/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHOOTDOWN_KBUILD_H
#define SHOOTDOWN_KBUILD_H

/* clang-format off */
/*
 * Rows of a spawn's environment for make in a kernel's tree: nothing of what our own environment
 * may hold changes which kernel, which configuration or which code comes out, or what make says
 * (Documentation/kbuild/kbuild.rst, kconfig.rst and llvm.rst of the kernel). No part of a make
 * that called us.
 */
#define KBUILD_ENVIRONMENT                                                                        \
	"ARCH", "SUBARCH", "CROSS_COMPILE", "LLVM", "LLVM_IAS",                                   \
	"KCPPFLAGS", "KAFLAGS", "KCFLAGS", "KRUSTFLAGS", "AFLAGS_KERNEL", "CFLAGS_KERNEL",        \
	"KCONFIG_CONFIG", "KCONFIG_ALLCONFIG", "KCONFIG_DEFCONFIG_LIST", "KCONFIG_WERROR",        \
	"LOCALVERSION", "KBUILD_OUTPUT", "KBUILD_EXTMOD", "KBUILD_EXTRA_WARN", "KBUILD_VERBOSE",  \
	"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "LC_ALL=C"
/* clang-format on */

#endif
