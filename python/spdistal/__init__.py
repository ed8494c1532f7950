"""Sparse tensor algebra, compiled: statements over numpy and scipy arrays.

    >>> import numpy as np, scipy.sparse as sp, spdistal
    >>> B = sp.csr_array([[0., 2., 0.], [1., 0., 3.]])
    >>> c = np.array([1., 2., 3.])
    >>> spdistal.evaluate("a(i) = B(i,j) * c(j)", B=B, c=c).to_numpy()
    array([ 4., 10.])
    >>> spdistal.einsum("ij,kj->ik", B, B).to_scipy().toarray()
    array([[ 4.,  0.],
           [ 0., 10.]])

A statement is compiled once for arrays of the same types, formats and sizes. Arrays of numpy and scipy are used in place,
and results leave without a copy. Under mpirun every process runs the whole program, and calls are made by all of them.
"""

from __future__ import annotations

from ._core import SystemError, Tuned, UserError, rank, ranks
from ._einsum import einsum
from ._runtime import on
from ._tensor import Tensor, evaluate, tensor
from ._tune import tune

__all__ = ["SystemError", "Tensor", "Tuned", "UserError", "einsum", "evaluate", "on", "rank", "ranks", "tensor", "tune"]
