"""Losses of local recodings beside METHODS 2 read row by row, on random small tables of every kind of quasi-identifier."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
from hierarchies import model
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.algorithms.local_summary import summarise
from anon_spark.domain.bind import bind
from anon_spark.domain.box_labels import as_published, labels
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, IntervalHierarchy
from anon_spark.domain.problem import Problem

LINES = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "cde", "*"], ["d", "cd", "cde", "*"], ["e", "cde", "*"], ["f", "*"]]
AGES = ["21", "24", "26", "35", "39", "52"]
DAYS = ["1965-05-01", "1965-05-30", "1965-08-02", "1972-01-01"]
COLUMNS = (
    Column(name="plain", role="quasi-identifier", weight=Fraction(2)),
    Column(name="age", role="quasi-identifier", hierarchy=IntervalHierarchy(widths=(Fraction(5), Fraction(10)))),
    Column(name="day", role="quasi-identifier", hierarchy=DateHierarchy(units=("month", "year")), weight=Fraction(1, 2)),
    Column(name="tree", role="quasi-identifier", hierarchy=FileHierarchy(path="tree.csv")),
)
KINDS = ("integer", "integer", "date", "text")
ROW = st.tuples(st.sampled_from([*AGES, None]), st.sampled_from(AGES), st.sampled_from(DAYS), st.sampled_from("abcdef"))


def tree_of(rows: list, bounds: str) -> list[Hierarchy]:
    found = []
    for j, (column, kind) in enumerate(zip(COLUMNS, KINDS, strict=True)):
        tree = LINES if kind == "text" else None
        bound = bind(column, kind, Counter(row[j] for row in rows), tree=tree, where="t")  # type: ignore[arg-type]
        found.append(as_published(bound, column, bounds))  # type: ignore[arg-type]
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=3, max_size=25), st.integers(1, 4), st.sampled_from(["tight", "intervals"]))
def test_all_five_measures(rows: list, k: int, bounds: str) -> None:
    assume(len(rows) >= k)
    hierarchies = tree_of(rows, bounds)
    lines = sorted(tuple(h.codes[v] for h, v in zip(hierarchies, row, strict=True)) for row in rows)
    cells = Counter(lines)
    codes = np.array(sorted(cells), np.int32)
    frequency = FrequencySet(codes, np.zeros((len(codes), 0), np.int32), np.array([cells[c] for c in sorted(cells)], np.int64))
    problem = Problem(
        rows=len(rows), hierarchies=tuple(hierarchies), weights=tuple(c.weight for c in COLUMNS), min_levels=(0,) * 4,
        max_levels=tuple(h.levels - 1 for h in hierarchies), models=(model("k-anonymity", k=k),),
        leaf_rows=tuple(np.bincount(np.array(lines)[:, j], minlength=len(h.leaves)) for j, h in enumerate(hierarchies)),
    )  # fmt: skip
    recoding = decide_local(problem, frequency)
    found = summarise(problem, recoding)
    printed = [labels(h, recoding.low[:, j], recoding.high[:, j]) for j, h in enumerate(hierarchies)]
    rows_of = defaultdict(list)
    for cell, group, held in zip(recoding.cell.tolist(), recoding.group.tolist(), recoding.held.tolist(), strict=True):
        rows_of[group] += [[h.leaves[c] for h, c in zip(hierarchies, codes[cell], strict=True)]] * held
    sums = {name: Fraction(0) for name in ("gcp", "glm", "distortion", "root")}
    weight = sum(c.weight for c in COLUMNS)
    for group, members in rows_of.items():
        for row in members:
            for j, column in enumerate(COLUMNS):
                ncp, glm, height, top = costs(j, row[j], printed[j][group], members, rows, bounds)
                sums["gcp"] += column.weight / weight * ncp / len(rows)
                sums["glm"] += column.weight / weight * glm / len(rows)
                sums["distortion"] += height
                sums["root"] += top
    sizes = [len(members) for members in rows_of.values()]
    assert len(set(zip(*printed, strict=True))) == len(sizes)
    assert found.losses == {
        "gcp": sums["gcp"], "glm": sums["glm"], "distortion": sums["distortion"] / sums["root"],
        "discernibility": sum(n * n for n in sizes), "c-avg": Fraction(len(rows), len(sizes) * k),
    }  # fmt: skip
    assert (found.smallest, found.largest, found.classes) == (min(sizes), max(sizes), len(sizes))


def costs(j: int, value: str | None, label: str | None, members: list, rows: list, bounds: str) -> tuple:
    """(NCP, GLM, height, height of the root) of one row's value under its label."""
    if j == 3:
        return of_category(value, label)
    seen = [number(row[j]) for row in rows if row[j] is not None] or [0]
    extent = Fraction(max(seen) - min(seen)) or Fraction(1)
    own = [row[j] for row in members]
    single, tight = len(set(own)) == 1, j == 0 or (j == 1 and bounds == "tight")
    ends = [number(v) for v in own if v is not None] or [0]
    ncp = Fraction(0) if single else Fraction(1) if label == "*" else (max(ends) - min(ends)) / extent
    if j == 0:
        return ncp, ncp, ncp, 1
    paths = [[v, *nodes(j, v), "*"] for v in own]
    path = [value, *nodes(j, value), "*"]
    # the smallest node over the rows; the root where the label says nothing
    level = next(i for i in range(len(path)) if len({line[i] for line in paths}) == 1)
    level = len(path) - 1 if tight and label == "*" else level
    if not tight:
        assert label == path[level]
        ncp = Fraction(0) if single else Fraction(1) if label == "*" else clipped(j, label, seen) / extent
    return ncp, ncp, len(dict.fromkeys(path[1 : level + 1])), len(dict.fromkeys(path[1:]))


def number(text: str) -> int:
    return date.fromisoformat(text).toordinal() if "-" in text else int(text)


def nodes(j: int, value: str) -> list[str]:
    if j == 1:
        return [f"[{int(value) // w * w}, {int(value) // w * w + w - 1}]" for w in (5, 10)]
    return [value[:7], value[:4]]


def clipped(j: int, node: str, seen: list[int]) -> Fraction:
    """Length of a node inside the observed range."""
    if j == 1:
        low, high = (int(end) for end in node.strip("[]").split(", "))
    elif len(node) == 4:
        low, high = date(int(node), 1, 1).toordinal(), date(int(node), 12, 31).toordinal()
    else:
        first = date(int(node[:4]), int(node[5:]), 1)
        low, high = first.toordinal(), ((first + timedelta(days=31)).replace(day=1) - timedelta(days=1)).toordinal()
    return Fraction(min(high, max(seen)) - max(low, min(seen)))


def of_category(value: str | None, label: str | None) -> tuple:
    line = next(line for line in LINES if line[0] == value)
    under = sum(label in other[1:] or other[0] == label for other in LINES)
    step = line.index(label)
    return (
        Fraction(0 if label == value or under == 1 else under, 6),
        Fraction(0 if label == value else under - 1, 5),
        step,
        len(line) - 1,
    )
