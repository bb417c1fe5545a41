"""Checking many nodes of the lattice in one grouped aggregation over frequency sets that stay on Spark.

A set at some levels has the columns __anon_g0.. (int, node of each quasi-identifier at its level), __anon_s0.. (int, number of the
sensitive value; last, where the problem tells persons, the text of each) and __anon_n (long). A node's classes are grouped by *words*:
its node numbers, packed into as few longs as hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT
from anon_spark.domain.recoding import Levels
from anon_spark.plans.columns import HELPER
from anon_spark.plans.fetch import fetch_arrow
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.judge import Judge
from anon_spark.plans.lookups import lifted, with_number

CANDIDATE = HELPER + "candidate"
FIRST_WORD, WORD = 56, 62
"""Bits for node numbers in the first word, whose upper bits hold the number of the candidate, and in each further one."""
MOST_CANDIDATES = 2 ** (WORD - FIRST_WORD)
MOST_FIELDS = 100
"""Node numbers that one pass over a set packs: with 200, the code that Spark generates is longer than Java compiles, and runs 5 times
slower."""


def node_names(columns: int) -> list[str]:
    """Names of the columns of node numbers."""
    return [f"{HELPER}g{i}" for i in range(columns)]


def sensitive_names(columns: int) -> list[str]:
    """Names of the columns of sensitive values."""
    return [f"{HELPER}s{j}" for j in range(columns)]


@dataclass(frozen=True, eq=False)
class RolledSet:
    """A frequency set at these levels.  cells: how many it has, or a bound above that."""

    levels: Levels
    frame: DataFrame
    cells: int


def encode(cells: DataFrame, hierarchies: Sequence[Hierarchy], sensitive: int) -> DataFrame:
    """Raw texts of a frequency set to leaf codes: __anon_g0.. int, __anon_s0.. text, __anon_n; cells may be alike now.

    A cell with a value that a hierarchy does not know is left out: who counts the rows finds them missing.
    """
    keys, others = cell_names(len(hierarchies), sensitive)
    nodes = node_names(len(hierarchies))
    frame = cells
    for key, node, hierarchy in zip(keys, nodes, hierarchies, strict=True):
        frame = with_number(frame, key, hierarchy.codes, node)
    return _known(frame, nodes).select(*nodes, *others, ROWS)


def numbered(cells: DataFrame, values: Sequence[Sequence[str | None]], held: int | None = None) -> DataFrame:
    """The cells of ``encode`` with the numbers of their sensitive values.  held: columns beside the nodes; persons keep their text."""
    nodes = [name for name in cells.columns if name.startswith(f"{HELPER}g")]
    numbers = [f"{HELPER}v{j}" for j in range(len(values))]
    frame = cells
    for j, known in enumerate(values):
        frame = with_number(frame, f"{HELPER}s{j}", {text: number for number, text in enumerate(known)}, numbers[j])
    columns = [F.col(number).alias(f"{HELPER}s{j}") for j, number in enumerate(numbers)]
    columns += [F.col(name) for name in sensitive_names(len(values) if held is None else held)[len(values) :]]
    return _known(frame, numbers).select(*nodes, *columns, ROWS)


def _known(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    return reduce(lambda kept, name: kept.where(F.col(name).isNotNull()), names, frame)


Words = list[list[tuple[int, int, int]]]
"""Where a node's numbers lie: for each word the (column, shift, bits) of those it holds."""


def words_of(hierarchies: Sequence[Hierarchy], levels: Levels) -> Words:
    """The words of a node; a column at a level of one node takes no room."""
    words: Words = [[]]
    used = 0
    for i, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        bits = (len(hierarchy.labels[level]) - 1).bit_length()
        if used + bits > (WORD if len(words) > 1 else FIRST_WORD):
            words.append([])
            used = 0
        if bits:
            words[-1].append((i, used, bits))
        used += bits
    return words


def _packed(words: Words, count: int, candidate: int, node: dict[int, str]) -> list[Column]:
    packed: list[Column] = []
    for place in range(count):
        value = F.lit(candidate << FIRST_WORD if place == 0 else 0).cast("long")
        for column, shift, _ in words[place] if place < len(words) else []:
            # no sum: under ANSI each would be checked for overflow
            value = value.bitwiseOR(F.shiftleft(F.col(node[column]).cast("long"), shift))
        packed.append(value.alias(f"{HELPER}w{place}"))
    return packed


def generalise(
    sets: Sequence[tuple[RolledSet, dict[int, Levels]]], hierarchies: Sequence[Hierarchy], sensitive: int, codes: bool = False
) -> DataFrame:
    """Every cell of each set once a candidate of it: words __anon_w0.., __anon_s0.., __anon_n, and the set's nodes where ``codes``.

    sets: each with its candidates, nodes at or above its levels, by a number below ``MOST_CANDIDATES``.
    """
    count = max(len(words_of(hierarchies, levels)) for _, candidates in sets for levels in candidates.values())
    frames = [
        _generalised(held, some, hierarchies, sensitive, count, codes)
        for held, candidates in sets
        for some in _in_parts(candidates, hierarchies)
    ]
    return reduce(lambda left, right: left.unionByName(right), frames)


def _in_parts(candidates: dict[int, Levels], hierarchies: Sequence[Hierarchy]) -> list[dict[int, Levels]]:
    """The candidates, so many together that their words have at most ``MOST_FIELDS`` fields, or a single one has more."""
    parts: list[dict[int, Levels]] = []
    room = 0
    for number, levels in candidates.items():
        fields = sum(map(len, words_of(hierarchies, levels)))
        if fields > room or not parts:
            parts.append({})
            room = MOST_FIELDS
        parts[-1][number] = levels
        room -= fields
    return parts


def _generalised(
    held: RolledSet, candidates: dict[int, Levels], hierarchies: Sequence[Hierarchy], sensitive: int, count: int, codes: bool
) -> DataFrame:
    carried = [*sensitive_names(sensitive), ROWS, *(node_names(len(hierarchies)) if codes else [])]
    packings = {number: words_of(hierarchies, levels) for number, levels in candidates.items()}
    wanted: dict[int, dict[str, int]] = {}
    for number, words in packings.items():
        for column, _, _ in (field for word in words for field in word):
            level = candidates[number][column]
            wanted.setdefault(column, {})[_lift(column, level)] = level
    frame, columns = held.frame, []
    for column, highs in wanted.items():
        frame, found = lifted(frame, hierarchies[column], held.levels[column], f"{HELPER}g{column}", highs)
        columns += found
    frame = frame.select(*carried, *columns)
    packed = []
    for number, words in packings.items():
        node = {column: _lift(column, candidates[number][column]) for word in words for column, _, _ in word}
        packed.append(_packed(words, count, number, node))
    return _exploded(frame, packed, carried)


def _exploded(frame: DataFrame, packed: Sequence[Sequence[Column]], carried: Sequence[str]) -> DataFrame:
    if len(packed) == 1:
        return frame.select(*packed[0], *carried)
    if len(packed[0]) == 1:
        return frame.select(F.explode(F.array(*[word for (word,) in packed])).alias(f"{HELPER}w0"), *carried)
    exploded = frame.select(F.explode(F.array(*[F.struct(*words) for words in packed])).alias(HELPER + "words"), *carried)
    return exploded.select(f"{HELPER}words.*", *carried)


def _lift(column: int, level: int) -> str:
    return f"{HELPER}l{column}_{level}"


def word_names(frame: DataFrame) -> list[str]:
    """The words that a frame of ``generalise`` or ``classes`` is grouped by."""
    return [name for name in frame.columns if name.startswith(f"{HELPER}w")]


def rolled(held: RolledSet, levels: Levels, hierarchies: Sequence[Hierarchy], sensitive: int) -> DataFrame:
    """A set pooled at a node: a set of its own."""
    pooled = _pooled(held, levels, hierarchies, sensitive)
    return pooled.select(*_nodes(hierarchies, levels), *sensitive_names(sensitive), ROWS)


def gathered_alike(held: RolledSet, hierarchies: Sequence[Hierarchy], partitions: int) -> DataFrame:
    """The same cells, those of like ancestors side by side: a partition then holds few of a node's classes, and most of each."""
    frame, by = held.frame, list[str]()
    for below_root in (1, 2):
        levels = tuple(max(h.levels - 1 - below_root, low) for h, low in zip(hierarchies, held.levels, strict=True))
        words, node = words_of(hierarchies, levels), dict[int, str]()
        columns: list[Column] = []
        for column, _, _ in (field for word in words for field in word):
            node[column] = _lift(column, levels[column])
            name = f"{HELPER}g{column}"
            frame, found = lifted(frame, hierarchies[column], held.levels[column], name, {node[column]: levels[column]})
            columns += found
        frame = frame.select(*held.frame.columns, *by, *columns)
        new = [f"{HELPER}by{below_root}_{place}" for place in range(len(words))]
        packed = zip(_packed(words, len(words), 0, node), new, strict=True)
        frame = frame.select(*held.frame.columns, *by, *[word.alias(name) for word, name in packed])
        by += new
    return frame.repartitionByRange(partitions, *by).sortWithinPartitions(*by).select(*held.frame.columns)


def fetched(held: RolledSet, levels: Levels, hierarchies: Sequence[Hierarchy], sensitive: int, most: int) -> FrequencySet | None:
    """A set pooled at a node, its codes the node numbers there, in the driver process; None where it has more than ``most`` cells.

    At most one cell more than ``most`` is sent: a word or two of 8 bytes, 4 a sensitive value and 8 of rows each.
    """
    table = fetch_arrow(_pooled(held, levels, hierarchies, sensitive).limit(most + 1))
    if table.num_rows > most:
        return None
    codes = np.zeros((table.num_rows, len(hierarchies)), np.int32)
    for place, word in enumerate(words_of(hierarchies, levels)):
        packed = table[f"{HELPER}w{place}"].to_numpy()
        for column, shift, bits in word:
            codes[:, column] = (packed >> shift) & (2**bits - 1)
    numbers = [table[name].to_numpy() for name in sensitive_names(sensitive)]
    values = np.array(numbers, np.int32).reshape(sensitive, table.num_rows).T
    return FrequencySet(codes, values, table[ROWS].to_numpy().astype(np.int64))


def _pooled(held: RolledSet, levels: Levels, hierarchies: Sequence[Hierarchy], sensitive: int) -> DataFrame:
    """The cells of one node: its words, sensitive values, rows."""
    grown = generalise([(held, {0: levels})], hierarchies, sensitive)
    return grown.groupBy(*word_names(grown), *sensitive_names(sensitive)).agg(F.sum(ROWS).alias(ROWS))


def _nodes(hierarchies: Sequence[Hierarchy], levels: Levels) -> list[Column]:
    """The node numbers in the words of one node."""
    found = {i: F.lit(0) for i in range(len(hierarchies))}
    for place, word in enumerate(words_of(hierarchies, levels)):
        for column, shift, bits in word:
            found[column] = F.shiftright(f"{HELPER}w{place}", shift).bitwiseAND(F.lit(2**bits - 1)).cast("int")
    return [found[i].alias(name) for i, name in enumerate(node_names(len(hierarchies)))]


def candidate() -> Column:
    """The candidate that a row of words belongs to."""
    return F.shiftright(f"{HELPER}w0", FIRST_WORD).cast("int").alias(CANDIDATE)


def verdicts(classes: DataFrame, judge: Judge) -> DataFrame:
    """One row a candidate: ``Judge.figures`` of its classes."""
    judged = classes.select(candidate(), *judge.verdicts())
    return judged.groupBy(CANDIDATE).agg(*judge.figures())


def marginals(held: RolledSet, columns: int, sensitive: int) -> DataFrame:
    """Rows by quasi-identifier, node and sensitive values: place int, node int, __anon_s0.., __anon_n; one shuffle."""
    others = sensitive_names(sensitive)
    pairs = F.array(*[F.struct(F.lit(i).alias("place"), F.col(name).alias("node")) for i, name in enumerate(node_names(columns))])
    exploded = held.frame.select(F.explode(pairs).alias("at"), *others, ROWS)
    return exploded.groupBy("at.place", "at.node", *others).agg(F.sum(ROWS).alias(ROWS))


def suppressed_leaves(
    leaves: RolledSet, nodes: dict[int, Levels], failing: DataFrame, hierarchies: Sequence[Hierarchy]
) -> DataFrame:
    """Rows of failing classes by candidate, place of the quasi-identifier and leaf code: (candidate, place, leaf, rows).

    leaves: the set at level 0; failing: the words of the failing classes of these candidates. At most candidates x leaves rows: what
    the driver needs to cost a node exactly beside a suppression limit.
    """
    names = node_names(len(hierarchies))
    cells = generalise([(leaves, nodes)], hierarchies, 0, codes=True)
    lost = cells.join(failing, word_names(cells), "left_semi")
    pairs = F.array(*[F.struct(F.lit(i).alias("place"), F.col(name).alias("leaf")) for i, name in enumerate(names)])
    exploded = lost.select(candidate(), F.explode(pairs).alias("at"), ROWS)
    return exploded.groupBy(CANDIDATE, "at.place", "at.leaf").agg(F.sum(ROWS).alias("rows"))


def failing_nodes(held: RolledSet, levels: Levels, hierarchies: Sequence[Hierarchy], judge: Judge) -> DataFrame:
    """Node numbers __anon_g0.. of the classes that fail at a node, distinct."""
    classes = judge.classes(generalise([(held, {0: levels})], hierarchies, judge.held))
    return classes.where(~judge.holds(judge.models)).select(*_nodes(hierarchies, levels))


def printed_as_root(held: RolledSet, levels: Levels, hierarchies: Sequence[Hierarchy], judge: Judge) -> DataFrame:
    """The cells of failing classes and of the class that prints the root everywhere, if there is one, as one class."""
    cells = RolledSet(levels, rolled(held, levels, hierarchies, judge.held), held.cells)
    names, mark = node_names(len(hierarchies)), HELPER + "failing"
    marked = cells.frame.join(failing_nodes(held, levels, hierarchies, judge).withColumn(mark, F.lit(True)), names, "left")
    root = F.lit(True)
    for name, hierarchy, level in zip(names, hierarchies, levels, strict=True):
        roots = [number for number, label in enumerate(hierarchy.labels[level]) if label == ROOT]
        root = root & (F.col(name).isin(roots) if roots else F.lit(False))
    chosen = marked.where(F.col(mark).isNotNull() | root)
    return chosen.withColumn(f"{HELPER}w0", F.lit(0).cast("long"))
