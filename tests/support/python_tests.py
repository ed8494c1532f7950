#!/usr/bin/env python3
"""Runs unittest files and leaves their counts in the JSON format of gtest:
python_tests.py --output results.json [--set NAME=value ...] file_test.py ...

Settings reach the tests as the dictionary SETTINGS of this module (`from python_tests import SETTINGS`); `launch` also as
what `on_ranks` makes of it.
"""
import argparse
import importlib.util
import json
import pathlib
import sys
import unittest

SETTINGS = {}


def on_ranks(count):
    """What stands before a command that so many ranks run: the setting `launch`."""
    return *SETTINGS["launch"].split(), str(count)


class Recorder(unittest.TextTestResult):
    """Keeps (suite, test, outcome, text) of every test; a failed sub-test fails its test."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.records = {}

    def record(self, test, outcome, text=""):
        parts = test.id().split(".")
        if self.records.get(test.id(), ("", "", ""))[2] != "failed":
            self.records[test.id()] = (".".join(parts[:-1]), parts[-1], outcome, text)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "failed", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(test, "failed", f"{subtest}\n{self._exc_info_to_string(err, test)}")


def as_gtest(records):
    suites = {}
    for suite, name, outcome, text in records:
        test = {"name": name, "status": "RUN", "result": "SKIPPED" if outcome == "skipped" else "COMPLETED"}
        if outcome == "failed":
            last = text.strip().split("\n")[-1]
            test["failures"] = [{"failure": f"{last}\n{text}", "type": ""}]
        if outcome == "skipped":
            test["skipped"] = [{"message": text}]
        suites.setdefault(suite, []).append(test)
    return {"testsuites": [{"name": name, "testsuite": tests} for name, tests in suites.items()]}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main():
    sys.modules["python_tests"] = sys.modules["__main__"]
    sys.dont_write_bytecode = True
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    SETTINGS.update(setting.split("=", 1) for setting in arguments.set)
    suite = unittest.TestSuite(load(path) for path in arguments.files)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Recorder).run(suite)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(as_gtest(result.records.values()), indent=1), encoding="utf-8")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
