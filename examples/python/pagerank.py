"""Ranks pages by the links between them."""
import numpy as np
import scipy.sparse as sp

from spdistal import evaluate

n, damping = 500, 0.85
links = sp.random_array((n, n), density=0.02, rng=3, format="csr")
links.data[:] = 1
out = np.maximum(links.sum(axis=1), 1)
rank = np.full(n, 1 / n)
for _ in range(100):
    rank = evaluate("r(i) = d * L(j,i) * w(j) + base", L=links, w=rank / out, d=damping, base=(1 - damping) / n).to_numpy()

expected = np.linalg.solve(np.eye(n) - damping * (links.T / out).toarray(), np.full(n, (1 - damping) / n))
assert np.allclose(rank, expected, rtol=1e-6)
print("best page", rank.argmax())
