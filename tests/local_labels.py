"""Local releases by brute force: the smallest label over raw values for every kind of quasi-identifier, and which labels are wider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, FlatHierarchy, MaskHierarchy

Label = str | None
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Quasi:
    """One kind of quasi-identifier over texts. path: value -> its labels from itself to the root; key: value -> its place on a
    line, for labels that are ranges; foreign: a label that it never prints, None where any text may be a value."""

    column: Column
    kind: str
    values: tuple[Label, ...]
    path: Callable[[str], list[str]] | None = None
    key: Callable[[str], Any] = Fraction
    foreign: str | None = field(default=None, kw_only=True)

    def path_of(self, value: Label) -> list[Label]:
        return [None, "*"] if value is None else list(self.path(value)) if self.path else [value, "*"]

    def smallest(self, values: Iterable[Label]) -> Label:
        """The smallest label over the values: a range of the whole line, or of null and others, is the root."""
        several = set(values)
        if len(several) == 1:
            return several.pop()
        if self.path is not None or None in several:
            paths = [self.path_of(value) for value in several]
            return next(label for label in paths[0] if all(label in path for path in paths))
        line = sorted((value for value in self.values if value is not None), key=self.key)
        low, high = min(several, key=self.key), max(several, key=self.key)
        return "*" if (low, high) == (line[0], line[-1]) else f"[{low}, {high}]"

    def narrower(self, members: Sequence[Label]) -> list[Label]:
        """Labels over the members less one value."""
        return self._others({self.smallest(set(members) - {one}) for one in set(members)} if len(set(members)) > 1 else set(), members)

    def wider(self, members: Sequence[Label]) -> list[Label]:
        """Labels over the members and one more value."""
        return self._others({self.smallest([*members, one]) for one in self.values}, members)

    def apart(self, members: Sequence[Label]) -> list[Label]:
        """Labels over one or two other values that are over none of the members."""
        rest = [value for value in self.values if value not in members]
        found = {self.smallest([one, other]) for one in rest for other in rest}
        return self._others({label for label in found if not any(self.over(label, one) for one in members)}, members)

    def over(self, label: Label, value: Label) -> bool:
        if label in (None, "*") or value is None or self.path is not None:
            return label in self.path_of(value)
        low, _, high = label[1:-1].partition(", ") if label.startswith("[") else (label, "", label)
        return bool(self.key(low) <= self.key(value) <= self.key(high))

    def _others(self, labels: set[Label], members: Sequence[Label]) -> list[Label]:
        return sorted(labels - {self.smallest(members)}, key=str)


def clusters(kinds: Sequence[Quasi], k: int, number: int, random: Random) -> list[tuple[Row, Row]]:
    """Rows of (raw values, labels) in groups of k to 2k - 1, each under the smallest labels over the one to three values it draws from."""
    rows: list[tuple[Row, Row]] = []
    for _ in range(number):
        pools = [random.sample(kind.values, random.randint(1, 3)) for kind in kinds]
        group = [tuple(map(random.choice, pools)) for _ in range(random.randrange(k, 2 * k))]
        box = tuple(kind.smallest(raw[place] for raw in group) for place, kind in enumerate(kinds))
        rows += [(raw, box) for raw in group]
    return rows


def loose(kinds: Sequence[Quasi], rows: Iterable[tuple[Row, Row]]) -> int:
    """How many labels of printed classes are over all of the class's rows, but wider than the smallest that are."""
    classes: dict[Row, list[Row]] = defaultdict(list)
    for raw, labels in rows:
        classes[labels].append(raw)
    found = 0
    for labels, raws in classes.items():
        for place, kind in enumerate(kinds):
            members = [raw[place] for raw in raws]
            found += labels[place] != kind.smallest(members) and all(kind.over(labels[place], one) for one in members)
    return found


def every_kind(folder: Path) -> list[Quasi]:
    """Numbers, decimals, dates and moments without a hierarchy, a file, a mask, periods and text, with odd names."""
    places = {
        "Bern": ["Bern", "West", "Europe", "*"], "Genf": ["Genf", "West", "Europe", "*"], "Oslo": ["Oslo", "North", "Europe", "*"],
        "Rom": ["Rom", "Europe", "*"], "Lima": ["Lima", "America", "*"], "a, b": ["a, b", "America", "*"], "": ["", "*"],
    }  # fmt: skip
    (folder / "city.csv").write_text("".join(";".join(path) + "\n" for path in places.values()))

    city = FileHierarchy(path=str(folder / "city.csv"))

    def quasi(name: str, **more: Any) -> Column:
        return Column(name=name, role="quasi-identifier", **more)

    days = ("1965-05-01", "1965-05-31", "1965-06-01", "1969-12-31", "1970-01-01", "2001-02-03", "0999-04-01")
    return [
        Quasi(quasi("the.age `in` years"), "integer", ("-5", "-4", "3", "17", "24", "25", "31", "102", None), foreign="[25, 17]"),
        Quasi(quasi("pay"), "decimal", ("-0.5", "0.05", "0.1", "0.15", "20.0", "1.0E12", None), foreign="[0.1, 0.1)"),
        Quasi(quasi("born"), "date", days, key=str, foreign="[1965-05-31, 1965-05-01]"),
        Quasi(
            quasi("seen"), "timestamp", ("2020-01-02 03:04:05", "2020-01-02 03:04:05.5", "2020-01-02 23:00:00", "2021-06-07 00:00:00"),
            key=str, foreign="[2020-01-02 03:04:05.5, 2020-01-02 03:04:05]",
        ),
        Quasi(quasi("city", hierarchy=city), "text", tuple(places), places.__getitem__, foreign="Asia"),
        Quasi(quasi("zip", hierarchy=MaskHierarchy()), "text", ("53711", "53712", "5371", "61", "62345", None), masked),
        Quasi(
            quasi("period", hierarchy=DateHierarchy(units=("month", "quarter", "half", "year", "decade"))), "date", days, periods,
            foreign="1965-Q5",
        ),
        Quasi(quasi("sex", hierarchy=FlatHierarchy()), "text", ("F", "M", "null", "", None), lambda value: [value, "*"]),
    ]  # fmt: skip


def masked(value: str) -> list[str]:
    padded = value.ljust(5, "*")
    return list(dict.fromkeys([value, *(padded[:kept] + "*" * (5 - kept) for kept in range(4, 0, -1)), "*"]))


def periods(value: str) -> list[str]:
    year, month = value[:4], int(value[5:7])
    return [value, value[:7], f"{year}-Q{(month + 2) // 3}", f"{year}-H{(month + 5) // 6}", year, f"{year[:3]}0s", "*"]
