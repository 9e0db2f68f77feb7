#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command line: help for everything, and each kind of bad input refused with what to do.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
cd "$work" || exit 1

for command in list check run compare restore lab reproduce help; do
	expect "help of $command" 0 "Usage: shootdown $command" "$sd" "$command" --help
done
for command in fetch build boot ab; do
	expect "help of lab $command" 0 "Usage: shootdown lab $command" "$sd" lab "$command" --help
done
for stressor in $("$sd" list --json | jq -r '.stressors[].name'); do
	expect "help of stressor $stressor" 0 "Stressor $stressor" "$sd" help "$stressor"
done
expect "version" 0 "shootdown 0" "$sd" --version
expect "no command" 2 "Usage:" "$sd"
expect "unknown command" 2 'did you mean "compare"' "$sd" compere
expect "unknown lab command" 2 'did you mean "boot"' "$sd" lab boots

expect "list as JSON" 0 '"schema": "shootdown-list"' "$sd" list --json
mkdir -p "$work/cache/shootdown/emulator"
printf '#!/bin/sh\necho "QEMU emulator version 10.9.9 (shootdown)"\n' > "$work/cache/shootdown/emulator/qemu-system-x86_64"
chmod +x "$work/cache/shootdown/emulator/qemu-system-x86_64"
expect "check finds the emulator that the lab would take" 0 "version 10.9.9-shootdown" \
	env XDG_CACHE_HOME="$work/cache" "$sd" check
check "and makes nothing" test "$(ls "$work/cache/shootdown")" = emulator
cp "$sd" "$work/alone"
expect "check misses the program for guests of another architecture" 0 "guests need a shootdown built for them" "$work/alone" check
expect "a stressor's help, behind its name" 0 "Stressor pageout:" "$sd" run pageout --help
expect "a value twice" 2 "has the value \"4\" twice" "$sd" run null --dry-run --set pages=4,8,4
expect "an option twice" 2 "is set twice" "$sd" run null --dry-run --set pages=4 --set null.pages=8
expect "an event twice" 2 "given twice" "$sd" run null --dry-run --event page-faults --event page-faults
expect "a series of another architecture" 2 "series batched-stale-cpus is for x86_64, not for arm64" \
	"$sd" lab build batched-stale-cpus --arch arm64
expect "a test that there is not" 2 "has no test \"9\"" "$sd" reproduce batched-stale-cpus --test 9 --out "$work/none"
check "and no folder is made" test ! -e "$work/none"
for script in check setup emulator; do
	expect "ci/$script refuses what it does not know" 2 "usage: ci/$script" \
		sh -c 'exec "$0" --nonsense' "$SHOOTDOWN_FIXTURES/../../ci/$script"
done
expect "check as JSON" 0 '"schema": "shootdown-check"' "$sd" check --json
"$sd" list > table
check "list is no wider than a terminal" awk 'length > 100 { exit 1 }' table
check "JSON of list parses" sh -c "'$sd' list --json | jq -e '.stressors | length >= 3'"
check "JSON of check parses" sh -c "'$sd' check --json | jq -e '.capabilities | length > 10'"

expect "unknown stressor" 2 'did you mean "pageout"' "$sd" run pagout
expect "no stressor" 2 "name at least one stressor" "$sd" run
expect "unknown option of run" 2 'did you mean "runs"' "$sd" run null --rums 3
expect "unknown option of a stressor" 2 'did you mean "pages"' "$sd" run pageout --set pagse=3
expect "value out of range" 2 "1 to" "$sd" run null --set pages=0
expect "value of another type" 2 "whole number" "$sd" run null --set pages=many
expect "a node that is none" 2 "a node's number or auto" "$sd" run move-pages --set to=x
expect "choice that there is not" 2 "one of spin, idle, kernel" "$sd" run null --set neighbours=x
expect "CPUs that there are not" 2 "usable are" "$sd" run null --cpus 100000 --out "$work/cpus"
expect "unknown counter" 2 'did you mean "tlb_flush"' "$sd" run null --counter tlb_flsh
expect "unknown event" 2 "page-faul" "$sd" run null --event page-faulst

mkdir -p full && touch full/something
expect "a folder that is not empty" 2 "full" "$sd" run null --out full
check "and what was in it stays" test -e full/something

expect "a dry run prints the plan" 0 '"predicted": 81920000' "$sd" run pageout --set pages=40960000 --cpus 0-2 --dry-run
check "and runs nothing" sh -c "! ls -d shootdown-run-* 2> /dev/null"

expect "compare nothing" 2 "baseline first" "$sd" compare
expect "compare one run" 2 "" "$sd" compare "$SHOOTDOWN_FIXTURES/runs/$(ls "$SHOOTDOWN_FIXTURES/runs" | head -n 1)"
expect "compare a foreign folder" 2 "/etc" "$sd" compare /etc /etc

expect "man page" 0 ".TH SHOOTDOWN" "$sd" help --format man
"$sd" help --format man > page.1
if command -v man > /dev/null; then
	check "the man page has no roff errors" sh -c \
		"LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z page.1 2>&1 > /dev/null | (! grep .)"
else
	skip "the man page has no roff errors" "man is not installed"
fi
"$sd" help --format bash > completion
complete_words() {
	bash -c 'source completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shootdown; echo "${COMPREPLY[@]}"' \
		bash "$@"
}
check "completion of commands" test "$(complete_words shootdown comp)" = compare
check "completion of stressors" test "$(complete_words shootdown run pageo)" = pageout
check "completion of lab commands" test "$(complete_words shootdown lab bu)" = build
check "completion of options" test "$(complete_words shootdown run pageout --dur)" = --duration
check "completion of choices" test "$(complete_words shootdown compare a --format mark)" = markdown
check "completion of choices after =" test "$(complete_words shootdown export a --format = k)" = "kcidb ktap"
check "completion of all" test "$(complete_words shootdown run al)" = all
check "completion of series" test "$(complete_words shootdown lab ab batched)" = batched-stale-cpus
check "completion of a stressor's options" test "$(complete_words shootdown run pageout --set metho)" = method=
check "and of no other's" test "$(complete_words shootdown run null --set metho)" = ""
check "completion of their values" test "$(complete_words shootdown run pageout --set method =)" = "madvise memcg"
check "completion of a part of a value" test "$(complete_words shootdown run pageout --set method = ma)" = madvise
finish
