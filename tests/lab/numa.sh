#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Guests with NUMA nodes, memory tiers and CXL memory: what was asked for is what the guest's kernel has.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
kernel=$("$sd" lab build batched-stale-cpus --arm baseline 2> /dev/null | tail -n 1 | cut -f 2)
cd "$work" || exit 1

# boot NAME OPTION...: "shootdown check --json" of a guest with these options is in NAME.json
boot() {
	name=$1; shift
	if timeout 120 "$sd" lab boot "$kernel" --cpus 4 --out "$name" "$@" -- shootdown check --json > "$name.json" 2> "$name.err"; then
		ok "a guest with $*: $(jq .total_s "$name/boot.json") s"
	else
		not_ok "a guest with $*" "$(tail -n 3 "$name.err")"
	fi
}

# row NAME AREA ROW STATUS WORDS: a row of the check
row() {
	check "$1: $3: $5" jq -en --arg area "$2" --arg name "$3" --arg status "$4" --arg words "$5" \
		'input | any(.capabilities[]; .area == $area and .name == $name and .status == $status and (.detail | contains($words)))' \
		"$1.json"
}

boot even --numa 2 --memory 1G
row even nodes "NUMA nodes" ok "0-1; 2 with memory"
row even nodes "memory tiers" missing "one only"

boot tiers --numa 'cpus=0-1,mem=384M,distances=10/21/17;cpus=2-3,mem=384M,distances=21/10/28;mem=256M,latency=300,distances=17/28/10'
row tiers nodes "NUMA nodes" ok "0-2; 3 with memory"
row tiers nodes "memory-only nodes" ok "2"
row tiers nodes "memory tiers" ok "from 4 (fastest) to 13"
row tiers nodes demotion ok "from node 0 to 2, from node 1 to 2"
row tiers cxl nodes missing "none"

boot cxl --memory 1G --cxl 512M
row cxl nodes "memory tiers" ok "from 4 (fastest) to 22"
row cxl nodes demotion ok "from node 0 to 1"
row cxl cxl "memory devices" ok "1; volatile memory: mem0 512 MiB"
row cxl cxl region0 ok "region of 512 MiB, ram, committed, system memory of node 1"
row cxl cxl dax0.0 ok "512 MiB of region0, system memory of node 1, online"
row cxl cxl nodes ok "1"

boot ways --cxl 512M,ways=2 --numa 'cpus=all,mem=1G;mem=0'
row ways nodes "NUMA nodes" ok "0,2 (numbers with gaps); 2 with memory"
row ways cxl "memory devices" ok "2; volatile memory: mem0 256 MiB, mem1 256 MiB"
row ways cxl nodes ok "2"
check "the layout is in boot.json" jq -e '.memory == "--numa cpus=0-3,mem=1024M;mem=0M --cxl 512M,ways=2"' ways/boot.json

busybox=$(command -v busybox)
if [ -n "$busybox" ] && numactl=$(command -v numactl); then
	expect "interleaved CXL memory keeps what is written to it" 0 "same" timeout 120 "$sd" lab boot "$kernel" --cpus 1 \
		--cxl 512M,ways=2 --add "$busybox" --add "$numactl" -- busybox sh -c '
		busybox dd if=/dev/urandom of=/tmp/a bs=64k count=8 2> /dev/null
		numactl --membind=1 busybox cp /tmp/a /tmp/b && busybox cmp /tmp/a /tmp/b && echo same'
else
	skip "contents of interleaved memory" "busybox or numactl is not installed"
fi

expect "CXL memory that cannot be made is named" 3 "unready" timeout 120 "$sd" lab boot "$kernel" --cpus 1 --cxl 256M \
	--append initcall_blacklist=cxl_acpi_init --out broken
check "and so in boot.json" jq -e '.failure == "unready" and .outcome == "broken"' broken/boot.json
check "with what failed" jq -e '.detail | contains("the CXL memory cannot be used: ")' broken/boot.json

expect "a layout that is wrong" 2 "another node's" "$sd" lab boot "$kernel" --numa 'cpus=0-2;cpus=2-3'
expect "wrong for an A/B" 2 "a multiple of 512M" "$sd" lab ab batched-stale-cpus null --cpus 4 --cxl 256M,ways=2

for layout in 1 2; do
	expect "a run on $layout nodes" 0 "" timeout 120 "$sd" lab ab - null --arm "a=image:$kernel" --arm "b=image:$kernel" --cpus 2 --boots 1 --runs 1 \
		--numa "$layout" --out "run-$layout"
done
expect "runs on different nodes are not compared" 2 "memory of the guest" "$sd" compare run-1/a run-2/a
finish
