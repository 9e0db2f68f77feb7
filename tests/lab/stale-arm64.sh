#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The stale-TLB check of arm64 passes on both arms of local-tlbi and fails on each broken kernel that emulation can
# show: the patched one with a patch of tests/broken on top. One that it cannot show says so in its head.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
series=local-tlbi
folder=$top/patches/arm64/$series

if [ "$(uname -m)" != aarch64 ]; then
	command -v aarch64-linux-gnu-gcc > /dev/null && [ -f "$(dirname "$sd")/arm64/shootdown" ] ||
		{ skip "arm64 guests" "no aarch64-linux-gnu-gcc, or no program for them beside $sd (ci/build makes it)"; finish; }
fi
[ -d "$folder" ] || { skip "stale translations on arm64" "there is no series $series"; finish; }

patches=$(ls "$folder"/*.patch | paste -sd ,)
arms=() shown=() hidden=()
for patch in "$top"/tests/broken/local-tlbi-*.patch; do
	name=$(basename "$patch" .patch) name=${name#local-tlbi-}
	arms+=(--arm "$name=$patches,$patch")
	if sed '/^---$/q' "$patch" | grep -qi 'not caught.* in emulation'; then hidden+=("$name"); else shown+=("$name"); fi
done
check "there are two broken kernels or more to catch" test "${#shown[@]}" -ge 2

code=0
"$sd" lab ab "$series" stale-hop --cpus 4 --numa 2 --boots 1 --runs 3 --timeout 120s --out "$work/ab" "${arms[@]}" \
	> "$work/table" 2> "$work/log" || code=$?
check "an arm that fails is exit code 1" test "$code" -eq 1
"$sd" compare "$work/ab" --format json > "$work/ab.json" || not_ok "compare reads what the lab wrote"

# outcomes ARM OUTCOME: how many repetitions had it
outcomes() {
	jq --arg a "$1" --arg o "$2" '[.points[].outcomes[] | select(.arm == $a) | .[$o]] | add // 0' "$work/ab.json"
}
for arm in baseline patched; do
	check "$arm: nothing stale" test "$(outcomes "$arm" pass)" = 3
	between "$arm: cases that were played" 15 "$(metric "$work/ab.json" 0 cases "$arm" mean)" 16
done
for arm in "${shown[@]}"; do
	check "$arm is caught" test "$(outcomes "$arm" fail)" -ge 1
	sed -n "s/.*\"reason\":\"\(stale access[^\"]*\|[^\"]*killed by signal[^\"]*\)\".*/# $arm: \1/p" \
		"$work/ab/$arm"/boot-1/samples.jsonl | head -n 1
done
for arm in "${hidden[@]}"; do
	check "$arm cannot be shown here" test "$(outcomes "$arm" pass)" = 3
done
[ "$failed" -eq 0 ] || { cat "$work/table" "$work/log"; }
finish
