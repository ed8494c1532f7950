"""Schedules that are tried: what one process finds the next one takes, and what is printed can be given."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS, on_ranks

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
SPMV = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:rmat,8,8", "-g", "c:random", "--check")


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, launcher=(), status=0, **settings):
        kept = {"SPDISTAL_CACHE_DIR": str(self.folder / "cache"), "SPDISTAL_THREADS": "2", **settings}
        done = subprocess.run([*launcher, TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **kept})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def winner(self, out):
        """The schedule that was found, and what is said of it."""
        self.assertIn("check: right", out)
        return re.search(r"^tuned: (.*?)(?: \(([a-z ,]*)\))?$", out, re.MULTILINE).groups(default="")

    def test_the_next_process_finds_the_schedule_and_it_can_be_given(self):
        for pieces, launcher in (((), ()), (("-m", "3"), ()), ((), on_ranks(2))):
            with self.subTest(pieces=pieces, launcher=launcher):
                first = self.run_tool(*SPMV, *pieces, "--tune=1", launcher=launcher)
                second = self.run_tool(*SPMV, *pieces, "--tune", launcher=launcher)
                schedule, marks = self.winner(second)
                self.assertEqual(schedule, self.winner(first)[0])
                self.assertNotIn("found before", self.winner(first)[1])
                self.assertIn("found before", marks)
                self.assertNotIn(" ms  ", second)
                self.assertIn("check: right", self.run_tool(*SPMV, *pieces, "-s", schedule, launcher=launcher))

    def test_it_is_tried_again_where_that_is_asked_for(self):
        self.run_tool(*SPMV, "--tune=1")
        for again in ("--tune=again,1", "--tune=1,again"):
            out = self.run_tool(*SPMV, again)
            self.assertNotIn("found before", out)
            self.assertIn(" ms  ", out)

    def test_few_schedules_are_tried_in_little_time(self):
        few, more = (self.run_tool(*SPMV, f"--tune=again,{seconds}").count(" ms  ") for seconds in (1e-9, 20))
        self.assertEqual(few, 2)
        self.assertGreater(more, few)

    def test_what_was_found_with_another_compiler_or_other_threads_is_not_taken(self):
        other = self.folder / "compiler"
        other.write_text('#!/bin/sh\nexec c++ "$@"\n')
        other.chmod(0o700)
        for settings in ({}, {"SPDISTAL_THREADS": "1"}, {"SPDISTAL_COMPILER": str(other)}):
            with self.subTest(settings=settings):
                self.assertNotIn("found before", self.run_tool(*SPMV, "--tune=0.001", **settings))
                self.assertIn("found before", self.run_tool(*SPMV, "--tune=0.001", **settings))

    def test_what_is_chosen_by_itself_is_a_schedule_that_gives_the_same_plan(self):
        for data, pieces in ((SPMV, ("-m", "4")),
                             (("A(i,j) = B(i,j) + C(i,j)", "-f", "A:ds", "-f", "B:ds", "-f", "C:ds", "-g", "B:rmat,12,8", "-g",
                               "C:rmat,12,8", "--check"), ("-m", "4")),
                             (("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:rmat,13,8", "-g", "c:random", "--check"), ("-m", "2"))):
            with self.subTest(statement=data[0]):
                tried = self.run_tool(*data, *pieces, "--tune=again,0.001")
                schedule = re.search(r" ms  as chosen: (.*)$", tried, re.MULTILINE).group(1)
                self.assertIn("parallelize(", schedule)
                chosen = self.run_tool(*data, *pieces, "--print", "plan", "--print", "kernel")
                given = self.run_tool(*data, *pieces, "--print", "plan", "--print", "kernel", "-s", schedule)
                self.assertIn("because", chosen)
                self.assertEqual(chosen[chosen.index("plan\n"):], given[given.index("plan\n"):])

    def test_where_no_schedule_says_it_that_is_said(self):
        for data, said in ((("s = 2 * b", "-g", "b:ones"), "nothing is to be said"),
                           (("A(i,j) = B(i,j) + C(j,i)", "-f", "A:ds", "-f", "B:ds", "-f", "C:ds", "-g", "B:rmat,6,4", "-g",
                             "C:rmat,6,4"), "no schedule, as none says that C is converted")):
            with self.subTest(statement=data[0]):
                self.assertEqual(self.winner(self.run_tool(*data, "--tune", "--check")), (said, "chosen by itself"))


if __name__ == "__main__":
    unittest.main()
