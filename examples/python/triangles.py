"""Counts the triangles of a graph."""
import numpy as np
import scipy.sparse as sp

from spdistal import evaluate

links = sp.random_array((300, 300), density=0.03, rng=5, format="csr")
links = sp.triu(links + links.T, k=1).tocsr()
links.data[:] = 1

triangles = float(evaluate("t = U(i,j) * U(j,k) * U(i,k)", U=links).to_numpy())

assert triangles == (links @ links).multiply(links).sum()
print(f"{triangles:.0f} triangles")
