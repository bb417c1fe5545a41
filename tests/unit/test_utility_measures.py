"""Query error and KL divergence by hand-worked values, and against plain loops over rows and leaves."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from math import log
from statistics import fmean, median

import numpy as np
import pytest
from hierarchies import flat, hierarchy

from anon_spark.metrics import divergence as kl
from anon_spark.metrics import query_error as asked
from anon_spark.metrics.divergence import divergence, projected_divergence
from anon_spark.metrics.printed_boxes import PrintedBoxes, group_boxes, node_boxes
from anon_spark.metrics.query_error import query_errors

ZIP = hierarchy("zip", [["11", "1*", "*"], ["12", "1*", "*"], ["21", "2*", "*"], ["none", "*"]])
AGE = hierarchy("age", [["3", "*"], ["5", "*"], ["9", "*"], [None, "*"]], numbers={"3": 3, "5": 5, "9": 9})


def boxes(*given: tuple, leaves: tuple[int, ...], **more: object) -> PrintedBoxes:
    """given: ((low, high) a column, rows) of each class."""
    sides = np.array([side for side, _ in given], np.int64).reshape(len(given), len(leaves), 2)
    return PrintedBoxes(sides[:, :, 0], sides[:, :, 1], np.array([rows for _, rows in given]), np.array(leaves), **more)  # type: ignore[arg-type]


def test_what_is_printed_holds_every_leaf_under_it() -> None:
    nodes = np.array([[ZIP.nodes[1][code]] for code in range(4)])
    low, high = node_boxes([ZIP], [1], nodes)
    by_label = {ZIP.leaves[code]: (int(low[code, 0]), int(high[code, 0])) for code in range(4)}
    ones = sorted(ZIP.codes[leaf] for leaf in ("11", "12"))
    assert by_label["11"] == by_label["12"] == tuple(ones) and by_label["21"] == (ZIP.codes["21"],) * 2
    assert by_label["none"] == (0, 3), "the root tells nothing"
    assert [side.tolist() for side in node_boxes([ZIP], [0], np.array([[2]]))] == [[[2]], [[2]]]


def test_what_groups_print() -> None:
    def printed(h: object, low: int, high: int) -> tuple[int, int]:
        first, last = group_boxes([h], np.array([[low]]), np.array([[high]]))  # type: ignore[list-item]
        return int(first[0, 0]), int(last[0, 0])

    assert [printed(AGE, *pair) for pair in [(0, 0), (0, 1), (1, 2), (3, 3)]] == [(0, 0), (0, 1), (1, 2), (3, 3)]
    assert printed(AGE, 0, 2) == printed(AGE, 2, 3) == (0, 3), "the whole range, and numbers with null, print the root"
    assert printed(flat("sex", ["f", "m", "x"]), 0, 1) == (0, 2)
    tree = hierarchy("job", [["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]])
    assert [printed(tree, *pair) for pair in [(0, 1), (0, 0), (2, 3), (1, 2)]] == [(0, 1), (0, 0), (2, 3), (0, 3)]


def test_divergence_by_hand() -> None:
    """Two leaves with 3 and 1 rows under one box: q = 1/2 each, KL = 3/4 ln(3/2) + 1/4 ln(1/2)."""
    cells, count = np.array([[0], [1]]), np.array([3, 1])
    assert divergence(cells, count, boxes(([(0, 1)], 4), leaves=(2,))) == pytest.approx(0.75 * log(1.5) + 0.25 * log(0.5))
    assert divergence(cells, count, boxes(([(0, 0)], 3), ([(1, 1)], 1), leaves=(2,))) == 0
    # the lone row is suppressed: it is spread over both leaves, q = (3.5/4, 0.5/4)
    found = divergence(cells, count, boxes(([(0, 0)], 3), leaves=(2,), suppressed=1))
    assert found == pytest.approx(0.75 * log(0.75 / 0.875) + 0.25 * log(0.25 / 0.125))


def test_query_error_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten leaves, a row each, but leaf 0 with 11; one box of all 20 rows: a leaf is answered with 2 rows."""
    monkeypatch.setattr(asked, "SELECTIVITIES", (0.1,))
    cells, count = np.arange(10)[:, None], np.array([11] + [1] * 9)
    whole = boxes(([(0, 9)], 20), leaves=(10,))
    (found,) = query_errors(cells, count, whole)
    # queries hold a random row: leaf 0 (error 9/11) or another (error 1)
    assert found.columns == 1 and 9 / 11 < found.mean < 1 and found.median in (9 / 11, 1, (9 / 11 + 1) / 2)
    exact = boxes(*[([(i, i)], int(n)) for i, n in enumerate(count)], leaves=(10,))
    assert [(e.mean, e.median) for e in query_errors(cells, count, exact)] == [(0, 0)]
    # nothing but suppressed rows: dropped ones answer 0, printed ones as the box of all
    gone = boxes(leaves=(10,), suppressed=20)
    assert [e.mean for e in query_errors(cells, count, gone)] == [1]
    star = boxes(leaves=(10,), suppressed=20, printed=True)
    assert query_errors(cells, count, star) == query_errors(cells, count, whole)


def table(seed: int) -> tuple[np.ndarray, np.ndarray, PrintedBoxes]:
    """Random cells, each in one of a few random boxes around it, some suppressed."""
    draws = random.Random(seed)
    leaves = tuple(draws.randint(1, 5) for _ in range(draws.randint(1, 4)))
    rows = [tuple(draws.randrange(span) for span in leaves) for _ in range(draws.choice([1, 12, 60]))]
    sizes: Counter = Counter()
    suppressed = 0
    for row in rows:
        if draws.random() < 0.1:
            suppressed += 1
        else:
            sizes[tuple((draws.randint(0, at), draws.randint(at, span - 1)) for at, span in zip(row, leaves, strict=True))] += 1
    cells = Counter((*row, draws.randrange(2)) for row in rows)
    codes = np.array([cell[:-1] for cell in cells], np.int64)
    made = boxes(*sizes.items(), leaves=leaves, suppressed=suppressed, printed=draws.random() < 0.5)
    return codes, np.array(list(cells.values())), made


def spread(made: PrintedBoxes, printed: bool) -> dict[tuple[int, ...], float]:
    """Rows that the release puts on each point of the domain, leaf by leaf."""
    points = dict.fromkeys(
        product(*(range(n) for n in made.leaves)), (made.suppressed if printed else 0) / float(np.prod(made.leaves))
    )
    for low, high, size in zip(made.low.tolist(), made.high.tolist(), made.size.tolist(), strict=True):
        inside = list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))
        for point in inside:
            points[point] += size / len(inside)
    return points


def brute_divergence(cells: np.ndarray, count: np.ndarray, made: PrintedBoxes, columns: tuple[int, ...]) -> float:
    p: Counter = Counter()
    for cell, n in zip(cells.tolist(), count.tolist(), strict=True):
        p[tuple(cell[j] for j in columns)] += n
    q: Counter = Counter()
    for point, n in spread(made, True).items():
        q[tuple(point[j] for j in columns)] += n
    return sum(n / made.rows * log(n / q[point]) for point, n in p.items())


@pytest.mark.parametrize("seed", range(25))
def test_divergence_is_that_of_plain_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, count, made = table(seed)
    d = cells.shape[1]
    expected = brute_divergence(cells, count, made, tuple(range(d)))
    monkeypatch.setattr(kl, "PIECE", 7)
    assert divergence(cells, count, made) == pytest.approx(expected, abs=1e-12)
    pairs = [(i, j) for i in range(d) for j in range(i)] if d > 1 else [(0,)]
    mean = fmean(brute_divergence(cells, count, made, pair) for pair in pairs)
    assert projected_divergence(cells, count, made) == pytest.approx(mean, abs=1e-12)
    assert mean <= expected + 1e-12, "a projection tells no more than the whole"


def test_a_divergence_that_would_take_too_long_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, count = np.array([[0, 0], [1, 0], [2, 0]]), np.array([1, 1, 1])
    made = boxes(([(0, 1), (0, 0)], 2), ([(2, 2), (0, 0)], 1), leaves=(3, 1))
    true = divergence(cells, count, made)
    monkeypatch.setattr(kl, "MOST_LOOKS", 5)
    assert divergence(cells, count, made) is None and projected_divergence(cells, count, made) is None
    # in a full-domain release the class of each cell is known, and nothing has to be compared
    known = boxes(([(0, 1), (0, 0)], 2), ([(2, 2), (0, 0)], 1), leaves=(3, 1), own=np.array([0, 0, 1]))
    assert true == 0 == divergence(cells, count, known)
    lost = boxes(([(0, 1), (0, 0)], 2), leaves=(3, 1), own=np.array([0, 0, -1]), suppressed=1)
    # q is 1 + 1/3 rows for the first two, 1/3 for the last
    assert divergence(cells, count, lost) == pytest.approx((2 * log(3 / 4) + log(3)) / 3)


@pytest.mark.parametrize("seed", range(15))
def test_query_errors_are_those_of_plain_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, count, made = table(seed)
    seen: list[list[tuple]] = []
    true = asked._workload

    def watched(*given: object) -> list[tuple]:
        seen.append(list(true(*given)))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(asked, "_workload", watched)
    monkeypatch.setattr(asked, "QUERIES", 20)
    found = query_errors(cells, count, made, seed)
    wide = sum(n > 1 for n in made.leaves)
    assert [(e.columns, e.selectivity) for e in found] == [(c, s) for c in (1, 2, 3) if c <= wide for s in (0.01, 0.1)]
    points = spread(made, made.printed)
    for one, queries in zip(found, seen, strict=True):
        errors = []
        for query in queries:
            assert len({column for column, _, _ in query}) == one.columns
            inside = lambda at, query=query: all(a <= at[j] <= b for j, a, b in query)  # noqa: E731
            held = sum(n for cell, n in zip(cells.tolist(), count.tolist(), strict=True) if inside(cell))
            assert held > 0 and all(0 <= a <= b < made.leaves[j] for j, a, b in query)
            errors.append(abs(sum(n for point, n in points.items() if inside(point)) - held) / held)
        assert one.mean == pytest.approx(fmean(errors)) and one.median == pytest.approx(median(errors))
    assert query_errors(cells, count, made, seed) == found, "the same workload for the same seed"
