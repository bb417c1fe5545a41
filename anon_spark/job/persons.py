"""What a job does where a table holds several rows of a person: before it groups and before it decides (METHODS 1.17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.frequency import FrequencySet, bytes_held
from anon_spark.domain.problem import COUNTED_TEXT, GIVEN, Problem
from anon_spark.job.schema import BoundSchema
from anon_spark.kernels.rollup import persons_by_value, persons_of
from anon_spark.plans.columns import RawColumn
from anon_spark.plans.fetch import fetch_arrow, fetch_row
from anon_spark.plans.frequency import cell_names, frequencies
from anon_spark.plans.persons import PERSON, marked, persons, with_persons

PERSON_BYTES = 64
"""Bytes of a cell's person in the driver process: its text, and its number while cells are sorted."""


def told_apart(table: DataFrame, bound: BoundSchema, key: str) -> DataFrame:
    """The table with hashes of persons in place of ids, under the run's own key, and with one row of each marked where a job counts
    these; as it is where rows are persons."""
    if bound.ids is None:
        return table
    table = with_persons(table, bound.ids, key)
    return table if bound.tells_persons else marked(table, [*bound.names, *bound.untouched])


def set_bytes(cells: int, columns: int, bound: BoundSchema) -> int:
    """What a frequency set takes of the driver, the texts of persons included."""
    return bytes_held(cells, columns, len(bound.grouped)) + (cells * PERSON_BYTES if bound.tells_persons else 0)


def in_persons(
    problem: Problem, table: DataFrame, bound: BoundSchema, cells: DataFrame, local: FrequencySet | None, person: str | None
) -> Problem:
    """The problem in persons: how many there are, and how many have each value.

    person: the column of ``cells`` that tells them, None where one row of each is marked: then all marked rows are all persons.
    """
    if person is None:
        j = problem.sensitive.index(GIVEN)
        given = dict(zip(problem.values[j], problem.totals[j].tolist(), strict=True))
        told = RawColumn(PERSON, "text", F.col(PERSON))
        totals = [
            rows if raw.name == GIVEN else _by_value(frequencies(table, [], [raw, told]), 0, cell_names(0, 2)[1][1], texts)
            for raw, texts, rows in zip(bound.counted, problem.values, problem.totals, strict=True)
        ]
        return replace(problem, persons=given.get(COUNTED_TEXT, 0), totals=tuple(totals))
    if local is not None:
        by_value = [persons_by_value(local, j, len(texts)) for j, texts in enumerate(problem.values)]
        return replace(problem, persons=persons_of(local), totals=tuple(by_value))
    by_value = [_by_value(cells, j, person, texts) for j, texts in enumerate(problem.values)]
    return replace(problem, persons=int(fetch_row(persons(cells, person))["persons"]), totals=tuple(by_value))


def _by_value(cells: DataFrame, j: int, person: str, texts: Sequence[str | None]) -> np.ndarray:
    """(v,) persons who have each value of the sensitive column number j of some cells; a row a value comes to the driver."""
    name = cell_names(0, j + 1)[1][-1]
    found = fetch_arrow(persons(cells, person, name))
    known = dict(zip(found[name].to_pylist(), found["persons"].to_pylist(), strict=True))
    return np.array([known.get(text, 0) for text in texts], np.int64)
