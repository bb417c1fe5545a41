"""Compiling inner loops where numba is installed; the same source runs uncompiled where it is not, or under NUMBA_DISABLE_JIT."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

try:
    import numba
except ImportError:
    numba = None

F = TypeVar("F", bound=Callable[..., object])
IS_COMPILED = numba is not None and not numba.config.DISABLE_JIT


def compiled(function: F) -> F:
    """The function compiled at its first call, kept on disk where some folder may be written; unchanged without numba."""
    if numba is None:
        return function
    try:
        return numba.njit(cache=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to keep it in
        return numba.njit(error_model="numpy")(function)  # type: ignore[no-any-return]
