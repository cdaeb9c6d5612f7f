"""Renders records as one page that needs nothing else.

    bazel run //zyfa/bench:report -- --records=a.json,b.binpb --out=report.html

Status: 0 if the page was written, 2 if not.
"""
import argparse
import os
import sys

from zyfa.report import record_files

try:
    from zyfa.report import page
except ModuleNotFoundError as error:
    sys.exit(f"report: {error.name} is missing; on Debian: sudo apt-get install python3-matplotlib")


def arguments():
    parser = argparse.ArgumentParser(
        prog="report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--records", required=True,
        help="files of records, by comma: JSON lines, or length-delimited binary if the name ends in .binpb",
    )  # fmt: skip
    parser.add_argument("--out", required=True, help="file for the page")
    flags = parser.parse_args()
    if not all(flags.records.split(",")):
        parser.error(f"--records={flags.records}: has an empty name; allowed: names of files, by comma")
    return flags


def main():
    flags = arguments()
    # 'bazel run' starts elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        text = page.render({name: record_files.read(name) for name in flags.records.split(",")})
    except record_files.BadRecords as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    try:
        with open(flags.out, "w", encoding="utf-8") as out:
            out.write(text)
    except (OSError, ValueError) as error:
        print(f"report: --out={flags.out} cannot be written: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
