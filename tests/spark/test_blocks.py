"""Local recoding on Spark, in blocks: what holds of it on tables small enough to check by hand."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms import local_borders
from anon_spark.algorithms.lattice import whole_table
from anon_spark.algorithms.local_blocks import decide_blocks
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.errors import InfeasibleError, NoneFoundError
from anon_spark.domain.problem import Problem
from anon_spark.plans.materialise import Materialised

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark]

TREE = hierarchy(
    "tree", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*"), ("f", "*", "*")]
)
PLACES = {str(v): v for v in range(1, 31)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)


def rows_of(seed: int, count: int) -> list[tuple]:
    draw = random.Random(seed)
    return [(draw.choice("aabcdef"), draw.choice([*PLACES, None]), draw.choice("xyz"), draw.choice("sstuv")) for _ in range(count)]


def run(spark: SparkSession, problem: Problem, frequency: object, rows: list, most: int | None, partitions: int = 2, **more) -> tuple:
    """(parts as a sorted list, boxes by group, summary) of raw cells made of these rows, spread as told."""
    d, s = len(problem.hierarchies), len(problem.sensitive)
    names = [*(f"__anon_q{i}" for i in range(d)), *(f"__anon_s{i}" for i in range(s))]
    cells = [(*row[: d + s], n) for row, n in Counter(tuple(row[: d + s]) for row in rows).items()]
    schema = ", ".join([*(f"{name} string" for name in names), "__anon_n long"])
    frame = spark.createDataFrame(cells, schema).repartition(partitions)
    with Materialised() as kept:
        found = decide_blocks(spark, problem, frame, len(cells), whole_table(problem, frequency), most, kept, **more)
        parts = sorted(map(tuple, found.parts.collect()), key=repr)
        assert parts == sorted(map(tuple, found.parts.collect()), key=repr)
        boxes = {row[0]: tuple(row[1:]) for row in found.boxes.collect()}
    return parts, boxes, found.summary


def check(problem: Problem, rows: list, found: tuple) -> dict[int, Counter]:
    """No row lost, boxes tight, figures right; the sensitive values of each group."""
    parts, boxes, summary = found
    d, s = len(problem.hierarchies), len(problem.sensitive)
    ranges, lines, values = defaultdict(list), defaultdict(list), defaultdict(Counter)
    for part in parts:
        cell, (group, begin, end, dealt) = part[: d + s], part[d + s :]
        assert begin < end
        ranges[cell].append((begin, end, dealt))
        lines[group].append(tuple(h.codes[text] for h, text in zip(problem.hierarchies, cell, strict=False)))
        values[group][cell[d:]] += end - begin
    counts = Counter(tuple(row[: d + s]) for row in rows)
    assert set(ranges) == set(counts)
    for cell, held in ranges.items():
        held.sort()
        assert [a for a, _, _ in held] == [0, *(b for _, b, _ in held[:-1])] and held[-1][1] == counts[cell]
        assert all(dealt == (len(held) > 1) for _, _, dealt in held)
    assert set(boxes) == set(lines)
    total = Fraction(0)
    for group, codes in lines.items():
        low, high = tuple(map(min, zip(*codes, strict=True))), tuple(map(max, zip(*codes, strict=True)))
        assert boxes[group] == (*low, *high, values[group].total())
        total += values[group].total() * ncp(problem, low, high)
    assert summary.losses["gcp"] == total / problem.rows
    sizes = [held.total() for held in values.values()]
    assert (summary.classes, summary.smallest, summary.largest) == (len(sizes), min(sizes), max(sizes))
    assert summary.losses["discernibility"] == sum(n * n for n in sizes)
    return values


def ncp(problem: Problem, low: tuple, high: tuple) -> Fraction:
    total = Fraction(0)
    for h, a, b, w in zip(problem.hierarchies, low, high, problem.weights, strict=True):
        if a == b:
            continue
        if h.numeric:
            texts = [h.leaves[a], h.leaves[b]]
            spread = max(int(t) for t in h.leaves if t is not None) - min(int(t) for t in h.leaves if t is not None)
            total += w * (1 if None in texts else Fraction(int(texts[1]) - int(texts[0]), spread))
            continue
        level = next(x for x in range(h.levels) if h.nodes[x][a] == h.nodes[x][b])
        total += w * Fraction(h.ncp[level].numerators[a], h.ncp[level].denominator)
    return total / sum(problem.weights)


def printed(problem: Problem, box: tuple) -> tuple:
    d = len(problem.hierarchies)
    found = []
    for h, a, b in zip(problem.hierarchies, box[:d], box[d : 2 * d], strict=True):
        if h.numeric:
            texts = (h.leaves[a], h.leaves[b])
            ends = [t for t in h.leaves if t is not None]
            found.append("*" if a != b and (None in texts or texts == (ends[0], ends[-1])) else texts)
        else:
            level = next(x for x in range(h.levels) if h.nodes[x][a] == h.nodes[x][b])
            found.append(h.labels[level][h.nodes[level][a]])
    return tuple(found)


@pytest.mark.parametrize(("seed", "count", "k", "most"), [(1, 60, 3, 5), (3, 400, 10, 40), (4, 150, 2, None)])
def test_groups_hold_k_rows_and_nothing_is_lost(spark: SparkSession, seed: int, count: int, k: int, most: int | None) -> None:
    rows = rows_of(seed, count)
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=k)])
    found = run(spark, problem, frequency, rows, most)
    values = check(problem, [row[:3] for row in rows], found)
    assert min(held.total() for held in values.values()) >= k
    looks = [printed(problem, box) for box in found[1].values()]
    assert len(set(looks)) == len(looks)
    assert float(found[2].losses["gcp"]) <= 1.35 * float(decide_local(problem, frequency).loss)


MODELS = [
    model("alpha-deassociation", "s", alpha=Fraction(1, 2)),
    model("alpha-deassociation", "s", alpha=Fraction(1, 2), values=("s",)),
    model("alpha-deassociation", "s", alpha=Fraction(9, 20), refined=True),
    model("l-diversity", "s", l=3, kind="distinct"),
    model("l-diversity", "s", l=2, kind="frequency"),
]


@pytest.mark.parametrize("asked", MODELS, ids=range(len(MODELS)))
def test_every_model_holds(spark: SparkSession, asked: object) -> None:
    rows = rows_of(7, 250)
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=2), asked], ["s"])
    for held in check(problem, rows, run(spark, problem, frequency, rows, 3)).values():
        assert held.total() >= 2 and holds(problem, held)


def holds(problem: Problem, held: Counter) -> bool:
    spec, size = problem.models[1], held.total()
    if spec.model == "l-diversity":
        most = size if spec.parameters["kind"] == "distinct" else Fraction(size, spec.parameters["l"])
        return (len(held) >= spec.parameters["l"] or spec.parameters["kind"] != "distinct") and max(held.values()) <= most
    most = spec.parameters["alpha"] * size
    most = math.ceil(most) if spec.parameters.get("refined") else most
    return all(held[v] <= most for v in ([(x,) for x in spec.parameters.get("values") or ()] or held))


def test_nothing_depends_on_partitions_batches_or_order(spark: SparkSession) -> None:
    rows = rows_of(11, 300)
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=4), MODELS[2]], ["s"])
    first = run(spark, problem, frequency, rows, 25)
    for turn, (partitions, batch, shuffles) in enumerate([(1, 3, 1), (8, 10_000, 7), (40, 7, 4)]):
        random.Random(turn).shuffle(rows)
        with settings(spark, {BATCH: str(batch), "spark.sql.shuffle.partitions": str(shuffles)}):
            again = run(spark, problem, frequency, rows, 25, partitions)
        assert again[:2] == first[:2] and again[2] == first[2]


def test_repair_across_blocks(spark: SparkSession) -> None:
    """C23: {1-4} and {11-14}, 23.08 %, wherever the rows lie; no block of two rows could do it alone."""
    values = [1, 2, 3, 4, 11, 12, 13, 14]
    rows = [(str(v),) for v in values]
    line = hierarchy("x", [(str(v), "*") for v in values], {str(v): v for v in values})
    problem, frequency = bind(rows, [line], [model("k-anonymity", k=3)])
    found = run(spark, problem, frequency, rows, 2, 4)
    check(problem, rows, found)
    assert sorted(box[-1] for box in found[1].values()) == [4, 4] and found[2].losses["gcp"] == Fraction(3, 13)


def test_groups_that_break_a_model_merge_across_blocks(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The low half of the line is all s, the high half all t: no block holds alpha = 1/2, and merges must cross the borders."""
    monkeypatch.setattr(local_borders, "ACROSS", 1)
    rows = [(str(v), "s" if v <= 15 else "t") for v in range(1, 31)] * 2
    asked = [model("k-anonymity", k=2), model("alpha-deassociation", "s", alpha=Fraction(3, 5))]
    problem, frequency = bind(rows, [LINE], asked, ["s"])
    found = run(spark, problem, frequency, rows, 4)
    for held in check(problem, rows, found).values():
        assert holds(problem, held)
    assert any("across blocks" in step for step in found[2].steps)


def test_the_merge_stage_ends_in_none_found(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_borders, "ACROSS", 1)
    # of two rows one may be s, of three or four two, of six three: five of six never hold
    rows = [("1", "s")] * 3 + [("2", "t"), ("3", "s"), ("3", "s")]
    asked = [model("k-anonymity", k=2), model("alpha-deassociation", "s", alpha=Fraction(2, 5), refined=True)]
    problem, frequency = bind(rows, [LINE], asked, ["s"])
    with pytest.raises(NoneFoundError, match="merged until all rows were one, which still breaks it"):
        run(spark, problem, frequency, rows, 1)
    rows = [(str(v), "s" if v <= 15 else "t") for v in range(1, 31)] * 2
    problem, frequency = bind(rows, [LINE], [model("k-anonymity", k=2), model("l-diversity", "s", l=2, kind="distinct")], ["s"])
    with pytest.raises(NoneFoundError, match="driver_megabytes leaves room for 2"):
        run(spark, problem, frequency, rows, 4, driver_bytes=8_000)
    with pytest.raises(InfeasibleError, match="60 rows < k = 61"):
        run(spark, bind(rows, [LINE], [model("k-anonymity", k=61)])[0], frequency, rows, 4)


def test_raw_values_that_are_one_code_share_its_rows(spark: SparkSession) -> None:
    """007 and 7 are one number: its rows are dealt whatever way they were written."""
    line = hierarchy("x", [(str(v), "*") for v in (6, 7, 8)], {str(v): v for v in (6, 7, 8)})
    line.codes.update({"007": 1, "07": 1})  # type: ignore[attr-defined]
    rows = [("007",)] * 3 + [("07",)] * 2 + [("7",)] * 4 + [("6",), ("8",)]
    problem, frequency = bind(rows, [line], [model("k-anonymity", k=3)])
    found = run(spark, problem, frequency, rows, None)
    check(problem, rows, found)
    assert len(found[1]) == 3 and found[2].losses["gcp"] == Fraction(3, 11)


@pytest.mark.parametrize("kind", ["skew", "equal", "distinct"])
def test_skew_all_equal_and_all_distinct(spark: SparkSession, kind: str) -> None:
    """One combination with half of the rows and many sensitive values; one combination alone; no two rows alike."""
    if kind == "skew":
        rows = [("a", "1", f"s{i % 40}") for i in range(200)] + [(t, v, f"s{i}") for i, (t, v, _, _) in enumerate(rows_of(3, 200))]
    elif kind == "equal":
        rows = [("a", "1", "s0")] * 100
    else:
        rows = [(t, v, "s0") for t in "abcdef" for v in PLACES]
    problem, frequency = bind(rows, [TREE, LINE], [model("k-anonymity", k=10)], ["s"])
    values = check(problem, rows, run(spark, problem, frequency, rows, 12))
    assert min(held.total() for held in values.values()) >= 10


def test_many_batches_of_one_partition(spark: SparkSession) -> None:
    """C19: 25,000 rows in one partition, batches of 7 and 10,000 rows: the same, and no class is split by their edges."""
    draw = random.Random(19)
    rows = [(draw.choice("abcdef"), draw.choice(list(PLACES)), draw.choice("xyz")) for _ in range(25_000)]
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=10)])
    found = []
    for batch, partitions in ((7, 1), (10_000, 200)):
        with settings(spark, {BATCH: str(batch)}):
            found.append(run(spark, problem, frequency, rows, 100, partitions))
    assert found[0][:2] == found[1][:2]
    assert min(held.total() for held in check(problem, rows, found[0]).values()) >= 10


BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


@contextmanager
def settings(spark: SparkSession, wanted: dict[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, str(value))
