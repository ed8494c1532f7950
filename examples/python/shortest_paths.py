"""Shortest paths from one vertex: what is not stored is infinitely far away."""
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from spdistal import Tensor, evaluate

n = 300
lengths = sp.random_array((n, n), density=0.01, rng=7, format="csr")
A, d, rounds = Tensor.from_scipy(lengths, fill=np.inf), np.full(n, np.inf), 0
d[0] = 0
while True:
    nearer = evaluate("e(i) = min(d(i), min(j, A(j,i) + d(j)))", A=A, d=d).to_numpy()
    rounds += 1
    if np.array_equal(nearer, d):
        break
    d = nearer.copy()

assert np.allclose(d, shortest_path(lengths, indices=0))
print(f"{np.isfinite(d).sum()} vertices in {rounds} rounds")
