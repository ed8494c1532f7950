"""What the command line tool writes: files that hold the result, and nothing where something is wrong."""
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, status=0):
        done = subprocess.run([TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_written_result_is_read_back_from_every_kind_of_file(self):
        for name in ("A.mtx", "A.mtx.gz", "A.tns", "A.spd"):
            with self.subTest(name=name):
                self.run_tool("A(i,j) = B(j,i)", "-f", "A:ds", "-f", "B:ds", "-g", "B:stencil7,3", "-o", f"A:{name}")
                done = self.run_tool("s = A(i,j)", "-f", "A:ss", "-i", f"A:{name}", "--check")
                first = self.run_tool("s = B(i,j)", "-f", "B:ds", "-g", "B:stencil7,3")
                self.assertEqual(done.stdout.splitlines()[-1], first.stdout.splitlines()[-1])

    def test_the_text_of_a_written_matrix(self):
        self.run_tool("A(i,j) = b(i) * c(j)", "-f", "A:ds", "-n", "i=2", "-n", "j=2", "-g", "b:ones", "-g", "c:ones",
                      "-o", "A:A.mtx")
        lines = [line for line in (self.folder / "A.mtx").read_text().splitlines() if not line.startswith("%")]
        self.assertEqual(lines, ["2 2 4", "1 1 1", "1 2 1", "2 1 1", "2 2 1"])

    def test_nothing_is_written_where_something_is_wrong(self):
        for arguments in (("a(i) = b(i)", "-o", "a:a.mtx"),
                          ("a(i) = b(i)", "-n", "i=2", "-g", "b:nothing", "-o", "a:a.mtx"),
                          ("a(i) = b(i) + ", "-o", "a:a.mtx"),
                          ("a(i) = b(i)", "-n", "i=2", "-g", "b:ones", "-o", "a:a.mtx", "-o", "b:b.txt")):
            with self.subTest(arguments=arguments):
                done = self.run_tool(*arguments, status=2)
                self.assertTrue(done.stderr.startswith("error: "), done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
