"""The evaluation beside rivals, played by programs that make their results up: which runs there are, tables, and plots."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks/evaluation"
sys.dont_write_bytecode = True
sys.path.insert(0, str(FOLDER))
import plots  # noqa: E402
import tables  # noqa: E402

# Stands in for evaluation_<system>: logs what it was asked for, and takes so many milliseconds on one core.
PROGRAM = """#!{python}
import json, os, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
ranks, threads, scale = int(os.environ["FAKE_RANKS"]), int(os.environ["OMP_NUM_THREADS"]), float(options["--scale"])
with open({log!r}, "a") as log:
    print(json.dumps(dict(options, system={system!r}, ranks=ranks, threads=threads)), file=log)
for kernel in options["--kernels"].split(","):
    ms = {ms} / ranks / threads * scale
    result = dict(system={system!r}, version="1", kernel=kernel, input=options["--inputs"], ranks=ranks, threads=threads)
    if "--fresh" in options:
        result.update(peak_bytes=1e6, read_ms=-1, bring_ms=20 * {ms}, fresh_bring_ms=30 * {ms}, first_ms=50 * {ms}, ms=ms, compile_ms=10 * {ms},
                      exchange_ms=3 * {ms}, leaf_ms=2 * {ms})
    else:
        result.update(checksum=1.5, magnitude=2, difference=0)
        if {wrong}: result.update(wrong="elements are off by 1.0")
        elif options["--runs"] != "0":
            result.update(ms=ms, runs=5, spread=0.1, bytes=1e6, operations=2e5, triad=1e10, moved_bytes=8e6, imbalance=1.25)
    print(json.dumps(result))
"""
SYSTEMS = {"spdistal": "spdistal", "loops": "loops", "eigen": "Eigen", "graphblas": "GraphBLAS", "petsc": "PETSc", "tpetra": "Tpetra"}


class Bench:
    """A build folder with programs of some systems, and a launcher. `ms` is what each takes; below 0, its results are wrong."""

    def __init__(self, folder, **ms):
        self.folder, self.log = pathlib.Path(folder), pathlib.Path(folder) / "log"
        self.out = self.folder / "out"
        (self.folder / "bin").mkdir()
        for name, time in ms.items():
            self.program(f"bin/evaluation_{name}", PROGRAM.format(python=sys.executable, log=str(self.log), system=SYSTEMS[name], ms=abs(time), wrong=time < 0))
        self.program("mpirun", """#!/bin/sh
            export FAKE_RANKS=$2; while [ "${1#/}" = "$1" ]; do shift; done; exec "$@"
            """)

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, *words):
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, FOLDER / "run", "--build", self.folder, "--out", self.out, *words], capture_output=True, text=True,
                              env=environment, check=False)

    def runs(self):
        """The options of each program that was started."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def result(system, kernel="SpMV", name="banded", ms=2.0, cores=2, **more):
    return dict(system=system, kernel=kernel, input=name, ranks=1, threads=cores, cores=cores, scale=1.0, ms=ms, runs=20, spread=0.05, bytes=24e6,
                operations=4e6, triad=24e9, moved_bytes=-1, imbalance=-1, peak_bytes=-1) | more


def begun(system, **more):
    return result(system) | dict(read_ms=-1, bring_ms=10.0, fresh_bring_ms=16.0, first_ms=34.0, compile_ms=0.0, exchange_ms=0.0, leaf_ms=0.0) | more


class Tables(unittest.TestCase):
    def test_times_tell_rates_and_what_rivals_take_over_the_best_of_ours(self):
        table = tables.times([result("spdistal", ms=4.0), result("spdistal", ms=2.0, ranks=2, threads=1, moved_bytes=3e6, imbalance=1.2),
                              result("PETSc", ms=3.0), result("PETSc", ms=9.0, cores=1)])
        self.assertIn("kernel    input       system     ranks x threads         ms runs spread    GB/s of triad moved MB imbalance  peak MB  ratio", table)
        lines = [line.split() for line in table.splitlines()[1:]]
        self.assertEqual([(line[2], line[6]) for line in lines], [("PETSc", "9.000"), ("spdistal", "2.000"), ("PETSc", "3.000"), ("spdistal", "4.000")])
        self.assertEqual(lines[1][9:], ["12.0", "0.50", "3.00", "1.20"])  # 24 MB in 2 ms of a triad of 24 GB/s
        self.assertEqual(lines[2][-1], "1.50")
        self.assertEqual(lines[0][-1], "0.11")  # of one core, of which ours has none: no ratio

    def test_peaks_are_those_of_processes_that_did_nothing_else(self):
        measured = [result("spdistal"), result("PETSc")]
        tables.add_peaks(measured, [begun("spdistal", peak_bytes=5e6)])
        self.assertEqual([r["peak_bytes"] for r in measured], [5e6, -1])

    def test_columns_stand_below_their_names_whatever_files_are_called(self):
        lines = tables.times([result("spdistal", name="a"), result("loops", name="filtered_feature_bc_matrix")]).splitlines()
        self.assertEqual({line.index("1 x 2") for line in lines[1:]}, {lines[0].index("ranks x threads") + 6})

    def test_setup_is_in_units_of_one_spmv_of_the_same_system(self):
        table = tables.setup([begun("spdistal", first_ms=134.0, compile_ms=100.0, exchange_ms=6.0, leaf_ms=4.0),
                              begun("spdistal", kernel="SpMM", ms=20.0), begun("PETSc", bring_ms=12.0, first_ms=10.0)])
        ours = next(line for line in table.splitlines() if line.startswith("SpMV") and "spdistal" in line)
        # SpMV 2 ms; bring 10, fresh 16, first 34 without 100 of compiling: 24 of it plan, 6 exchange, 4 leaf; 44 over PETSc's 22
        self.assertEqual(ours.split()[3:], ["1", "x", "2", "2.000", "5.0", "8.0", "17.0", "12.0", "3.0", "2.0", "50.0", "2.00"])
        of_spmm = next(line for line in table.splitlines() if line.startswith("SpMM"))
        self.assertEqual(of_spmm.split()[6:8], ["2.000", "5.0"])

    def test_setup_is_told_beside_both_rivals_and_only_on_as_many_cores(self):
        table = tables.setup([begun("spdistal"), begun("PETSc", first_ms=1.0, cores=1, threads=1), begun("Tpetra", first_ms=12.0)])
        head, *lines = table[table.index("kernel "):].splitlines()
        self.assertTrue(head.endswith("over PETSc over Tpetra"))
        self.assertEqual([line.split()[-1] for line in lines if "spdistal" in line], ["2.00"])  # 44 over 22 of Tpetra
        self.assertNotIn("over PETSc", tables.setup([begun("spdistal")]).splitlines()[-2])


class Plots(unittest.TestCase):
    def drawn(self, results, weak=False):
        """The texts, and the colour and points of each line, of all pictures by name; each is well-formed."""
        with tempfile.TemporaryDirectory() as folder:
            plots.draw(results, pathlib.Path(folder), weak)
            return {path.stem: self.parts(path.read_text()) for path in pathlib.Path(folder).iterdir()}

    def parts(self, text):
        picture = list(xml.etree.ElementTree.fromstring(text))
        places = lambda part: [tuple(map(float, point.split(","))) for point in part.get("points").split()]
        return {"texts": [part.text for part in picture if part.tag.endswith("text")],
                "lines": [(part.get("stroke"), places(part)) for part in picture if part.tag.endswith("polyline")],
                "dots": [(part.get("fill"), float(part.get("cx")), float(part.get("cy"))) for part in picture if part.tag.endswith("circle")],
                "width": float(xml.etree.ElementTree.fromstring(text).get("width"))}

    def test_bars_are_of_the_most_cores_and_name_systems_and_inputs(self):
        texts = self.drawn([result("spdistal"), result("PETSc", name="rmat"), result("Eigen", cores=1)])["SpMV"]["texts"]
        self.assertTrue({"SpMV, 2 cores", "banded", "rmat", "spdistal", "PETSc"} <= set(texts))
        self.assertNotIn("Eigen", texts)

    def test_strong_scaling_has_a_line_for_each_system_and_its_speed(self):
        results = [result(system, ms=ms * (1 if cores == 1 else 0.5), cores=cores) for system, ms in (("spdistal", 4.0), ("PETSc", 8.0)) for cores in (1, 2)]
        picture = self.drawn(results)["scaling"]
        lines = dict(picture["lines"])
        ours, theirs = lines[plots.COLOURS["spdistal"]], lines[plots.COLOURS["PETSc"]]
        self.assertEqual((len(ours), len(theirs)), (2, 2))
        self.assertEqual(ours, lines["#bbb"])  # in proportion to the cores
        up = lambda line: [round(200 - y, 1) for _, y in line]
        self.assertEqual([a / 2 for a in up(ours)], up(theirs))
        self.assertIn("SpMV, banded", picture["texts"])

    def test_weak_scaling_counts_what_is_done_in_the_time(self):
        results = [result("spdistal", ms=4.0, cores=cores, scale=cores / 2) for cores in (1, 2)]
        pictures = self.drawn(results, weak=True)
        lines = dict(pictures["weak_scaling"]["lines"])
        self.assertEqual(lines[plots.COLOURS["spdistal"]], lines["#bbb"])
        self.assertNotIn("scaling", pictures)

    def test_one_number_of_cores_has_no_scaling(self):
        self.assertEqual(sorted(self.drawn([result("spdistal")])), ["SpMV", "roofline"])

    def test_the_roofline_is_over_intensity_below_the_triad(self):
        # 4 operations for 24 bytes at the rate of the triad lie on it; at a tenth of the rate a decade below; of ten times the intensity a
        # decade to the right.
        on_it = result("spdistal", ms=1.0)
        below = result("PETSc", ms=10.0)
        right = result("spdistal", kernel="SpMM", ms=1.0, operations=40e6)
        picture = self.drawn([on_it, below, right])["roofline"]
        self.assertTrue({"arithmetic intensity, flops/byte", "GFLOP/s", "triad, 24 GB/s", "SpMV banded", "SpMM banded"} <= set(picture["texts"]))
        (left_end, right_end) = next(line for colour, line in picture["lines"] if colour == "#000" and len(line) == 2 and line[0][1] != line[1][1])
        slope = (right_end[1] - left_end[1]) / (right_end[0] - left_end[0])
        roof = lambda x: left_end[1] + slope * (x - left_end[0])
        dots = {(colour, x): y for colour, x, y in picture["dots"]}
        ours, xs = plots.COLOURS["spdistal"], sorted({x for _, x, _ in picture["dots"]})
        self.assertEqual(len(xs), 2)
        for x in xs:
            self.assertAlmostEqual(dots[ours, x], roof(x), delta=0.3)
        decade = -slope * (xs[1] - xs[0])
        self.assertAlmostEqual(dots[plots.COLOURS["PETSc"], xs[0]] - dots[ours, xs[0]], decade, delta=0.3)

    def test_columns_of_the_same_intensity_stand_side_by_side_within_the_picture(self):
        picture = self.drawn([result("spdistal", name=f"input{k}") for k in range(9)])["roofline"]
        xs = sorted(x for _, x, _ in picture["dots"])
        self.assertTrue(all(b - a >= 12.9 for a, b in zip(xs, xs[1:])))
        self.assertEqual(plots.spread([1, 50, 51, 99.5], 10, 0, 100), [1, 45.5, 55.5, 99.5])
        self.assertEqual(plots.spread([1, 2, 99], 10, 0, 100), [0, 10, 99])


class Run(unittest.TestCase):
    def bench(self, **ms):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Bench(folder.name, **ms)

    def test_measures_compares_and_writes_tables_json_and_plots(self):
        bench = self.bench(spdistal=2, loops=3, petsc=4)
        done = bench.run("--cores", "1,2", "--inputs", "banded,uniform3", "--kernels", "SpMV,SpTTV,SpGEMM")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, package in (("eigen", "libeigen3-dev"), ("graphblas", "libgraphblas-dev"), ("tpetra", "libtrilinos-tpetra-dev")):
            self.assertIn(f"left out: {name} (not built: package {package} brings it)", done.stdout)
        self.assertEqual(sorted(path.name for path in bench.out.iterdir()),
                         ["SpGEMM.svg", "SpMV.svg", "SpTTV.svg", "results.json", "roofline.svg", "scaling.svg"])
        written = json.loads((bench.out / "results.json").read_text())
        places = {(r["system"], r["kernel"], r["input"], r["ranks"], r["threads"], r["scale"]) for r in written["results"]}
        self.assertTrue({("spdistal", "SpMV", "banded", 2, 1, 1), ("spdistal", "SpMV", "banded", 1, 2, 1), ("loops", "SpGEMM", "banded", 1, 2, 0.125),
                         ("PETSc", "SpMV", "banded", 2, 1, 1), ("PETSc", "SpTTV", "uniform3", 1, 1, 1)} <= places)
        self.assertFalse({place for place in places if place[0] == "loops" and place[3] > 1 or place[0] == "PETSc" and place[4] > 1})
        timed = [run for run in bench.runs() if run.get("--warm")]
        self.assertEqual({run["--expect"] for run in timed if run["--kernels"] == "SpMV"}, {"SpMV=1.5:2"})
        self.assertEqual({(run["--warm"], run["--runs"]) for run in timed}, {("10", "20")})
        self.assertIn("Set-up", done.stdout)

    def test_systems_take_turns_in_beginning(self):
        bench = self.bench(spdistal=2, petsc=4)
        self.assertEqual(bench.run("--cores", "1", "--inputs", "banded,uniform", "--kernels", "SpMV").returncode, 0)
        timed = [run["system"] for run in bench.runs() if run.get("--warm")]
        self.assertEqual(timed, ["spdistal", "PETSc", "PETSc", "spdistal"])

    def test_sizes_grow_with_the_cores(self):
        bench = self.bench(spdistal=2)
        self.assertEqual(bench.run("--cores", "1,2,4", "--weak", "--inputs", "banded", "--kernels", "SpMV").returncode, 0)
        self.assertEqual({(run["ranks"] * run["threads"], float(run["--scale"])) for run in bench.runs() if run.get("--warm")}, {(1, 0.25), (2, 0.5), (4, 1)})
        self.assertTrue((bench.out / "weak_scaling.svg").exists())

    def test_ranks_and_threads_are_taken_in_pairs(self):
        bench = self.bench(spdistal=2, petsc=4)
        self.assertEqual(bench.run("--ranks", "1,2", "--threads", "2", "--inputs", "banded", "--kernels", "SpMM").returncode, 0)
        self.assertEqual({(run["system"], run["ranks"], run["threads"]) for run in bench.runs() if run.get("--warm")}, {("spdistal", 1, 2), ("spdistal", 2, 2)})

    def test_what_is_wrong_is_named_and_not_timed(self):
        bench = self.bench(spdistal=2, petsc=-4)
        done = bench.run("--cores", "1", "--inputs", "banded", "--kernels", "SpMV")
        self.assertEqual(done.returncode, 1)
        self.assertIn("WRONG, and not timed: PETSc SpMV banded 1 x 1: elements are off by 1.0", done.stderr)
        written = json.loads((bench.out / "results.json").read_text())
        self.assertEqual(({r["system"] for r in written["results"]}, [r["system"] for r in written["wrong"]]), ({"spdistal"}, ["PETSc"]))

    def test_all_inputs_have_kernels_of_their_order(self):
        bench = self.bench(spdistal=2)
        self.assertEqual(bench.run("--cores", "1", "--inputs", "all", "--kernels", "SpMV,SpGEMM,SpTTV").returncode, 0)
        taken = {(run["--inputs"], run["--kernels"]): float(run["--scale"]) for run in bench.runs() if run.get("--warm")}
        self.assertEqual(taken["web", "SpMV"], 1)
        self.assertEqual((taken["kmer", "SpGEMM"], taken["twitter", "SpGEMM"]), (1 / 8, 1 / 64))
        self.assertEqual(taken["freebase", "SpTTV"], 1)
        self.assertNotIn(("freebase", "SpMV"), taken)

    def test_every_input_of_the_programs_can_be_asked_for(self):
        names = re.findall(r'\{\.name = "(\w+)"', (FOLDER / "matrices.hpp").read_text()) + \
            re.findall(r'\{"(\w+)", \w+, \w+\}', (FOLDER / "tensors.hpp").read_text())
        self.assertGreater(len(names), 10)
        loader = importlib.machinery.SourceFileLoader("run", str(FOLDER / "run"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
        loader.exec_module(module)
        self.assertEqual(sorted(names), sorted([*module.MATRICES, *module.TENSORS]))

    def test_files_that_fit_no_kernel_are_left_out_by_name(self):
        bench = self.bench(spdistal=2)
        data = bench.folder / "data"
        data.mkdir()
        for name, text in (("square.mtx", "%%MatrixMarket matrix coordinate pattern general\n% of a comment\n3 3 1\n1 2\n"),
                           ("wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 5 1\n1 2 0.5\n"),
                           ("three.tns", "# a comment\n1 2 3 0.5\n"), ("four.tns", "1 2 3 4 0.5\n"), ("notes.txt", "")):
            (data / name).write_text(text)
        done = bench.run("--cores", "1", "--data", str(data))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: four.tns (it is of order 4, and the kernels take order 3)", done.stdout)
        self.assertIn("left out: SpGEMM on wide.mtx (it is 3 x 5, not square)", done.stdout)
        taken = {pathlib.Path(run["--inputs"]).name: run["--kernels"] for run in bench.runs() if run.get("--warm")}
        self.assertEqual(taken, {"square.mtx": "SpMV,SpMM,SDDMM,SpAdd3,SpGEMM", "wide.mtx": "SpMV,SpMM,SDDMM,SpAdd3", "three.tns": "SpTTV,SpMTTKRP"})

    def test_what_cannot_be_is_refused_with_the_remedy(self):
        bench = self.bench(spdistal=2)
        for words, remedy in ((("--weak", "--data", str(bench.folder)), "files do not grow with the cores; leave out --data, or --weak"),
                              (("--inputs", "bandit"), "there is no bandit; there are banded, uniform"),
                              (("--cores", "2", "--ranks", "2"), "leave it out beside --ranks and --threads"),
                              (("--data", "nowhere"), "nowhere is no folder"),
                              (("--data", str(bench.folder)), "there is no .mtx and no .tns")):
            done = bench.run(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(remedy, " ".join(done.stderr.split()))

    def test_nothing_is_measured_where_nothing_was_built(self):
        done = self.bench().run("--quick")
        self.assertEqual((done.returncode, done.stderr.strip()), (1, "nothing was measured"))


if __name__ == "__main__":
    unittest.main()
