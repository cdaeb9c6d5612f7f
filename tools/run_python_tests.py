#!/usr/bin/python3
"""Runs the unittest cases of a file under Bazel: run_python_tests.py FILE DIRECTORY...

Directories, in the runfiles, are where modules are found. Debian's Python, whatever
else is on the PATH: it is the one that has Debian's packages. Writes the report that
tools/count_tests.py adds up, skipped cases among them.
"""
import importlib.util
import os
import pathlib
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree


class Result(unittest.TextTestResult):
    """Knows of each case how it ended: one of "", "failure", "error", "skipped"; and the words."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.outcomes = {}
        self.seconds = {}

    def startTest(self, test):
        super().startTest(test)
        self.outcomes[test.id()] = ("", "")
        self.seconds[test.id()] = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.seconds[test.id()] = time.monotonic() - self.seconds[test.id()]

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcomes[test.id()] = ("failure", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.outcomes[test.id()] = ("error", self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcomes[test.id()] = ("skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcomes[test.id()] = ("failure", self._exc_info_to_string(err, subtest))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcomes[test.id()] = ("failure", "unexpected success")

    def write(self, path, suite_name):
        """JUnit's XML."""
        suite = ElementTree.Element("testsuite", name=suite_name, tests=str(len(self.outcomes)))
        kinds = [kind for kind, _ in self.outcomes.values()]
        for attribute, kind in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
            suite.set(attribute, str(kinds.count(kind)))
        for test, (kind, words) in self.outcomes.items():
            seconds = self.seconds.get(test, 0)
            case = ElementTree.SubElement(suite, "testcase", name=test, time=f"{seconds:.3f}")
            if kind:
                ElementTree.SubElement(case, kind, message=words.strip().split("\n")[-1]).text = words
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def load(path):
    """The module of that file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def skipped(path, reason):
    @unittest.skip(reason)
    class Skipped(unittest.TestCase):
        def test_all(self):
            pass

    Skipped.__qualname__ = path.stem
    return unittest.defaultTestLoader.loadTestsFromTestCase(Skipped)


def main():
    file, *directories = map(pathlib.Path, sys.argv[1:])
    sys.path[1:1] = [os.path.abspath(d) for d in directories]
    try:
        tests = load(file)
    except unittest.SkipTest as skip:
        tests = skipped(file, str(skip))
    if tests.countTestCases() == 0:
        print(f"{file} has no test cases", file=sys.stderr)
        return 1
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(tests)
    if "XML_OUTPUT_FILE" in os.environ:
        result.write(os.environ["XML_OUTPUT_FILE"], file.stem)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
