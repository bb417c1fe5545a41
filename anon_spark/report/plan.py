"""What ``check`` shows before anything is done: roles, levels, lattice size, models, what will be written, warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import AnonError
from anon_spark.domain.policy import Column, DateHierarchy, IntervalHierarchy, Policy
from anon_spark.report import words
from anon_spark.report.places import source_of, target_of, without_secrets
from anon_spark.report.summary import as_text, grid, places

MOST_COLUMNS = 40
MOST_NULLS = 6
"""Columns whose nulls are told of one by one."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A policy bound to its input, and what a run would do.

    types: column -> type as it is taken; levels: quasi-identifier -> number of levels, the leaves' and the root's included;
    distinct: quasi-identifier -> distinct values; nodes: full-QI lattice nodes within min and max levels; combinations: distinct ones
    that a local recoding groups; rows: of the input; nulls: quasi-identifier -> rows that hold null there; null_rows: those that
    ``nulls: suppress`` takes out;
    unlisted: columns of the input that the policy does not name; refusals: what a run would end with, the first of them; tightest: of
    each model the tightest parameter that can hold; warnings: sentences. What is not known (no scan was made, no lattice) is None or empty.
    """

    policy: Policy
    types: Mapping[str, str]
    levels: Mapping[str, int] = field(default_factory=dict)
    distinct: Mapping[str, int] = field(default_factory=dict)
    nodes: int | None = None
    combinations: int | None = None
    rows: int | None = None
    nulls: Mapping[str, int] = field(default_factory=dict)
    null_rows: int = 0
    unlisted: tuple[str, ...] = ()
    refusals: tuple[AnonError, ...] = ()
    tightest: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def render_plan(plan: Plan) -> str:
    """The plan as plain text of at most 100 columns, but for lines with paths, which are to be copied; it says at its end that nothing
    was written."""
    return as_text(plan_view(plan))


def plan_view(plan: Plan) -> Group:
    """What rich shows of a plan."""
    policy = plan.policy
    head = Text(f"{policy.where}: job {policy.job}", style="bold", no_wrap=True)
    end = Text("Dry run: nothing was written.", style="dim")
    rows = "" if plan.rows is None else f", {counted(plan.rows, 'row')}"
    files = {column.name: path for column in policy.columns if (path := getattr(column.hierarchy, "path", None))}
    return Group(
        head,
        _columns(plan),
        *_lines("files", [f"{name}: {without_secrets(path)}" for name, path in files.items()]),
        *_lines("input", [f"{source_of(policy.input) or 'the table given'}{rows}"]),
        _facts(plan),
        *_lines("output", [_output(policy)]),
        *_lines("report", [without_secrets(policy.report)] if policy.report else []),
        *([grid({"warnings": plan.warnings})] if plan.warnings else []),
        *_lines("refused", [line for error in plan.refusals for line in str(error).splitlines()]),
        end,
    )


def _lines(name: str, told: Sequence[str]) -> list[Text]:
    """Lines that hold paths, the name before the first alone."""
    return [line for number, text in enumerate(told) for line in places({"" if number else name: text})]


def _columns(plan: Plan) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("column", overflow="fold", max_width=32)
    for name in ("role", "type", "levels", "values", "hierarchy"):
        table.add_column(name, justify="right" if name in ("levels", "values") else "left", overflow="fold")
    for column in plan.policy.columns[:MOST_COLUMNS]:
        levels, distinct = _levels(column, plan), plan.distinct.get(column.name)
        kind = plan.types.get(column.name, words.NONE)
        table.add_row(
            Text(column.name),
            column.role,
            kind,
            levels,
            "" if distinct is None else words.count(distinct),
            Text(_hierarchy(column)),
        )
    if len(plan.policy.columns) > MOST_COLUMNS:
        table.add_row(f"and {len(plan.policy.columns) - MOST_COLUMNS} more", *[""] * 5)
    return table


def _levels(column: Column, plan: Plan) -> str:
    """Levels that the search may choose of all that there are: 5, or 1-3 of 5."""
    if column.role != "quasi-identifier" or column.name not in plan.levels:
        return ""
    top = plan.levels[column.name] - 1
    highest = top if column.max_level is None else min(top, column.max_level)
    if column.min_level == 0 and highest == top:
        return f"0-{top}"
    return f"{column.min_level}-{highest} of {top}"


def _hierarchy(column: Column) -> str:
    """Kind of hierarchy, in a word or two."""
    spec = column.hierarchy
    if spec is None:
        return "none" if column.role == "quasi-identifier" else ""
    return _KINDS[type(spec).__name__]


_KINDS = {
    "FileHierarchy": "file",
    "IntervalHierarchy": "intervals",
    "MaskHierarchy": "mask",
    "DateHierarchy": "date",
    "FlatHierarchy": "flat",
}


def _facts(plan: Plan) -> RenderableType:
    """What is asked and was found, each under its name; what is empty is left out."""
    policy, suppression = plan.policy, plan.policy.suppression
    limit = f"at most {words.share(suppression.limit)} of the rows, {suppression.show}" if suppression.limit else "no row"
    best = f", the one that holds with the least {policy.loss} is published"
    return grid({
        "unlisted": [f"{policy.unlisted}: {', '.join(plan.unlisted)}"] if plan.unlisted else [],
        "models": [words.model(spec.model, {"column": spec.column, **spec.parameters}) for spec in policy.privacy],
        "counted": [f"persons, by column {column.name}" for column in policy.of_role("person")],
        "suppress": [limit],
        "nulls": [_nulls(plan)],
        "lattice": [] if plan.nodes is None else [f"{counted(plan.nodes, 'node')}{best}"],
        "groups": [] if plan.combinations is None else [_groups(plan)],
        "tightest": [*plan.tightest, *_beside_suppression(plan)],
    })  # fmt: skip


def _beside_suppression(plan: Plan) -> list[str]:
    # fewer rows raise no k
    others = any(spec.model != "k-anonymity" for spec in plan.policy.privacy)
    tighter = plan.tightest and others and plan.policy.suppression.limit > 0
    return ["of all rows together: without those suppressed, tighter ones may hold"] if tighter else []


def _nulls(plan: Plan) -> str:
    """What becomes of nulls among the quasi-identifiers, and how many rows that is about."""
    if plan.policy.nulls == "suppress":
        return f"suppress: {counted(plan.null_rows, 'row')} of the input"
    if not plan.nulls:
        return plan.policy.nulls
    held = [f"{name} in {counted(rows, 'row')}" for name, rows in plan.nulls.items() if rows]
    more = [f"{len(held) - MOST_NULLS} more columns"] if len(held) > MOST_NULLS else []
    return f"{plan.policy.nulls}: {', '.join([*held[:MOST_NULLS], *more]) or 'none there'}"


def _groups(plan: Plan) -> str:
    """What a local recoding makes its groups of, and what each prints."""
    asked = plan.policy.settings.block_combinations
    blocks = "" if asked == "auto" else f", in blocks of at most {words.count(asked)}"
    printed: dict[str, list[str]] = {}
    for column in plan.policy.quasi_identifiers:
        printed.setdefault(_printed(column, plan.policy), []).append(column.name)
    told = "; ".join(f"{', '.join(names)} {how}" for how, names in printed.items())
    return f"of {words.count(plan.combinations)} distinct combinations{blocks}; {told}; the least gcp found is published"


def _printed(column: Column, policy: Policy) -> str:
    """What a group prints of a column."""
    if isinstance(column.hierarchy, DateHierarchy):
        return "as the periods of the hierarchy, without which dates are ranges and lose less"
    if column.hierarchy is None or (isinstance(column.hierarchy, IntervalHierarchy) and policy.bounds == "tight"):
        return "as tight ranges"
    return "as the intervals of the hierarchy" if isinstance(column.hierarchy, IntervalHierarchy) else "as labels of the hierarchy"


def _output(policy: Policy) -> str:
    """Where the release goes, whether an earlier one is replaced, and which columns it has."""
    kept = [column.name for column in policy.columns if column.role not in ("identifier", "person")]
    target = target_of(policy.output)
    if target is None:
        return f"handed to the caller, {counted(len(kept), 'column')}"
    assert policy.output is not None
    by = f", by {', '.join(policy.output.partition_by)}" if policy.output.partition_by else ""
    return f"{target}, mode {policy.output.mode}{by}, {counted(len(kept), 'column')}"
