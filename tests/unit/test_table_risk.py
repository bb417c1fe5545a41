"""The risk of a raw table: figures by hand, the estimator against its formula and a simulation, sets of columns against plain loops."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
import pytest

from anon_spark.kernels import subset_sizes
from anon_spark.kernels.subset_sizes import count_subsets, subset_keys
from anon_spark.metrics import subsets as sets
from anon_spark.metrics.population_uniques import population_uniques
from anon_spark.metrics.subsets import SubsetRisk, most_identifying, shares_of_classes, subsets_of, within_bounds
from anon_spark.metrics.table_risk import table_risk
from anon_spark.report.table_risk import Population, RiskReport, render_risk


def test_figures_by_hand() -> None:
    """Classes of 1, 1, 2 and 6 rows: 10 rows."""
    found = table_risk({1: 2, 2: 1, 6: 1}, ks=[7])
    assert (found.rows, found.classes, found.unique) == (10, 4, Fraction(2, 10))
    assert found.below == {2: Fraction(2, 10), 5: Fraction(4, 10), 7: Fraction(1), 10: Fraction(1)}
    assert found.prosecutor_max == 1
    # (1 + 1 + 2 * 1/2 + 6 * 1/6) / 10
    assert found.prosecutor_mean == found.marketer == Fraction(4, 10)
    assert table_risk({3: 1}).prosecutor_max == Fraction(1, 3)


def zayatz(sizes: dict[int, int], population: int) -> Fraction:
    """The formula as it is printed, in exact numbers."""
    rows, classes = sum(s * n for s, n in sizes.items()), sum(sizes.values())

    def hypergeometric(j: int) -> Fraction:
        return Fraction(comb(j, 1) * comb(population - j, rows - 1), comb(population, rows))

    share = {j: Fraction(n, classes) for j, n in sizes.items()}
    chance = hypergeometric(1) * share[1] / sum(hypergeometric(j) * share[j] for j in sizes)
    return Fraction(sizes[1], rows) * chance


@pytest.mark.parametrize("population", [20, 21, 30, 500, 10_000])
def test_population_uniques_are_those_of_the_printed_formula(population: int) -> None:
    sizes = {1: 5, 2: 2, 4: 1, 7: 1}
    assert population_uniques(sizes, population) == pytest.approx(float(zayatz(sizes, population)), rel=1e-12)


def test_population_uniques_where_the_answer_is_known() -> None:
    assert population_uniques({1: 5, 2: 2, 4: 1, 7: 1}, 20) == 0.25, "the table is the population"
    assert population_uniques({2: 5}, 100) == 0
    assert population_uniques({1: 7}, 10**12) == 1, "nothing in the sample says that two persons can be alike"
    assert 0 < population_uniques({1: 10**6, 2: 10**5, 5000: 10}, 8 * 10**9) < 1


@pytest.mark.parametrize("size", [30_000, 12_000, 3_000])
def test_population_uniques_of_a_simulated_sample(size: int) -> None:
    """A population of 60,000 in skewed cells: the estimate is near what is true of the sample drawn, from half to a twentieth."""
    draws = random.Random(3)
    people = [int(draws.paretovariate(0.4)) for _ in range(60_000)]
    everyone = Counter(people)
    sample = draws.sample(people, size)
    drawn = Counter(sample)
    true = sum(everyone[cell] == 1 for cell in sample) / len(sample)
    found = population_uniques(dict(Counter(drawn.values())), len(people))
    assert true > 0.02 and abs(found - true) < 0.1 * true
    assert sum(n == 1 for n in drawn.values()) / size > 1.2 * true


@pytest.mark.parametrize("columns", range(1, 9))
def test_every_set_of_the_wanted_sizes_once(columns: int) -> None:
    found, left_out = subsets_of(columns)
    sizes = {size for size in (1, 2, 3, columns - 1, columns) if 1 <= size <= columns}
    assert left_out == () and sorted(found) == sorted(s for size in sizes for s in combinations(range(columns), size))


@pytest.mark.parametrize(
    ("columns", "left_out", "number"), [(14, (), 484), (15, (3,), 136), (30, (3,), 496), (31, (2, 3), 63), (200, (2, 3), 401)]
)
def test_the_number_of_sets_is_bounded(columns: int, left_out: tuple[int, ...], number: int) -> None:
    found, told = subsets_of(columns)
    assert told == left_out and len(found) == number


def brute(rows: Sequence[tuple], subset: Sequence[int]) -> tuple[int, int, int]:
    sizes = Counter(tuple(row[i] for i in subset) for row in rows).values()
    return len(sizes), sum(n == 1 for n in sizes), sum(n for n in sizes if n < 5)


def cells(rows: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """Hashes, salted by column, and counts."""
    counts = Counter(rows)
    hashes = [[hash((i, value)) for i, value in enumerate(row)] for row in counts]
    return np.array(hashes, np.int64), np.array(list(counts.values()), np.int64)


def batches(hashes: np.ndarray, count: np.ndarray, of: int) -> list[pa.RecordBatch]:
    names = [f"h{i}" for i in range(hashes.shape[1])]
    lines = [pa.array(line) for line in (*np.ascontiguousarray(hashes.T), count)]
    return pa.Table.from_arrays(lines, names=[*names, "n"]).to_batches(max_chunksize=of)


@pytest.mark.parametrize("seed", range(8))
def test_sets_are_counted_as_plain_loops_count_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = random.Random(seed)
    d = draws.randint(1, 6)
    spans = [draws.choice([1, 2, 5, 40]) for _ in range(d)]
    rows = [tuple(draws.randrange(span) for span in spans) for _ in range(draws.choice([1, 30, 400]))]
    subsets, _ = subsets_of(d)
    hashes, count = cells(rows)
    expected = [brute(rows, subset) for subset in subsets]
    assert [tuple(line) for line in count_subsets(hashes, count, subsets).tolist()] == expected

    # the same from what workers send, however their batches and what they hold at a time are cut
    monkeypatch.setattr(subset_sizes, "GATHERED", draws.choice([1, 7, 10**6]))
    monkeypatch.setattr(subset_sizes, "DENSE", draws.choice([0, 30, 2**17]))
    names = [f"h{i}" for i in range(d)]
    held: dict[int, Counter] = {number: Counter() for number in range(len(subsets))}
    for batch in subset_keys(batches(hashes, count, 3), names, "n", subsets, [1] * len(subsets)):
        for number, key, n in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            held[number][key] += n
    sizes = [list(held[number].values()) for number in range(len(subsets))]
    assert [(len(s), s.count(1), sum(n for n in s if n < 5)) for s in sizes] == expected


def test_a_part_of_the_classes_is_the_same_part_whatever_the_batches() -> None:
    rows = [(i % 50, i % 7) for i in range(350)]
    hashes, count = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, (350, 2)), np.ones(350, np.int64)
    assert len(rows) == len(hashes)

    def keys(of: int, part: int) -> set[int]:
        return {
            key
            for b in subset_keys(batches(hashes, count, of), ["h0", "h1"], "n", [(0, 1)], [part])
            for key in b.column(1).to_pylist()
        }

    every, some = keys(350, 1), keys(350, 4)
    assert len(every) == 350 and some < every and some == keys(9, 4) == {key for key in every if key % 4 == 0}
    assert 50 < len(some) < 130


def test_large_sets_of_many_cells_are_counted_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "MOST_LINES", 100)
    monkeypatch.setattr(sets, "FEW_CLASSES", 40)
    subsets, distinct = [(0,), (0, 1), (0, 2), (0, 1, 2)], [1000, 1, 5, 8]
    assert shares_of_classes(subsets, 33, distinct) == (1, 1, 1, 1)
    assert shares_of_classes(subsets, 34, distinct) == (1, 2, 2, 2)
    assert shares_of_classes(subsets, 300, distinct) == (1, 16, 16, 16)
    # what can have but few classes is counted in full
    assert shares_of_classes(subsets, 300, [8, 5, 5, 1]) == (1, 1, 1, 4)


def test_an_estimate_stays_between_its_parts_and_the_whole() -> None:
    def risk(columns: tuple[int, ...], classes: int, unique: float, few: float, counted: Fraction = Fraction(1)) -> SubsetRisk:
        return SubsetRisk(columns, classes, Fraction(unique), Fraction(few), counted)

    part, whole = risk((0, 1), 10, 0.25, 0.5), risk((0, 1, 2, 3), 40, 0.5, 0.75)
    low, high = risk((0, 1, 2), 0, 0, 0, Fraction(1, 8)), risk((0, 1, 3), 64, 1, 1, Fraction(1, 8))
    apart = risk((1, 2, 3), 16, 0.375, 0.5, Fraction(1, 8))
    found = within_bounds([part, low, high, apart], whole)
    assert found == (part, risk((0, 1, 2), 10, 0.25, 0.5, Fraction(1, 8)), risk((0, 1, 3), 40, 0.5, 0.75, Fraction(1, 8)), apart)


def test_the_most_identifying_come_first() -> None:
    def risk(columns: tuple[int, ...], classes: int, unique: int, few: int) -> SubsetRisk:
        return SubsetRisk(columns, classes, Fraction(unique, 9), Fraction(few, 9))

    ordered = [
        risk((1,), 3, 2, 2),
        risk((2,), 3, 1, 3),
        risk((0,), 4, 1, 2),
        risk((3,), 3, 1, 2),
        risk((4,), 3, 1, 2),
        risk((0, 1), 9, 0, 0),
    ]
    assert most_identifying(ordered[::-1]) == tuple(ordered)


def test_the_page_tells_what_is_known_and_what_is_not() -> None:
    risk = table_risk({1: 2, 2: 1, 6: 1}, ks=[7])
    found = (SubsetRisk((0,), 2, Fraction(0), Fraction(0)), SubsetRisk((0, 1), 4, Fraction(1, 5), Fraction(2, 5), Fraction(1, 2)))
    report = RiskReport(where="a.yaml", started="2026-01-02T03:04:05+00:00", seconds=1.23456, columns=3, quasi_identifiers=("sex", "zip"),
                        risk=risk, k=7, subsets=found, left_out=(3,), not_counted=("id",))  # fmt: skip
    text = render_risk(report)
    for line in (
        "10 rows in 4 distinct combinations of 2 quasi-identifiers",
        "20 % of the rows are alone",
        "100 % of the rows in classes below 7, which the policy asks for",
        "highest risk 100 %, mean 40 %",
        "not estimated: --population N",
        "sets of 3 columns: too many",
        "id: taken for no quasi-identifier",
    ):
        assert line in text
    assert "all" in text and "~ 20 %" in text and max(map(len, text.splitlines())) <= 100
    assert report.to_dict()["population"] is None and report.to_dict()["subsets"][1]["columns"] == ["sex", "zip"]
    sample = RiskReport(where="a.yaml", started="", seconds=1, columns=3, quasi_identifiers=("sex", "zip"), risk=risk,
                        population=Population(1000, 0.0123))  # fmt: skip
    assert "about 1.23 % of the rows are unique of a population of 1,000 (a sample of 1 %)" in render_risk(sample)
    assert sample.to_dict()["population"] == {
        "size": 1000,
        "sampling_fraction": 0.01,
        "estimator": "Zayatz 1991",
        "unique": 0.0123,
    }
