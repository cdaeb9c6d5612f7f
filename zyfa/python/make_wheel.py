#!/usr/bin/python3
"""Writes a wheel: make_wheel.py --output=zyfa-VERSION-py3-none-linux_x86_64.whl ...

A wheel is a zip file with the package and a folder that describes it (PyPA's binary
distribution format 1.0). Same inputs, same bytes.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

SUMMARY = "Attention-prefill kernels for AMD MI355X, on the GPU or on its emulator"
DESCRIPTION = """\
Attention kernels for gfx950 as PyTorch operators, and as an attention function for
Hugging Face transformers. Tensors of the CPU go to an emulated GPU, for which
libLLVM.so.22.1 must be installed (Debian: libllvm22).

libabsl_*.so are Abseil, Apache-2.0, as Debian builds them.
"""


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--license", required=True, type=pathlib.Path)
    parser.add_argument("--package_file", action="append", type=pathlib.Path, help="a file of the package zyfa")
    parser.add_argument("--shared_library", action="append", type=pathlib.Path, help="comes along if it is needed")
    return parser.parse_args()


def needed(library):
    """The shared libraries that one asks for, by name."""
    dump = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE, text=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", dump.stdout)


def closure(libraries, candidates):
    """Those of the candidates (name -> file) that the libraries need, directly or not."""
    found, open_ends = {}, list(libraries)
    while open_ends:
        for name in needed(open_ends.pop()):
            if name in candidates and name not in found:
                found[name] = candidates[name]
                open_ends.append(candidates[name])
    return found


def metadata(version):
    return f"""\
Metadata-Version: 2.1
Name: zyfa
Version: {version}
Summary: {SUMMARY}
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: torch

{DESCRIPTION}"""


def wheel_file(tag):
    return f"Wheel-Version: 1.0\nGenerator: zyfa\nRoot-Is-Purelib: false\nTag: {tag}\n"


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main():
    arguments = parse_arguments()
    match = re.fullmatch(r"zyfa-([^-]+)-(py3-none-[^-]+)\.whl", arguments.output.name)
    if not match:
        sys.exit(f"--output is {arguments.output.name}; allowed: zyfa-VERSION-py3-none-PLATFORM.whl")
    version, tag = match.groups()

    files = {f"zyfa/{path.name}": path for path in arguments.package_file}
    own = re.search(r'^__version__ = "(.*)"$', files["zyfa/__init__.py"].read_text(), re.MULTILINE)
    if own is None or own.group(1) != version:
        sys.exit(f"__version__ in __init__.py is not {version}")
    libraries = [path for path in arguments.package_file if path.suffix == ".so"]
    candidates = {path.name: path for path in arguments.shared_library}
    for name, path in closure(libraries, candidates).items():
        files[f"zyfa/{name}"] = path

    info = f"zyfa-{version}.dist-info"
    contents = {name: path.read_bytes() for name, path in sorted(files.items())}
    contents[f"{info}/LICENSE"] = arguments.license.read_bytes()
    contents[f"{info}/METADATA"] = metadata(version).encode()
    contents[f"{info}/WHEEL"] = wheel_file(tag).encode()
    record = f"{info}/RECORD"
    lines = "".join(record_line(name, data) for name, data in contents.items())
    contents[record] = (lines + f"{record},,\n").encode()

    with zipfile.ZipFile(arguments.output, "w") as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)


main()
