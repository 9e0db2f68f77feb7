#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs on this machine: the record, and each way a run can be cut short.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
cd "$work" || exit 1

lines() { jq -c "$1" "$2/samples.jsonl" | wc -l; }

expect "a run of null" 0 "3 pass" "$sd" run null --runs 3 --set pages=64 --set window=5ms --out plain
check "has three outcomes" test "$(lines 'select(.outcome == "pass")' plain)" = 3
check "has three times" test "$(lines 'select(.metric == "time_ms")' plain)" = 3
check "says that it ended and restored" jq -se '.[-1] | .end == "pass" and .restored' plain/samples.jsonl
for file in machine plan; do
	check "$file.json has a version" jq -e '.version == 1' plain/$file.json
done
check "times are those of the window" jq -se \
	'[.[] | select(.metric == "time_ms").value] | all(. >= 5 and . < 1000)' plain/samples.jsonl

expect "every counter" 0 "1 pass" "$sd" run null --runs 1 --set pages=64 --counter all \
	--event page-faults --event context-switches@task --event cycles --out counters
check "what is not there is no zero" jq -se \
	'[.[] | select(.metric) | select((.status | IN("ok", "multiplexed")) != has("value"))] | length == 0' \
	counters/samples.jsonl
check "what is not there says why" jq -se \
	'[.[] | select(.metric) | select(.status == "unsupported" or .status == "not-permitted") | select(has("reason") | not)] | length == 0' \
	counters/samples.jsonl

# cut short: NAME SIGNAL CODE
cut_short() {
	local code=0 pid
	# a shell starts background jobs with SIGINT ignored
	env --default-signal=INT "$sd" run null --duration 60s --set pages=64 --set window=20ms --out "$1" > "$1.log" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		[ "$(lines 'select(.outcome)' "$1" 2> /dev/null || echo 0)" -ge 3 ] && break
		sleep 0.1
	done
	children=$(pgrep -P "$pid")
	kill -s "$2" "$pid"
	wait "$pid" || code=$?
	if [ "$code" -eq "$3" ]; then ok "$1 ends with $3"; else not_ok "$1 ends with $3, not $code"; fi
	check "$1 keeps the samples" test "$(lines 'select(.outcome == "pass")' "$1")" -ge 3
	check "$1 records the outcome" jq -se '.[-1] | .end == "interrupted" and .restored' "$1/samples.jsonl"
	check "$1 leaves no process" sh -c "! kill -0 $(echo $children) 2> /dev/null"
}
cut_short stopped-by-INT INT 130
cut_short stopped-by-TERM TERM 143

# each local case of the stale-TLB check has its effect, and finds nothing on a kernel that is in use
if [ "$(nproc)" -gt 1 ]; then
	expect "stale-hop" 0 "1 pass" "$sd" run stale-hop --runs 1 --set subjects=2 --set hops=4 --out hops
	check "every case that was played reports" jq -se \
		'([.[] | select(.metric == "cases").value][0]) as $n | $n >= 10 and
		 ([.[] | select(.metric // "" | startswith("stale_") and . != "stale_accesses") | select(has("value"))] | length == $n)' \
		hops/samples.jsonl
	expect "one case" 0 "1 pass" "$sd" run stale-hop --runs 1 --set case=dontneed --set hops=1 --set subjects=1 --out one
	check "reports its own number only" jq -se \
		'[.[] | select(.metric // "" | startswith("stale_")) | select(has("value")).metric] == ["stale_accesses", "stale_dontneed"]' \
		one/samples.jsonl
	nodes=$(ls -d /sys/devices/system/node/node[0-9]* 2> /dev/null | wc -l)
	[ "$nodes" -gt 1 ] || expect "a case that cannot be played" 77 "two NUMA nodes" \
		"$sd" run stale-hop --runs 1 --set case=migrate
else
	skip "stale-hop" "needs two CPUs"
fi

# a worker that dies: the children of the run are neighbours, target, driver
"$sd" run null --runs 1 --set pages=64 --set window=20s --out crash > crash.log 2>&1 &
pid=$!
wanted=3
[ "$(nproc)" -gt 1 ] || wanted=2
for _ in $(seq 100); do
	[ "$(pgrep -cP "$pid")" -ge $wanted ] && break
	sleep 0.05
done
sleep 0.3
expect "another run at the same time is said" 0 "going on here" \
	"$sd" run null --runs 1 --set pages=1 --set window=1ms --set neighbours=idle --out beside
children=$(pgrep -P "$pid" | tail -n 1)
kill -SEGV "$children"
code=0
wait "$pid" || code=$?
check "the record has it" grep -q '"reason":"[0-9]* other runs* [a-z]* beside it"' beside/samples.jsonl
check "a worker's memory fault is a failure" test "$code" -eq 1
check "that names worker and signal" grep -q "driver was killed by signal 11" crash/samples.jsonl

expect "a time-out" 3 "give a longer --timeout" \
	"$sd" run null --runs 1 --set pages=64 --set window=30s --timeout 1s --out slow

if [ "$(id -u)" -eq 0 ] && unshare -m true 2> /dev/null; then
	expect "a full disk" 3 "No space left on device" unshare -m sh -c \
		"mkdir small && mount -t tmpfs -o size=64k none small && '$sd' run null --duration 60s \
		 --set pages=64 --set window=1ms --out small/run"
	expect "nobody runs what needs no root" 0 "1 pass" \
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
		"cd \$(mktemp -d) && '$sd' run null --runs 1 --set pages=64"
	expect "nobody is told what needs root" 77 "needs root" \
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "cd \$(mktemp -d) && '$sd' run pageout"
else
	skip "a full disk" "needs root and mount namespaces"
	skip "nobody is told what needs root" "needs root to become nobody"
fi
expect "restore with nothing to do" 0 "nothing to undo" "$sd" restore
finish
