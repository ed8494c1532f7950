"""Connected components: every vertex takes the least number that it hears of, over links of length 0."""
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from spdistal import Tensor, evaluate

n = 300
links = sp.random_array((n, n), density=0.003, rng=7, format="csr")
links = sp.csr_array(links + links.T)
lengths = links.copy()
lengths.data[:] = 0
A, label = Tensor.from_scipy(lengths, fill=np.inf), np.arange(n, dtype=float)
while True:
    heard = evaluate("m(i) = min(l(i), min(j, A(i,j) + l(j)))", A=A, l=label).to_numpy()
    if np.array_equal(heard, label):
        break
    label = heard.copy()

count, wanted = connected_components(links)
assert len(np.unique(label)) == count and len(set(zip(label, wanted))) == count
print(f"{n} vertices in {count} components")
