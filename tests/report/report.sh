#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Cover letters: within 72 columns whatever the names. Reports: self-contained, escaped,
# readable without seeing or a mouse, and shown by a browser without complaints.
. "$(dirname "$0")/../lib.sh"
sd=$SHOOTDOWN
here=$(cd "$(dirname "$0")" && pwd)
runs=$SHOOTDOWN_FIXTURES/runs
cd "$work" || exit 1

# rename FOLDER FILTER: a copy of a run, its machine.json changed by a filter of jq
rename() {
	cp -r "$runs/$1" "$2" && jq "$3" "$runs/$1/machine.json" > "$2/machine.json"
}
narrow() { LC_ALL=C awk 'length > 72 { print; bad = 1 } END { exit bad }' "$1"; }
ascii() { ! LC_ALL=C grep -q '[^ -~]' "$1"; }

# --- cover letters
long=$(printf 'a-name-that-does-not-end-%.0s' 1 2 3 4 5 6 7 8)
rename baseline plain-b . && rename patched plain-p .
rename baseline long-b ".arm = \"$long\" | .cpu_model = \"$long $long\""
rename patched long-p ".arm = \"other-$long\" | .kernel.version = \"#2 $long\""
rename baseline odd-b '.arm = "Bär \u0007\n\tüber\u202e" | .cpu_model = "\u4e2d\u6587\u4e2d\u6587 CPU"'
rename baseline evil-b '.arm = "<script>alert(1)</script>" | .cpu_model = "\"><img src=x onerror=alert(2)>"'
rename patched evil-p ".arm = \"'; \`touch pwned\` \\\"</title></script><!--\" | .cmdline = \"</pre><b>&amp;\""

expect "cover letter" 0 "remote IPIs" "$sd" compare --format cover-letter plain-b plain-p
check "it names machine and runs" grep -q '^Machine: guest of QEMU' "$work/said"
for pair in "plain-b plain-p" "long-b long-p" "odd-b plain-p" "evil-b evil-p" "plain-b plain-p long-p" \
	"more-points more-points"; do
	set --
	for run in $pair; do
		if [ -d "$run" ]; then set -- "$@" "$run"; else set -- "$@" "$runs/$run"; fi
	done
	"$sd" compare --format cover-letter "$@" > letter 2> said || cat said >> letter
	check "cover letter of $pair: 72 columns" narrow letter
	check "cover letter of $pair: only ASCII" ascii letter
done

# --- the page, as text
expect "a report" 0 "" "$sd" compare --format html --out report.html plain-b plain-p
expect "a report that cannot be written" 3 "nowhere" "$sd" compare --format html --out nowhere/report.html plain-b plain-p
expect "a report with hostile names" 0 "" "$sd" compare --format html --out evil.html evil-b evil-p
expect "a report of three arms" 0 "" "$sd" compare --format html --out three.html plain-b plain-p long-p
PATH=/nonexistent "$sd" compare --format html plain-b plain-p > bare.html 2> said
check "without gnuplot the report has its tables" grep -q '<th scope="row"' bare.html
check "without gnuplot the report says what to install" grep -q gnuplot-nox bare.html
check "hostile names run nothing" test ! -e pwned
check "the page's own two scripts are all there are" sh -c \
	"[ \$(grep -o '<script' evil.html | wc -l) -eq 2 ] && ! grep -q '<img\|<b>' evil.html"
check "nothing is asked of a network" sh -c "! grep -Eq '(src|href)=\"?(https?:)?//|@import|url\(' report.html"

data() { sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>.*|\1|p' "$1"; }
data evil.html > data.json
check "the embedded data parses" jq -e '.schema == "shootdown-comparison"' data.json
check "it has every sample with its values by CPU" jq -e '[.runs[].samples[]] | length > 0' data.json
check "hostile names are whole in it" jq -e '.arms[0] == "<script>alert(1)</script>"' data.json

# --- the page, as a document
if command -v xmllint > /dev/null; then
	count() { xmllint --html --xpath "count($2)" "$1" 2> /dev/null; }
	for page in report.html evil.html three.html bare.html; do
		none() { if [ "$(count "$page" "$2")" = 0 ]; then ok "$page: $1"; else not_ok "$page: $1" "$2"; fi; }
		one() { if [ "$(count "$page" "$2")" = 1 ]; then ok "$page: $1"; else not_ok "$page: $1" "$2"; fi; }
		one "has a language" '//html[@lang="en"]'
		one "has a title" '//title[parent::head and string-length(.) > 5]'
		one "has one main heading" '//h1'
		one "has one main part" '//main'
		none "each head of a table has a scope" '//th[not(@scope)]'
		none "each picture has a role or is decoration" '//svg[not(@role="img") and not(@aria-hidden="true")]'
		none "each picture has a title and a description" '//svg[@role="img"][not(title[string-length(.) > 5]) or not(desc[string-length(.) > 10])]'
		none "each figure has a caption and a heading" '//figure[not(figcaption) or not(h3)]'
		none "each link goes somewhere" '//a[not(@href)]'
		none "each part that scrolls can have the focus and has a name" \
			'//div[@class="scroll"][not(@tabindex="0") or not(@role="region") or not(@aria-label)]'
		none "no id is there twice" '//*[@id and @id = preceding::*/@id]'
		check "$page: headings are in order" sh -c "grep -o '<h[1-6]' $page | tr -d '<h' |
			awk '\$1 > last + 1 { exit bad = 1 } { last = \$1 } END { exit bad }'"
	done
	if command -v gnuplot > /dev/null; then
		check "there are figures" test "$(count report.html '//figure')" -gt 0
	else
		skip "there are figures" "gnuplot is not installed"
	fi
else
	skip "the page as a document" "xmllint is not installed"
fi
check "contrast of all colours, light and dark" awk -f "$here/contrast.awk" report.html

# --- the page, in a browser
if ! command -v chromium > /dev/null; then
	skip "the page in a browser" "chromium is not installed"
	finish
fi
# browse PAGE WIDTH ARGUMENT...
browse() {
	local page=$1 width=$2; shift 2
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$work/profile" --enable-logging=stderr --v=0 --virtual-time-budget=3000 \
		--hide-scrollbars --window-size="$width,900" "$@" "file://$work/$page" 2> console
}
quiet() { ! grep CONSOLE console; }
for page in report.html evil.html three.html bare.html; do
	browse "$page" 1100 --dump-dom > dom
	check "$page: shown" grep -q '<h1>' dom
	check "$page: no complaint of the browser" quiet
	check "$page: the data can be downloaded" grep -q '<a id="download" href="blob:' dom
done

# the policy of a page keeps foreign scripts out: a copy without it is asked about itself
probe() {
	sed '/Content-Security-Policy/d; /^<\/body>/,$d' "$1"
	echo "<script>$(cat "$here/probe.js")</script></body></html>"
}
probe report.html > probe.html
probe evil.html > probe-evil.html
probed() { sed -n 's|.*data-probe="\([^"]*\)".*|\1|p' dom; }
for page in probe.html probe-evil.html; do
	echo "<!DOCTYPE html><title>phone</title><iframe width=390 height=800 style='border:0' src=$page></iframe>" > phone.html
	for form in light dark; do
		scheme=$([ $form = light ] && echo 1 || echo 0)
		browse "$page" 1100 --blink-settings=preferredColorScheme="$scheme" --dump-dom > dom
		probed > $form
		check "$page, $form: nothing is wider than the page" grep -q 'over=0 ' $form
		check "$page, $form: what can be used can be reached by keyboard" grep -q 'unreached=0 ' $form
	done
	check "$page: dark and light have grounds of their own" sh -c \
		"[ \"\$(grep -o 'ground=[^ ]*' light)\" != \"\$(grep -o 'ground=[^ ]*' dark)\" ]"
	browse phone.html 800 --allow-file-access-from-files --screenshot="$work/phone.png" > /dev/null
	check "$page: a picture of it on a phone" test -s phone.png
	sed -i "s|</body>|<script>onload=()=>top.document.title=document.documentElement.dataset.probe</script></body>|" "$page"
	browse phone.html 800 --allow-file-access-from-files --dump-dom > dom
	check "$page, 390 pixels: nothing is wider than the page" grep -q '<title>over=0 .* width=390' dom
done
finish
