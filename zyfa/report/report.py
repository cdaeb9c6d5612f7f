"""Renders records as one page that needs nothing else.

    bazel run //zyfa/bench:report -- --records=a.json,b.binpb --out=report.html

Status: 0 if the page was written, 2 if not.
"""
import argparse
import os
import sys

from zyfa.report import record_files


class Failure(Exception):
    """Why there is no page."""



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


def write(names, out):
    """The page of those files. BadRecords, or Failure."""
    files = {name: record_files.read(name) for name in names}
    try:
        # Behind the reading: it takes a second.
        from zyfa.report import page
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is missing; on Debian: sudo apt-get install python3-matplotlib") from None
    text = page.render(files)
    try:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise Failure(f"--out={out} cannot be written: {error}") from None


def main():
    flags = arguments()
    # 'bazel run' starts elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        write(flags.records.split(","), flags.out)
    except (record_files.BadRecords, Failure) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
