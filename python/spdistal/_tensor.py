"""Tensors, their ways from and to numpy and scipy, and statements over them."""

from __future__ import annotations

import json
import weakref
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core

_TYPES = {
    "bool": "bool", "int32": "int32", "int64": "int64", "float32": "float", "float64": "double",
    "complex64": "complex64", "complex128": "complex128",
}  # numpy's names, and ours


def _type_of(dtype: np.dtype) -> str:
    name = np.dtype(dtype).name
    if name not in _TYPES:
        raise _core.UserError(f"error: there are no tensors of {name}\nhint: convert it to one of {', '.join(_TYPES)}")
    return _TYPES[name]


def _dtype_of(type_name: str) -> np.dtype:
    return np.dtype(next(ours for ours, theirs in _TYPES.items() if theirs == type_name))


def _levels_and_order(text: str) -> tuple:
    """The letters of a format, and the dimensions in the order in which they are stored."""
    levels, _, order = text.partition("=")[0].partition("/")[0].partition(":")
    return levels, [int(d) for d in order.split(",")] if order else list(range(len(levels)))


def _fill_text(fill: Any) -> str:
    """What a format says of it."""
    if not isinstance(fill, (bool, int, float, complex, np.generic)):
        raise _core.UserError(f"error: fill={fill!r} is no number\nhint: elements that are not stored count as it: 0, inf, True")
    value = fill.item() if isinstance(fill, np.generic) else fill
    if isinstance(value, complex):
        return f"={value.real!r},{value.imag!r}"
    return "" if value == 0 else f"={str(value).lower()}"


class Tensor:
    """A tensor: sizes, an element type, a format such as "ds", and contents.

    >>> t = Tensor.from_coo((2, 3), ([0, 1], [1, 2]), [5., 7.], "ds")
    >>> t.shape, t.format, t.nnz
    ((2, 3), 'ds', 2)
    >>> t.todense()
    array([[0., 5., 0.],
           [0., 0., 7.]])
    """

    def __init__(self, core: _core.Tensor, evaluation: Optional[_core.Evaluation] = None):
        self._core = core
        self._evaluation = evaluation

    # ---- data in ----

    @staticmethod
    def from_numpy(array: np.ndarray, name: str = "") -> "Tensor":
        """A dense tensor over an array, used in place where its elements lie one after the other, by rows or by columns.

        >>> Tensor.from_numpy(np.ones((2, 3))).format
        'dd'
        """
        array = np.asarray(array)
        order = range(array.ndim)
        if not array.flags.c_contiguous and array.flags.f_contiguous:
            order = reversed(order)
            laid_out = array.T
        else:
            laid_out = np.ascontiguousarray(array)
        order = list(order)
        text = "d" * array.ndim + ("" if order == sorted(order) else ":" + ",".join(map(str, order)))
        core = _core.Tensor(name, list(array.shape), _type_of(array.dtype), text)
        core.borrow(laid_out.reshape(-1), laid_out)
        return Tensor(core)

    @staticmethod
    def from_scipy(matrix: Any, name: str = "", fill: Any = 0) -> "Tensor":
        """A matrix of scipy: one in rows or columns (csr, csc) is used in place where its coordinates ascend, without
        duplicates; others become csr. What is not stored counts as `fill`: inf for shortest paths.

        >>> import scipy.sparse as sp
        >>> Tensor.from_scipy(sp.csc_array([[0., 1.]])).format
        'ds:1,0'
        >>> Tensor.from_scipy(sp.csr_array([[0., 1.]]), fill=np.inf).todense()
        array([[inf,  1.]])
        """
        if matrix.format not in ("csr", "csc"):
            matrix = matrix.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        values = np.ascontiguousarray(matrix.data)
        core = _core.Tensor(name, list(matrix.shape), _type_of(values.dtype),
                            ("ds" if matrix.format == "csr" else "ds:1,0") + _fill_text(fill))
        pos, crd = np.ascontiguousarray(matrix.indptr), np.ascontiguousarray(matrix.indices)
        core.borrow_rows(pos, crd, values, (pos, crd, values))
        return Tensor(core)

    @staticmethod
    def from_coo(shape: Sequence[int], coordinates: Sequence[Any], values: Any, format: Optional[str] = None,
                 name: str = "", local: bool = False) -> "Tensor":
        """A tensor from coordinates, one sequence for each dimension, and values; those at the same place add. The same
        on every process, or with `local` what this one brings.

        >>> Tensor.from_coo((4,), [[1, 1]], [2., 3.]).todense()
        array([0., 5., 0., 0.])
        """
        values = np.ascontiguousarray(values)
        if format is None:
            format = "s" if len(shape) == 1 else "d" + "s" * (len(shape) - 1)
        core = _core.Tensor(name, list(shape), _type_of(values.dtype), format)
        core.enter([np.ascontiguousarray(column, dtype=np.int64) for column in coordinates], values, not local)
        return Tensor(core)

    @staticmethod
    def read(path: str, format: str = "ds", dtype: Any = np.float64, name: str = "") -> "Tensor":
        """The contents of a file: .mtx, .tns (either also .gz), .npz, .h5, .petsc or .spd. Every process reads a part."""
        return Tensor(_core.Tensor.read(name, str(path), _type_of(np.dtype(dtype)), format))

    # ---- what it is ----

    @property
    def shape(self) -> tuple:
        return tuple(self._core.dims)

    @property
    def ndim(self) -> int:
        return len(self._core.dims)

    @property
    def dtype(self) -> np.dtype:
        return _dtype_of(self._core.type)

    @property
    def format(self) -> str:
        """A letter for each level, and the order of dimensions where it is not 0, 1, 2, …"""
        return self._core.format

    @property
    def fill(self) -> Any:
        """What elements that are not stored count as.

        >>> Tensor.from_coo((3,), [[1]], [2.], "s=inf").fill
        inf
        """
        text = self.format.partition("=")[2] or "0"
        if np.issubdtype(self.dtype, np.integer) and text in ("inf", "-inf"):
            return np.iinfo(self.dtype).max if text == "inf" else np.iinfo(self.dtype).min
        if np.issubdtype(self.dtype, np.complexfloating):
            return complex(*map(float, text.split(",")))
        return float(text) if np.issubdtype(self.dtype, np.floating) else self.dtype.type(int(text)).item()

    @property
    def nnz(self) -> int:
        """Stored elements."""
        return self._core.nnz

    @property
    def is_dense(self) -> bool:
        return set(_levels_and_order(self.format)[0]) <= {"d"}

    def __repr__(self) -> str:
        return f"<spdistal.Tensor {'x'.join(map(str, self.shape)) or 'scalar'} {self.dtype.name} '{self.format}'>"

    # ---- data out ----

    def to_numpy(self) -> np.ndarray:
        """A dense tensor as an array over the same memory; `todense` copies a sparse one.

        >>> evaluate("s = b(i) * b(i)", b=np.array([1., 2.])).to_numpy()
        array(5.)
        """
        if not self.is_dense:
            raise _core.UserError(f"error: {self!r} is sparse\nhint: todense() makes an array of all elements, "
                                  "to_scipy() a sparse matrix")
        dims = self.shape
        order = _levels_and_order(self.format)[1]
        return self._core.values().reshape([dims[d] for d in order]).transpose(np.argsort(order))

    def todense(self) -> np.ndarray:
        """All elements, on every process."""
        if self.is_dense and _is_whole_here(self):
            return self.to_numpy()
        columns, values = self._core.gathered()
        out = np.full(self.shape, self.fill, dtype=self.dtype)
        out[tuple(columns)] = values
        return out

    def to_scipy(self) -> Any:
        """What is stored as a sparse matrix of scipy, over the same memory where the format is "ds": in rows, or in columns
        with the order 1,0. Others are converted. scipy knows no fill value."""
        import scipy.sparse as sp

        if self.ndim != 2:
            raise _core.UserError(f"error: {self!r} has {self.ndim} dimensions: scipy has matrices\n"
                                  "hint: coordinates() has tensors of any order")
        stored = self.format.partition("=")[0]
        if stored not in ("ds", "ds:1,0") or not _is_whole_here(self):
            (rows, columns), values = self._core.gathered()
            return sp.coo_array((values, (rows, columns)), shape=self.shape).tocsr()
        kind = sp.csr_array if stored == "ds" else sp.csc_array
        return kind((self._core.values(), self.crd(1), self.pos(1)), shape=self.shape)

    def coordinates(self) -> tuple:
        """All stored elements, on every process: an array for each dimension, and their values."""
        columns, values = self._core.gathered()
        return tuple(columns), values

    def values(self) -> np.ndarray:
        """The values of this process's piece in storage order, in place."""
        return self._core.values()

    def array(self, name: str, level: int) -> np.ndarray:
        """An array of a level by the name that the level has for it, such as "mask" or "lo", in place.

        >>> Tensor.from_coo((4,), [[1, 3]], [5., 7.], "b").array("mask", 0)
        array([False,  True, False,  True])
        """
        return self._core.array(name, level)

    def pos(self, level: int) -> np.ndarray:
        """Where the children of each position of the level above begin and end, in place. Empty where a level has no
        such array."""
        return self._array_or_nothing("pos", level)

    def crd(self, level: int) -> np.ndarray:
        """The coordinates that a level stores, in place. Empty where a level has no such array."""
        return self._array_or_nothing("crd", level)

    def _array_or_nothing(self, name: str, level: int) -> np.ndarray:
        found = self._core.find_array(name, level)
        return np.empty(0, np.int32) if found is None else found

    def set_values(self, values: Any) -> None:
        """Other values for what is stored; the pattern stays."""
        self._core.set_values(np.ascontiguousarray(values, dtype=self.dtype))

    def changed(self) -> None:
        """Says that the array whose memory the tensor uses has other values now."""
        self._core.changed()

    def write(self, path: str) -> None:
        """To a file: .mtx, .tns (either also .gz), .npz, .h5, .petsc or .spd."""
        self._core.write(str(path))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        array = self.to_numpy()
        if copy or (dtype is not None and array.dtype != np.dtype(dtype)):
            return np.array(array, dtype=dtype)
        return array

    def __dlpack__(self, **arguments: Any) -> Any:
        return self.to_numpy().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple:
        return (1, 0)

    # ---- how it was computed ----

    def _evaluated(self) -> _core.Evaluation:
        if self._evaluation is None:
            raise _core.UserError("error: the tensor is not the result of a statement\nhint: evaluate gives one")
        return self._evaluation

    def statement(self) -> str:
        """The statement that gave it, its loops, and its loops after the schedule."""
        return self._evaluated().statement()

    def kernel(self) -> str:
        """The text of the kernel."""
        return self._evaluated().kernel()

    def plan(self) -> str:
        """How it was distributed: partitions, what moves, what is launched."""
        return self._evaluated().plan()

    def report(self) -> "Report":
        """What the last run of the statement did: a dict, and a text for people where it is printed."""
        return Report(*self._evaluated().report())


class Report(dict):
    """Pieces, what moved, what went from rank to rank by tensor and kind, times; `print` shows it as a table."""

    def __init__(self, data: str, text: str):
        super().__init__(json.loads(data))
        self._text = text

    def __str__(self) -> str:
        return self._text


def _is_whole_here(tensor: Tensor) -> bool:
    """Has this process all of a tensor in one piece?"""
    return _core.ranks() == 1 and tensor._core.pieces == 1


# Matrices of scipy that were made tensors: their index arrays are looked over once. Values are looked at anew each time.
_known: dict = {}


def _from_scipy_once(matrix: Any) -> Tensor:
    arrays = tuple((a.__array_interface__["data"][0], a.shape, a.dtype) for a in
                   (getattr(matrix, "indptr", matrix.data), getattr(matrix, "indices", matrix.data), matrix.data))
    found = _known.get(id(matrix))
    if found is not None and found[0]() is matrix and found[1] == arrays:
        found[2].changed()
        return found[2]
    made = Tensor.from_scipy(matrix)
    if matrix.format in ("csr", "csc") and matrix.has_canonical_format:
        key = id(matrix)
        _known[key] = (weakref.ref(matrix, lambda _: _known.pop(key, None)), arrays, made)
    return made


def tensor(value: Any) -> Tensor:
    """A tensor of anything that can be one: a tensor, a matrix of scipy, an array, a number."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "tocsr"):
        return _from_scipy_once(value)
    return Tensor.from_numpy(np.asarray(value))


Options = Union[None, Mapping[str, str], Sequence[str]]


def _options(given: Options) -> list:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{name}:{value}" for name, value in given.items()]
    return [given] if isinstance(given, str) else list(given)


def _as_texts(tensors: Mapping[str, Any], formats: Options, types: Options, sizes: Optional[Mapping[str, int]],
              machine: Union[None, str, int], distributions: Union[None, str, Sequence[str]], schedule: str) -> tuple:
    """What goes with a statement, as the compiled part takes it."""
    given = [(name, tensor(value)._core) for name, value in tensors.items()]
    placed = [distributions] if isinstance(distributions, str) else list(distributions or [])
    return (given, _options(formats), _options(types), [f"{var}={size}" for var, size in (sizes or {}).items()],
            None if machine is None else str(machine), placed, schedule)


def evaluate(statement: str, /, *, formats: Options = None, types: Options = None,
             sizes: Optional[Mapping[str, int]] = None, machine: Union[None, str, int] = None,
             distributions: Union[None, str, Sequence[str]] = None, schedule: str = "", **tensors: Any) -> Tensor:
    """Computes a statement over tensors and arrays that are given by name. The result is a new tensor, or the one of that
    name among those given.

    >>> x = np.array([1., 2.])
    >>> evaluate("y(i) = alpha * x(i)", x=x, alpha=3.).to_numpy()
    array([3., 6.])
    >>> t = evaluate("A(i,j) = x(i) * x(j)", x=x, formats={"A": "ss"}, schedule="parallelize(i, CPUThread)")
    >>> t.format
    'ss'

    A statement or a schedule that is wrong is refused with the text underlined:

    >>> evaluate("y(i) = x(i", x=x)
    Traceback (most recent call last):
        ...
    spdistal._core.UserError: error: expected ')', found the end of the statement
      y(i) = x(i
                ^
    hint: an index is a variable i, i+1, a window i(2,10) or a coordinate, and commas stand between: B(i,j)
    """
    done = _core.evaluate(statement, *_as_texts(tensors, formats, types, sizes, machine, distributions, schedule))
    return Tensor(done.result, done)
