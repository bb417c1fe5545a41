"""Roll-up and class statistics against plain dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from anon_spark.kernels.rollup import Cells, Histograms, mixed_key, roll_up, statistics
from anon_spark.models.base import Distinct, Largest, Size


def table(seed: int, m: int, spans: tuple[int, ...], values: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    nodes = np.array([rng.integers(0, span, m) for span in spans], dtype=np.int32)
    sensitive = np.array([rng.integers(0, v, m) for v in values], dtype=np.int32).reshape(len(values), m)
    return nodes, sensitive, rng.integers(1, 9, m)


def plain(nodes: np.ndarray, sensitive: np.ndarray, count: np.ndarray) -> Counter:
    added: Counter = Counter()
    for key, n in zip(np.vstack([nodes, sensitive]).T.tolist(), count.tolist(), strict=True):
        added[tuple(key)] += n
    return added


SHAPES = {
    "dense": ((4, 3), ()),
    "one sensitive": ((4, 3), (5,)),
    "two sensitive": ((4, 3, 2), (3, 2)),
    "sorted": ((50_000, 40_000), (7,)),
    "past 2**62": ((2**31 - 1, 2**31 - 1, 2**31 - 1), (2**31 - 1, 3)),
    "one column": ((6,), (2,)),
}


@pytest.mark.parametrize(("spans", "values"), SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("m", [1, 2, 500])
def test_cells_are_distinct_sorted_and_add_up(spans: tuple[int, ...], values: tuple[int, ...], m: int) -> None:
    nodes, sensitive, count = table(m, m, spans, values)
    nodes[:, m // 2 :] = nodes[:, : m - m // 2]  # repeats, which random draws from wide ranges would not give
    cells = roll_up(nodes, sensitive, count, [None] * len(spans))
    lines = [tuple(line) for line in np.vstack([cells.nodes, cells.sensitive]).T.tolist()]
    assert lines == sorted(set(lines))
    assert dict(zip(lines, cells.count.tolist(), strict=True)) == dict(plain(nodes, sensitive, count))
    classes = [tuple(line) for line in cells.classes().T.tolist()]
    assert classes == sorted({line[: len(spans)] for line in lines})


def test_rolling_up_twice_is_rolling_up_once() -> None:
    nodes, sensitive, count = table(3, 400, (12, 9), (3,))
    first, second = np.arange(12) // 2, np.arange(6) // 3
    flat = np.zeros(9, dtype=np.int32)
    low = roll_up(nodes, sensitive, count, [first, None])
    twice = roll_up(low.nodes, low.sensitive, low.count, [second, flat])
    once = roll_up(nodes, sensitive, count, [second[first], flat])
    for name in ("nodes", "sensitive", "count", "starts"):
        assert np.array_equal(getattr(once, name), getattr(twice, name))
    assert once.nbytes == twice.nbytes > 0


def test_no_cells() -> None:
    nothing = np.zeros((2, 0), dtype=np.int32)
    cells = roll_up(nothing, np.zeros((1, 0), dtype=np.int32), np.zeros(0, dtype=np.int64), [None, None])
    assert len(cells.starts) == 0 and cells.classes().shape == (2, 0)
    assert statistics(cells, [Size(), Largest("s"), Distinct("s")], Histograms(("s",), ((),), (False,)))[Size()].tolist() == []


def test_counts_beyond_float_are_added_as_whole_numbers() -> None:
    """2**53 + 1 is not a float64."""
    cells = roll_up(np.zeros((1, 2), np.int32), np.zeros((0, 2), np.int32), np.array([2**53, 1]), [None])
    assert cells.count.tolist() == [2**53 + 1]


def test_keys_keep_the_order_of_their_lines() -> None:
    lines = [np.array([2, 0, 2, 1]), np.array([2**40, 1, 5, 3]), np.array([2**41, 7, 9, 7])]
    key, span = mixed_key(lines)
    assert np.argsort(key).tolist() == [1, 3, 2, 0] and key.max() < span
    with pytest.raises(ValueError, match="column"):
        mixed_key([])


@pytest.mark.parametrize("columns", [1, 2])
def test_statistics_against_plain_counting(columns: int) -> None:
    texts: tuple[tuple[str | None, ...], ...] = (("a", "b", None), ("x", "y"))
    names = ("one", "two")
    nodes, sensitive, count = table(7, 300, (5, 4), (3, 2)[:columns])
    cells = roll_up(nodes, sensitive, count, [None, None])
    for ignores in (False, True):
        histograms = Histograms(names[:columns], texts[:columns], (ignores, False)[:columns])
        wanted = [Size(), Largest("one"), Largest("one", ("b", "zz")), Distinct("one"), Size()]
        wanted += [Largest("two"), Distinct("two")] if columns == 2 else []
        found = statistics(cells, wanted, histograms)
        for place, right in enumerate(counted(cells, texts, ignores)):
            one, two, size = right
            assert found[Size()][place] == size
            assert found[Largest("one")][place] == max(one.values(), default=0)
            assert found[Largest("one", ("b", "zz"))][place] == one["b"]
            assert found[Distinct("one")][place] == len(one)
            if columns == 2:
                assert found[Largest("two")][place] == max(two.values()) and found[Distinct("two")][place] == len(two)


def counted(cells: Cells, texts: tuple, ignores: bool) -> list[tuple[Counter, Counter, int]]:
    one: dict = defaultdict(Counter)
    two: dict = defaultdict(Counter)
    size: Counter = Counter()
    for place in range(len(cells.count)):
        node, n = tuple(cells.nodes[:, place].tolist()), int(cells.count[place])
        size[node] += n
        text = texts[0][cells.sensitive[0, place]]
        if not (ignores and text is None):
            one[node][text] += n
        if len(cells.sensitive) == 2:
            two[node][texts[1][cells.sensitive[1, place]]] += n
    return [(one[node], two[node], size[node]) for node in sorted(size)]
