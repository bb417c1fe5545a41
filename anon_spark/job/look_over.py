"""Whether a table needs a frequency set at all: where nearly all rows differ and go through the blocks themselves, none is made."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, Row

from anon_spark.domain.policy import Policy
from anon_spark.job.persons import set_bytes
from anon_spark.job.schema import BoundSchema
from anon_spark.plans.fetch import fetch_row
from anon_spark.plans.survey import BUCKET_BITS, survey

COLUMNAR = ("parquet", "orc", "delta", "iceberg")
"""Formats of which a scan reads few columns, and these fast."""
Travel = Callable[[int, int, int], bool]
"""Whether the rows of a table travel: of how many rows, about how many combinations, the largest of how many rows."""


def looked_over(table: DataFrame, policy: Policy, bound: BoundSchema, travel: Travel | None) -> Row | None:
    """What a ``survey`` found where no frequency set is needed; it costs a scan, so only what is read fast is looked over."""
    source = policy.input
    if travel is None or source is None or not (source.table is not None or source.format in COLUMNAR):
        return None
    found = fetch_row(survey(table, (*bound.quasi_identifiers, *bound.grouped)))
    # a bucket holds others beside the largest
    largest = found["largest"] - (found["rows"] >> BUCKET_BITS)
    in_driver = set_bytes(found["cells"], len(bound.quasi_identifiers), bound) <= policy.settings.driver_megabytes * 1_000_000
    return None if in_driver or not travel(found["rows"], found["cells"], largest) else found
