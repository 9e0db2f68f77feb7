#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a table claims: an A/B of 6 boots an arm finds the effect, with an interval; an A/A of the same finds none, as it
# is and in 20 seeded resamplings of its boots.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
start=$(date +%s)
plan="pageout --cpus 16 --boots 6 --runs 2 --set pages=1024"

# shellcheck disable=SC2086
expect "A/B of 6 boots an arm" 0 "" "$sd" lab ab batched-stale-cpus $plan --out "$work/ab"
# shellcheck disable=SC2086
expect "A/A of 6 boots an arm" 0 "ran the same kernel" "$sd" lab ab batched-stale-cpus $plan --aa --out "$work/aa"
echo "# $(($(date +%s) - start)) s"
"$sd" compare "$work/ab" | sed 's/^/# /'
"$sd" compare "$work/aa" | sed 's/^/# /'

"$sd" compare "$work/ab" --format json > "$work/ab.json"
ipis() { jq -r --arg f "$1" '.points[0].metrics[] | select(.name == "remote_ipis") | .arms[1] | getpath($f / ".")' "$work/ab.json"; }
check "IPIs are better" test "$(ipis verdict)" = better
check "by a test" test "$(ipis basis)" = mann-whitney
between "corrected p" 0 "$(ipis p_holm)" 0.05
between "ratio" "$(ipis interval.low)" "$(ipis ratio)" "$(ipis interval.high)"
between "the interval's end" 0 "$(ipis interval.high)" 0.01
between "what the interval covers" 0.95 "$(ipis interval.level)" 0.97

# How many primary metrics of FOLDER... are said to differ.
called() { "$sd" compare "$@" --format json | jq '[.points[].metrics[] | select(.primary) | .arms[1].verdict
	| select(. == "better" or . == "worse" or . == "changed")] | length'; }
check "with the A/A as noise floor IPIs are still better" sh -c \
	"'$sd' compare '$work/ab' --noise-floor '$work/aa' --format json | jq -e '.points[0].metrics[] | select(.name == \"remote_ipis\") |
	.arms[1] | .verdict == \"better\" and .noise < 1000'"

# resampled FOLDER: of 20 pairs of arms drawn anew, with replacement, from all 12 boots of an A/A: in how many
# no difference is called
resampled() {
	none=0
	for seed in $(seq 20); do
		rm -rf "$work/one" "$work/two"
		mkdir "$work/one" "$work/two"
		k=0
		for boot in $(awk -v s="$seed" 'BEGIN { srand(s); for (i = 0; i < 12; i++) print int(rand() * 12) }'); do
			k=$((k + 1))
			arm=baseline; [ "$boot" -lt 6 ] || arm=baseline-again
			to=$work/one; [ $k -le 6 ] || to=$work/two
			cp -r "$1/$arm/boot-$((boot % 6 + 1))" "$to/boot-$k"
		done
		[ "$(called "$work/one" "$work/two")" = 0 ] && none=$((none + 1))
	done
	echo "$none"
}

# A test at 0.05 is wrong once in twenty times, that is its meaning: what it calls is believed when
# boots made anew call it as well.
calls=$(called "$work/aa") none=$(resampled "$work/aa")
if [ "$calls" != 0 ] || [ "$none" -lt 19 ]; then
	echo "# the first A/A called $calls differences, $none of 20 resamplings none: made again"
	# shellcheck disable=SC2086
	"$sd" lab ab batched-stale-cpus $plan --aa --seed 2 --out "$work/again" > /dev/null 2>&1
	calls=$(called "$work/again") none=$(resampled "$work/again")
fi
check "A/A: no difference is called" test "$calls" = 0
between "A/A resamplings without a difference" 19 "$none" 20
finish
