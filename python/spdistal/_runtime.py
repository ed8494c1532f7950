"""Communicators of mpi4py."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import Any, Iterator

from . import _core
from ._tensor import _known


@contextmanager
def on(communicator: Any) -> Iterator[None]:
    """Inside, spdistal runs on the processes of a communicator. Tensors belong to it: let go of them inside."""
    from mpi4py import MPI

    runtime = _core.Runtime(MPI._handleof(communicator))
    _known.clear()
    runtime.enter()
    try:
        yield
    finally:
        _known.clear()
        gc.collect()
        runtime.exit()
