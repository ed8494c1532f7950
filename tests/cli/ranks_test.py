"""The command line tool under mpirun: the same answer as alone, and errors that are said once and end all ranks."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS, on_ranks

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
BAD_MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.0\n4 1 2.0\n"


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, ranks, *arguments, status=0):
        launcher = on_ranks(ranks) if ranks else ()
        done = subprocess.run([*launcher, TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_product_is_right_and_reported_piece_by_piece(self):
        spmv = ("a(i) = B(i,j)*c(j)", "-f", "B:ds", "-g", "B:rmat,12,8", "-g", "c:random", "-m", "8", "--check", "--report")
        counts = []
        for ranks in (0, 1, 4):
            with self.subTest(ranks=ranks):
                out = self.run_tool(ranks, *spmv).stdout
                self.assertEqual(out.count("check: right"), 1, out)
                pieces = re.findall(r"^ +(\d+) +(\d+) +[0-9.]+ +(\d+) +(\d+)$", out, re.MULTILINE)
                self.assertEqual([int(piece) for piece, *_ in pieces], list(range(8)))
                counts.append(pieces)
                crossed = int(re.search(r"^(\d+) bytes in (\d+) messages", out, re.MULTILINE).group(1))
                self.assertEqual(crossed > 0, ranks > 1, out)
        # What a piece holds and receives does not depend on where the pieces are.
        self.assertEqual(counts[0], counts[1])
        self.assertEqual(counts[0], counts[2])

    def test_a_report_as_data_accounts_for_the_operands_that_are_converted_too(self):
        out = self.run_tool(3, "a(i) = B(i,j)*B(j,i)", "-f", "B:ds", "-g", "B:stencil7,4", "--report=json").stdout
        report = json.loads(out)
        sent = {(one["tensor"], one["kind"]): one["bytes"] for one in report["sent"]}
        self.assertGreater(sent["B", "redistribution"], 0)
        self.assertEqual(sum(sent.values()), report["bytes_sent"])
        self.assertEqual(len(report["pieces"]), 3)

    def ghosts(self, ranks, generator, *more):
        """Elements of c that each piece receives in a product by rows."""
        rows = f"divide(i,io,ii,{ranks}); distribute(io)"
        out = self.run_tool(ranks, "a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", f"B:{generator}", "-g", "c:ones", "-s", rows,
                            "--report=json", *more).stdout
        return [piece["moved"]["c(j)"]["received"] // 8 for piece in json.loads(out)["pieces"]]

    def test_ghosts_of_a_band_are_half_of_it_at_each_inner_side(self):
        self.assertEqual(self.ghosts(2, "banded,1000,11"), [5, 5])
        self.assertEqual(self.ghosts(4, "banded,1000,11"), [5, 10, 10, 5])

    def test_ghosts_of_a_uniform_matrix_are_the_distinct_columns_that_live_elsewhere(self):
        for ranks in (2, 4):
            found = self.ghosts(ranks, "uniform,2000,2000,3", "-o", "B:B.mtx")
            columns = [set() for _ in range(ranks)]
            for line in (self.folder / "B.mtx").read_text().split("\n")[2:-1]:
                row, column = (int(x) - 1 for x in line.split()[:2])
                if row * ranks // 2000 != column * ranks // 2000:
                    columns[row * ranks // 2000].add(column)
            self.assertEqual(found, [len(c) for c in columns])

    def test_every_rank_count_computes_the_same_files(self):
        for ranks in (0, 1, 3):
            self.run_tool(ranks, "A(i,j) = B(i,k) * B(k,j)", "-f", "A:ds", "-f", "B:ds", "-g", "B:stencil7,4", "-o",
                          f"A:A{ranks}.mtx", "--check")
        first = (self.folder / "A0.mtx").read_text()
        self.assertGreater(len(first.splitlines()), 64)
        self.assertEqual(first, (self.folder / "A1.mtx").read_text())
        self.assertEqual(first, (self.folder / "A3.mtx").read_text())

    def test_zeros_of_the_text_are_zeros_on_any_number_of_ranks(self):
        sparse = ("-f", "B:ds", "-g", "B:uniform,7,7,3")
        for statement, options in (("A(i,j) = 0", ("-n", "i=5", "-n", "j=2")),
                                   ("A(i,j) = 0", ("-n", "i=5", "-n", "j=2", "-f", "A:ds")),
                                   ("A(i,j) = 0", ("-n", "i=5", "-n", "j=2", "-t", "A:int32", "-m", "3")),
                                   ("A(i,j) = 0 * B(i,j)", (*sparse, "-f", "A:ds")),
                                   ("A(i,j) = 0 * B(i,j)", (*sparse, "-m", "3")),
                                   ("A(i,j) = B(i,j) + 0", (*sparse, "-f", "A:ss", "-m", "3")),
                                   ("x(i) = 0 * B(i,j)", sparse),
                                   ("x(i) += 0", ("-n", "i=4", "-g", "x:ones", "-m", "3"))):
            for ranks in (0, 3):
                with self.subTest(statement=statement, options=options, ranks=ranks):
                    self.assertIn("check: right", self.run_tool(ranks, statement, *options, "--check").stdout)

    def test_errors_are_said_once_and_end_all_ranks(self):
        (self.folder / "bad.mtx").write_text(BAD_MATRIX)
        spmv = ("a(i) = B(i,j) * c(j)", "-f", "B:ds")
        for arguments, message in (((*spmv, "--nothing"), "unexpected argument: --nothing"),
                                   ((*spmv, "-f", "c:x"), "'x' is no level format"),
                                   (("a(i) = B(i,j) * c(j",), "expected"),
                                   ((*spmv, "-i", "B:nowhere.mtx"), "cannot open 'nowhere.mtx'"),
                                   ((*spmv, "-i", "B:bad.mtx", "-g", "c:ones"), "bad.mtx:4:1: expected a row of 1 to 3"),
                                   ((*spmv, "-g", "B:rmat,4,2"), "c has no data"),
                                   ((*spmv, "-g", "B:rmat,4,2", "-g", "c:ones", "-o", "a:nowhere/a.mtx"), "nowhere"),
                                   ((*spmv, "-m", "2", "-s", "distribute(x)"), "x")):
            with self.subTest(message=message):
                done = self.run_tool(4, *arguments, status=2)
                self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_bad_setting_is_said_once_and_ends_all_ranks(self):
        spmv = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:rmat,4,2", "-g", "c:ones")
        # Of all ranks, or of one of them alone.
        everywhere = ["env", "SPDISTAL_TREADS=2", TOOL, *spmv]
        on_one = ["sh", "-c", '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" != 2 ] || export SPDISTAL_TREADS=2; exec "$0" "$@"', TOOL,
                  *spmv]
        for command in (everywhere, on_one):
            with self.subTest(command=command[:3]):
                done = subprocess.run([*on_ranks(4), *command], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                      check=False)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
                self.assertIn("there is no setting SPDISTAL_TREADS", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_values_of_settings_are_checked(self):
        for setting, message in (("SPDISTAL_CACHE_BYTES=some", "SPDISTAL_CACHE_BYTES is 'some', which is no number of bytes"),
                                 ("SPDISTAL_CACHE_BYTES=-1", "SPDISTAL_CACHE_BYTES is '-1', which is no number of bytes"),
                                 ("SPDISTAL_THREADS=0", "SPDISTAL_THREADS is '0', which is no number of threads"),
                                 ("SPDISTAL_CHECK_COLLECTIVES=yes", "SPDISTAL_CHECK_COLLECTIVES is 'yes', neither 0 nor 1")):
            with self.subTest(setting=setting):
                done = subprocess.run(["env", setting, TOOL, "a(i) = b(i)", "-n", "i=3", "-g", "b:ones"], cwd=self.folder,
                                      capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(message, done.stderr)

    def test_ranks_whose_collective_calls_are_compared_compute_the_same(self):
        product = (TOOL, "A(i,j) = B(i,k) * B(k,j)", "-f", "A:ds", "-f", "B:ds", "-g", "B:stencil7,4", "--check")
        done = subprocess.run([*on_ranks(3), "env", "SPDISTAL_CHECK_COLLECTIVES=1", *product], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("check: right", done.stdout)


if __name__ == "__main__":
    unittest.main()
