#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pages moved between nodes, on both kernels at 8 CPUs: the counts, and what becomes of nodes that cannot be used.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
start=$(date +%s)
two="cpus=all,mem=512M;mem=256M,latency=300,bandwidth=5000" # node 1 is a lower tier, without CXL's slow emulation

# value FILE STRESSOR METRIC ARM [SETTING=VALUE]: the mean at that stressor's point
value() {
	point=$(jq --arg s "$2" --arg o "${5%%=*}" --arg v "${5#*=}" \
		'[.points[] | .stressor == $s and ($o == "" or (.parameters[$o] | tostring) == $v)] | index(true)' "$1")
	metric "$1" "$point" "$3" "$4" mean
}

expect "A/B between two nodes, 8,150 pages" 0 "" "$sd" lab ab batched-stale-cpus demote move-pages migrate-active \
	--cpus 8 --numa "$two" --boots 1 --runs 2 --set pages=8150 --out "$work/ab"
"$sd" compare "$work/ab" --format json > "$work/ab.json" || not_ok "compare reads what the lab wrote"
between "move-pages, IPIs, baseline" 106 "$(value "$work/ab.json" move-pages remote_ipis baseline)" 118
between "move-pages, flushes, baseline" 16 "$(value "$work/ab.json" move-pages flushes baseline)" 16
between "move-pages, IPIs, patched" 0 "$(value "$work/ab.json" move-pages remote_ipis patched)" 8
between "demote, IPIs, baseline" 2156 "$(value "$work/ab.json" demote remote_ipis baseline)" 2199
between "demote, IPIs, patched" 0 "$(value "$work/ab.json" demote remote_ipis patched)" 64
between "demote, pages on the lower tier" 8069 "$(value "$work/ab.json" demote pages_demoted baseline)" 8150
between "demote, the kernel's own count" 8069 "$(value "$work/ab.json" demote pages_counted baseline)" 8400
between "migrate-active, IPIs, baseline: N-3 to N-1" 78 "$(value "$work/ab.json" migrate-active remote_ipis baseline)" 119
between "migrate-active, IPIs, patched: accessors only" 0 "$(value "$work/ab.json" migrate-active remote_ipis patched)" 40
for arm in baseline patched; do
	between "migrate-active, pages left behind, $arm" 0 "$(value "$work/ab.json" migrate-active pages_left $arm)" 80
	between "migrate-active, accesses a second, $arm" 1 "$(value "$work/ab.json" migrate-active accesses_per_s $arm)" 1e12
	between "migrate-active, worst stall, $arm" 1 "$(value "$work/ab.json" migrate-active worst_stall_ns $arm)" 1e10
done

# an update that goes through an entry which was not flushed ends in the old page: few pages, all of which a TLB
# holds, and many more than it holds
patches=$(ls "$top"/patches/x86/batched-stale-cpus/*.patch | paste -sd ,)
expect "a kernel that drops running CPUs loses updates" 1 "lost updates" "$sd" lab ab batched-stale-cpus migrate-active \
	--cpus 4 --numa "$two" --boots 1 --runs 4 --set pages=256,30000 --out "$work/broken" \
	--arm "drop-running=$patches,$top/tests/broken/drop-running.patch"
"$sd" compare "$work/broken" --format json > "$work/broken.json" || not_ok "compare reads what the lab wrote"
# outcomes ARM PAGES OUTCOME: how many of the four had it
outcomes() {
	jq --arg a "$1" --argjson p "$2" --arg o "$3" \
		'[.points[] | select(.parameters.pages == $p) | .outcomes[] | select(.arm == $a) | .[$o]] | add // 0' "$work/broken.json"
}
jq -r '.points[] | .parameters.pages as $p | .outcomes[] | "# \($p) pages: \(. | tojson)"' "$work/broken.json"
for pages in 256 30000; do
	between "$pages pages: failures of the kernel that drops" 1 "$(outcomes drop-running $pages fail)" 4
	for arm in baseline patched; do
		between "$pages pages: $arm loses none" 4 "$(outcomes $arm $pages pass)" 4
	done
done

expect "A/B with CXL memory, all four tests' stressors" 0 "" "$sd" lab ab batched-stale-cpus pageout demote move-pages \
	migrate-active --cpus 8 --memory 1G --cxl 256M --boots 1 --runs 1 --set pages=1025 --out "$work/cxl"
"$sd" compare "$work/cxl" --format json > "$work/cxl.json" || not_ok "compare reads what the lab wrote"
between "to CXL: move-pages, IPIs, baseline" 19 "$(value "$work/cxl.json" move-pages remote_ipis baseline)" 22
between "to CXL: demote, IPIs, baseline" 430 "$(value "$work/cxl.json" demote remote_ipis baseline)" 438
between "to CXL: demote, IPIs, patched" 0 "$(value "$work/cxl.json" demote remote_ipis patched)" 40

expect "batches, rounds, directions, flags" 0 "" "$sd" lab ab batched-stale-cpus move-pages --cpus 4 --numa "$two" \
	--boots 1 --runs 1 --set pages=1100 --set batch=0,100,600 --set rounds=3 --set direction=back \
	--set flags=move-all --out "$work/batches"
"$sd" compare "$work/batches" --format json > "$work/batches.json"
between "batch=0, 3 rounds" 9 "$(value "$work/batches.json" move-pages flushes baseline batch=0)" 9
between "batch=100, 3 rounds" 33 "$(value "$work/batches.json" move-pages flushes baseline batch=100)" 33
between "batch=600, 3 rounds" 9 "$(value "$work/batches.json" move-pages flushes baseline batch=600)" 9

run() { "$sd" lab boot batched-stale-cpus:baseline --cpus 4 "$@"; }
expect "one node only is a skip" 77 "needs a second node" run -- shootdown run move-pages migrate-active --runs 1 --set pages=512
expect "no lower tier is a skip" 77 "needs a lower memory tier" run --numa 2 -- shootdown run demote --runs 1 --set pages=512
expect "a node that is full is a skip" 77 "give fewer pages" run --numa "$two" -- \
	shootdown run demote move-pages migrate-active --runs 1 --set pages=80000
expect "a node that is not there is a skip" 77 "no such node online" run --numa "$two" -- \
	shootdown run move-pages --runs 1 --set pages=512 --set to=7
expect "numbers with a gap: node 1 is never online" 0 "3 pass" run --numa "cpus=all,mem=512M;mem=0" --cxl 256M -- \
	shootdown run demote move-pages migrate-active --runs 1 --set pages=512
expect "more accessors than CPUs is a skip" 77 "give fewer accessors" run --numa "$two" -- \
	shootdown run migrate-active --runs 1 --set pages=512 --set accessors=4

slow=";mem=256M,latency=1500,bandwidth=1000"
expect "demotion through three tiers: to the node that is named, and no further" 0 "3 pass" run --numa "$two$slow" -- \
	shootdown run demote --runs 1 --set pages=2000 --set to=auto,1,2
expect "without cpusets reclaim pushes pages on" 3 "goes on to other nodes" run --numa "$two$slow" \
	--append cgroup_disable=cpuset -- shootdown run demote --runs 1 --set pages=2000
expect "a swappiness that spares all pages is a skip" 77 "give 1 to 200" run --numa "$two" -- \
	shootdown run demote pageout --runs 1 --set pages=512 --set swappiness=0
near=";mem=256M,latency=300,bandwidth=5000"
expect "demotion to one of two nodes that are as near" 0 "2 pass" run --numa "$two$near" -- \
	shootdown run demote --runs 1 --set pages=2000 --set to=auto,2
expect "without cpusets any of them will do" 0 "1 pass" run --numa "$two$near" \
	--append cgroup_disable=cpuset -- shootdown run demote --runs 1 --set pages=2000

busybox=$(command -v busybox)
if [ -n "$busybox" ]; then
	expect "demotion_enabled and lru_gen are as before the run" 0 "false 0x0007 false 0x0007" run --numa "$two" \
		--add "$busybox" -- busybox sh -c '
		busybox --install -s /bin; cd /sys/kernel/mm; echo y > lru_gen/enabled
		before="$(cat numa/demotion_enabled) $(cat lru_gen/enabled)"
		shootdown run demote --runs 1 --set pages=512 --out /run/x > /dev/null 2>&1 || exit 1
		echo "$before $(cat numa/demotion_enabled) $(cat lru_gen/enabled)"'
	expect "pageout swaps where the kernel demotes, which it does again afterwards" 0 "true 0" run --numa "$two" \
		--add "$busybox" -- busybox sh -c '
		busybox --install -s /bin; knob=/sys/kernel/mm/numa/demotion_enabled; echo 1 > $knob
		shootdown run pageout --runs 1 --set pages=2000 --out /run/x > /dev/null 2>&1; code=$?
		echo "$(cat $knob) $code"'
else
	skip "knobs in a guest" "busybox is not installed"
fi
for test in 2 3 4; do
	expect "reproduce, test $test at 4 CPUs, a hundredth" 0 "published" "$sd" reproduce batched-stale-cpus --test $test \
		--cpus 4 --scale 0.01 --runs 1 --boots 1 --out "$work/reproduce-$test"
done
echo "# $(($(date +%s) - start)) s"
finish
