#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cow-snapshot, redis-snapshot and kernel-build on this machine: that they have their effect in
# each form, that they skip with a reason, and that nothing is left of them.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
cd "$work" || exit 1
shm=/dev/shm
[ -d $shm ] || shm=/tmp

# value FOLDER METRIC: of the first repetition; empty when there is none
value() { jq -r "select(.metric == \"$2\" and .repetition == 1 and has(\"value\")) | .value" "$1/samples.jsonl"; }
outcome() { jq -r 'select(.outcome) | .outcome' "$1/samples.jsonl" | sort -u; }

# run NAME ARGUMENTS...: a repetition, which must pass, or be skipped for what is said
run() {
	local folder=$1; shift
	"$sd" run "$@" --runs 1 --out "$folder" > "$folder.log" 2>&1
	case $(outcome "$folder") in
	pass) ok "$folder" ;;
	skip) skip "$folder" "$(jq -r 'select(.outcome).reason' "$folder/samples.jsonl")" ;;
	*) not_ok "$folder" "$(jq -c 'select(.outcome)' "$folder/samples.jsonl")" "$(tail -n 3 "$folder.log")" ;;
	esac
	[ "$(outcome "$folder")" = pass ]
}

# Sizes are such that a snapshot takes milliseconds on the fastest machine, so that many writes
# fall into it; on one CPU it takes several ticks, or the saver may be gone before the writer runs.
# A quantile needs so many writes:
quantiles="p50:2 p99:100 p999:1000 max:1"

# the writer does not wait
for forker in writer thread; do
	for save in io_uring write; do
		run "cow-$forker-$save" cow-snapshot --set size=8M --set snapshots=3 --set pause=2ms --set rate=0 \
			--set forker=$forker --set save=$save || continue
		folder=cow-$forker-$save
		between "$folder: faults for pages" "$(awk -v p="$(value "$folder" pages_in)" 'BEGIN { print p * 0.99 - 6 }')" \
			"$(value "$folder" cow_faults)" 1000000
		writes=$(value "$folder" writes_in)
		for quantile in $quantiles; do
			[ "${writes%.*}" -ge "${quantile#*:}" ] || continue
			check "$folder: write_in_${quantile%:*}_ns" test -n "$(value "$folder" "write_in_${quantile%:*}_ns")"
		done
	done
done
run cow-rate cow-snapshot --set size=8M --set snapshots=2
run cow-file cow-snapshot --set size=8M --set snapshots=2 --set "folder=$work"
check "cow-file leaves no file" test -z "$(find "$work" -maxdepth 1 -type f -size +900k)"
# that nearly all of the data is huge before each fork is a condition of its own
run cow-huge cow-snapshot --set size=8M --set snapshots=3 --set thp=on
run cow-huge-thread cow-snapshot --set size=3M --set snapshots=3 --set rate=0 --set thp=on --set forker=thread
run cow-one-cpu cow-snapshot --cpus "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" --set size=32M --set snapshots=2 \
	--set forker=thread
for forker in writer thread; do
	expect "a rate that nobody can make, forker=$forker" 3 "give a lower rate" "$sd" run cow-snapshot --runs 1 --set size=1M \
		--set pause=1ms --set rate=1000000000 --set forker=$forker --out cow-late-$forker
done
# the next write is due in a second
expect "a snapshot without a write" 3 "no page was written in a snapshot" "$sd" run cow-snapshot --runs 1 --set size=64K \
	--set snapshots=1 --set pause=1ms --set rate=1 --out cow-idle
expect "a folder that there is not" 3 "give another folder" \
	"$sd" run cow-snapshot --runs 1 --set size=1M --set folder=/nonexistent --out cow-nowhere

# the build that stands for a compile
if run jobs kernel-build --set load=jobs --set jobs=12 --set job-memory=1M; then
	# no tick may have found such short jobs in the kernel: their system time may be 0
	between "jobs: CPU time" 0.1 "$(value jobs cpu_ms)" 1000000
	cpu=$(value jobs cpu_ms)
	between "jobs: system and user time" "$(awk -v c="$cpu" 'BEGIN { print c - 0.01 }')" \
		"$(awk -v s="$(value jobs system_ms)" -v u="$(value jobs user_ms)" 'BEGIN { print s + u }')" \
		"$(awk -v c="$cpu" 'BEGIN { print c + 0.01 }')"
	between "jobs: faults of touched memory" 3072 "$(value jobs build_faults)" 1000000
fi
missing=$(for program in make gcc flex bison bc; do command -v $program > /dev/null || echo $program; done)
if [ -z "$missing" ]; then
	expect "a tree that is none" 77 "is no kernel tree" \
		"$sd" run kernel-build --runs 1 --set "tree=$work" --out build-nowhere
	for version in 6.9 6.18; do
		mkdir -p "cache/shootdown/trees/linux-$version/src"
		printf 'VERSION = 6\nPATCHLEVEL = %s\nSUBLEVEL = 0\n' "${version#6.}" > "cache/shootdown/trees/linux-$version/src/Makefile"
	done
	expect "trees of several versions" 77 "--set tree=$work/cache/shootdown/trees/linux-6.18/src or another" \
		env "XDG_CACHE_HOME=$work/cache" "$sd" run kernel-build --runs 1 --out build-several
else
	skip "a tree that is none" "needs ${missing//$'\n'/ }"
	skip "trees of several versions" "needs ${missing//$'\n'/ }"
fi
expect "no compiler" 77 "install make" env PATH=/nonexistent "$sd" run kernel-build --runs 1 --out build-without

# Redis; snapshots of a few keys, so that there are many in the shortest of windows
small=(--set keys=500 --set requests=20000)
# redis_as NAME LINE: a folder with a redis-server that does LINE before it becomes the real one
redis_as() {
	mkdir "$1" && printf '#!/bin/bash\n%s\nexec "%s" "$@"\n' "$2" "$(command -v redis-server)" > "$1/redis-server"
	chmod +x "$1/redis-server"
}
expect "no Redis" 77 "install redis-server" env PATH=/nonexistent "$sd" run redis-snapshot --runs 1 --out redis-without
if run redis redis-snapshot --set instances=2 "${small[@]}"; then
	between "redis: snapshots of two servers" 2 "$(value redis snapshots)" 100000
	between "redis: CPUs of servers" 1 "$(value redis server_cpus)" 100000
	between "redis: CPUs of load generators" 1 "$(value redis load_cpus)" 100000
	expect "redis: one CPU" 77 "needs two CPUs at least" "$sd" run redis-snapshot --runs 1 "${small[@]}" \
		--cpus "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" --out redis-one
	check "redis: all is undone" jq -se '.[-1].restored' redis/samples.jsonl
	between "redis: requests" 1 "$(value redis requests_per_s)" 1000000000
	# a second for each key: no snapshot ends
	redis_as endless 'set -- "$@" --rdb-key-save-delay 1000000'
	expect "redis: a snapshot that only began is none" 3 "no snapshot of server 0 came to its end" \
		env "PATH=$work/endless:$PATH" "$sd" run redis-snapshot --runs 1 --set keys=500 --set requests=500 --out endless.run
	# files of 16 KiB at most
	redis_as full 'ulimit -f 16'
	expect "redis: a snapshot that fails is said" 3 "a snapshot failed: free memory" \
		env "PATH=$work/full:$PATH" "$sd" run redis-snapshot --runs 1 --set keys=500 --set requests=100M --out full.run
	# the servers die with the run, and their folder with the next start
	"$sd" run redis-snapshot --runs 1 --set keys=2000 --set requests=100M --out killed > killed.log 2>&1 &
	pid=$!
	for _ in $(seq 200); do
		pgrep -f "redis-benchmark -s $shm/shootdown-$pid-" > /dev/null && break
		sleep 0.1
	done
	check "a folder while it runs" test -d "$shm/shootdown-$pid-0"
	kill -KILL "$pid"
	wait "$pid" 2> /dev/null
	for _ in $(seq 100); do
		pgrep -f "$shm/shootdown-$pid-" > /dev/null || break
		sleep 0.1
	done
	check "killed: no server is left" sh -c "! pgrep -f '$shm/[s]hootdown-$pid-'"
	# a worker that dies later than the servers has the journal's lock
	for _ in $(seq 100); do
		"$sd" restore > restored 2>&1
		[ -e "$shm/shootdown-$pid-0" ] || break
		sleep 0.1
	done
	check "killed: restore removes the folder" test ! -e "$shm/shootdown-$pid-0"
fi
if [ "$(id -u)" -eq 0 ]; then
	expect "nobody can run cow-snapshot" 0 "1 pass" setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
		"cd \$(mktemp -d) && '$sd' run cow-snapshot --runs 1 --set size=8M --set snapshots=2 --set save=write"
	if [ "$(outcome redis)" = pass ]; then
		expect "nobody can run redis-snapshot" 0 "1 pass" setpriv --reuid=65534 --regid=65534 --clear-groups \
			sh -c "cd \$(mktemp -d) && '$sd' run redis-snapshot --runs 1 ${small[*]}"
	else
		skip "nobody can run redis-snapshot" "the one before it did not run"
	fi
fi
finish
