"""Machines of GPUs: refused where there is none, never run on the CPU unasked; interpreted where that is asked for."""
import ctypes
import os
import pathlib
import subprocess
import unittest

from python_tests import SETTINGS, on_ranks

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
SPMV = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:banded,60,5", "-g", "c:random")
KERNELS = {
    "SpMV": SPMV,
    "SpMM": ("A(i,j) = B(i,k) * C(k,j)", "-f", "B:ds", "-g", "B:rmat,5,4", "-g", "C:random", "-n", "j=32"),
    "SpAdd3": ("A(i,j) = B(i,j) + C(i,j) + D(i,j)", "-f", "A:ds", "-f", "B:ds", "-f", "C:ds", "-f", "D:ds",
               "-g", "B:rmat,5,4", "-g", "C:banded,32,5", "-g", "D:banded,32,3"),
    "SDDMM": ("A(i,j) = B(i,j) * C(i,k) * D(k,j)", "-f", "A:ds", "-f", "B:ds", "-g", "B:rmat,5,4", "-g", "C:random",
              "-g", "D:random", "-n", "k=32"),
    "SpGEMM": ("A(i,j) = B(i,k) * C(k,j)", "-f", "A:ds", "-f", "B:ds", "-f", "C:ds", "-g", "B:rmat,5,4",
               "-g", "C:banded,32,5"),
    "a sum of all": ("a = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:rmat,5,4", "-g", "c:random"),
}


def has_driver():
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


def has_nvrtc():
    try:
        ctypes.CDLL("libnvrtc.so")
        return True
    except OSError:
        return False


def run(*arguments, gpu=None, ranks=None, **others):
    environment = {k: v for k, v in os.environ.items() if k != "SPDISTAL_GPU"} | others
    if gpu is not None:
        environment["SPDISTAL_GPU"] = gpu
    launcher = on_ranks(ranks) if ranks else ()
    return subprocess.run([*launcher, TOOL, *arguments], capture_output=True, text=True, timeout=240, check=False, env=environment)


class Gpus(unittest.TestCase):
    def test_a_library_that_knows_nothing_of_interpreted_gpus_is_refused_there(self):
        done = run(*SPMV, "-m", "1,gpu", "-s", "substitute({i,j},cusparse)", gpu="interpreted")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("cusparse is asked for, and GPUs are interpreted", done.stderr)

    @unittest.skipIf(has_driver(), "there is an NVIDIA driver on this machine")
    def test_a_machine_without_one_refuses_and_computes_nothing(self):
        units = ("-s", "parallelize(i,GPUThread)")
        for asked in (("-m", "1,gpu"), ("-m", "4,gpu"), ("-m", "2/2,gpu"), units):
            with self.subTest(asked=asked):
                done = run(*SPMV, *asked)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn("there is no NVIDIA driver (libcuda.so.1) on this machine", done.stderr)
                self.assertIn("hint: run on a machine with a GPU", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_an_unknown_kind_is_refused(self):
        done = run(*SPMV, gpu="yes")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SPDISTAL_GPU is 'yes', neither cuda nor interpreted", done.stderr)

    def test_numbers_of_gpus_that_are_none_are_refused(self):
        for count in ("", "0", "-1", "two", "2x", "65"):
            with self.subTest(count=count):
                done = run(*SPMV, "-m", "2,gpu", gpu=f"interpreted:{count}")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(f"SPDISTAL_GPU is 'interpreted:{count}', and '{count}' is no number of GPUs", done.stderr)
                self.assertIn("hint: a node has 1 to 64: interpreted:2", done.stderr)
        for gpu in ("cuda:2", "interpreted2"):
            done = run(*SPMV, gpu=gpu)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"SPDISTAL_GPU is '{gpu}', neither cuda nor interpreted", done.stderr)
        done = run(*SPMV, gpu="interpreted", SPDISTAL_GPUS="0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SPDISTAL_GPUS is '0', which is no number of GPUs", done.stderr)

    def test_a_file_that_is_no_driver_is_refused_on_all_ranks(self):
        for ranks in (None, 2):
            done = run(*SPMV, "-m", "2,gpu", gpu="cuda", ranks=ranks, SPDISTAL_CUDA="/no/libcuda.so")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("/no/libcuda.so is no NVIDIA driver (SPDISTAL_CUDA says that it is)", done.stderr)

    def test_pieces_are_dealt_out_to_several_gpus(self):
        for ranks, gpus, limit in ((1, 2, None), (1, 3, None), (1, 4, 2), (2, 4, None), (2, 3, 1), (3, 2, None)):
            others = {"SPDISTAL_GPUS": str(limit)} if limit else {}
            for name, kernel in KERNELS.items():
                with self.subTest(ranks=ranks, gpus=gpus, limit=limit, kernel=name):
                    done = run(*kernel, "-m", "4,gpu", "--check", gpu=f"interpreted:{gpus}", ranks=ranks, **others)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn("check: right", done.stdout)

    @unittest.skipIf(not has_nvrtc(), "there is no libnvrtc.so on this machine")
    def test_compiled_kernels_are_loaded_and_launched_on_several_gpus(self):
        # What neighbours need is gathered, and results of columns are added up.
        scattered = ("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:rmat,7,2", "-g", "c:random", "-d", "c(x) -> M(x)")
        columns = ("a(j) = B(i,j) * c(i)", "-g", "B:random", "-g", "c:random", "-n", "i=20", "-n", "j=9", "-d", "a(x) -> M(x)",
                   "-s", "divide(i,io,ii,M.x); reorder(io,ii,j); distribute(io)")
        types = [("-t", f"{tensor}:{type}") for type in ("float", "complex128") for tensor in "aBc"]
        kernels = {name: KERNELS[name] for name in ("SpMV", "SpMM", "SDDMM")}
        for name, kernel in (("ghosts", scattered), ("sums", columns)):
            kernels |= {name: kernel, name + " of floats": kernel + sum(types[:3], ()),
                        name + " of complex numbers": kernel + sum(types[3:], ())}
        for ranks, gpus in ((1, 1), (1, 4), (2, 4), (2, 1)):
            for name, kernel in kernels.items():
                with self.subTest(ranks=ranks, gpus=gpus, kernel=name):
                    done = run(*kernel, "-m", "4,gpu", gpu="cuda", ranks=ranks,
                               SPDISTAL_CUDA=SETTINGS["fake_cuda"], FAKE_CUDA_DEVICES=str(gpus))
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_kernels_are_right_where_they_are_interpreted(self):
        for name, kernel in KERNELS.items():
            for machine in ("1,gpu", "3,gpu"):
                with self.subTest(kernel=name, machine=machine):
                    done = run(*kernel, "-m", machine, "--check", gpu="interpreted")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn("check: right", done.stdout)

    def test_schedules_over_units_are_followed(self):
        rows = "split(i,ib,ir,8); parallelize(ib,GPUBlock); parallelize(ir,GPUWarp); parallelize(j,GPUThread)"
        non_zeros = "fuse(i,j,f); pos(f,fp,B(i,j)); split(fp,fo,fi,8); parallelize(fo,GPUBlock); parallelize(fi,GPUThread)"
        for schedule in (rows, non_zeros, "parallelize(i,GPUThread)", "parallelize(i,GPUBlock)"):
            with self.subTest(schedule=schedule):
                done = run(*SPMV, "-m", "1,gpu", "-s", schedule, "--check", gpu="interpreted")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_positions_are_dealt_out_where_what_is_gathered_is_added_up_or_rows_are_few_or_far_longer_than_others(self):
        fibres = ("-f", "B:dss", "-g", "B:uniform,200,200,200,80000")
        sddmm = ("A(i,j) = B(i,j) * C(i,k) * D(k,j)", "-f", "A:ds", "-f", "B:ds", "-g", "C:random", "-g", "D:random",
                 "-n", "k=32")
        spmm = ("A(i,j) = B(i,k) * C(k,j)", "-f", "B:ds", "-g", "C:random", "-n", "j=32")
        slices = ("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", *fibres, "-g", "C:random", "-g", "D:random")
        chosen = {
            "skewed rows of columns": ((*spmm, "-g", "B:rmat,13,12"), "int64_t row_end = B2_pos[pB1 + 1]"),
            "even rows of columns": ((*spmm, "-g", "B:banded,8000,11"), "worker < size_i"),
            "slices of columns": ((*slices, "-n", "l=32"), "int64_t pB2_end = B3_pos[pB2 + 1]"),
            "skewed rows": ((*sddmm, "-g", "B:rmat,13,12"), "__shared__ int64_t rows_of[256]"),
            "even rows": ((*sddmm, "-g", "B:banded,8000,11"), "worker < size_i"),
            "rows added up": (("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:uniform,1000,1000,10000", "-g", "c:random"),
                              "__shared__ double products[2048]"),
            "rows of neighbours": (("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-g", "B:banded,8000,11", "-g", "c:random"),
                                   "worker < size_i"),
            "fibres": (("A(i,j) = B(i,j,k) * c(k)", "-f", "A:ds", *fibres, "-g", "c:random"),
                       "__shared__ double products[2048]"),
            "slices": ((*slices, "-n", "l=4"), "fp_begin = B_stored * worker / shares"),
        }
        for name, (kernel, text) in chosen.items():
            with self.subTest(tensor=name):
                done = run(*kernel, "-m", "1,gpu", "--print", "kernel", "--check", gpu="interpreted")
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
                self.assertIn(text, done.stdout)
                # What stands along positions is read once; what is gathered is to stay in caches.
                self.assertEqual("products[" in text, "* c[__ldcs(&" in done.stdout or "__ldcs(&B[" in done.stdout)

    def test_rows_that_are_merged_go_through_shared_memory(self):
        done = run(*KERNELS["SpAdd3"], "-m", "1,gpu", "--print", "kernel", "--check", gpu="interpreted")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
        for array in ("B2_crd_staged", "C_staged", "A_staged"):
            self.assertIn(f"__shared__ {'int32_t' if 'crd' in array else 'double'} {array}", done.stdout)
        self.assertIn("copy_ahead(&B_staged[q], &B[B2_pos_from + q]);", done.stdout)

    def test_ranks_share_a_gpu(self):
        for ranks in (1, 2, 4):
            for name in ("SpMV", "SpMM", "SpAdd3"):
                with self.subTest(ranks=ranks, kernel=name):
                    done = run(*KERNELS[name], "-m", f"{ranks},gpu", "--check", gpu="interpreted", ranks=ranks)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn("check: right", done.stdout)

    def test_the_kernel_is_shown_as_cuda(self):
        done = run(*SPMV, "-m", "1,gpu", "--print", "kernel", gpu="interpreted")
        self.assertIn("__global__", done.stdout)


if __name__ == "__main__":
    unittest.main()
