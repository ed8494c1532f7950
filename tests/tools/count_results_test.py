"""The count of a test run: what each program says of itself, and what ctest says of the programs."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def gtest_json(**tests):
    """A suite S whose tests ended as given: "ok", "skip" or the text of a failure."""
    listed = []
    for name, outcome in tests.items():
        test = {"name": name, "status": "RUN", "result": "SKIPPED" if outcome == "skip" else "COMPLETED"}
        if outcome not in ("ok", "skip"):
            test["failures"] = [{"failure": outcome, "type": ""}]
        listed.append(test)
    return json.dumps({"testsuites": [{"name": "S", "testsuite": listed}]})


def entry(name, status="run", inside="", output=""):
    return f'<testcase name="{name}" status="{status}">{inside}<system-out>{output}</system-out></testcase>'


class CountResults(unittest.TestCase):
    def count(self, entries, files=None):
        """(exit code, lines) of the count for these entries of ctest and these JSON files."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if entries is not None:
                (folder / "ctest.xml").write_text(f"<testsuite>{''.join(entries)}</testsuite>")
            for name, text in (files or {}).items():
                (folder / name).write_text(text)
            done = subprocess.run([sys.executable, ROOT / "tools/count_results.py", folder], capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout.rstrip("\n").split("\n")

    def test_adds_up_the_tests_of_all_programs_and_ends_with_the_count(self):
        code, lines = self.count([entry("unit_a"), entry("unit_b")],
                                 {"unit_a.json": gtest_json(X="ok", Y="ok"), "unit_b.json": gtest_json(X="ok")})
        self.assertEqual((code, lines), (0, ["3 passed, 0 failed, 0 skipped"]))

    def test_an_entry_without_json_counts_as_one_test(self):
        code, lines = self.count([entry("check")])
        self.assertEqual((code, lines), (0, ["1 passed, 0 failed, 0 skipped"]))

    def test_names_failed_tests_and_exits_with_1(self):
        code, lines = self.count([entry("unit_a", "fail", '<failure message="Failed"/>')],
                                 {"unit_a.json": gtest_json(X="ok", Y="a.cpp:3\n1 is not 2")})
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["failed:", "  unit_a: S.Y  (a.cpp:3 1 is not 2)", "1 passed, 1 failed, 0 skipped"])

    def test_a_program_that_crashed_without_results_is_one_failure_and_is_named(self):
        code, lines = self.count([entry("unit_a", "fail", '<failure message="SEGFAULT"/>'), entry("check")])
        self.assertEqual(code, 1)
        self.assertEqual(lines[1:], ["  unit_a  (segfault and left no results)", "1 passed, 1 failed, 0 skipped"])

    def test_a_program_that_ran_out_of_time_after_a_cut_off_file_is_one_failure(self):
        code, lines = self.count([entry("unit_a", "fail", '<failure message="Timeout"/>')], {"unit_a.json": "{\"tests"})
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_program_that_failed_although_its_tests_passed_is_a_failure(self):
        code, lines = self.count([entry("unit_a", "fail", '<failure message="Failed"/>')],
                                 {"unit_a.json": gtest_json(X="ok")})
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_skipped_tests_are_named_with_the_reason_that_the_program_printed(self):
        output = "[ RUN      ] S.X\na.cpp:7: Skipped\nno GPU on this machine\n\n[  SKIPPED ] S.X (0 ms)\n"
        code, lines = self.count([entry("unit_a", output=output)], {"unit_a.json": gtest_json(X="skip", Y="ok")})
        self.assertEqual(code, 0)
        self.assertEqual(lines, ["skipped:", "  unit_a: S.X  (no GPU on this machine)", "1 passed, 0 failed, 1 skipped"])

    def test_a_skipped_entry_without_json_gives_its_last_line_as_the_reason(self):
        inside = '<skipped message="SKIP_RETURN_CODE=77"/>'
        code, lines = self.count([entry("mpi", "notrun", inside, "first\nno mpirun here\n"), entry("check")])
        self.assertEqual((code, lines[1]), (0, "  mpi  (no mpirun here)"))

    def test_an_entry_whose_program_was_not_built_is_a_failure(self):
        code, lines = self.count([entry("unit_a", "notrun", '<skipped message="Unable to find executable"/>')])
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_run_of_nothing_is_a_failure(self):
        self.assertEqual(self.count([])[0], 1)
        self.assertEqual(self.count(None)[0], 1)


if __name__ == "__main__":
    unittest.main()
