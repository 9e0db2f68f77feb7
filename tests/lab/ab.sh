#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The A/B of the first table: built from source and patches, booted, counted. With FULL=1 also at 112 CPUs and full size.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
start=$(date +%s)

expect "A/B at 16 CPUs, 4,096 pages, 5 runs" 0 "" "$sd" lab ab batched-stale-cpus pageout null --cpus 16 --boots 1 \
	--runs 5 --set pageout.pages=4096 --out "$work/ab" --json
"$sd" compare "$work/ab" --format json > "$work/ab.json" || not_ok "compare reads what the lab wrote"
pageout=$(jq '[.points[].stressor] | index("pageout")' "$work/ab.json")
null=$(jq '[.points[].stressor] | index("null")' "$work/ab.json")
value() { metric "$work/ab.json" "$@"; }

between "remote IPIs, baseline" 60826 "$(value "$pageout" remote_ipis baseline mean)" 62054
between "remote IPIs, patched" 0 "$(value "$pageout" remote_ipis patched mean)" 64
between "flushes, baseline" 4055 "$(value "$pageout" flushes baseline mean)" 4137
between "pages reclaimed, baseline" 4056 "$(value "$pageout" pages_reclaimed baseline mean)" 4096
between "pages reclaimed, patched" 4056 "$(value "$pageout" pages_reclaimed patched mean)" 4096
between "floor of the harness, baseline" 0 "$(value "$null" remote_ipis baseline mean)" 16
between "floor of the harness, patched" 0 "$(value "$null" remote_ipis patched mean)" 16
check "all repetitions gave a number" test "$(value "$pageout" remote_ipis baseline n)" = 5
check "the prediction is pages x 15" jq -e --argjson p "$pageout" \
	'.points[$p].metrics[] | select(.name == "remote_ipis") | .predicted == 61440' "$work/ab.json"
check "the table says that time is emulated" sh -c "'$sd' compare '$work/ab' | grep -q emulated"
check "markdown" sh -c "'$sd' compare '$work/ab/baseline' '$work/ab/patched' --format markdown | grep -qF '| remote_ipis |'"
check "consoles are kept" test -s "$work/ab/baseline/boot-1/console.log"
echo "# $(($(date +%s) - start)) s"

expect "reproduce, test 1 at 4 CPUs, a fortieth" 0 "published" "$sd" reproduce batched-stale-cpus --test 1 --cpus 4 \
	--scale 0.025 --runs 2 --boots 1 --out "$work/reproduce"

expect "madvise is another measurement" 0 "method=madvise" "$sd" lab ab batched-stale-cpus pageout --cpus 4 --boots 1 \
	--runs 1 --set pages=1024 --set method=madvise,memcg --set neighbours=idle,kernel --out "$work/methods"
"$sd" compare "$work/methods" --format json > "$work/methods.json"
# a CPU whose neighbour a kernel thread displaces for some milliseconds is lazy and spared meanwhile
for kind in idle kernel; do
	point=$(jq --arg k $kind '[.points[].parameters | .method == "memcg" and .neighbours == $k] | index(true)' \
		"$work/methods.json")
	case $kind in idle) low=0 high=64 ;; kernel) low=2919 high=3103 ;; esac
	between "remote IPIs with neighbours=$kind" $low "$(metric "$work/methods.json" "$point" remote_ipis baseline mean)" $high
done

if [ -n "${FULL:-}" ]; then
	start=$(date +%s)
	expect "A/B at 112 CPUs, 81,920 pages" 0 "" "$sd" lab ab batched-stale-cpus pageout --cpus 112 --boots 1 --runs 1 \
		--out "$work/big"
	"$sd" compare "$work/big" --format json > "$work/big.json"
	between "remote IPIs at 112 CPUs, baseline" 9047654 "$(metric "$work/big.json" 0 remote_ipis baseline mean)" 9138586
	between "remote IPIs at 112 CPUs, patched" 0 "$(metric "$work/big.json" 0 remote_ipis patched mean)" 1000
	echo "# $(($(date +%s) - start)) s"
fi
finish
