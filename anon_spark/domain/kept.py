"""What is found for a hierarchy, kept as long as the hierarchy lives: a worker unpickles the same hierarchies anew for every task."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from anon_spark.domain.hierarchy import Hierarchy

P = ParamSpec("P")
R = TypeVar("R")


def kept(function: Callable[Concatenate[Hierarchy, P], R]) -> Callable[Concatenate[Hierarchy, P], R]:
    """The function, whose answers for a hierarchy go when it goes; by then nothing else may hold them to be of use."""
    found: WeakKeyDictionary[Hierarchy, dict[Any, R]] = WeakKeyDictionary()

    @wraps(function)
    def asked(hierarchy: Hierarchy, *args: P.args, **kwargs: P.kwargs) -> R:
        of_this = found.setdefault(hierarchy, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in of_this:
            of_this[key] = function(hierarchy, *args, **kwargs)
        return of_this[key]

    return asked
