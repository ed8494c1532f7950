"""Solves a system whose matrix is symmetric and positive by conjugate gradients."""
import numpy as np
import scipy.sparse as sp

from spdistal import einsum

n = 400
A = sp.diags_array([-np.ones(n - 1), 2.1 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
b = np.random.default_rng(1).random(n)

x, r = np.zeros(n), b.copy()
p, rr = r.copy(), r @ r
while rr > 1e-20:
    q = einsum("ij,j->i", A, p).to_numpy()
    alpha = rr / (p @ q)
    x += alpha * p
    r -= alpha * q
    before, rr = rr, r @ r
    p = r + rr / before * p

assert np.abs(A @ x - b).max() < 1e-8
print(f"residual {np.abs(A @ x - b).max():.1e}")
