#!/usr/bin/env python3
"""Runs the commands of a page and puts what they print in its place.

    tools/refresh_page.py docs/reading-a-trace.md

A block of shell commands below '<!-- run -->' is run from the top of the checkout;
if a block below '<!-- output -->' follows it, or a table between '<!-- table -->' and
'<!-- end of table -->', that gets what the commands print.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN = r"<!-- run -->\n```sh\n(?P<commands>.*?)^```\n"
OUTPUT = (
    r"(?P<head>\s*<!-- output -->\n```\n|\s*<!-- table -->\n).*?"
    r"(?P<tail>^```\n|^<!-- end of table -->\n)"
)
STEP = re.compile(f"{RUN}(?:{OUTPUT})?", re.DOTALL | re.MULTILINE)


def refreshed(match):
    command = ["bash", "-euc", match["commands"]]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"status {result.returncode}: {match['commands']}")
    if match["head"] is None:
        return match[0]
    commands = match[0][: match.start("head") - match.start()]
    return commands + match["head"] + result.stdout + match["tail"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1])
    page.write_text(STEP.sub(refreshed, page.read_text()))


main()
