#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The bundled patches apply without fuzz and are clean under the tree's own checkpatch.pl
# (but for commit ids, which it looks up in a history that a tarball does not have).
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
series=$top/patches/x86/batched-stale-cpus
archive=$("$sd" lab fetch batched-stale-cpus 2> /dev/null)

# what the patches touch, and checkpatch.pl with what it reads
tree=$work/tree
mkdir "$tree"
tar -xf "$archive" -C "$tree" --strip-components=1 --wildcards '*/arch/x86/include/asm' '*/arch/x86/mm' \
	'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch' '*/MAINTAINERS' ||
	{ not_ok "a source tree" "$archive"; finish; }
for patch in "$series"/*.patch; do
	check "$(basename "$patch" | cut -c1-40) applies without fuzz" patch -d "$tree" -p1 --fuzz=0 -s -i "$patch"
	check "$(basename "$patch" | cut -c1-40) is clean under checkpatch.pl" env -C "$tree" \
		scripts/checkpatch.pl --no-tree --no-summary --terse --ignore UNKNOWN_COMMIT_ID "$patch"
done
for patch in "$top"/tests/broken/*.patch; do
	check "$(basename "$patch") applies on top" patch -d "$tree" -p1 --fuzz=0 -s --dry-run -i "$patch"
done
finish
