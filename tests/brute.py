"""Each privacy model read off its definition for one class, in Counters and fractions (METHODS 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, log

from anon_spark.domain.policy import ModelSpec

NEAR = 1e-9
Path = Sequence[str]


def holds(spec: ModelSpec, seen: Counter, size: int, table: Counter, tree: Mapping[object, Path] | None = None) -> bool:
    """seen: rows of the class by counted value; size: all its rows; table: the whole table's; tree: path from leaf to root by value."""
    p, name = spec.parameters, spec.model
    kind = p.get("kind") or "distinct"
    seen = +seen
    if name == "k-anonymity":
        return size >= p["k"]
    if name == "alpha-deassociation":
        listed = seen.values() if p.get("values") is None else [seen[v] for v in p["values"]]
        return all((ceil(p["alpha"] * size) if p.get("refined") else p["alpha"] * size) >= n for n in listed)
    if name == "l-diversity":
        return diverse(kind, p, seen, size)
    n, rows = seen.total(), table.total()
    if name == "t-closeness":
        return distance(seen, table, p.get("distance") or "equal", tree) <= p["t"]
    if name == "delta-disclosure":
        return all(abs(log(Fraction(c, n) / Fraction(table[v], rows))) < p["delta"] for v, c in seen.items())
    if name == "beta-likeness":
        shares = [(Fraction(c, n), Fraction(table[v], rows)) for v, c in seen.items()]
        return all((a - b) / b <= (min(p["beta"], -log(b)) if p.get("kind") == "enhanced" else p["beta"]) for a, b in shares if a > b)
    if name == "confidence-bound":
        return seen[p["value"]] <= p["h"] * size
    found = levels(p["levels"], table)
    weight = sensitivity(found, p["levels"], p.get("weights"), p.get("b"))
    if name == "l-alpha-diversity":
        return len(seen) >= p["l"] and sum(c * (1 - weight[v]) for v, c in seen.items()) >= p["alpha"]
    if name == "lambda-alpha-k":
        return size >= p["k"] and all(c <= p["lambda"][str(found[v])] * p["alpha"] * size for v, c in seen.items())
    assert name == "epsilon-k-sensitivity"
    near = {v: sum(c for u, c in seen.items() if abs(weight[u] - weight[v]) <= p["epsilon"]) for v in seen}
    return size >= p["k"] and all(near[v] <= max(1, ceil((1 - weight[v]) * size)) for v in seen)


def diverse(kind: str, p: Mapping, seen: Counter, size: int) -> bool:
    counts = sorted(seen.values(), reverse=True)
    if kind == "distinct":
        return len(counts) >= p["l"]
    if kind == "frequency":
        return all(n * p["l"] <= size for n in counts)
    if kind == "entropy":
        n = sum(counts)
        return n > 0 and sum(-c / n * log(c / n) for c in counts) >= log(p["l"]) * (1 - NEAR)
    l_ = int(p["l"])
    return bool(counts) and counts[0] < p["c"] * sum(counts[l_ - 1 :])


def distance(seen: Counter, table: Counter, kind: str, tree: Mapping[object, Path] | None = None) -> Fraction:
    """Earth mover's distance of a class from the table; 0 of a class without counted values."""
    n, rows, values = seen.total(), table.total(), sorted(table, key=order)
    if not n or len(values) == 1:
        return Fraction(0)
    extra = {v: Fraction(seen[v], n) - Fraction(table[v], rows) for v in values}
    if kind == "equal":
        return sum((abs(x) for x in extra.values()), Fraction(0)) / 2
    if kind == "ordered":
        return sum((abs(sum(extra[v] for v in values[: i + 1])) for i in range(len(values))), Fraction(0)) / (len(values) - 1)
    assert tree is not None
    height = len(next(iter(tree.values()))) - 1
    total = Fraction(0)
    for level in range(height):
        at: Counter = Counter()
        for v in values:
            at[tuple(tree[v][level:])] += extra[v]
        total += sum((abs(x) for x in at.values()), Fraction(0)) / 2
    return total / height


def order(value: object) -> tuple:
    """Numbers by value, other texts as they are, null last: ignored, it moves no other."""
    if value is None:
        return (2, 0, "")
    try:
        return (0, Fraction(str(value)), "")
    except ValueError:
        return (1, 0, str(value))


def levels(asked: object, table: Counter) -> dict[object, int]:
    """Level of each value: as given, or by merging segments of like frequency (METHODS 1.16)."""
    if isinstance(asked, Mapping):
        return {v: int(asked[v]) for v in table}
    segments = [[v] for v in sorted(table, key=lambda v: (-table[v], v is None, v or ""))]
    while len(segments) > int(str(asked)):
        spans = []
        for a, b in pairwise(segments):
            counts = [table[v] for v in a + b]
            spans.append(max(counts) - min(counts))
        i = spans.index(min(spans))
        segments[i : i + 2] = [segments[i] + segments[i + 1]]
    return {v: i + 1 for i, segment in enumerate(segments) for v in segment}


def sensitivity(found: Mapping[object, int], asked: object, weights: object = None, b: object = None) -> dict[object, Fraction]:
    most = max(int(level) for level in asked.values()) if isinstance(asked, Mapping) else max(found.values(), default=1)
    power = int(b) if b else 1  # type: ignore[call-overload]
    w = [Fraction(1, (j - 1) ** power) if weights == "height" else Fraction(1) for j in range(2, most + 1)]
    return {v: sum(w[: level - 1], Fraction(0)) / sum(w) if w else Fraction(0) for v, level in found.items()}


def effective(seen: Counter) -> float:
    n = seen.total()
    return exp(sum(-c / n * log(c / n) for c in (+seen).values()))
