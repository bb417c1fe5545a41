"""How boxes on Spark print a few chosen values: what the summary shows of a recoding that never comes to the driver."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.plans.block_lines import SIZE, high_names, low_names
from anon_spark.plans.columns import HELPER

PLACE, CODE, LOW, HIGH, ROWS, WIDE = (HELPER + name for name in ("place", "code", "low", "high", "n", "wide"))


def common_boxes(boxes: DataFrame, codes: Sequence[Sequence[int]]) -> DataFrame:
    """Of each code (__anon_place int, __anon_code int) the ends (__anon_low, __anon_high) of the boxes that end at it and hold the most
    rows: a line for those of one leaf, and a line for those of several (__anon_wide boolean).

    boxes: __anon_lo0.., __anon_hi0.., __anon_size; codes: a few of each column, of one at least. A box is the tightest of its rows, so
    some of its rows have the values that it ends at.
    """
    ends = []
    for j, (low, high, some) in enumerate(zip(low_names(len(codes)), high_names(len(codes)), codes, strict=True)):
        if not some:
            continue
        wide = F.col(low) != F.col(high)
        for end, counts in ((low, F.lit(True)), (high, wide)):
            of = zip((F.lit(j), F.col(end), F.col(low), F.col(high), F.col(SIZE)), (PLACE, CODE, LOW, HIGH, ROWS), strict=True)
            ends.append(F.when(F.col(end).isin([*some]) & counts, F.struct(*(part.alias(name) for part, name in of))))
    lines = boxes.select(F.explode(F.filter(F.array(*ends), lambda line: line.isNotNull())).alias("line")).select("line.*")
    alike = lines.groupBy(PLACE, CODE, LOW, HIGH).agg(F.sum(ROWS).alias(ROWS))
    best = F.max_by(F.struct(LOW, HIGH), F.struct(ROWS, -F.col(LOW), -F.col(HIGH))).alias("best")
    chosen = alike.groupBy(PLACE, CODE, (F.col(LOW) != F.col(HIGH)).alias(WIDE)).agg(best, F.max(ROWS).alias(ROWS))
    return chosen.select(PLACE, CODE, WIDE, F.col(f"best.{LOW}").alias(LOW), F.col(f"best.{HIGH}").alias(HIGH), ROWS)
