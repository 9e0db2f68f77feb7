#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tests/integration/kill.sh in a guest, with cgroup v2: twenty seeded moments.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
busybox=$(command -v busybox)
if [ -z "$busybox" ]; then
	skip "SIGKILL and restore in a guest" "busybox is not installed"
	finish
fi
"$sd" lab boot batched-stale-cpus:baseline --cpus 4 --memory 1G --timeout 10m --out "$work/guest" \
	--add "$busybox" --add "$top/tests/lib.sh" --add "$top/tests/integration/kill.sh" -- \
	busybox sh -c 'busybox --install -s /bin; MOMENTS=20 METHOD=memcg SHOOTDOWN=/bin/shootdown LIB=/bin/lib.sh sh /bin/kill.sh' \
	> "$work/output" 2> "$work/log"
grep -E '^(ok|not ok|skip|#)' "$work/output"
passed=$(grep -c '^ok ' "$work/output")
failed=$(grep -c '^not ok ' "$work/output")
[ "$passed" -ge 20 ] || { not_ok "twenty moments in a guest" "$(tail -n 5 "$work/log")"; }
finish
