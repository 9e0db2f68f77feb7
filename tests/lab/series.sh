#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The bundled patches apply without fuzz and are clean under the tree's own checkpatch.pl.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
series=$top/patches/x86/batched-stale-cpus
tree=$("$sd" lab fetch batched-stale-cpus 2> /dev/null | tail -n 1)

cp -r "$tree/arch/x86" "$work/x86" 2> /dev/null || { not_ok "a source tree" "$tree"; finish; }
mkdir -p "$work/arch" && mv "$work/x86" "$work/arch/x86"
for patch in "$series"/*.patch; do
	check "$(basename "$patch" | cut -c1-40) applies without fuzz" patch -d "$work" -p1 --fuzz=0 -s -i "$patch"
	check "$(basename "$patch" | cut -c1-40) is clean under checkpatch.pl" \
		"$tree/scripts/checkpatch.pl" --root="$tree" --no-summary --terse --ignore FILE_PATH_CHANGES "$patch"
done
for patch in "$top"/tests/broken/*.patch; do
	check "$(basename "$patch") applies on top" patch -d "$work" -p1 --fuzz=0 -s --dry-run -i "$patch"
done
finish
