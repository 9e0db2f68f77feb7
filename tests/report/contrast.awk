# SPDX-License-Identifier: GPL-2.0-only
# The contrast of a page's colours (WCAG 2.1, relative luminance): text 4.5, marks 3; light and dark.
function hex(text, at,    i, value) {
	for (i = at; i < at + 2; i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value / 255
}
function linear(c) { return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ^ 2.4 }
function luminance(c) {
	if (length(c) == 4)
		c = "#" substr(c, 2, 1) substr(c, 2, 1) substr(c, 3, 1) substr(c, 3, 1) substr(c, 4, 1) substr(c, 4, 1)
	return 0.2126 * linear(hex(c, 2)) + 0.7152 * linear(hex(c, 4)) + 0.0722 * linear(hex(c, 6))
}
function contrast(one, other,    a, b) {
	a = luminance(colour[one]); b = luminance(colour[other])
	return a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05)
}
function least(one, other, wanted) {
	if (contrast(one, other) < wanted) {
		printf "%s on %s: %.2f, not %.1f\n", one, other, contrast(one, other), wanted
		bad = 1
	}
}
/:root\{/ {
	forms++
	rest = $0
	while (match(rest, /--[a-z0-9-]+:#[0-9a-f]+/)) {
		split(substr(rest, RSTART + 2, RLENGTH - 2), part, ":")
		colour[part[1]] = part[2]
		rest = substr(rest, RSTART + RLENGTH)
	}
	for (i = split("ground panel", grounds, " "); i; i--) {
		least("ink", grounds[i], 4.5); least("soft", grounds[i], 4.5); least("link", grounds[i], 4.5)
		least("axis", grounds[i], 3); least("predicted", grounds[i], 3)
		for (arm = 0; arm < 6; arm++)
			least("arm-" arm, grounds[i], 3)
	}
	for (i = split("better worse open", tones, " "); i; i--)
		least(tones[i], tones[i] "-ground", 4.5)
}
END { exit bad || forms != 2 }
