"""What `./dev demo` shows after the build: figure 1 on four pieces of one process and on four ranks, with the same result."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = "values\n" + "".join(f"  a({row}) = {value}\n" for row, value in enumerate((-1, 1, 2, 3, 4, 5, 6, 15)))


class Demo(unittest.TestCase):
    def test_shows_the_same_result_and_a_report_on_pieces_and_on_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "examples", pathlib.Path(folder) / "examples")
            os.symlink(SETTINGS["build"], pathlib.Path(folder) / "build")
            done = subprocess.run([f"{folder}/examples/demo.sh"], capture_output=True, text=True, timeout=300,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(VALUES), 2, done.stdout)
        self.assertEqual(done.stdout.count("imbalance of non-zeros"), 4, done.stdout)
        self.assertEqual(done.stdout.count("check: right"), 2, done.stdout)
        for command in ("build/bin/figure1 4", "mpirun -n 4 build/bin/figure1"):
            self.assertIn(f"$ {command}\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
