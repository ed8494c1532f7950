#!/usr/bin/env python3
"""Adds up a test run: count_results.py build/results

The folder holds ctest.xml, where ctest says how each entry ended, and for most entries ENTRY.json, where the program
itself says how each of its tests ended (the format of gtest). An entry without JSON counts as one test; one that
failed without saying which test failed (a crash, a time limit) counts as one failure more. Names what failed and what
was skipped, with the reason, and ends with the line "N passed, N failed, N skipped". Exits 1 where anything failed,
or where nothing ran.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree


class Count:
    def __init__(self):
        self.passed = 0
        self.failed = []   # (name, what happened)
        self.skipped = []  # (name, reason)

    def add_entry(self, name, ended, note, output, tests):
        """One entry of ctest: how it ended ("passed", "failed", "skipped") and the tests its JSON tells of, or None."""
        if tests is None:
            if ended == "passed":
                self.passed += 1
            elif ended == "skipped":
                self.skipped.append((name, note))
            else:
                self.failed.append((name, f"{note or 'failed'} and left no results"))
            return
        reasons = skip_reasons(output)
        failures = 0
        for test, outcome, text in tests:
            full = f"{name}: {test}"
            if outcome == "passed":
                self.passed += 1
            elif outcome == "skipped":
                self.skipped.append((full, text or reasons.get(test, "no reason given")))
            else:
                failures += 1
                self.failed.append((full, text))
        if ended != "passed" and not failures:
            self.failed.append((name, f"{note or 'failed'} although none of its tests did"))

    def report(self):
        lines = []
        for title, items in (("skipped", self.skipped), ("failed", self.failed)):
            if items:
                lines.append(f"{title}:")
                lines += [f"  {name}  ({first_line(text)})" if text else f"  {name}" for name, text in items]
        lines.append(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return "\n".join(lines)


def first_line(text):
    return " ".join(text.split("\n")[:2]).strip()


def skip_reasons(output):
    """gtest's JSON does not carry the reason of a skip; its output does:
    "[ RUN      ] Suite.Name\nfile:line: Skipped\nreason\n...[  SKIPPED ] Suite.Name"."""
    pattern = r"\[ RUN +\] (\S.*)\n(?:(?!\[ RUN)[\s\S])*?: Skipped\n([\s\S]*?)\n?\[  SKIPPED \] \1"
    return {m[1].strip(): first_line(m[2].strip()) or "no reason given" for m in re.finditer(pattern, output)}


def read_tests(path):
    """The tests of a gtest JSON file as (name, outcome, text); None where the file is missing or cut off."""
    try:
        suites = json.loads(path.read_text(encoding="utf-8"))["testsuites"]
    except (OSError, ValueError, KeyError):
        return None
    tests = []
    for suite in suites:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if "value_param" in test:
                name += f" [{test['value_param']}]"
            if test.get("failures"):
                tests.append((name, "failed", test["failures"][0].get("failure", "")))
            elif test.get("result") == "SKIPPED":
                tests.append((name, "skipped", (test.get("skipped") or [{}])[0].get("message", "")))
            elif test.get("status") == "RUN":
                tests.append((name, "passed", ""))
            elif test.get("result") == "SUPPRESSED" and "DISABLED_" in name:
                tests.append((name, "skipped", "disabled in the source"))
    return tests


def read_entries(path):
    """The entries of ctest's JUnit file as (name, ended, note, output)."""
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        status, failure, skipped = case.get("status"), case.find("failure"), case.find("skipped")
        if status == "run":
            yield case.get("name"), "passed", "", output
        elif status == "disabled":
            yield case.get("name"), "skipped", "disabled", output
        elif skipped is not None and (skipped.get("message") or "").startswith("SKIP_"):
            yield case.get("name"), "skipped", skip_note(output), output
        else:
            said = next((e.get("message") for e in (failure, skipped) if e is not None), None)
            yield case.get("name"), "failed", (said or "did not run").lower(), output


def skip_note(output):
    """A script that skips says why on its last line."""
    return output.strip().split("\n")[-1] or "no reason given"


def count(results):
    total = Count()
    for name, ended, note, output in read_entries(results / "ctest.xml"):
        total.add_entry(name, ended, note, output, read_tests(results / f"{name}.json"))
    return total


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    results = pathlib.Path(sys.argv[1])
    try:
        total = count(results)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        total = Count()
        total.failed.append(("ctest", f"left no readable results: {error}"))
    if not total.passed and not total.failed:
        total.failed.append(("ctest", "no test was run"))
    print(total.report())
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
