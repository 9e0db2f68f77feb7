#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Mixed loads (--interleave) on this machine: who runs, what is shared, and Ctrl-C.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
cd "$work" || exit 1

if [ "$(nproc)" -lt 2 ]; then
	skip "a mix" "needs two CPUs"
	finish
fi

# outcomes FOLDER POINT: which, and how often each: "pass 3"
outcomes() {
	jq -r "select(.outcome and .point == $2).outcome" "$1/samples.jsonl" | sort | uniq -c |
		awk '{ print $2, $1 }' | paste -sd ,
}
all_but_last() { jq -r "select(.outcome and .point == $2) | \"\(.repetition) \(.outcome)\"" "$1/samples.jsonl" | head -n -1; }
# statuses FOLDER METRIC: of the values, in all repetitions
statuses() {
	jq -r "select(.metric == \"$2\") | select(has(\"value\")).status" "$1/samples.jsonl" |
		sort -u | paste -sd ,
}

# a spinning neighbour that a busy machine keeps from running breaks a repetition
nulls=(--set null.pages=64 --set null.window=20ms --set null.neighbours=idle)
storm=(--set dontneed-storm.threads=1 --set dontneed-storm.ops=300)

expect "two points at once" 0 "6 pass" "$sd" run null dontneed-storm --interleave --runs 3 \
	"${nulls[@]}" "${storm[@]}" --out two
check "the table says what is shared" grep -q "^null  *flushes (shared)" said
check "and by whom" grep -qF "(null, dontneed-storm)" said
check "each ran in every repetition" test "$(outcomes two 0), $(outcomes two 1)" = "pass 3, pass 3"
check "counts of the machine are shared" test "$(statuses two pgfault)" = shared
check "times are each point's own" test "$(statuses two time_ms)" = ok
expect "as JSON" 0 '"shared": true' "$sd" run null dontneed-storm --interleave --runs 1 --json \
	"${nulls[@]}" "${storm[@]}"
expect "more points than CPUs" 2 "give fewer" "$sd" run null null --interleave --runs 1 \
	--cpus "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "${nulls[@]}"

# a point that is skipped takes no CPU and shares nothing, from the first repetition on
if [ "$(ls -d /sys/devices/system/node/node[0-9]* 2> /dev/null | wc -l)" -lt 2 ]; then
	expect "one of two is skipped" 0 "3 pass, 1 skip" "$sd" run null move-pages --interleave \
		--runs 3 --set move-pages.pages=64 "${nulls[@]}" --out one
	check "it is said once" test "$(outcomes one 1)" = "skip 1"
	check "what is left is no mix in any repetition" test "$(statuses one pgfault)" = ok
	expect "all are skipped" 77 "skip" "$sd" run move-pages move-pages --interleave --runs 2 \
		--set pages=64
else
	skip "one of two is skipped" "there are two NUMA nodes: move-pages may run"
fi

# what a mix may have changed on the machine
state() {
	cat /proc/swaps
	for device in /sys/block/zram*; do
		[ -e "$device" ] && echo "$device $(cat "$device/disksize")"
	done
	ls /run/shootdown "${XDG_RUNTIME_DIR:-/none}/shootdown" "/tmp/shootdown-$(id -u)" 2> /dev/null |
		grep "^$1-.*journal"
	find /sys/fs/cgroup -maxdepth 2 -name "shootdown*$1*" 2> /dev/null
}

# Ctrl-C while all points run
cut_short() {
	local code=0 pid before
	before=$(state none)
	env --default-signal=INT "$sd" run null "$@" --interleave --duration 60s "${nulls[@]}" \
		--out "cut-$1" > "cut-$1.log" 2>&1 &
	pid=$!
	for _ in $(seq 200); do
		[ "$(jq -r 'select(.outcome == "pass").outcome' "cut-$1/samples.jsonl" 2> /dev/null | wc -l)" -ge 2 ] && break
		sleep 0.1
	done
	# two targets, and a driver at least
	for _ in $(seq 200); do
		[ "$(pgrep -cP "$pid")" -ge 3 ] && break
		sleep 0.01
	done
	children=$(pgrep -P "$pid")
	kill -INT "$pid"
	wait "$pid" || code=$?
	check "null and $1: ended by the signal" test "$code" -eq 130
	check "null and $1: the samples are kept" test "$(statuses "cut-$1" pgfault)" = shared
	check "null and $1: it is recorded" jq -se '.[-1] | .end == "interrupted" and .restored' "cut-$1/samples.jsonl"
	# the signal may find one in its verification, and the other behind it
	check "null and $1: both points have the same outcomes until then" \
		test "$(all_but_last "cut-$1" 0)" = "$(all_but_last "cut-$1" 1)"
	check "null and $1: no process is left" sh -c "! kill -0 $(echo $children) 2> /dev/null"
	check "null and $1: nothing else is left" test "$before" = "$(state "$pid")"
}
cut_short dontneed-storm "${storm[@]}"
if [ "$(id -u)" -eq 0 ] && [ -e /sys/class/zram-control/hot_add ]; then
	cut_short pageout --set pageout.pages=1024 --set pageout.method=madvise
else
	skip "null and pageout" "needs root and zram"
fi
finish
