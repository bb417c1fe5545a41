"""The lattice job's decision: one level a quasi-identifier, of least loss, proven (LeFevre 2005; Wong 2009; METHODS 3.1)."""

from __future__ import annotations

import numpy as np

from anon_spark.algorithms.checker import Checker
from anon_spark.algorithms.costing import kept_rows
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.search import Found, search
from anon_spark.algorithms.templates import of_full_classes, with_templates
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding, Levels
from anon_spark.kernels.rollup import persons_by_value
from anon_spark.metrics.losses import LossTable
from anon_spark.models.base import Whole
from anon_spark.models.registry import models_of, pairs_of


def decide(problem: Problem, frequency: FrequencySet) -> FullDomainRecoding:
    """The optimum over the lattice, decided in this process; InfeasibleError where it is proven that there is none."""
    refuse_infeasible(problem, whole_table(problem, frequency))
    return _decided(problem, with_templates(problem, models_of(problem), lambda some, _: LocalChecker(problem, some, frequency)))


def decide_with(problem: Problem, checker: Checker, whole: Whole) -> FullDomainRecoding:
    """The same, nodes being checked elsewhere.  whole: the table as one class."""
    refuse_infeasible(problem, whole)
    return _decided(problem, checker)


def whole_table(problem: Problem, frequency: FrequencySet) -> Whole:
    """The table as one class, its sensitive columns' ignored nulls left out."""
    counts: dict[str, dict[str | None, int]] = {}
    for j, column in enumerate(problem.sensitive):
        rows = np.zeros(len(problem.values[j]), dtype=np.int64)
        if problem.tells_persons:
            rows = persons_by_value(frequency, j, len(rows))
        else:
            np.add.at(rows, frequency.sensitive[:, j], frequency.count)
        found = {text: int(n) for text, n in zip(problem.values[j], rows, strict=True) if n}
        if problem.ignores_null[j]:
            found.pop(None, None)
        counts[column] = found
    return Whole(problem.rows, counts, problem.persons)


def refuse_infeasible(problem: Problem, whole: Whole) -> None:
    """Raise InfeasibleError, with key and figures of every model concerned, where Lemma 1 leaves nothing to search (METHODS 1)."""
    if whole.rows == 0:
        raise InfeasibleError("the input has no rows: there is nothing to publish")
    refusals: dict[str, int] = {}
    for spec, model in pairs_of(problem):
        if said := model.infeasible(whole, problem.may_suppress):
            refusals.setdefault(said, problem.models.index(spec))
    if refusals:
        raise InfeasibleError("; ".join(f"privacy.{place}: {said}" for said, place in refusals.items()))


def failing_classes(problem: Problem, frequency: FrequencySet, levels: Levels) -> np.ndarray:
    """(f, d) int32 node numbers, at these levels, of the classes that fail some model: those whose rows are suppressed. Sorted."""
    checker = LocalChecker(problem, of_full_classes(problem, models_of(problem)), frequency)
    cells = checker.cells(levels)
    _, _, holds = checker.verdicts_of(cells)
    return np.ascontiguousarray(cells.classes()[:, ~holds].T)


def _decided(problem: Problem, checker: Checker) -> FullDomainRecoding:
    table = LossTable(problem)
    found = search(problem, models_of(problem), checker, table)
    if found.levels is None or found.verdict is None:
        raise InfeasibleError(_exhausted(problem, checker, found))
    verdict, kept = found.verdict, kept_rows(problem, found.verdict)
    return FullDomainRecoding(
        levels=found.levels,
        suppressed_rows=verdict.failing,
        classes=verdict.classes,
        smallest=verdict.smallest,
        largest=verdict.largest,
        losses=table.losses(found.levels, kept, verdict.classes, verdict.squares),
        by_column=table.by_column(found.levels, kept),
        trace=found.trace,
    )


def _exhausted(problem: Problem, checker: Checker, found: Found) -> str:
    """Why nothing holds, seen at the most general node."""
    top = problem.max_levels
    failing = checker.check([top])[0].failing
    levels = ", ".join(f"{h.column} {level}" for h, level in zip(problem.hierarchies, top, strict=True))
    asked = ", ".join(dict.fromkeys(spec.model for spec in problem.models))
    held_back = any(level < h.levels - 1 for h, level in zip(problem.hierarchies, top, strict=True))
    advice = f"a higher {'max_level or ' if held_back else ''}suppression limit may help"
    return (
        f"none of the lattice's {counted(found.trace.nodes, 'node')} holds {asked}: the most general node ({levels}) fails, because "
        f"its classes that fail hold {failing:,} of {counted(problem.rows, 'row')} and {problem.may_suppress:,} may be suppressed; {advice}"
    )
