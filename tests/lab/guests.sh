#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Guests that go wrong, and input that is wrong: recognised, named, nothing left behind.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
top=$(cd "$(dirname "$0")/../.." && pwd)
series=$top/patches/x86/batched-stale-cpus
kernel=$("$sd" lab build batched-stale-cpus --arm baseline 2> /dev/null | cut -f 2)
cd "$work" || exit 1

expect "a command in a guest" 0 "shootdown 0" "$sd" lab boot "$kernel" --cpus 2 --out "$work/g1" -- shootdown --version
expect "its exit code comes back" 2 "did you mean" "$sd" lab boot "$kernel" --cpus 2 --out "$work/g2" -- shootdown run nul
expect "every counter in a guest, with debugfs" 0 "1 pass" "$sd" lab boot "$kernel" --cpus 2 --out "$work/g8" -- \
	shootdown run null --runs 1 --set pages=64 --counter all
expect "a command's record knows that it is a guest's" 0 "time_ms (emulated)" "$sd" lab boot "$kernel" --cpus 2 \
	--accel tcg --out "$work/g11" -- shootdown run null --runs 1 --set pages=64
check "and which kernel's" grep -q "^baseline: kernel\|^image: kernel" "$work/said"
expect "the check command in a guest" 0 "memory.reclaim" "$sd" lab boot "$kernel" --cpus 2 --out "$work/g3"

# mixed loads: what is skipped leaves its CPU to a neighbour, in every repetition (512 pages, 3 other CPUs)
ipis() { jq -c "[.points[] | .metrics[] | select(.name == \"remote_ipis\") | $1]" "$2"; }
"$sd" lab boot "$kernel" --cpus 4 --memory 1G --out "$work/g9" -- \
	shootdown run pageout move-pages --interleave --runs 3 --set pages=512 --json > one.json 2> one.log
check "a mix without the point that is skipped: all neighbours are there" test \
	"$(ipis '.arms[0].samples[] | . >= 1530 and . <= 1600' one.json)" = "[true,true,true]"
check "and the counts are the point's own" test "$(ipis '.shared' one.json) $(jq -c .mixes one.json)" = "[false,false] []"
"$sd" lab boot "$kernel" --cpus 4 --numa 2 --memory 1G --out "$work/g10" -- \
	shootdown run pageout move-pages --interleave --runs 2 --set pages=512 --json > two.json 2> two.log
check "two points of a mix pass" test "$(jq -c '[.points[].outcomes[0].pass]' two.json)" = "[2,2]"
check "and have their counts in common" test \
	"$(ipis '.shared' two.json) $(jq -c '[.mixes[].points]' two.json)" = "[true,true] [[0,1]]"

busybox=$(command -v busybox)
if [ -n "$busybox" ]; then
	expect "a panic is named" 1 "panic" "$sd" lab boot "$kernel" --cpus 2 --out "$work/g4" --add "$busybox" -- \
		busybox sh -c 'echo c > /proc/sysrq-trigger'
	check "its console is kept" grep -q "sysrq" "$work/g4/console.log"
	expect "output that is no text comes through" 0 "2 bytes" sh -c "'$sd' lab boot '$kernel' --cpus 2 --out '$work/g12' \
		--add '$busybox' -- busybox printf 'a\\0' | wc -c | sed 's/$/ bytes/'"
	expect "a command that does not end" 1 "not done after 5 s" "$sd" lab boot "$kernel" --cpus 2 --timeout 5s --out "$work/g5" --add "$busybox" -- \
		busybox sleep 600
else
	skip "panics and hangs" "busybox is not installed"
fi
expect "what is not UTF-8 is refused" 2 "are the command and --append UTF-8?" "$sd" lab boot "$kernel" --cpus 1 \
	--append "$(printf 'x=\377')" --out "$work/g13" -- shootdown --version
head -c 100000 /dev/urandom > noise
expect "an image that is none" 2 "noise" "$sd" lab boot "$work/noise" --cpus 1 --out "$work/g6"
expect "an image that is not there" 2 "no-such" "$sd" lab boot ./no-such-image --out "$work/g7"

expect "unknown series" 2 'did you mean "batched-stale-cpus"' "$sd" lab ab batched-stale-cpu pageout --cpus 2
expect "unknown stressor" 2 'did you mean "pageout"' "$sd" lab ab batched-stale-cpus pagout --cpus 2
expect "unknown arm" 2 'did you mean "patched"' "$sd" lab build batched-stale-cpus --arm pached
expect "too many CPUs" 2 "512" "$sd" lab ab batched-stale-cpus pageout --cpus 513
mkdir full && touch full/x
expect "a folder that is not empty" 2 "full" "$sd" lab ab batched-stale-cpus null --cpus 2 --out full

sed 's/inc_mm_tlb_gen(mm)/inc_mm_tlb_gone(mm)/' "$series"/0001-*.patch > misfit.patch
expect "a patch that does not apply: which patch, file and kernel" 2 "arch/x86/include/asm/tlbflush.h" \
	"$sd" lab build batched-stale-cpus --arm "misfit=$work/misfit.patch"
check "it names the patch" grep -q "misfit.patch" said
check "it names the kernel" grep -q "7\.3" said
cat > nocompile.patch <<'END'
Does not compile.
---
--- a/init/version.c
+++ b/init/version.c
@@ -1,3 +1,4 @@
+this is no C
 // SPDX-License-Identifier: GPL-2.0-only
 /*
  *  linux/init/version.c
END
expect "a kernel that does not build: last lines" 3 "this is no C" \
	"$sd" lab build batched-stale-cpus --arm "nocompile=$work/nocompile.patch"
check "and where the log is" grep -q "build.log" said
expect "an option that does not exist" 2 "CONFIG_NO_SUCH_THING" sh -c \
	"echo CONFIG_NO_SUCH_THING=y > x.config; '$sd' lab build batched-stale-cpus --arm baseline --config x.config"
expect "after all that the tree is whole: nothing is rebuilt" 0 "baseline" timeout 20 "$sd" lab build batched-stale-cpus
check "no guest is left" sh -c "! pgrep -f '[q]emu-system.*$work'"
finish
