#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The bundled patches apply without fuzz, each series alone and the instruments before it, and are
# clean under the tree's own checkpatch.pl (but for commit ids, which it looks up in a history that
# a tarball does not have). The broken ones apply on top of their series.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
archive=$("$sd" lab fetch batched-stale-cpus 2> /dev/null)

# what the patches touch, and checkpatch.pl with what it reads
pristine=$work/pristine
mkdir "$pristine"
tar -xf "$archive" -C "$pristine" --strip-components=1 --wildcards '*/arch/x86/include/asm' '*/arch/x86/mm' \
	'*/arch/arm64/include/asm' '*/arch/arm64/mm' '*/include/linux/vm_event_item.h' '*/mm/vmstat.c' \
	'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch' '*/MAINTAINERS' ||
	{ not_ok "a source tree" "$archive"; finish; }

# short PATCH: its name, for a line of output
short() { basename "$1" | cut -c1-40; }

# applied SERIES...: a fresh tree with these on it, one after the other
applied() {
	local series patch

	tree=$work/tree
	rm -rf "$tree"
	cp -a "$pristine" "$tree"
	for series in "$@"; do
		for patch in "$top/patches/$series"/*.patch; do
			check "$(short "$patch") applies without fuzz" patch -d "$tree" -p1 --fuzz=0 -s -i "$patch"
		done
	done
}

# clean SERIES
clean() {
	local patch

	for patch in "$top/patches/$1"/*.patch; do
		check "$(short "$patch") is clean under checkpatch.pl" env -C "$pristine" \
			scripts/checkpatch.pl --no-tree --no-summary --terse --ignore UNKNOWN_COMMIT_ID "$patch"
	done
}

# on_top NAME...: these patches of tests/broken
on_top() {
	local name

	for name in "$@"; do
		check "$name.patch applies on top" patch -d "$tree" -p1 --fuzz=0 -s --dry-run \
			-i "$top/tests/broken/$name.patch"
	done
}

applied x86/batched-stale-cpus
on_top drop-running forget-ninth skip-switching
clean x86/batched-stale-cpus
applied arm64/local-tlbi
applied arm64/count-tlbi arm64/local-tlbi
on_top local-tlbi-second-cpu local-tlbi-last-cpu local-tlbi-no-barrier
clean arm64/count-tlbi
clean arm64/local-tlbi
finish
