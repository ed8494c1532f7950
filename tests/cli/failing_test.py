"""Ranks of which one runs out of memory, or means something else than the others: one message, and all of them end."""
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS, on_ranks

BUILD = pathlib.Path(SETTINGS["build"]) / "bin"
# Runs a program with one more argument on the last rank of three.
LAST = '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" != 2 ] || exec "$0" "$@" $LAST; exec "$0" "$@"'


class Failing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_all(self, *command, **environment):
        settings = [f"{name}={value}" for name, value in environment.items()]
        return subprocess.run(["env", *settings, *on_ranks(3), *command], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)

    def test_memory_that_runs_out_on_one_rank_ends_all_with_one_message(self):
        # Any request, and those that grow with the data: the first, the second, and ever later ones.
        for rank, least in ((1, 0), (2, 600)):
            which = 0
            while True:
                with self.subTest(rank=rank, least=least, which=which):
                    done = self.run_all(BUILD / "failing", str(rank), str(which), str(least), "A.mtx", SPDISTAL_COMPILER="")
                    if done.returncode == 0:
                        self.assertTrue((self.folder / "A.mtx").exists())
                        (self.folder / "A.mtx").unlink()
                        break
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertEqual(done.stderr.count("out of memory"), 1, done.stderr)
                    self.assertIn(f"rank {rank}: out of memory", done.stderr)
                    self.assertEqual(list(self.folder.iterdir()), [])
                which = which + 1 + which // 2

    def test_ranks_with_other_arguments_are_named(self):
        tool = BUILD / "spdistal"
        spmv = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "c:ones")
        for last, said in (("-g B:banded,1000,3", "rank 2 was given '-g', rank 0 nothing"),
                           ("--check", "rank 2 was given '--check', rank 0 nothing"),
                           ("--nothing", "rank 2 was given '--nothing', rank 0 nothing")):
            with self.subTest(last=last):
                done = self.run_all("sh", "-c", LAST, tool, *spmv, LAST=last)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_another_generator_on_one_rank_is_named(self):
        tool = BUILD / "spdistal"
        script = '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && WIDTH=3; exec "$0" "$@" -g B:banded,1000,${WIDTH:-5}'
        done = self.run_all("sh", "-c", script, tool, "a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "c:ones")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn("rank 1 was given 'B:banded,1000,3', rank 0 'B:banded,1000,5'", done.stderr)

    def test_a_file_that_is_another_one_on_one_rank_is_named(self):
        for rank in range(3):
            folder = self.folder / str(rank)
            folder.mkdir()
            value = 2 if rank == 1 else 1
            (folder / "B.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 {value}.5\n")
        script = 'cd "$OMPI_COMM_WORLD_RANK$PMI_RANK"; exec "$0" "$@"'
        done = self.run_all("sh", "-c", script, BUILD / "spdistal", "a(i) = B(i,j)", "-f", "B:ds", "-i", "B:B.mtx")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn("the file 'B.mtx' on rank 1 is not that of rank 0", done.stderr)

    def test_an_error_that_a_program_does_not_catch_is_said_once(self):
        # Everywhere by agreement, everywhere by itself, on the last rank alone.
        for where, said in (("agreed", "cannot open 'none.mtx'"), ("alike", "has 2 dimensions, the entry 1 coordinate"),
                            ("last", "has 2 dimensions, the entry 3 coordinates")):
            with self.subTest(where=where):
                done = self.run_all(BUILD / "uncaught", where)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
