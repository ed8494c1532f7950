"""The coarse matrix of a multigrid method, R A P, with R the transpose of P."""
import numpy as np
import scipy.sparse as sp

from spdistal import einsum

n = 128
A = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
fine = np.arange(n)
P = sp.csr_array((np.ones(n), (fine, fine // 2)), shape=(n, n // 2))

coarse = einsum("ki,kl->il", P, einsum("kl,lj->kj", A, P)).to_scipy()

assert np.allclose(coarse.toarray(), (P.T @ A @ P).toarray())
print(f"{coarse.shape[0]} rows, {coarse.nnz} stored")
