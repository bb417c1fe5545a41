"""Laws that every bound hierarchy keeps, whatever its kind, values and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anon_spark.domain.bind import bind
from anon_spark.domain.hierarchy import Hierarchy, LevelCost
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy
from anon_spark.domain.values import Kind, parse


@dataclass(frozen=True)
class Case:
    """What ``bind`` is given."""

    spec: Any
    kind: Any
    texts: tuple[str | None, ...]
    tree: tuple[tuple[str, ...], ...] | None = None
    trim: bool = False

    def bind(self, texts: Sequence[str | None] | None = None, tree: Any = None) -> Hierarchy:
        column = Column(name="x", role="quasi-identifier", hierarchy=self.spec, trim=self.trim)
        return bind(column, self.kind, dict.fromkeys(texts or self.texts, 1), tree=tree or self.tree, where="job.yaml")


def some(texts: st.SearchStrategy[str], *more: str) -> st.SearchStrategy[tuple[str | None, ...]]:
    """Distinct texts with null, and the ``more`` ones, now and then among them."""
    either = st.one_of(texts, texts, texts, st.sampled_from([None, *more]))
    return st.lists(either, unique=True, min_size=1, max_size=12).map(tuple)


integers = st.integers(-60, 60).map(str)
decimals = st.one_of(
    st.decimals(-20, 20, places=2).map(str),
    st.sampled_from(["1.0E12", "-0.0", "0.0", "0.05", "0.1", "0.15", "4.9E-324", "1.7976931348623157E308"]),
)
dates = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(date.isoformat)
timestamps = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda moment: moment.isoformat(" "))
words = st.text("01 *[a", max_size=5)
widths = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def interval_cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(["integer", "decimal", "date", "timestamp", "text"]))
    unit = (
        draw(st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(5)]))
        if kind == "decimal"
        else Fraction(draw(st.integers(1, 9)))
    )
    grid = [unit]
    for factor in draw(widths):
        grid.append(grid[-1] * factor)
    if kind in ("date", "timestamp"):
        bounds: dict[str, Any] = {"origin": "1990-01-01", "lower": "1890-05-05", "upper": "2005-05-05"}
        texts = draw(some(dates if kind == "date" else timestamps))
    else:
        bounds = {"origin": Fraction(draw(st.integers(-9, 9))), "lower": Fraction(-21), "upper": Fraction(17)}
        rare = {"decimal": ["NaN", "Infinity", "-Infinity"], "text": ["oops", "007"], "integer": []}[kind]
        texts = draw(some(decimals if kind == "decimal" else integers, *rare))
    kept = {name: value for name, value in bounds.items() if draw(st.booleans())}
    return Case(IntervalHierarchy(widths=tuple(grid), others="root", **kept), kind, texts)


@st.composite
def period_cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(["date", "timestamp", "text"]))
    units = ("hour", "day", "month", "quarter", "half", "year", "decade", "century")[0 if kind == "timestamp" else 2 :]
    chosen = tuple(unit for unit in units if draw(st.booleans())) or ("year",)
    texts = draw(some(timestamps if kind == "timestamp" else dates, *["oops"] * (kind == "text")))
    return Case(DateHierarchy(units=chosen, others="root"), kind, texts)


@st.composite
def mask_cases(draw: st.DrawFn) -> Case:
    kind, texts = draw(st.one_of(st.tuples(st.just("text"), some(words)), st.tuples(st.just("integer"), some(integers))))
    steps = draw(st.none() | st.lists(st.integers(1, 6), unique=True, min_size=1).map(sorted).map(tuple))
    side: Any = draw(st.sampled_from(["left", "right"]))
    return Case(
        MaskHierarchy(side=side, steps=steps, character=draw(st.sampled_from("*#"))), kind, texts, trim=draw(st.booleans())
    )


@st.composite
def flat_cases(draw: st.DrawFn) -> Case:
    pairs: list[tuple[Kind, st.SearchStrategy[str]]] = [
        ("text", words),
        ("integer", integers),
        ("decimal", decimals),
        ("date", dates),
        ("boolean", st.sampled_from(["true", "false"])),
    ]
    kind, texts = draw(st.sampled_from(pairs))
    return Case(FlatHierarchy(), kind, draw(some(texts)))


@st.composite
def tree_cases(draw: st.DrawFn) -> Case:
    """A random ragged tree: leaves aligned below random parents, whose chains to the root differ in length."""
    parents: dict[str, str] = {}
    for number in range(draw(st.integers(0, 6))):
        parents[f"g{number}"] = draw(st.sampled_from(["ANY", *parents]))
    count = draw(st.integers(1, 9))
    names = draw(st.permutations([str(number) for number in range(count)]))
    lines = []
    for name in names:
        line = [name, draw(st.sampled_from(["ANY", *parents]))]
        while line[-1] != "ANY":
            line.append(parents[line[-1]])
        lines.append(tuple(line))
    kind = draw(st.sampled_from(["text", "integer", "decimal"]))
    seen = some(st.sampled_from(names), *(["oops", "g0"] if kind == "text" else []))
    texts = draw(seen)
    inner: Any = "accept" if "g0" in parents else "fail"
    return Case(FileHierarchy(path="t.csv", others="root", inner=inner), kind, texts, tuple(lines))


cases = st.one_of(interval_cases(), period_cases(), mask_cases(), flat_cases(), tree_cases())


def printed(hierarchy: Hierarchy, level: int) -> list[str | None]:
    return [hierarchy.labels[level][node] for node in hierarchy.nodes[level]]


def same_value(leaf: str, text: str) -> bool:
    """Whether two texts show one number, or one moment."""
    kinds: tuple[Kind, ...] = ("decimal", "timestamp")
    return any(parse(kind, leaf) is not None and parse(kind, leaf) == parse(kind, text) for kind in kinds)


def shares(cost: LevelCost) -> list[Fraction]:
    return [Fraction(numerator, cost.denominator) for numerator in cost.numerators]


@given(cases)
def test_levels_go_from_the_leaves_to_one_root(case: Case) -> None:
    hierarchy = case.bind()
    n = len(hierarchy.leaves)
    assert hierarchy.levels >= 2
    assert hierarchy.nodes[0].tolist() == list(range(n)) and hierarchy.labels[0] == hierarchy.leaves
    assert set(hierarchy.nodes[-1].tolist()) == {0} and hierarchy.labels[-1] == ("*",)
    for nodes, labels in zip(hierarchy.nodes, hierarchy.labels, strict=True):
        first = list(dict.fromkeys(nodes.tolist()))
        assert first == list(range(len(labels))), "nodes are numbered by first appearance"
        assert len(set(labels)) == len(labels), "a label is one node at its level"
        assert nodes.dtype == "int32" and len(nodes) == n and not nodes.flags.writeable


@given(cases)
def test_every_level_is_a_coarsening_of_the_one_below(case: Case) -> None:
    hierarchy = case.bind()
    for low in range(hierarchy.levels - 1):
        above: dict[int, int] = {}
        for node, parent in zip(hierarchy.nodes[low].tolist(), hierarchy.nodes[low + 1].tolist(), strict=True):
            assert above.setdefault(node, parent) == parent
        assert hierarchy.lift(low, low + 1)[hierarchy.nodes[low]].tolist() == hierarchy.nodes[low + 1].tolist()


@given(cases)
def test_every_value_has_a_leaf_that_shows_it(case: Case) -> None:
    hierarchy = case.bind()
    assert set(hierarchy.codes) == set(case.texts)
    for text, code in hierarchy.codes.items():
        leaf = hierarchy.leaves[code]
        assert (leaf is None) == (text is None)
        if text is not None and leaf is not None:
            assert leaf == (text.strip(" ") if case.trim else text) or same_value(leaf, text)
    if case.tree is None:
        assert set(hierarchy.codes.values()) == set(range(len(hierarchy.leaves)))


@given(cases)
def test_losses_lie_in_0_to_1_and_never_fall_with_the_level(case: Case) -> None:
    hierarchy = case.bind()
    for costs in (hierarchy.ncp, hierarchy.glm, hierarchy.height):
        assert len(costs) == hierarchy.levels and set(costs[0].numerators) <= {0}
        levels = [shares(cost) for cost in costs]
        for lower, upper in pairwise(levels):
            assert all(a <= b for a, b in zip(lower, upper, strict=True))
    for costs in (hierarchy.ncp, hierarchy.glm):
        assert all(0 <= share <= 1 for cost in costs for share in shares(cost))
        assert set(shares(costs[-1])) == {0 if len(hierarchy.leaves) == 1 else 1}


@given(cases)
def test_categories_cost_the_leaves_that_print_the_label(case: Case) -> None:
    hierarchy = case.bind()
    if hierarchy.numeric:
        return
    n = len(hierarchy.leaves)
    under: dict[str | None, set[int]] = {}
    for level in range(1, hierarchy.levels):
        for leaf, label in enumerate(printed(hierarchy, level)):
            under.setdefault(label, set()).add(leaf)
    for level in range(1, hierarchy.levels):
        sizes = [len(under[label]) for label in printed(hierarchy, level)]
        assert shares(hierarchy.ncp[level]) == [Fraction(0 if size == 1 else size, n) for size in sizes]
        assert shares(hierarchy.glm[level]) == [Fraction(size - 1, max(n - 1, 1)) for size in sizes]


@given(cases)
def test_heights_count_the_distinct_labels_above(case: Case) -> None:
    hierarchy = case.bind()
    above: list[set[str | None]] = [set() for _ in hierarchy.leaves]
    for level in range(1, hierarchy.levels):
        for leaf, label in enumerate(printed(hierarchy, level)):
            above[leaf].add(label)
        assert hierarchy.height[level] == LevelCost(tuple(map(len, above)), 1)


@given(cases, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(case: Case, random: Any) -> None:
    texts = list(case.texts)
    random.shuffle(texts)
    one, other = case.bind(), case.bind(texts)
    assert one.leaves == other.leaves and one.labels == other.labels and one.codes == other.codes
    assert one.ncp == other.ncp and one.glm == other.glm and one.height == other.height


@given(cases)
def test_numbers_and_dates_are_in_order_and_their_nodes_are_runs(case: Case) -> None:
    hierarchy = case.bind()
    if not hierarchy.numeric:
        return
    kind: Kind = "timestamp" if case.kind in ("date", "timestamp") or isinstance(case.spec, DateHierarchy) else "decimal"
    keys = [
        key for key in (parse(kind, leaf) for leaf in hierarchy.leaves if leaf is not None) if not isinstance(key, str | None)
    ]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    for nodes in hierarchy.nodes:
        regular = nodes[: len(keys)].tolist()
        assert regular == sorted(regular)


@given(tree_cases())
def test_every_label_of_a_tree_covers_a_run_of_codes(case: Case) -> None:
    hierarchy = case.bind()
    under: dict[str | None, set[int]] = {}
    for level in range(1, hierarchy.levels):
        for leaf, label in enumerate(printed(hierarchy, level)):
            under.setdefault(label, set()).add(leaf)
    for leaves in under.values():
        assert max(leaves) - min(leaves) + 1 == len(leaves)


@given(tree_cases(), st.randoms(use_true_random=False))
def test_costs_do_not_depend_on_the_order_of_lines(case: Case, random: Any) -> None:
    lines = list(case.tree or ())
    random.shuffle(lines)
    one, other = case.bind(), case.bind(tree=lines)
    for level in range(one.levels):
        a = {leaf: (printed(one, level)[i], shares(one.ncp[level])[i]) for i, leaf in enumerate(one.leaves)}
        b = {leaf: (printed(other, level)[i], shares(other.ncp[level])[i]) for i, leaf in enumerate(other.leaves)}
        assert a == b
