// SPDX-License-Identifier: GPL-2.0-only
/* The optional libraries of this build; see features.h. */
#include "features.h"

#include <stddef.h>

const struct feature features[] = {
	{ "libpfm4", FEATURE_LIBPFM, "perf events by name",
	  "only tracepoints can be counted with perf", "libpfm4-dev" },
	{ "libtracefs", FEATURE_LIBTRACEFS, "the kernel's own names of TLB flush reasons",
	  "the names of known kernels are used", "libtracefs-dev libtraceevent-dev" },
	{ "libnuma", FEATURE_NUMA, "the nodes that memory policy allows",
	  "/proc/self/status is read instead", "libnuma-dev" },
	{ "libcxl", FEATURE_LIBCXL, "CXL devices and regions", "sysfs is read instead",
	  "libcxl-dev" },
	{ "libcxl >= 77", FEATURE_CXL_RAM_REGION, "CXL regions made in guests",
	  "sysfs is written instead", "libcxl-dev" },
	{ "libRmath", FEATURE_RMATH, "tests and intervals in comparisons",
	  "counts and descriptive statistics only, no verdicts", "r-mathlib" },
	{ "liburing", FEATURE_LIBURING, "snapshots saved through io_uring",
	  "cow-snapshot runs with save=write only", "liburing-dev" },
	{ "SQLite", FEATURE_SQLITE, "the index of runs: db, trend, ids for compare and export",
	  "runs are given as folders", "libsqlite3-dev" },
	{ NULL },
};
