"""Einstein's notation as numpy has it."""

from __future__ import annotations

from typing import Any

from ._core import UserError
from ._tensor import Tensor, evaluate, tensor


def _wrong(subscripts: str, message: str) -> UserError:
    return UserError(f"error: {message}\n  {subscripts}\nhint: write a letter for each dimension, as in \"ij,j->i\"")


def einsum(subscripts: str, *operands: Any, **how: Any) -> Tensor:
    """The sum of products that subscripts tell; `how` is as in evaluate (formats and distributions call the result
    `result` and operands `t0`, `t1`, …).

    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array([[0., 2.], [1., 0.]])
    >>> einsum("ij,j->i", A, np.array([1., 10.])).to_numpy()
    array([20.,  1.])
    """
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise _wrong(subscripts, f"{len(terms)} operands are told of, {len(operands)} were given")
    for term in (*terms, output):
        if term and not (term.isascii() and term.isalpha()):
            raise _wrong(subscripts, f"'{term}' is not a letter for each dimension")
    tensors = [tensor(operand) for operand in operands]
    for term, one in zip(terms, tensors):
        if len(term) != one.ndim:
            raise _wrong(subscripts, f"'{term}' has {len(term)} letters, its operand {one.ndim} dimensions")
    letters = "".join(terms)
    if not arrow:
        output = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    if len(set(output)) != len(output) or not set(output) <= set(letters):
        raise _wrong(subscripts, f"the output '{output}' has letters that are not those of the operands, or one twice")

    def access(name: str, term: str) -> str:
        return f"{name}({','.join(term)})" if term else name

    product = " * ".join(access(f"t{k}", term) for k, term in enumerate(terms))
    return evaluate(f"{access('result', output)} = {product}", **how, **{f"t{k}": t for k, t in enumerate(tensors)})
