"""Levels of a search that begins at one vertex: breadth first."""
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from spdistal import einsum

n = 300
links = sp.random_array((n, n), density=0.01, rng=7, format="csr")
links.data[:] = 1
level, frontier, step = np.full(n, np.inf), np.zeros(n), 0
frontier[0] = 1
while frontier.any():
    level[frontier > 0] = step
    reached = einsum("ij,i->j", links, frontier).to_numpy()
    frontier = ((reached > 0) & np.isinf(level)).astype(float)
    step += 1

assert np.array_equal(level, shortest_path(links, unweighted=True, indices=0))
print(f"{np.isfinite(level).sum()} vertices in {step} steps")
