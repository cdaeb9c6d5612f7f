#!/usr/bin/env python3
"""Checks README.md and docs/ against the tree they describe.

A fenced block that is introduced by '<!-- file: PATH -->' must equal that file,
and every relative link must lead to something.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")


def problems(document):
    text = document.read_text()
    for path, block in BLOCK.findall(text):
        source = ROOT / path
        if not source.is_file():
            yield f"{path} does not exist"
        elif source.read_text() != block:
            yield f"the block from {path} differs from the file"
    if text.count("<!-- file:") != len(BLOCK.findall(text)):
        yield "a '<!-- file: -->' line is not followed by a fenced block"
    for target in LINK.findall(text):
        if not (document.parent / target).exists():
            yield f"link to {target} leads nowhere"


def main():
    found = False
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for problem in problems(document):
            print(f"{document.relative_to(ROOT)}: {problem}", file=sys.stderr)
            found = True
    return 1 if found else 0


sys.exit(main())
