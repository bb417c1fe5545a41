"""Faults as they are found: every one is kept with its key and its place, and all are raised together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anon_spark.domain.errors import ConfigurationError, Fault

Key = tuple[str | int, ...]
"""The way to a value from the top of a configuration: names and list indexes."""


@dataclass
class Notes:
    """where: the configuration's name in messages; places: key -> file and line (or the ``--set`` that gave it)."""

    where: str
    places: dict[Key, str] = field(default_factory=dict)
    _found: list[tuple[Key, Fault]] = field(default_factory=list)

    def add(self, key: Key, found: str, expected: str = "", advice: str = "") -> None:
        """Keep one fault at ``key``; a value that was refused already is not missing besides."""
        if found == "nothing" and any(known == key for known, _ in self._found):
            return
        self._found.append((key, Fault(self._place(key), ".".join(map(str, key)), found, expected, advice)))

    def bad(self, key: Key) -> bool:
        """Whether a fault stands at ``key`` or below it."""
        return any(known[: len(key)] == key for known, _ in self._found)

    @property
    def found(self) -> bool:
        """Whether any fault was noted."""
        return bool(self._found)

    def take(self, other: Notes) -> None:
        """Take over the faults of ``other``, with their places."""
        self._found.extend(other._found)

    def stop(self) -> None:
        """Raise ConfigurationError with all faults in the order of the file, if there are any."""
        if self._found:
            order = {key: number for number, key in enumerate(self.places)}
            ranked = sorted(self._found, key=lambda pair: order.get(self._known(pair[0]), len(order)))
            raise ConfigurationError(dict.fromkeys(fault for _, fault in ranked))

    def _place(self, key: Key) -> str:
        return self.places.get(self._known(key), self.where)

    def _known(self, key: Key) -> Key:
        return next((key[:end] for end in range(len(key), 0, -1) if key[:end] in self.places), ())


def nearest(word: object, names: Iterable[str]) -> str | None:
    """The valid name that ``word`` most likely stands for, by likeness, as a part of it, or as its initials; None if none is."""
    if not isinstance(word, str) or not word:
        return None
    known = {name.lower(): name for name in names}
    asked = word.lower()
    close = difflib.get_close_matches(asked, known, 1, 0.6)
    parts = [name for name in known if len(asked) > 2 and (asked in name or (len(name) > 2 and name in asked))]
    initials = [name for name in known if len(asked) > 1 and "".join(part[:1] for part in name.split("-")) == asked]
    hits = close or parts or initials
    return known[hits[0]] if hits else None


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """Advice that names the nearest valid name, or nothing."""
    name = nearest(word, names)
    return f"did you mean {name!r}?" if name else ""


def show(value: object) -> str:
    """A configured value in a message: scalars as they are written, shortened; of anything larger its kind alone."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = _number(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _number(value: object) -> str:
    # an int of thousands of digits refuses to become text
    if isinstance(value, int) and abs(value) >= 10**60:
        return "an integer of more than 60 digits"
    known = isinstance(value, (int, float)) or type(value).__module__ in ("decimal", "fractions")
    return str(value) if known else f"a {type(value).__name__}"
