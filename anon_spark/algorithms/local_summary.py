"""A local recoding that was decided in this process, as the report reads it."""

from __future__ import annotations

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding, LocalSummary
from anon_spark.metrics.local_losses import local_losses


def summarise(problem: Problem, frequency: FrequencySet, recoding: LocalRecoding) -> LocalSummary:
    """The figures of a recoding of all rows of a frequency set; every loss exact."""
    return LocalSummary(
        suppressed_rows=0,
        classes=len(recoding.size),
        smallest=int(recoding.size.min()),
        largest=int(recoding.size.max()),
        losses=local_losses(problem, frequency.codes, recoding),
        by_column=recoding.by_column,
        steps=recoding.steps,
        strategy=recoding.strategy,
        blocks=recoding.blocks,
    )
