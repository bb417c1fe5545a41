"""What a local recoding that stays on Spark lost, and the sizes of its groups and blocks, as the report tells them."""

from __future__ import annotations

from pyspark.sql import DataFrame

from anon_spark.algorithms.local_merge import all_summed, summed
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.kernels.shared import shared
from anon_spark.metrics.box_sums import losses_of
from anon_spark.plans import blocks as plans
from anon_spark.plans.fetch import fetch_row, fetch_rows

Blocks = tuple[int, int, int, int]


def block_figures(last: DataFrame) -> tuple[Blocks, str]:
    """How many blocks the last pass had, the fewest, the median and the most combinations of one; and a sentence."""
    found = fetch_row(plans.block_figures(last))
    count, least, middle, most = (int(found[name] or 0) for name in ("blocks", "least", "middle", "most"))
    return (count, least, middle, most), f"{count} blocks in the last pass, the largest of {most} combinations"


def summary_of(problem: Problem, classes: DataFrame, steps: tuple[str, ...], strategy: str, blocks: Blocks) -> LocalSummary:
    """The figures of all classes (__anon_lo0.., __anon_hi0.., __anon_size)."""
    texts = classes.mapInArrow(shared(summed, problem=problem), "figures string")
    sums = all_summed(row["figures"] for row in fetch_rows(texts))
    losses, by_column = losses_of(problem, sums)
    return LocalSummary(
        suppressed_rows=0,
        classes=sums.classes,
        smallest=sums.smallest,
        largest=sums.largest,
        losses=losses,
        by_column=by_column,
        steps=steps,
        strategy=strategy,
        blocks=blocks,
    )
