#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Storms on this machine: every form of memory, threads and processes, what is skipped, and that
# their processes end with the run. Counts are those of the machine, so tests/lab compares them.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
cd "$work" || exit 1
"$sd" run null --runs 1 --set pages=1 --set window=1ms --set neighbours=idle --out cpus > /dev/null 2>&1
cpus=$(jq .cpus.used cpus/machine.json)

has() { jq -se --arg m "$2" "[.[] | select(.metric == \$m)] | length > 0 and all(.status == \"ok\" and .value > 0)" "$1/samples.jsonl"; }

# with all that can be set; memory that is shared keeps its contents, other memory is new
forms=(--set sharing=private,shared --set backing=anonymous,file --set pages=1,3 --set threads=1,0)
for stressor in dontneed-storm munmap-storm mprotect-storm; do
	expect "$stressor, every form of memory" 0 "16 pass" "$sd" run $stressor --runs 1 --set ops=300 "${forms[@]}" --out $stressor
	check "$stressor: operations by real time" has $stressor ops_per_s
	check "$stressor: operations by CPU time" has $stressor ops_per_cpu_s
	check "$stressor: no readers, no ratio" jq -se '[.[] | select(.metric == "reader_ratio")] | length == 0' $stressor/samples.jsonl
	expect "$stressor, processes" 0 "2 pass" "$sd" run $stressor --runs 1 --set ops=300 --set mode=processes --set threads=1,0 --out $stressor-p
done
expect "a read after the call" 0 "4 pass" "$sd" run dontneed-storm --runs 1 --set ops=600 --set check=reread \
	--set sharing=private,shared --set threads=1,0
expect "a file in a folder" 0 "2 pass" "$sd" run dontneed-storm --runs 1 --set ops=100 --set backing=file --set folder=. \
	--set sharing=private,shared
expect "a folder that is missing" 3 "give another folder" "$sd" run dontneed-storm --runs 1 --set backing=file --set folder=none
expect "one thread" 0 "4 pass" "$sd" run dontneed-one --runs 1 --set ops=300 --set threads=1,0 --set sharing=private,shared --out one
for name in iteration_ns iteration_p99_ns iteration_max_ns clock_ns; do check "one: $name" has one $name; done
check "one: median, 99% and longest are in order" jq -se \
	'[.[] | select(.metric and (.metric | startswith("iteration")))] | group_by(.point)
	 | all(([.[] | {(.metric): .value}] | add) | .iteration_ns <= .iteration_p99_ns and .iteration_p99_ns <= .iteration_max_ns)' one/samples.jsonl

expect "more threads than CPUs" 77 "give fewer" "$sd" run dontneed-storm --runs 1 --set threads=$((cpus + 1))
expect "a sweep beyond the machine" 0 "1 pass, 1 skip" "$sd" run dontneed-one --runs 1 --set ops=10 --set threads=1,$((cpus + 1))
expect "pages that are no huge ones" 77 "multiple of" "$sd" run dontneed-storm --runs 1 --set huge=pmd --set pages=7

if [ "$cpus" -gt 1 ]; then
	for mode in threads processes; do
		expect "readers, $mode" 0 "1 pass" "$sd" run dontneed-storm --runs 1 --set threads=1 --set readers=1 \
			--set ops=2000 --set mode=$mode --out readers-$mode
		# nothing is said of how large it is: other load may have kept the reader's CPU
		check "readers, $mode: their ratio" jq -se \
			'[.[] | select(.metric == "reader_ratio")] | length == 1 and .[0].value >= 0' readers-$mode/samples.jsonl
	done
else
	skip "readers" "needs 2 CPUs"
fi

# huge pages: what this machine gives is used, what it does not is skipped and put back
enabled=/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled
before=$(cat $enabled 2> /dev/null || true)
for size in "64k 16" "pmd 512"; do
	set -- $size
	code=0
	"$sd" run dontneed-storm --runs 1 --set ops=20 --set huge="$1" --set pages="$2" --out "huge-$1" > said 2>&1 || code=$?
	case $code in
	0) ok "huge pages of $1" ;;
	77) skip "huge pages of $1" "$(grep -m1 -o 'needs .*\|this kernel .*' said || echo skipped)" ;;
	*) not_ok "huge pages of $1" "$(tail -n 5 said)" ;;
	esac
done
check "the knob of huge pages is put back" test "$(cat $enabled 2> /dev/null || true)" = "$before"

# killed: nothing of a storm of processes is left
"$sd" run dontneed-storm --runs 1 --set mode=processes --set ops=1000000000 --out killed > killed.log 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ "$(pgrep -cP "$pid")" -ge 1 ] && break
	sleep 0.05
done
sleep 0.5
family=$(pgrep -P "$pid")
family="$family $(for p in $family; do pgrep -P "$p"; done)"
family="$family $(for p in $family; do pgrep -P "$p"; done)"
kill -KILL "$pid"
wait "$pid" 2> /dev/null
for _ in $(seq 100); do
	alive=$(for p in $family; do kill -0 "$p" 2> /dev/null && echo "$p"; done)
	[ -n "$alive" ] || break
	sleep 0.05
done
check "a killed storm leaves no process" test -z "$alive"
finish
