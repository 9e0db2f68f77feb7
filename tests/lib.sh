# SPDX-License-Identifier: GPL-2.0-only
# For tests in shell: one line a test, "ok - NAME", "not ok - NAME" or "skip - NAME # REASON",
# which ci/check counts. The exit status is what automake wants: 0, 1, or 77 when all were skipped.

# The program under test. Series and published tables are found beside it.
: "${SHOOTDOWN:?set it to the shootdown program under test}"
passed=0 failed=0 skipped=0
work=$(mktemp -d)
cleanup() { rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

ok() { passed=$((passed + 1)); echo "ok - $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok - $1"; shift; [ $# -eq 0 ] || printf '#   %s\n' "$@"; }
skip() { skipped=$((skipped + 1)); echo "skip - $1 # $2"; }

# check NAME COMMAND...: the command must succeed
check() {
	name=$1; shift
	if "$@" > "$work/output" 2>&1; then ok "$name"; else not_ok "$name" "$(tail -n 5 "$work/output")"; fi
}

# expect NAME CODE WORDS COMMAND...: the exit code must be CODE, and WORDS (a fixed string) must be
# said; what was said stays in $work/said
expect() {
	name=$1 code=$2 words=$3 got=0; shift 3
	"$@" > "$work/said" 2>&1 || got=$?
	if [ "$got" -ne "$code" ]; then
		not_ok "$name" "exit code $got, not $code" "$(tail -n 5 "$work/said")"
	elif ! grep -qF -- "$words" "$work/said"; then
		not_ok "$name" "not said: $words" "$(tail -n 5 "$work/said")"
	else
		ok "$name"
	fi
}

# between NAME LOW VALUE HIGH
between() {
	if awk -v l="$2" -v v="$3" -v h="$4" 'BEGIN { exit !(v != "" && v + 0 >= l && v + 0 <= h) }'; then
		ok "$1: $3 is within $2 to $4"
	else
		not_ok "$1: ${3:-no value} is not within $2 to $4"
	fi
}

# metric FILE POINT METRIC ARM FIELD: one number of a comparison's JSON
metric() {
	jq -r --argjson p "$2" --arg m "$3" --arg a "$4" --arg f "$5" \
		'.points[$p].metrics[] | select(.name == $m) | .arms[] | select(.arm == $a) | .[$f]' "$1"
}

finish() {
	[ "$failed" -eq 0 ] || exit 1
	[ "$passed" -gt 0 ] || exit 77
	exit 0
}
