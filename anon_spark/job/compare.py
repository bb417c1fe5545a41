"""One decision a value of a key, on one reading of the table: what each would cost and give. Nothing is written but the comparison."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction

from pyspark.sql import DataFrame, SparkSession

from anon_spark.domain.errors import DataError, Fault, InfeasibleError, NoneFoundError
from anon_spark.domain.policy import Policy
from anon_spark.io.catalog import refuse_session, unseen
from anon_spark.io.spark_errors import job_faults
from anon_spark.job.account import lower_bound, versions
from anon_spark.job.arguments import refuse_stream, refuse_unusable
from anon_spark.job.cautions import numbers_as_text
from anon_spark.job.decide import decide_levels
from anon_spark.job.decide_groups import decide_groups
from anon_spark.job.gather import FREQUENCY_SET, Gathered, gather, read_trees, without_null_rows
from anon_spark.job.listed import with_listed_values
from anon_spark.job.measures import measured_here
from anon_spark.job.output import refuse_places, report_files
from anon_spark.job.persons import told_apart
from anon_spark.job.run import case_sensitive, source_of
from anon_spark.job.schema import bind_schema
from anon_spark.job.steps import Steps
from anon_spark.job.write import Plan
from anon_spark.plans.materialise import Materialised
from anon_spark.report.compare_page import render_page
from anon_spark.report.comparison import Choice, Comparison, Outcome
from anon_spark.report.parts import LossFigures
from anon_spark.report.progress import WAITS

JSON, PAGE = "compare.json", "compare.html"


def compare(
    spark: SparkSession,
    key: str,
    policies: Mapping[str, Policy],
    table: DataFrame | None = None,
    on_start: Callable[[str], None] = lambda name: None,
) -> Comparison:
    """What each policy decides of the first one's input, or of ``table``. policies: value of ``key`` -> policy.

    A value that is infeasible, or for which none was found, is told as such; all else that is wrong is raised as ``run`` raises it.
    compare.json and compare.html are written to the first policy's report directory, if it names one.
    """
    started, clock = datetime.now(timezone.utc), time.perf_counter()
    first = next(iter(policies.values()))
    refuse_unusable(spark, first.where)
    with job_faults(first.where):
        refuse_places(spark, replace(first, output=None))
        cautions = () if table is not None else unseen(spark, first.input)
        if table is not None:
            refuse_stream(table, first.where)
            refuse_session(spark, first.where)
        else:
            table = source_of(spark, first)
        choices: list[Choice] = []
        rows: dict[int, None] = {}
        with Materialised() as kept:
            shared = _Shared(kept)
            for value, policy in policies.items():
                on_start(f"{key} = {value}")
                # of its steps only what explains a long wait
                steps = Steps(lambda step: on_start(step) if step in WAITS else None)
                choice, counted_rows = _choice(spark, value, policy, table, shared, steps)
                choices.append(choice)
                if policy.nulls == first.nulls and policy.columns == first.columns:
                    rows[counted_rows] = None
        if len(rows) > 1:
            advice = "let nothing write to it meanwhile, or copy it first"
            raise DataError([Fault(first.where, "input", "a table that changed between two readings", "the same rows", advice)])
        found = Comparison(
            where=first.where,
            job=first.job if len({policy.job for policy in policies.values()}) == 1 else "of each line",
            key=key,
            started=started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - clock,
            rows=next(iter(rows)),
            choices=tuple(choices),
            warnings=(*cautions, *numbers_as_text(table.schema, first)),
            versions=versions(spark),
        )
        with report_files(spark, first, uuid.uuid4().hex, {JSON: found.to_json(), PAGE: render_page(found)}):
            pass
    return found


class _Shared(Materialised):
    """Keeps the frequency set of a table for all policies that group it alike; all else until the decision that asked for it ends."""

    def __init__(self, outer: Materialised):
        super().__init__()
        self._outer = outer
        self._sets: dict[object, DataFrame] = {}
        self.group: object = None
        # persons are told apart under one key, whichever policy counts them
        self.key = secrets.token_hex(16)

    def keep(self, frame: DataFrame, name: str) -> DataFrame:
        if name != FREQUENCY_SET:
            return super().keep(frame, name)
        if self.group not in self._sets:
            self._sets[self.group] = self._outer.keep(frame, name)
        return self._sets[self.group]


def _choice(spark: SparkSession, value: str, policy: Policy, table: DataFrame, shared: _Shared, steps: Steps) -> tuple[Choice, int]:
    """What one policy leads to, and the rows that it was decided of."""
    clock = time.perf_counter()
    trees = read_trees(policy)
    bound = bind_schema(table.schema, policy, case_sensitive(spark))
    policy = with_listed_values(spark, table.schema, policy)
    shared.group = (policy.columns, policy.nulls, tuple(raw.name for raw in bound.grouped), bound.tells_persons)
    with shared as kept:
        usable = told_apart(without_null_rows(table, policy), bound, shared.key)
        gathered = gather(usable, policy, bound, trees, kept, Steps())
        outcome: Outcome
        try:
            plan = (decide_levels if policy.job == "lattice" else decide_groups)(spark, policy, bound, gathered, kept, steps)
        except (InfeasibleError, NoneFoundError) as error:
            outcome = "infeasible" if isinstance(error, InfeasibleError) else "none-found"
            return Choice(value=value, outcome=outcome, why=str(error), seconds=time.perf_counter() - clock), gathered.problem.rows
        return replace(_held(value, policy, gathered, plan), seconds=time.perf_counter() - clock), gathered.problem.rows


def _held(value: str, policy: Policy, gathered: Gathered, plan: Plan) -> Choice:
    recoding, rows = plan.recoding, gathered.problem.rows
    published = rows - recoding.suppressed_rows
    boxes = None if plan.boxes is None else replace(plan.boxes(), printed=plan.star)
    return Choice(
        value=value,
        loss=LossFigures.of(recoding, [h.column for h in gathered.problem.hierarchies], lower_bound(gathered)),
        rows=published,
        classes=recoding.classes,
        smallest=recoding.smallest,
        largest=recoding.largest,
        suppressed=Fraction(recoding.suppressed_rows, rows),
        risk_max=Fraction(1, recoding.smallest) if recoding.smallest else None,
        risk_mean=Fraction(recoding.classes, published) if published else None,
        utility=measured_here(policy, gathered, boxes),
    )
