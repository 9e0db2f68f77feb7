# SPDX-License-Identifier: GPL-2.0-only
# ktap.py KUNIT_FOLDER FILE: reads FILE with the kernel's own parser and prints
# "passed failed skipped errors", without bytecode left in the kernel tree.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import kunit_parser
from kunit_printer import Printer


def errors(test):
    return test.counts.errors + sum(errors(part) for part in test.subtests)


with open(sys.argv[2], encoding="utf-8") as lines:
    whole = kunit_parser.parse_run_tests(lines.read().splitlines(), Printer(print=False))
print(whole.counts.passed, whole.counts.failed, whole.counts.skipped, errors(whole))
