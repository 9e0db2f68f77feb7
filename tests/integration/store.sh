#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The index and the store through the program: two writers at once, SIGKILL while it writes,
# a rebuild, a changed file, hostile archives, exports read by others, trends.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
here=$(cd "$(dirname "$0")" && pwd)
cd "$work" || exit 1
export XDG_DATA_HOME="$work/data"
fixtures=$SHOOTDOWN_FIXTURES/runs

# make_runs FOLDER COUNT VALUE: runs of one night each, from the fixture baseline
make_runs() {
	for i in $(seq "$2"); do
		mkdir -p "$1/$i"
		cp "$fixtures/baseline/machine.json" "$fixtures/baseline/plan.json" "$1/$i/"
		awk -v i="$i" -v v="$3" '{
			gsub(/17900000000000/, sprintf("1790%06d0000", i * 9))
			gsub(/614[0-9]0\.0/, v + (i * 7919) % 13)
			print
		}' "$fixtures/baseline/samples.jsonl" > "$1/$i/samples.jsonl"
	done
}

# whatever its outcome on a busy machine, the run comes to its end
"$sd" run null --runs 2 --set pages=64 --set window=20ms --out one > /dev/null 2>&1
check "a run that came to its end has checksums" test -s one/checksums
check "which sha256sum reads" sh -c "cd one && sha256sum -c checksums"
cp -r one changed
sed -i 's/"value":1/"value":2/; s/"seconds":0/"seconds":9/' changed/samples.jsonl
expect "a changed file is named by export" 2 "samples.jsonl was changed after the run" "$sd" export changed
expect "and by compare" 2 "samples.jsonl was changed after the run" "$sd" compare one changed
expect "and by import" 3 "samples.jsonl was changed after the run" "$sd" import changed

for command in export import trend; do
	expect "help of $command" 0 "Usage: shootdown $command" "$sd" "$command" --help
done
for command in import ls show rm gc rebuild; do
	expect "help of db $command" 0 "Usage: shootdown db $command" "$sd" db "$command" --help
done
if ! "$sd" db ls > /dev/null 2>&1; then
	expect "without SQLite db says what to install" 3 "libsqlite3-dev" "$sd" db ls
	expect "and so does trend" 3 "libsqlite3-dev" "$sd" trend --stressor null --metric time_ms
	finish
fi

expect "db import names the changed run and takes the other" 3 "1 new, 0 changed, 0 known, 1 damaged" \
	"$sd" db import one changed
id=$("$sd" db ls --format json | jq -r '.runs[0].id')
expect "db show" 0 "\"id\": \"$id\"" "$sd" db show "${id:0:5}"
expect "compare takes an id" 0 "change" "$sd" compare "$id" one
expect "export takes an id" 0 "$id" "$sd" export "$id"
expect "an id that there is not" 2 "has no run" "$sd" compare 00000000 one
expect "db rm keeps the folder" 0 "stays" "$sd" db rm "$id"
check "as it was" test -e one/samples.jsonl
"$sd" -q db import one > /dev/null
touch one/mine
expect "db rm --files keeps what is not its own" 2 "mine" "$sd" db rm --files "$id"
check "all of it" test -e one/samples.jsonl
rm one/mine
check "db rm --files" "$sd" db rm --files "$id"
check "removes the folder" test ! -e one

rm -rf changed data/shootdown
make_runs many 60 61000
"$sd" db import many > first 2>&1 & one=$!
"$sd" db import many > second 2>&1 & two=$!
status=0
wait $one || status=$?
wait $two || status=$?
check "two writers at once both end well" test "$status" -eq 0
list() { "$sd" db ls --limit 0 --format json "$@"; }
check "and each run is there once" test "$(list | jq '[.runs[].id] | length == 60 and (unique | length) == 60')" = true
list > imported
expect "a rebuild" 0 "60 runs, 0 damaged" "$sd" db rebuild
list > rebuilt
check "gives what the imports gave" cmp imported rebuilt

# SIGKILL at seeded moments of an import and of a rebuild; then the rest is taken in
killed_index() {
	rm -rf data/shootdown
	for delay in $(awk 'BEGIN { srand(3); for (i = 0; i < 8; i++) print int(rand() * 60) }'); do
		"$sd" -q db import many > /dev/null 2>&1 & pid=$!
		sleep "$(printf '0.%03d' "$delay")"
		kill -KILL $pid 2> /dev/null
		wait $pid 2> /dev/null
		"$sd" -q db ls > /dev/null || return 1
	done
	"$sd" -q db import many > /dev/null || return 1
	for delay in 5 20 40; do
		"$sd" -q db rebuild > /dev/null 2>&1 & pid=$!
		sleep "$(printf '0.%03d' "$delay")"
		kill -KILL $pid 2> /dev/null
		wait $pid 2> /dev/null
		list | cmp - imported || return 1
	done
}
check "SIGKILL in mid-import and mid-rebuild leaves a sound index" killed_index
check "whose rows are those of the folders" sh -c "'$sd' db ls --limit 0 --format json | cmp - imported"

mv many/7 many/8 .
expect "db gc drops what is gone" 0 "2 dropped" "$sd" db gc
mv 7 8 many/
"$sd" -q db import many > /dev/null
head -c 4096 /dev/urandom | dd of=data/shootdown/index.db bs=4096 seek=1 conv=notrunc 2> /dev/null
rm -f data/shootdown/index.db-wal
expect "a damaged index is made anew" 0 "60 runs, 0 damaged" "$sd" db rebuild many
check "as it was" sh -c "'$sd' db ls --limit 0 --format json | cmp - imported"

expect "select by parameter and date" 0 "pageout" \
	"$sd" db ls --stressor pageout --set pages=4096 --since 2026-01-01 --machine 'QEMU*'
check "select what there is not" test "$(list --set pages=1 | jq '.runs | length')" = 0
expect "a bad date" 2 "is no date" "$sd" db ls --since yesterday

expect "a steady metric did not move" 0 "no change in 60 runs" "$sd" trend --stressor pageout --metric remote_ipis
make_runs late 70 61000
make_runs later 75 45000
for i in $(seq 70); do rm -rf "later/$i"; done
for i in $(seq 60); do rm -rf "late/$i"; done
"$sd" -q db import late later > /dev/null
expect "a step is a change, exit status 1" 1 "better" "$sd" trend --stressor pageout --metric remote_ipis
check "found in its night" test "$("$sd" trend --stressor pageout --metric remote_ipis --format json |
	jq '.series[0] | [.values[].value < 50000] | index(true)')" = 70
check "and said so" test "$("$sd" trend --stressor pageout --metric remote_ipis --format json |
	jq -r '.series[0] as $s | $s.changes[0].run == $s.values[70].run')" = true
expect "a change below --least is none" 0 "no change" \
	"$sd" trend --stressor pageout --metric remote_ipis --least 50
expect "too few nights" 77 "too few" "$sd" trend --stressor pageout --metric remote_ipis --last 5
expect "no such metric" 77 "no run in the index" "$sd" trend --stressor pageout --metric nothing
expect "trend needs a metric" 2 "needs --stressor and --metric" "$sd" trend --stressor pageout

# a lab folder, packed on another machine
cp -r "$fixtures/lab" ab
tar -cJf ab.tar.xz ab
expect "an archive is imported" 0 "data/shootdown/runs/" "$sd" import ab.tar.xz
expect "once" 0 "(was there)" "$sd" import ab
check "and is in the index" test "$(list --arm patched-first | jq '.runs | length')" -ge 2
expect "a rebuild finds the store" 0 "78 runs" "$sd" db rebuild
mkdir evil && cp "$fixtures"/baseline/* evil/
hostile() { # NAME WORDS TAR-ARGUMENT...
	name=$1 words=$2; shift 2
	tar -cf evil.tar "$@" 2> /dev/null
	expect "hostile archive: $name" 3 "$words" "$sd" import evil.tar
}
hostile "absolute name" "absolute name" -P "$work/evil/plan.json"
hostile "name that leads out" "leads out" --transform 's|^evil|../evil|' evil
hostile "name that leads out, deeper" "leads out" --transform 's|^evil|evil/../../evil|' evil
ln -s /etc/passwd evil/boot.json
hostile "symbolic link" "neither a plain file" evil
rm evil/boot.json; ln evil/plan.json evil/boot.json
hostile "hard link" "neither a plain file" evil
rm evil/boot.json; echo exit > evil/run.sh
hostile "foreign file" "no file of a run" evil
check "nothing of them is left" sh -c "! ls -A data/shootdown/runs | grep -q import && ! ls ../evil 2> /dev/null"

"$sd" -q export "$fixtures/patched" "$fixtures/skipped" "$fixtures/more-points" --format ktap > out.ktap
kunit=${KUNIT:-}
for tree in "$kunit" "${KERNEL_SOURCE:-/nonexistent}/tools/testing/kunit" /usr/src/linux*/tools/testing/kunit \
	"${XDG_CACHE_HOME:-$HOME/.cache}"/shootdown/trees/*/src/tools/testing/kunit; do
	[ -e "$tree/kunit_parser.py" ] && kunit=$tree && break
done
if [ -n "$kunit" ] && python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2> /dev/null; then
	check "the kernel's parser reads the KTAP" test "$(python3 "$here/ktap.py" "$kunit" out.ktap)" = "5 1 2 0"
else
	skip "the kernel's parser reads the KTAP" "needs python3 and a kernel tree: KERNEL_SOURCE, or one that the lab unpacked"
fi
"$sd" -q export "$fixtures/lab" --format kcidb > out.json
check "KCIDB: a submission" jq -e '.version == {major: 5, minor: 3} and (.tests | length) > 10' out.json
"$sd" -q export "$fixtures/baseline" --format json > out.json
check "JSON: all samples" test "$(jq '.runs[0].samples | length' out.json)" = 15
finish
