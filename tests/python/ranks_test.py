"""The Python module on several processes."""
import pathlib
import subprocess
import sys
import unittest


class Ranks(unittest.TestCase):
    def test_a_program_is_right_on_two_and_three_processes(self):
        program = pathlib.Path(__file__).with_name("programs.py")
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                done = subprocess.run(
                    ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
                     "--allow-run-as-root", "-n", str(ranks), sys.executable, str(program)],
                    capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("right"), ranks)


if __name__ == "__main__":
    unittest.main()
