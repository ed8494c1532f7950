"""The Python module on several processes, and its examples."""
import pathlib
import subprocess
import sys
import unittest

from python_tests import SETTINGS, on_ranks

takes_ranks = unittest.skipUnless("launch" in SETTINGS, "it takes ranks, and spdistal was built without MPI")


def run_on_ranks(ranks, program):
    return subprocess.run([*on_ranks(ranks), sys.executable, str(program)], capture_output=True, text=True, timeout=120)


class Ranks(unittest.TestCase):
    @takes_ranks
    def test_a_program_is_right_on_two_and_three_processes(self):
        program = pathlib.Path(__file__).with_name("programs.py")
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                done = run_on_ranks(ranks, program)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("right"), ranks)

    def test_the_examples_are_right(self):
        folder = pathlib.Path(__file__).parents[2] / "examples" / "python"
        for program in sorted(folder.glob("*.py")):
            with self.subTest(program=program.name):
                done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @takes_ranks
    def test_rows_of_each_process_make_one_matrix(self):
        program = pathlib.Path(__file__).parents[2] / "examples" / "python" / "own_rows.py"
        done = run_on_ranks(3, program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
