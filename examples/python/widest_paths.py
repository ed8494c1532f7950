"""The widest paths from one vertex: a path is as wide as its narrowest edge, and what is not stored is no way at all."""
import numpy as np
import scipy.sparse as sp

from spdistal import Tensor, evaluate

n = 200
widths = sp.random_array((n, n), density=0.02, rng=7, format="csr")
A, w = Tensor.from_scipy(widths, fill=-np.inf), np.full(n, -np.inf)
w[0] = np.inf
while True:
    wider = evaluate("v(i) = max(w(i), max(j, min(A(j,i), w(j))))", A=A, w=w).to_numpy()
    if np.array_equal(wider, w):
        break
    w = wider.copy()

dense = A.todense()
assert np.array_equal(w, np.maximum(w, np.minimum(dense, w[:, None]).max(axis=0)))
print(f"{np.isfinite(w).sum() + 1} vertices are reached")
