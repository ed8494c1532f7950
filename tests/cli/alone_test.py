"""The tool of a build without MPI: a process is alone, and says so where it should be one of several."""
import os
import pathlib
import subprocess
import unittest

from python_tests import SETTINGS

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
SPMV = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:banded,100,5", "-g", "c:ones", "-m", "4", "--check")


class Alone(unittest.TestCase):
    def run_tool(self, **variables):
        return subprocess.run([TOOL, *SPMV], capture_output=True, text=True, check=False, env={**os.environ, **variables})

    def test_runs_pieces_in_one_process(self):
        done = self.run_tool()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("check: right", done.stdout)

    def test_refuses_to_be_one_of_several_ranks(self):
        for name in "OMPI_COMM_WORLD_SIZE", "PMI_RANK":
            done = self.run_tool(**{name: "2"})
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "error: this process was started as one of several ranks, but spdistal was built without MPI\n"
                                          "hint: run it without mpirun or srun, or build spdistal with -DSPDISTAL_MPI=ON\n")


if __name__ == "__main__":
    unittest.main()
