"""What the command line tool writes: files that hold the result, and nothing where something is wrong."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS, on_ranks

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

    def test_the_kernel_of_pieces_is_shown(self):
        done = self.run_tool("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:banded,10,3", "-g", "c:ones", "-m", "2",
                             "--print", "kernel")
        self.assertIn('extern "C" int kernel', done.stdout)

    def test_any_number_of_ranks_prints_and_writes_the_same(self):
        (self.folder / "c.tns").write_text("# dims: 256\n" + "".join(f"{i} {i}.5\n" for i in range(1, 257, 3)))
        seen = set()
        for ranks in (1, 2, 3, 4):
            done = subprocess.run([*on_ranks(ranks), TOOL, "s = B(i,j) * c(j) * d(i)", "-f", "B:ds", "-f", "c:s", "-g",
                                   "B:rmat,8,8", "-i", "c:c.tns", "-g", "d:ones", "--check", "-o", "B:B.mtx", "-o", "c:c.mtx", "-o",
                                   "d:d.tns"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            check, result = done.stdout.splitlines()[-2:]
            self.assertTrue(check.startswith("check: right"), check)
            # Sums of different pieces may round differently in the last places.
            files = [(self.folder / name).read_text() for name in ("B.mtx", "c.mtx", "d.tns")]
            seen.add((result.split("=")[0], f"{float(result.split('=')[1]):.10g}", *files))
        self.assertEqual(len(seen), 1)

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

    def test_what_cannot_be_written_is_refused_before_it_is_computed(self):
        (self.folder / "folder.mtx").mkdir()
        (self.folder / "closed").mkdir(mode=0o500)
        for path, why in (("folder.mtx", "it is a folder"), ("nowhere/a.mtx", "there is no folder 'nowhere'"),
                          ("closed/a.mtx", "takes no new files")):
            if path.startswith("closed") and os.access(self.folder / "closed", os.W_OK):
                continue  # permissions do not bind this user
            with self.subTest(path=path):
                done = self.run_tool("a(i) = b(i)", "-n", "i=3", "-g", "b:ones", "-o", f"a:{path}", status=2)
                self.assertIn(why, done.stderr)
                self.assertIn("^", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_times_come_with_the_operations_and_bytes_of_a_second(self):
        spmv = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:banded,1000,3", "-g", "c:ones", "--time", "3")
        self.assertRegex(self.run_tool(*spmv).stdout, r"time: [0-9.e-]+ ms, [0-9.e-]+ GFLOP/s, [0-9.e-]+ GB/s\n")
        done = self.run_tool("a(i) = max(b(i), 0)", "-g", "b:ones", "-n", "i=10", "--time", "3")
        self.assertRegex(done.stdout, r"time: [0-9.e-]+ ms, [0-9.e-]+ GB/s\n")

    def test_skewed_operands_have_their_non_zeros_dealt_out_where_nobody_says_how(self):
        tensor = ("-g", "B:powerlaw,1000,90,80,30000")
        for program in (("A(i,j) = B(i,j) * C(i,k) * D(k,j)", "-f", "A:ds", "-f", "B:ds", "-n", "k=4", "-g", "B:rmat,12,8", "-g",
                         "C:random", "-g", "D:random"),
                        ("A(i,j) = B(i,j,k) * c(k)", "-f", "A:ss", "-f", "B:sss", *tensor, "-g", "c:random"),
                        ("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "-f", "B:dss", *tensor, "-n", "l=3", "-g", "C:random", "-g",
                         "D:random")):
            with self.subTest(program=program[0]):
                out = self.run_tool(*program, "-m", "4", "--print", "plan", "--check").stdout
                self.assertIn("because blocks of i would have up to", out)
                self.assertIn("check: right", out)

    def test_rows_of_skewed_operands_that_stay_whole_are_cut_by_weight(self):
        data = ("-f", "A:ds", "-f", "B:ds", "-f", "C:ds", "-f", "D:ds", "-g", "B:rmat,12,8", "-g", "C:rmat,12,8", "-g", "D:rmat,12,8")
        out = self.run_tool("A(i,j) = B(i,j) + C(i,j) + D(i,j)", *data, "-m", "4", "--print", "plan", "--check").stdout
        self.assertRegex(out, r"because i is cut by weight: equal blocks would have up to [0-9.]+ times their share of the "
                              r"non-zeros of B, C and D")
        self.assertIn("i = cut(io, B, C, D) + ii", out)
        self.assertIn("check: right", out)

    def test_sparse_results_with_a_place_of_their_own_keep_rows_whole(self):
        out = self.run_tool("A(i,j) = B(i,j) * c(j)", "-f", "A:ds", "-f", "B:ds", "-g", "B:rmat,12,8", "-g", "c:random", "-m", "3",
                            "-d", "A(x,y) -> M(x)", "--print", "plan", "--check").stdout
        self.assertIn("because i is cut by weight", out)
        self.assertNotIn("pos(", out)
        self.assertIn("check: right", out)

    def test_kernels_are_compiled_whatever_the_search_path_is(self):
        for path in ({}, {"PATH": "/nowhere"}):
            with self.subTest(path=path):
                done = subprocess.run([TOOL, "a(i) = 3 * b(i)", "-g", "b:ones", "-n", "i=2"], capture_output=True, text=True,
                                      timeout=120, check=False, env={**path, "SPDISTAL_CACHE_BYTES": "0"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, "a: 2, 2 stored\n  a(0) = 3\n  a(1) = 3\n")

    def test_a_library_that_is_not_there_is_named_before_anything_is_computed(self):
        done = subprocess.run([TOOL, "A(i,j) = B(i,k) * C(k,j)", "-n", "i=4", "-n", "j=4", "-n", "k=4", "-g", "B:ones", "-g", "C:ones",
                               "-s", "substitute({i,j,k},gemm)"], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "SPDISTAL_BLAS": "/nowhere/libblas.so"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("gemm is asked for, but /nowhere/libblas.so is no BLAS", done.stderr)
        self.assertIn("SPDISTAL_BLAS", done.stderr)

    def test_looking_at_a_program_changes_nothing(self):
        total = ("s += b(i)", "-n", "i=3", "-g", "b:ones")
        grown = ("A(i,j) = A(i,j) + B(i,j)", "-f", "A:ds", "-f", "B:ds", "-g", "B:banded,6,3", "-g", "A:banded,6,1")
        for program in (total, (*total, "-g", "s:ones"), grown, (*grown, "-m", "3")):
            name = program[0][0]
            seen = set()
            for looks in ((), ("--print", "plan"), ("--print", "all"), ("--time", "4"), ("--check",), ("--report",),
                          ("--print", "plan", "--check", "--time", "3", "--report")):
                with self.subTest(program=program, looks=looks):
                    self.run_tool(*program, *looks, "-o", f"{name}:out.tns")
                    seen.add((self.folder / "out.tns").read_text())
            self.assertEqual(len(seen), 1, program)

    def test_a_check_rounds_as_the_result_does(self):
        for kind, statement in (("int32", "a(i) = b(i) * 0.7"), ("int64", "a(i) = 100 * b(i) - c(i) * 31.3"),
                                ("float", "a(i) = b(i) * c(i)"), ("float", "a(i) = b(i) * 1e-50"),
                                ("float", "a(i) = b(i) * 1e300"), ("int32", "a(i) = B(i,j) * c(j) * 17.3"),
                                ("bool", "a(i) = b(i) - b(i) + 0.25 * c(i)"), ("int32", "a(i) = exp(b(i)) * 3")):
            with self.subTest(kind=kind, statement=statement):
                data = [part for name in "bcB" if name + "(" in statement for part in ("-g", f"{name}:random")]
                sizes = ["-n", "i=50", *(["-n", "j=9"] if "j" in statement else [])]
                done = self.run_tool(statement, "-t", f"a:{kind}", *sizes, *data, "--check")
                self.assertIn("check: right", done.stdout)


if __name__ == "__main__":
    unittest.main()
