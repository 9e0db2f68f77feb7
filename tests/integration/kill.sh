#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SIGKILL at seeded moments of a run on this machine: after restore, swaps, zram devices,
# cgroups and knobs are as before. (tests/lab/kill.sh does it in a guest, with cgroup v2
# and the shell of busybox.)
. "${LIB:-$(dirname "$0")/../lib.sh}"
sd=$SHOOTDOWN
moments=${MOMENTS:-10} seed=${SEED:-1}
method=${METHOD:-madvise}
cd "$work" || exit 1

if [ "$(id -u)" -ne 0 ] || [ ! -e /sys/class/zram-control/hot_add ]; then
	skip "SIGKILL and restore" "needs root and zram"
	finish
fi

state() {
	cat /proc/swaps
	for device in /sys/block/zram*; do
		[ -e "$device" ] && echo "$device $(cat "$device/disksize")"
	done
	find /sys/fs/cgroup -maxdepth 2 -name 'shootdown*'
	cat /sys/fs/cgroup/shootdown-not/memory.max 2> /dev/null
	cat /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null
	cat /proc/sys/vm/swappiness
	grep -ls '"kind":"zram"' /run/shootdown/*.journal
	taskset -p $$ 2> /dev/null
}

# what was there before: another swap on zram with something in it, another cgroup
if [ -n "${OTHERS:-}" ]; then
	other=$(cat /sys/class/zram-control/hot_add)
	echo 16M > "/sys/block/zram$other/disksize"
	mkswap "/dev/zram$other" > /dev/null && swapon "/dev/zram$other"
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/shootdown-not
	echo 100M > /sys/fs/cgroup/shootdown-not/memory.max
fi

"$sd" restore > /dev/null 2>&1
mkdir -p -m 700 /run/shootdown
before=$(state)
i=0
for delay in $(awk -v n="$moments" -v s="$seed" 'BEGIN { srand(s); while (n--) print int(rand() * 400) }'); do
	i=$((i + 1))
	"$sd" run pageout --duration 60s --set pages=2048 --set method="$method" --out "kill-$i" > log 2>&1 &
	pid=$!
	# the clock starts when the first change is in the journal
	for _ in $(seq 200); do
		grep -qs '"do"' /run/shootdown/*.journal && break
		sleep 0.01
	done
	sleep "$(printf '0.%03d' "$delay")"
	kill -KILL "$pid"
	wait "$pid" 2> /dev/null
	"$sd" restore > restored 2>&1
	code=$?
	after=$(state)
	if [ "$before" = "$after" ] && [ "$code" -eq 0 ]; then
		ok "killed $delay ms after the first change: restored"
	else
		not_ok "killed $delay ms after the first change: restored" "before: $before" "after: $after" \
			"$(cat restored)"
	fi
done
"$sd" run pageout --duration 60s --set pages=2048 --set method="$method" --out last > log 2>&1 &
pid=$!
for _ in $(seq 200); do grep -qs '"did"' /run/shootdown/*.journal && break; sleep 0.01; done
kill -KILL "$pid"; wait "$pid" 2> /dev/null
expect "the next run's start undoes it as well" 0 "undid what 1 killed run left" \
	"$sd" run null --runs 1 --set pages=64 --out next
check "all is as before" test "$before" = "$(state)"
finish
