"""What is found for a hierarchy or a problem, kept as long as that lives: a worker unpickles the same ones anew for every task."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
P = ParamSpec("P")
R = TypeVar("R")


def kept(function: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """The function, whose answers for its first argument, known by identity, go when that goes; by then nothing else may hold them to
    be of use, and they may not hold it."""
    found: WeakKeyDictionary[K, dict[Any, R]] = WeakKeyDictionary()

    @wraps(function)
    def asked(owner: K, *args: P.args, **kwargs: P.kwargs) -> R:
        of_this = found.setdefault(owner, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in of_this:
            of_this[key] = function(owner, *args, **kwargs)
        return of_this[key]

    return asked
