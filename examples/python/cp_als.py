"""Decomposes a sparse tensor into a sum of products of vectors, by alternating least squares."""
import numpy as np

from spdistal import Tensor, einsum

rng = np.random.default_rng(4)
shape, rank = (20, 15, 12), 3
true = [rng.random((n, rank)) * (rng.random((n, rank)) < 0.4) for n in shape]
full = np.einsum("il,jl,kl->ijk", *true)
B = Tensor.from_coo(shape, full.nonzero(), full[full.nonzero()], "dss")

factors = [rng.random((n, rank)) for n in shape]
for _ in range(200):
    for mode, (a, b) in enumerate([(1, 2), (0, 2), (0, 1)]):
        letters = "ijk"
        product = einsum(f"ijk,{letters[a]}l,{letters[b]}l->{letters[mode]}l", B, factors[a], factors[b]).to_numpy()
        gram = (factors[a].T @ factors[a]) * (factors[b].T @ factors[b])
        factors[mode] = product @ np.linalg.pinv(gram)

error = np.linalg.norm(np.einsum("il,jl,kl->ijk", *factors) - full) / np.linalg.norm(full)
assert error < 0.05, error
print(f"relative error {error:.1e}")
