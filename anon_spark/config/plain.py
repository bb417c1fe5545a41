"""Python values of a configuration written in code -> the plain values that YAML would give."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from numbers import Integral

from anon_spark.config.dump import dumped, is_policy_part
from anon_spark.config.notes import Key, Notes
from anon_spark.config.scalars import written
from anon_spark.config.yaml_text import DEEPEST, MOST_NODES


def plain(value: object, notes: Notes) -> object:
    """A copy of ``value`` with mappings as dicts of text keys, tuples as lists, paths and dates as text, NumPy integers as int.

    Frozen parts of a policy stand for what they would be in YAML. What YAML has no form for stays as it is, to be refused later.
    """
    return _Copy(notes).of(value, ())


@dataclass
class _Copy:
    """One copy; values may be shared or hold themselves, so what may be visited is bounded."""

    notes: Notes
    visited: int = 0

    def of(self, value: object, key: Key) -> object:
        """The plain copy of what stands at ``key``."""
        self.visited += 1
        if len(key) > DEEPEST or self.visited > MOST_NODES:
            if self.visited <= MOST_NODES + 1:
                expected = f"at most {MOST_NODES} values, {DEEPEST} deep"
                self.notes.add(key[:3], "a value that holds itself, or is too large", expected)
                self.visited = MOST_NODES + 1
            return None
        if is_policy_part(value):
            return dumped(value)
        if isinstance(value, Mapping):
            return {name: self.of(inner, (*key, name)) for name, inner in self._entries(value, key)}
        if isinstance(value, (list, tuple)):
            return [self.of(inner, (*key, number)) for number, inner in enumerate(value)]
        return _scalar(value)

    def _entries(self, mapping: Mapping[object, object], key: Key) -> Iterator[tuple[str, object]]:
        seen: set[str] = set()
        for name, inner in mapping.items():
            text = written(name) if isinstance(name, (str, int)) else None
            if text is None:
                self.notes.add(key, f"a key that is a {type(name).__name__}", "names as text")
            elif text in seen:
                self.notes.add((*key, text), "the key twice, as text and as another kind", "every key once")
            else:
                seen.add(text)
                yield text, inner


def _scalar(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, Integral) else value
