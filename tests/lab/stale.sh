#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The stale-TLB check passes on right kernels and fails on the broken ones that emulation can show.
# Each broken kernel is the patched one with a patch of tests/broken on top.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
series=$top/patches/x86/batched-stale-cpus
patches=$(ls "$series"/*.patch | paste -sd ,)

code=0
"$sd" lab ab batched-stale-cpus stale-read --cpus 16 --boots 1 --runs 2 --set mms=4,12 --timeout 60s --out "$work/ab" \
	--arm "drop-running=$patches,$top/tests/broken/drop-running.patch" \
	--arm "forget-ninth=$patches,$top/tests/broken/forget-ninth.patch" \
	--arm "skip-switching=$patches,$top/tests/broken/skip-switching.patch" > "$work/table" 2> "$work/log" || code=$?
check "an arm that fails is exit code 1" test "$code" -eq 1
"$sd" compare "$work/ab" --format json > "$work/ab.json" || not_ok "compare reads what the lab wrote"

# outcomes ARM MMS OUTCOME: how many repetitions of that point had it
outcomes() {
	jq --arg a "$1" --argjson m "$2" --arg o "$3" \
		'[.points[] | select(.parameters.mms == $m) | .outcomes[] | select(.arm == $a) | .[$o]] | add // 0' \
		"$work/ab.json"
}
for arm in baseline patched; do
	for mms in 4 12; do
		check "$arm reads nothing stale with $mms mms" test "$(outcomes $arm $mms pass)" = 2
	done
done
check "a kernel that drops running CPUs is caught" test "$(outcomes drop-running 4 fail)" -ge 1
check "a kernel that forgets the ninth mm is caught" test "$(outcomes forget-ninth 12 fail)" -ge 1
check "and is right below that" test "$(outcomes forget-ninth 4 pass)" = 2
# no PCID under emulation, and every CR3 load drops the TLB: see the patch's head
check "the switching window cannot be shown here" test "$(outcomes skip-switching 4 pass)" = 2
[ "$failed" -eq 0 ] || { cat "$work/table" "$work/log"; }
finish
