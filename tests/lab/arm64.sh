#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# arm64 guests: their program, their kernels, what is counted in them, and an A/B of a bundled series.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
series=local-tlbi
start=$(date +%s)

if [ "$(uname -m)" != aarch64 ]; then
	command -v aarch64-linux-gnu-gcc > /dev/null && [ -f "$(dirname "$sd")/arm64/shootdown" ] ||
		{ skip "arm64 guests" "no aarch64-linux-gnu-gcc, or no program for them beside $sd (ci/build makes it)"; finish; }
fi
cd "$work" || exit 1

# --- kernels: every arm has the instrument, and is known by its key ----------------------------------------------------
"$sd" lab build "$series" > kernels 2> build.err || not_ok "the kernels of $series" "$(tail -n 3 build.err)"
check "$series has two kernels or more" test "$(cut -f 2 kernels | sort -u | wc -l)" -ge 2
check "every arm starts with the instrument" sh -c 'cut -f 2 kernels | while read -r image; do
	jq -e ".patches[0].file | contains(\"/count-tlbi/\")" "${image%image}key.json" || exit 1; done'
expect "the same kernels without the instrument have other keys" 0 "" "$sd" lab ab "$series" null --instrument none --dry-run
check "and no argument for it" sh -c '! grep -q vm.count_tlbi said'
first=$(head -n 1 kernels | cut -f 1) last=$(tail -n 1 kernels | cut -f 1)

# --- one guest: its CPUs, its IPIs, its PMU ---------------------------------------------------------------------------
expect "a guest with 4 CPUs" 0 "{" timeout 120 "$sd" lab boot "$series:$first" --cpus 4 --out guest -- shootdown check --json
sed -n '/^{/,$p' said > check.json
check "the greeting's kernel is the one that was built" jq -en --arg image "$(head -n 1 kernels | cut -f 2)" \
	'input | .kernel.key as $k | ($image | contains($k)) and (.kernel.version | startswith("#" + $k[0:12]))' guest/boot.json
check "boot.json names the instrument" jq -e '.instruments == "count-tlbi"' guest/boot.json
for row in 'perf:hardware events by CPU:ok:' 'perf:hardware events by task:ok:' \
	'interrupts:TLB:missing:' 'interrupts:CAL:ok:function calls' 'interrupts:RES:ok:rescheduling'; do
	IFS=: read -r area name status words <<< "$row"
	check "in the guest: $name: $status" jq -en --arg a "$area" --arg n "$name" --arg s "$status" --arg w "$words" \
		'input | any(.capabilities[]; .area == $a and .name == $n and .status == $s and (.detail | contains($w)))' check.json
done
expect "CXL memory is refused with its reason" 2 "no host bridge" "$sd" lab boot "$series:$first" --cxl 512M
expect "speeds of memory, too" 2 "leave latency and bandwidth out" "$sd" lab boot "$series:$first" --numa 'cpus=all,mem=256M;mem=256M,latency=300'

# --- the emulated PMU. 4 busy CPUs for 100 ms: with a clock of one nanosecond an instruction, 400 million -------------------
pmu() {
	timeout 120 "$sd" lab ab "$series" null --cpus 4 --boots 1 --runs 1 --set window=100ms --accel "$1" \
		--event instructions --event cycles --event instructions@task --out "pmu-$1" > "pmu-$1.txt" 2>&1 ||
		not_ok "a run with --accel $1" "$(tail -n 3 "pmu-$1.txt")"
	"$sd" compare "pmu-$1" --format json > "pmu-$1.json"
}
pmu icount
pmu tcg
for event in instructions cycles instructions@task; do
	check "$event under icount: ok" test "$(metric pmu-icount.json 0 "$event" "$first" status)" = ok
	between "$event under icount" 380000000 "$(metric pmu-icount.json 0 "$event" "$first" mean)" 440000000
done
check "cycles under tcg: ok" test "$(metric pmu-tcg.json 0 cycles "$first" status)" = ok
check "instructions under tcg: unsupported, not zero" test "$(metric pmu-tcg.json 0 instructions "$first" status)" = unsupported
expect "runs of two kinds of emulation are not compared" 2 "accelerator of the guest" "$sd" compare "pmu-icount/$first" "pmu-tcg/$first"

# --- the A/B: both arms count, and the arms differ where the series says so --------------------------------------------
storm='dontneed-storm --set dontneed-storm.threads=1'
"$sd" help dontneed-storm > /dev/null 2>&1 || storm=
# shellcheck disable=SC2086
expect "A/B of $series at 4 CPUs" 0 "" timeout 600 "$sd" lab ab "$series" pageout null $storm --cpus 4 --boots 1 --runs 2 \
	--set pageout.pages=512 --out ab
"$sd" compare ab --format json > ab.json
at() { jq --arg s "$1" '[.points[].stressor] | index($s)' ab.json; }
check "lab.json names the instrument" jq -e '.instruments == "count-tlbi" and .arch == "arm64" and .outcome == "pass"' ab/lab.json
check "so does machine.json" jq -e '.guest.instruments == "count-tlbi" and .arch == "aarch64"' "ab/$first/boot-1/machine.json"
for arm in "$first" "$last"; do
	check "$arm: TLBIs are counted" test "$(metric ab.json "$(at pageout)" tlbi_broadcast "$arm" status)" = ok
	check "$arm: local ones too" test "$(metric ab.json "$(at pageout)" tlbi_local "$arm" status)" = ok
	check "$arm: function call IPIs by their label" test "$(metric ab.json "$(at pageout)" call_ipis "$arm" status)" = ok
	check "$arm: no row of TLB IPIs: unsupported" test "$(metric ab.json "$(at pageout)" remote_ipis "$arm" status)" = unsupported
	between "$arm: pages reclaimed" 500 "$(metric ab.json "$(at pageout)" pages_reclaimed "$arm" mean)" 512
done
# a page that is swapped out was primed on every CPU: it takes a broadcast on either kernel
between "broadcasts of pageout, $first" 500 "$(metric ab.json "$(at pageout)" tlbi_broadcast "$first" mean)" 2100
if [ -n "$storm" ]; then
	before=$(metric ab.json "$(at dontneed-storm)" tlbi_broadcast "$first" mean)
	check "one thread: broadcasts, $first" test "${before%.*}" -ge 1000
	between "one thread: broadcasts, $last, at most a hundredth" 0 \
		"$(metric ab.json "$(at dontneed-storm)" tlbi_broadcast "$last" mean)" "$(awk -v n="$before" 'BEGIN { print n / 100 }')"
fi

cp -r "ab/$last" without
rm without/boot-1/checksums
jq '.guest.instruments = null' "ab/$last/boot-1/machine.json" > without/boot-1/machine.json
expect "a kernel without the instrument is not compared" 2 "--allow instruments" "$sd" compare "ab/$first" without
expect "unless it is allowed" 0 "instrument of the kernel: " "$sd" compare "ab/$first" without --allow instruments

# --- the published table, and what the exit code says of it -------------------------------------------------------------
reproduce() { timeout 600 "$sd" reproduce "$series" --cpus 4 --scale 0.25 --boots 1 --runs 1 --out table; }
expect "reproduce all tests of $series at 4 CPUs" 0 "at least" reproduce
check "the sweep's steps for larger machines are named" grep -q "threads=8 needs more than 4 CPUs" "$work/said"
check "published changes stand beside any number of CPUs" grep -Eq "3 kernel-build .*-2.2%" "$work/said"
check "Redis is skipped in a guest, with what to do" grep -q "run redis-snapshot on hardware" "$work/said"
expect "where all is skipped, the exit code says so" 77 "install redis-server" timeout 300 "$sd" reproduce "$series" \
	--test 4 --cpus 4 --scale 0.25 --boots 1 --runs 1 --out table
# a kernel that no longer broadcasts for threads on several CPUs: its rule is broken
rm "table/test-2-4-cpus/$last/boot-1/checksums"
sed -i '/"metric":"tlbi_broadcast"/s/"value":[0-9.e+]*/"value":0/' "table/test-2-4-cpus/$last/boot-1/samples.jsonl"
expect "an arm that breaks a rule is exit code 1" 1 "differ" reproduce
sed -i '/"metric":"tlbi_broadcast"/s/"status":"ok","value":0/"status":"unsupported","reason":"made for a test"/' \
	"table/test-2-4-cpus/$last/boot-1/samples.jsonl"
expect "a rule without a number is no success" 3 "could not be judged" reproduce

# --- two nodes ---------------------------------------------------------------------------------------------------------
expect "pages move between nodes" 0 "2 pass" timeout 300 "$sd" lab boot "$series:$first" --cpus 4 --numa 2 -- \
	shootdown run move-pages migrate-active --runs 1 --set pages=2048
echo "# $(($(date +%s) - start)) s"
finish
