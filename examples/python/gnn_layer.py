"""A layer of a graph neural network: features of neighbours, weighted, and a product at the places of the edges."""
import numpy as np
import scipy.sparse as sp

from spdistal import einsum, evaluate

rng = np.random.default_rng(2)
graph = sp.random_array((200, 200), density=0.05, rng=2, format="csr")
H, W = rng.random((200, 16)), rng.random((16, 8))

hidden = np.maximum(einsum("ij,jk,kl->il", graph, H, W).to_numpy(), 0)
scores = evaluate("S(i,j) = A(i,j) * H(i,k) * H(j,k)", A=graph, H=hidden).to_scipy()

assert np.allclose(hidden, np.maximum(graph @ H @ W, 0))
assert np.allclose(scores.toarray(), graph.multiply(hidden @ hidden.T).toarray())
print(f"{scores.nnz} scores of edges")
