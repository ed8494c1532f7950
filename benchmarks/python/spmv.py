#!/usr/bin/env python3
"""A matrix of scipy times a vector of numpy in Python, beside scipy's own product: conversion and planning included.

usage: spmv.py [non-zeros]      with spdistal, numpy and scipy installed, or PYTHONPATH=build/python
"""
import os
import subprocess
import sys
import time

THREADS = [1, 2]


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measure(nnz):
    import numpy as np
    import scipy.sparse as sp

    import spdistal
    rows, random = nnz // 10, np.random.default_rng(0)
    A = sp.csr_array((random.random(nnz), (random.integers(0, rows, nnz), random.integers(0, rows, nnz))), shape=(rows, rows))
    x = random.random(rows)
    ours = lambda: spdistal.evaluate("y(i) = A(i,j) * x(j)", A=A, x=x).to_numpy()
    first = seconds(ours)
    np.testing.assert_allclose(ours(), A @ x)
    times = [], []
    for _ in range(20):
        x += 1.0  # operands change, as in a solver
        times[0].append(seconds(ours))
        times[1].append(seconds(lambda: A @ x))
    mine, theirs = (sorted(each)[len(each) // 2] for each in times)
    print(f"{os.environ['OMP_NUM_THREADS']:>7} {A.nnz:10} {first * 1e3:10.1f} {mine * 1e3:11.3f} {theirs * 1e3:9.3f} {theirs / mine:7.2f}")


def main():
    nnz = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    if "MEASURE" in os.environ:
        return measure(nnz)
    print("threads  non-zeros   first ms spdistal ms  scipy ms   ratio", flush=True)
    for threads in THREADS:
        environment = dict(os.environ, MEASURE="1", OMP_NUM_THREADS=str(threads))
        subprocess.run([sys.executable, __file__, str(nnz)], env=environment, check=True)


if __name__ == "__main__":
    main()
