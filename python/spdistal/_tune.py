"""Schedules tried on data."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from . import _core
from ._tensor import Options, _as_texts


def tune(statement: str, /, *, seconds: float = 20, again: bool = False, formats: Options = None, types: Options = None,
         sizes: Optional[Mapping[str, int]] = None, machine: Union[None, str, int] = None,
         distributions: Union[None, str, Sequence[str]] = None, schedule: str = "", **tensors: Any) -> _core.Tuned:
    """Tries schedules for a statement on data, no further one after so many seconds. `evaluate` of the same statement takes
    the fastest from now on; the next process finds it, unless it is to try `again`. What comes back prints as a table.

    >>> import numpy as np
    >>> from spdistal import evaluate
    >>> tuned = tune("y(i) = B(i,j) * x(j)", B=np.ones((2, 3)), x=np.ones(3), seconds=1, again=True)
    >>> tuned.found, min(tuned.trials, key=lambda trial: trial.seconds).seconds > 0
    (False, True)
    >>> evaluate("y(i) = B(i,j) * x(j)", B=np.ones((2, 3)), x=np.ones(3), schedule=tuned.schedule).to_numpy()
    array([3., 3.])
    """
    return _core.tune(statement, *_as_texts(tensors, formats, types, sizes, machine, distributions, schedule), seconds, again)
