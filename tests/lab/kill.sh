#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tests/integration/kill.sh in a guest, with cgroup v2: twenty seeded moments beside a swap and a cgroup that were there
# before, and some with nothing there, when the memory controller has to be turned off again.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
busybox=$(command -v busybox)
if [ -z "$busybox" ]; then
	skip "SIGKILL and restore in a guest" "busybox is not installed"
	finish
fi
# in_guest NAME MOMENTS OTHERS
in_guest() {
	"$sd" lab boot batched-stale-cpus:baseline --cpus 4 --memory 1G --timeout 10m --out "$work/$1" \
		--add "$busybox" --add "$top/tests/lib.sh" --add "$top/tests/integration/kill.sh" -- busybox sh -c \
		"busybox --install -s /bin; MOMENTS=$2 OTHERS=$3 METHOD=memcg SHOOTDOWN=/bin/shootdown LIB=/bin/lib.sh sh /bin/kill.sh" \
		> "$work/$1.output" 2> "$work/$1.log"
	grep -E '^(ok|not ok|skip|#)' "$work/$1.output" | sed "s/ - / - $1: /"
	passed=$((passed + $(grep -c '^ok ' "$work/$1.output")))
	failed=$((failed + $(grep -c '^not ok ' "$work/$1.output")))
	[ "$(grep -c '^ok ' "$work/$1.output")" -ge "$2" ] || not_ok "$1: $2 moments" "$(tail -n 5 "$work/$1.log")"
}
in_guest beside-others 20 yes
in_guest alone 5 ""
finish
