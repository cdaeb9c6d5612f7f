"""The wheel by its specification, as pip installs it, and what its libraries export."""

import base64
import csv
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

WHEEL = next(pathlib.Path("zyfa/python").glob("*.whl"))
HEADERS = ["zyfa/launch/zyfa.h", "zyfa/launch/zyfa_emulator.h", "zyfa/quantize/zyfa_quantize.h"]

# Without what lies in the tree, whatever the test itself imports.
USE = """\
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import zyfa
from zyfa import _c_api
libraries = [_c_api.Library(name) for name in ("libzyfa.so", "libzyfa_emulator.so")]
libraries[1].open_emulator()
assert zyfa.__file__.startswith(sys.argv[1]), zyfa.__file__
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libabsl" in line}
assert loaded and all(path.startswith(sys.argv[1]) for path in loaded), loaded
"""


def run(*command, **keywords):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **keywords).stdout


def has(module):
    return importlib.util.find_spec(module) is not None


class WheelTest(unittest.TestCase):
    def setUp(self):
        self.archive = zipfile.ZipFile(WHEEL)
        self.addCleanup(self.archive.close)
        self.name, self.version, tag = re.fullmatch(r"(\w+)-([\d.]+)-(.*)\.whl", WHEEL.name).groups()
        self.tag = tag
        self.info = f"{self.name}-{self.version}.dist-info"

    def text(self, name):
        return self.archive.read(f"{self.info}/{name}").decode()

    def test_record(self):
        lines = list(csv.reader(self.text("RECORD").splitlines()))
        self.assertEqual(sorted(line[0] for line in lines), sorted(self.archive.namelist()))
        for name, digest, size in lines:
            if name == f"{self.info}/RECORD":
                self.assertEqual((digest, size), ("", ""))
                continue
            data = self.archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            self.assertEqual((digest, size), (f"sha256={expected}", str(len(data))))

    def test_metadata(self):
        self.assertIn(f"Name: {self.name}\nVersion: {self.version}\n", self.text("METADATA"))
        wheel = self.text("WHEEL")
        self.assertIn("Wheel-Version: 1.0\n", wheel)
        self.assertIn("Root-Is-Purelib: false\n", wheel)
        self.assertIn(f"Tag: {self.tag}\n", wheel)
        self.assertEqual(self.tag, "py3-none-linux_x86_64")

    def unpack(self, target):
        """By pip, or as pip would."""
        if not has("pip"):
            return self.archive.extractall(target)
        options = ["--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check", "--quiet"]
        return run(sys.executable, "-m", "pip", "install", *options, "--target", target, WHEEL)

    @unittest.skipUnless(has("torch"), "needs PyTorch (python3-torch)")
    def test_installed(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as target:
            self.unpack(target)
            run(sys.executable, "-I", "-c", USE, target, cwd="/")

    def test_libraries_export_the_c_interface_alone(self):
        declared = {}
        for header in HEADERS:
            text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.DOTALL)
            declared[header] = set(re.findall(r"\b(zyfa_\w+)\(", text))
        with tempfile.TemporaryDirectory() as target:
            self.archive.extractall(target)
            for library, headers in ("libzyfa.so", HEADERS[::2]), ("libzyfa_emulator.so", HEADERS):
                symbols = run("nm", "-D", "--defined-only", f"{target}/zyfa/{library}")
                # Weak ones of the C++ library are the same everywhere.
                exported = {line.split()[2] for line in symbols.splitlines() if line.split()[1] not in "VWu"}
                self.assertEqual(exported, set().union(*(declared[h] for h in headers)))
                needed = run("readelf", "-d", f"{target}/zyfa/{library}")
                self.assertEqual("libLLVM" in needed, library == "libzyfa_emulator.so")
                self.assertNotRegex(needed, "protobuf|amdhip|hsa")
