"""Runs of the whole job on literal rows, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from anon_spark import Policy, Release, anonymize


def quasi(name: str, hierarchy: object = "flat", **more: object) -> dict[str, Any]:
    return {"name": name, "role": "quasi-identifier", "hierarchy": hierarchy, **more}


def policy(
    columns: Sequence[Mapping[str, Any]], *, k: int | None = 2, staging: Path | None = None, job: str = "lattice", **more: Any
) -> Policy:
    """A policy over these columns, k-anonymous; ``more``: any other key of the configuration."""
    asked = [] if k is None else [{"model": "k-anonymity", "k": k}]
    asked += more.pop("models", [])
    settings = {**({"staging": str(staging)} if staging else {}), **more.pop("settings", {})}
    return Policy(job=job, columns=list(columns), privacy=asked, settings=settings, **more)


def local_policy(columns: Sequence[Mapping[str, Any]], **more: Any) -> Policy:
    """A policy of local recoding over these columns."""
    return policy(columns, job="top-down", **more)


def tree(folder: Path, name: str, *lines: str) -> dict[str, str]:
    """A hierarchy file of these lines."""
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n")
    return {"path": str(path)}


def released(spark: SparkSession, rows: Sequence[tuple], schema: str, asked: Policy) -> Release:
    return anonymize(spark.createDataFrame(list(rows), schema), asked)


def printed(release: Release) -> Counter[tuple]:
    """The published rows as a multiset."""
    return Counter(tuple(row) for row in release.table.collect())


def class_sizes(release: Release) -> list[int]:
    return sorted(row[-1] for row in release.classes.collect())
