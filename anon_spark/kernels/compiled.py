"""Compiling inner loops where numba is installed; the same source runs uncompiled where it is not, or under NUMBA_DISABLE_JIT."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., object])
Int = int | np.integer[Any]
Real = float | np.floating[Any]

_numba: Any = import_module("numba") if find_spec("numba") else None
IS_COMPILED = _numba is not None and not _numba.config.DISABLE_JIT


def compiled(function: F) -> F:
    """The function compiled at its first call, kept on disk where some folder may be written; the same source without numba."""
    if not IS_COMPILED:
        # hashes wrap around, of which NumPy warns where nothing is compiled
        return np.errstate(over="ignore")(function)
    try:
        return cast(F, _numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # no folder to keep it in
        return cast(F, _numba.njit(error_model="numpy")(function))


def waits_for_compiler(function: Callable[..., object]) -> bool:
    """Whether the first call of a compiled function compiles it, since neither this process nor one before it did."""
    if not IS_COMPILED:
        return False
    known = cast(Any, function)
    place = known.stats.cache_path
    return not known.signatures and (not place or not any(Path(place).glob(f"*.{function.__name__}-*.nbi")))
