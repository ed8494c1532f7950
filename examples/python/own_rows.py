"""Rows that each process has made for itself become one matrix; run with mpirun -n 4."""
import numpy as np

import spdistal
from spdistal import Tensor, evaluate

n, rank, ranks = 40, spdistal.rank(), spdistal.ranks()
rows = np.arange(rank * n // ranks, (rank + 1) * n // ranks)
row, column = np.repeat(rows, 3), np.concatenate([(r + np.array([0, 1, n // 2])) % n for r in rows] or [[]])
A = Tensor.from_coo((n, n), (row, column), np.ones(len(row)), "ds", local=True)

a = evaluate("a(i) = A(i,j) * c(j)", A=A, c=np.arange(float(n)), machine=ranks,
             schedule="divide(i,io,ii,M.x); distribute(io); communicate({a,A,c},io)").todense()

expected = sum(np.roll(np.arange(float(n)), -s) for s in (0, 1, n // 2))
assert np.allclose(a, expected)
print(f"rank {rank} brought {len(row)} entries")
