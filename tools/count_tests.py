#!/usr/bin/env python3
"""Adds up test reports (JUnit XML) below a directory: prints "PASSED FAILED SKIPPED"."""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count(report):
    """Passed, failed and skipped test cases of one test.xml."""
    passed = failed = skipped = 0
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        not_run = int(suite.get("disabled", 0)) + int(suite.get("skipped", 0))
        passed += int(suite.get("tests", 0)) - bad - not_run
        failed += bad
        skipped += not_run
    return passed, failed, skipped


def main():
    counts = [count(r) for r in pathlib.Path(sys.argv[1]).rglob("test.xml")]
    print(*(sum(c[i] for c in counts) for i in range(3)))


main()
