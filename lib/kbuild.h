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
	"KCONFIG_CONFIG", "KCONFIG_ALLCONFIG", "KCONFIG_DEFCONFIG_LIST", "KCONFIG_WERROR",        \
	"KCONFIG_AUTOCONFIG", "KCONFIG_AUTOHEADER", "KCONFIG_RUSTCCFG",                           \
	"KCONFIG_WARN_UNKNOWN_SYMBOLS", "KCONFIG_NOSILENTUPDATE", "KCONFIG_OVERWRITECONFIG",      \
	"KBUILD_KCONFIG", "KBUILD_DEFCONFIG", "KBUILD_BUILD_VERSION",                             \
	"KBUILD_BUILD_VERSION_TIMESTAMP", "KBUILD_ABS_SRCTREE", "KBUILD_OUTPUT", "KBUILD_EXTMOD", \
	"KBUILD_EXTMOD_OUTPUT", "KBUILD_EXTRA_SYMBOLS", "KBUILD_MODPOST_WARN",                    \
	"KBUILD_EXTRA_WARN", "KBUILD_VERBOSE", "CONFIG_*", "sub_make_done",                       \
	"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MFLAGS", "MAKELEVEL", "LC_ALL=C"
/* clang-format on */

#endif
