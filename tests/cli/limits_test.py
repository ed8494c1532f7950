"""What does not fit into the memory of the machine at hand is refused, however it is cut."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class Limits(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"^error: .* takes [0-9.]+ [KMGT]iB, more than the [0-9.]+ [KMGT]iB of this machine's")
        self.assertEqual(done.stdout, "")

    def test_a_dense_result_that_fits_piece_by_piece_but_not_at_once_is_refused(self):
        rows = MEMORY // 8 * 6 // 5 // 1000
        outer = ("A(i,j) = b(i) * c(j)", "-n", f"i={rows}", "-n", "j=1000", "-g", "b:ones", "-g", "c:ones")
        for cut in ((), ("-m", "2"), ("-m", "3"), ("-m", "2x2")):
            with self.subTest(cut=cut):
                self.refused(*outer, *cut)

    def test_copies_count_each(self):
        rows = MEMORY // 8 * 3 // 4
        with tempfile.NamedTemporaryFile("w", suffix=".tns") as file:
            file.write("1 1.0\n")
            file.flush()
            self.refused("a(i) = b(i)", "-n", f"i={rows}", "-f", "b:s", "-i", f"b:{file.name}", "-m", "2", "-d",
                         "a(x) -> M(y)")


if __name__ == "__main__":
    unittest.main()
