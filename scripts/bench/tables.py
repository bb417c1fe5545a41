"""Real tables bound for benches: raw texts read with the standard library, hierarchies bound as a job binds them."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from anon_spark.domain.bind import bind
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, FileHierarchy, ModelSpec
from anon_spark.domain.problem import Problem

ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
KDD = (
    "age", "sex", "race", "hispanic_origin", "marital_stat", "education", "country_of_birth_self", "citizenship",
    "major_occupation_code", "state_of_previous_residence",
)  # fmt: skip
DIABETES = (
    "age", "gender", "race", "admission_type_id", "discharge_disposition_id", "admission_source_id", "payer_code",
    "medical_specialty", "time_in_hospital",
)  # fmt: skip
Rows = list[dict[str, str | None]]


def table(name: str, data: Path, models: Sequence[ModelSpec], sensitive: Sequence[str] = ()) -> tuple[Problem, FrequencySet]:
    """The problem and frequency set of adult, kdd or diabetes; '?' is null."""
    names, rows, numbers, trees = READERS[name](data)
    counted = [Counter(row[column] for row in rows) for column in names]
    hierarchies = tuple(
        bind(
            _column(column, column in trees),
            "integer" if column in numbers else "text",
            values,
            tree=trees.get(column),
            where=name,
        )
        for column, values in zip(names, counted, strict=True)
    )
    return _bound(hierarchies, rows, models, sensitive)


def _column(name: str, has_tree: bool) -> Column:
    return Column(name=name, role="quasi-identifier", hierarchy=FileHierarchy(path=name) if has_tree else None)


def _bound(
    hierarchies: tuple[Hierarchy, ...], rows: Rows, models: Sequence[ModelSpec], sensitive: Sequence[str]
) -> tuple[Problem, FrequencySet]:
    texts = [tuple(sorted({row[s] for row in rows}, key=lambda v: (v is None, v))) for s in sensitive]
    number = [{text: i for i, text in enumerate(column)} for column in texts]
    lines = np.array(
        [
            [h.codes[row[h.column]] for h in hierarchies] + [n[row[s]] for n, s in zip(number, sensitive, strict=True)]
            for row in rows
        ],
        dtype=np.int32,
    )
    cells, count = np.unique(lines, axis=0, return_counts=True)
    d = len(hierarchies)
    problem = Problem(
        rows=len(rows), hierarchies=hierarchies, weights=(Fraction(1),) * d, min_levels=(0,) * d,
        max_levels=tuple(h.levels - 1 for h in hierarchies),
        leaf_rows=tuple(np.bincount(lines[:, i], minlength=len(h.leaves)) for i, h in enumerate(hierarchies)),
        models=tuple(models), sensitive=tuple(sensitive), values=tuple(texts), ignores_null=(False,) * len(sensitive),
    )  # fmt: skip
    return problem, FrequencySet(cells[:, :d], cells[:, d:], count.astype(np.int64))


def _adult(data: Path) -> tuple[Sequence[str], Rows, set[str], dict[str, list[list[str]]]]:
    with (data / "adult" / "adult.csv").open(newline="") as file:
        rows: Rows = [dict(row) for row in csv.DictReader(file, delimiter=";")]
    trees = {}
    for name in ADULT:
        if name != "age":
            with (data / "adult" / f"adult_hierarchy_{name}.csv").open(newline="") as file:
                trees[name] = list(csv.reader(file, delimiter=";"))
    return ADULT, rows, {"age"}, trees


def _kdd(data: Path) -> tuple[Sequence[str], Rows, set[str], dict[str, list[list[str]]]]:
    folder = data / "kdd_census_income"
    columns = next(csv.reader(io.StringIO((folder / "columns.txt").read_text())))
    if len(columns) < 10:
        columns = (folder / "columns.txt").read_text().split()
    with gzip.open(next(folder.glob("*_train.csv.gz")), "rt", newline="") as file:
        rows = [_nulls(dict(zip(columns, line, strict=False))) for line in csv.reader(file, skipinitialspace=True) if line]
    countries = sorted({row["country_of_birth_self"] or "" for row in rows} - {""})
    native = {"United-States", "Puerto-Rico", "Outlying-U S (Guam USVI etc)"}
    tree = [[country, "United States" if country in native else "abroad", "*"] for country in countries]
    return KDD, rows, {"age"}, {"country_of_birth_self": tree}


def _diabetes(data: Path) -> tuple[Sequence[str], Rows, set[str], dict[str, list[list[str]]]]:
    with zipfile.ZipFile(data / "diabetes130" / "dataset_diabetes.zip") as archive:
        name = next(n for n in archive.namelist() if n.endswith("diabetic_data.csv"))
        with archive.open(name) as file:
            rows = [_nulls(row) for row in csv.DictReader(io.TextIOWrapper(file, "utf-8", newline=""))]
    for row in rows:
        row["age"] = (row["age"] or "").strip("[)").split("-")[0]
    return DIABETES, rows, {"age", "time_in_hospital"}, {}


def _nulls(row: dict[str, str]) -> dict[str, str | None]:
    return {key: None if value == "?" else value for key, value in row.items()}


READERS = {"adult": _adult, "kdd": _kdd, "diabetes": _diabetes}
