"""A local recoding that was decided in this process, as the report reads it."""

from __future__ import annotations

from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding, LocalSummary
from anon_spark.metrics.box_sums import box_sums, losses_of


def summarise(problem: Problem, recoding: LocalRecoding) -> LocalSummary:
    """The figures of a recoding; every loss exact."""
    suppressed = int(recoding.lost.sum())
    sums = box_sums(problem.hierarchies, recoding.low, recoding.high, recoding.size)
    losses, by_column = losses_of(problem, sums, suppressed)
    return LocalSummary(
        suppressed_rows=suppressed,
        classes=sums.classes,
        smallest=sums.smallest,
        largest=sums.largest,
        losses=losses,
        by_column=by_column,
        steps=recoding.steps,
        strategy=recoding.strategy,
        blocks=recoding.blocks,
    )
