"""The audit of a release: the models on what is printed, and every mutation of a correct release found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as fn

from anon_spark.audit.checks import check_of
from anon_spark.audit.classes import Cells, classes_of
from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult
from anon_spark.domain.policy import (
    Column,
    FileHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    MaskHierarchy,
    ModelSpec,
    Policy,
    Suppression,
)

pytestmark = pytest.mark.spark

AGE, SICK = "the.age `in` years", "sick ness"


def flat(*names: str, **more: Any) -> tuple[Column, ...]:
    return tuple(Column(name=name, role="quasi-identifier", hierarchy=FlatHierarchy(), **more) for name in names)


def k_anonymity(k: int) -> ModelSpec:
    return ModelSpec(model="k-anonymity", parameters={"k": k})


def alpha(share: str, values: Sequence[str] | None = None, refined: bool = False, column: str | None = None) -> ModelSpec:
    given = None if values is None else tuple(values)
    return ModelSpec(
        model="alpha-deassociation", column=column, parameters={"alpha": Fraction(share), "values": given, "refined": refined}
    )


def diversity(kind: str, l: int, column: str | None = None) -> ModelSpec:  # noqa: E741
    return ModelSpec(model="l-diversity", column=column, parameters={"kind": kind, "l": l})


def audit(spark: Any, policy: Policy, rows: Sequence[tuple[Any, ...]], types: str = "", **known: Any) -> AuditResult:
    """Audit rows under the policy's columns, all text unless ``types`` says otherwise."""
    names = [column.name for column in policy.columns if column.role != "identifier"]
    given = types.split() or ["string"] * len(names)
    schema = ", ".join("`" + name.replace("`", "``") + f"` {kind}" for name, kind in zip(names, given, strict=True))
    return audit_release(spark.createDataFrame(list(rows), schema), policy, **known)


def messages(result: AuditResult) -> list[str]:
    return [finding.message for finding in result.findings]


def sizes(result: AuditResult) -> tuple[Any, ...]:
    return result.rows, result.classes, result.smallest, result.median, result.mean, result.largest


# --- classes are what is printed ---


def test_our_own_output_read_again_and_lone_stars(spark: Any) -> None:  # C02
    policy = Policy(columns=flat("age", "sex", "zip"), privacy=(k_anonymity(2),))
    rows = [("<50", "female", "81***"), ("<50", "male", "81***"), (">=50", "male", "81***")] * 2
    good = audit(spark, policy, rows)
    assert good.ok and sizes(good) == (6, 3, 2, 2.0, 2.0, 2) and good.models[0].holds and good.models[0].worst == 2
    lone = audit(spark, policy, [*rows, ("*", "*", "*")])
    assert not lone.ok and sizes(lone)[:3] == (7, 4, 1) and not lone.models[0].holds and lone.models[0].worst == 1
    assert messages(lone) == ["k-anonymity (k = 2): 1 class of 1 row: age = *, sex = *, zip = *"]
    assert audit(spark, policy, [*rows, ("*", "*", "*"), ("*", "*", "*")]).ok


def test_values_that_join_to_the_same_key_are_two_classes(spark: Any) -> None:  # C08
    policy = Policy(columns=flat("a", "b"), privacy=(k_anonymity(2),))
    for rows in ([("a:b", "c"), ("a", "b:c")], [("a", None), (None, "a")], [("", None), (None, "")], [("x ", "y"), ("x", "y")]):
        assert sizes(audit(spark, policy, rows))[:3] == (2, 2, 1)


def test_empty_null_and_the_word_null_are_three(spark: Any) -> None:  # C10
    policy = Policy(columns=flat("city"), privacy=(k_anonymity(3),))
    result = audit(spark, policy, [(city,) for city in ["Oslo", "", None, "NULL"] for _ in range(3)] + [(" Oslo",)])
    assert sizes(result) == (13, 5, 1, 3.0, 2.6, 3)
    assert messages(result) == ["k-anonymity (k = 3): 1 class of 1 row: city = ' Oslo'"]
    few = audit(spark, policy, [("",), (None,), ("null",)])
    assert messages(few) == [
        "k-anonymity (k = 3): 3 classes of together 3 rows; 1 row: city = null; 1 row: city = ''; 1 row: city = 'null'"
    ]


def test_constant_columns_change_no_class(spark: Any) -> None:  # C11
    rows = [("1", "b", None)] * 4 + [("2", "b", None)] * 2
    for names, places in ((["A"], [0]), (["A", "B"], [0, 1]), (["A", "C"], [0, 2]), (["A", "B", "C"], [0, 1, 2])):
        result = audit(
            spark, Policy(columns=flat(*names), privacy=(k_anonymity(2),)), [tuple(row[p] for p in places) for row in rows]
        )
        assert result.ok and sizes(result)[:3] == (6, 2, 2)


def test_a_few_starred_rows_are_a_class_that_must_hold(spark: Any) -> None:  # C20
    limit = Suppression(limit=Fraction("0.05"), show="star")
    policy = Policy(columns=(*flat("a"), Column(name="s", role="sensitive")), privacy=(k_anonymity(2),), suppression=limit)
    rows = [("x", "s")] * 100 + [("*", "t")]
    result = audit(spark, policy, rows, rows_of_input=101, suppressed=1)
    assert messages(result) == ["k-anonymity (k = 2): 1 class of 1 row: a = *"]
    assert audit(spark, replace(policy, suppression=replace(limit, show="drop")), rows[:-1], rows_of_input=101, suppressed=1).ok


# --- models ---


def cells(*counts: int) -> list[tuple[str, str]]:
    """One class, each number so many rows of a sensitive value of their own: s0, s1, .."""
    return [("x", f"s{place}") for place, count in enumerate(counts) for _ in range(count)]


MODELS = [
    # A tenth of 10 rows is 1 row, whatever 0.1 * 10 is in floating point; so is 0.29 of 100 rows 29.
    (alpha("0.1"), cells(*[1] * 10), True, Fraction(1, 10)),
    (alpha("0.1"), cells(*[1] * 9), False, Fraction(1, 9)),
    (alpha("0.29"), cells(29, 29, 29, 13), True, Fraction(29, 100)),
    (alpha("0.29"), cells(30, 29, 29, 12), False, Fraction(3, 10)),
    (alpha("1/3"), cells(1, 1, 1), True, Fraction(1, 3)),
    # METHODS 1: 2 of 3 hold under ceil(1.2) = 2, 4 of 6 do not under ceil(2.4) = 3; ceil of a whole number is itself.
    (alpha("0.4", ["s0"], refined=True), cells(2, 1), True, Fraction(2, 3)),
    (alpha("0.4", ["s0"], refined=True), cells(4, 2), False, Fraction(2, 3)),
    (alpha("0.4", ["s0"], refined=True), cells(3, 3), True, Fraction(1, 2)),
    (alpha("0.5", ["s0"], refined=True), cells(2, 2), True, Fraction(1, 2)),
    (alpha("0.5", ["s0"], refined=True), cells(3, 1), False, Fraction(3, 4)),
    (alpha("0.5", ["s1"]), cells(3, 1), True, Fraction(1, 4)),
    (alpha("0.5"), cells(3, 1), False, Fraction(3, 4)),
    (alpha("0.5", ["none such"]), cells(3, 1), True, Fraction(0)),
    (diversity("distinct", 2), cells(3, 1), True, 2),
    (diversity("distinct", 3), cells(3, 1), False, 2),
    (diversity("frequency", 2), cells(2, 1, 1), True, Fraction(1, 2)),
    (diversity("frequency", 2), cells(3, 1, 1), False, Fraction(3, 5)),
    # A null is a value of its own for models over all values, never a listed one.
    (alpha("0.5"), [("x", None)] * 3 + [("x", "s0")], False, Fraction(3, 4)),
    (alpha("0.5", ["null", ""]), [("x", None)] * 3 + [("x", "s0")], True, Fraction(0)),
    (diversity("distinct", 2), [("x", None), ("x", "s0")], True, 2),
    (diversity("distinct", 3), [("x", None), ("x", ""), ("x", "null")], True, 3),
]


def test_every_model_at_its_boundary(spark: Any) -> None:
    """Each table above a class of its own, every model asked of every class at once; what each says of its own class counts."""
    rows = [(f"class {place}", value) for place, (_, cells_, _, _) in enumerate(MODELS) for _, value in cells_]
    release = spark.createDataFrame(rows, "x string, s string")
    checks = [check_of(model, "s", Cells(0, False, spark), f"m{place}") for place, (model, *_) in enumerate(MODELS)]
    statistics = {check.name: check.statistic for check in checks if check.statistic is not None}
    classes = classes_of([fn.col("x")], [fn.col("s")], release, statistics)
    found = {
        row["q0"]: row for row in classes.select("q0", *(check.breaks.alias(f"b{i}") for i, check in enumerate(checks))).collect()
    }
    assert [not found[f"class {place}"][f"b{place}"] for place in range(len(MODELS))] == [holds for _, _, holds, _ in MODELS]


@pytest.mark.parametrize("place", [0, 6, 12, 14, 17], ids=lambda place: f"{MODELS[place][0].model} {place}")
def test_a_verdict_and_its_tightest_figure(spark: Any, place: int) -> None:
    model, rows, holds, worst = MODELS[place]
    policy = Policy(columns=(*flat("x"), Column(name="s", role="sensitive")), privacy=(model,))
    result = audit(spark, policy, rows)
    assert (result.models[0].holds, result.models[0].worst, result.ok) == (holds, worst, holds)
    assert result.models[0].parameters == {"column": "s", **model.parameters}


def test_ignored_nulls_and_several_sensitive_columns_of_other_types(spark: Any) -> None:
    ignoring = Column(name="s", role="sensitive", nulls="ignore")
    columns = (*flat("x"), ignoring, Column(name="d", role="sensitive"))
    rows = [("x", None, 0.0), ("x", None, -0.0), ("x", None, float("nan")), ("x", 7, float("nan"))]
    specs = (
        alpha("0.25", column="s"),
        diversity("distinct", 1, "s"),
        diversity("distinct", 2, "d"),
        diversity("frequency", 2, "d"),
    )
    result = audit(spark, Policy(columns=columns, privacy=specs), rows, "string int double")
    assert [(m.holds, m.worst) for m in result.models] == [(True, Fraction(1, 4)), (True, 1), (True, 2), (True, Fraction(1, 2))]
    broken = audit(
        spark,
        Policy(columns=columns, privacy=(diversity("distinct", 1, "s"), alpha("0.4", ["7"], column="s"))),
        rows[:1],
        "string int double",
    )
    assert [(m.holds, m.worst) for m in broken.models] == [(False, 0), (True, Fraction(0))]
    assert messages(broken) == ["l-diversity (s, kind = distinct, l = 1): 1 class of 1 row, 0 values: x = x"]


def test_models_that_the_audit_does_not_know_are_never_ok(spark: Any) -> None:
    columns = (*flat("x"), Column(name="s", role="sensitive"))
    for spec in (ModelSpec(model="s-closeness", parameters={"t": Fraction(1)}), diversity("fair", 1), alpha("0." + "3" * 30)):
        result = audit(spark, Policy(columns=columns, privacy=(spec,)), [("x", "s")])
        assert not result.ok and not result.models[0].holds and result.rows == 1


# --- mutations of a correct release, with odd names and every kind of column ---

GOOD = [
    ("[20, 24]", "537**", "HS", "flu", 1.5),
    ("[20, 24]", "537**", "HS", "cold", 2.5),
    ("[25, 29]", "*", "School", "flu", None),
    ("[25, 29]", "*", "School", "cold", 2.5),
    ("[25, 29]", "*", "School", "hiv", 2.5),
    (None, "", "null", "flu", 0.0),
    (None, "", "null", "cold", 0.0),
]


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    (tmp_path / "school.csv").write_text("HS;School;All\nnull;None;All\n007;None;All\n")
    return Policy(
        columns=(
            Column(name="ssn", role="identifier"),
            Column(
                name=AGE,
                role="quasi-identifier",
                hierarchy=IntervalHierarchy(widths=(Fraction(5), Fraction(10)), lower=Fraction(18), upper=Fraction(90)),
            ),
            Column(name="zip", role="quasi-identifier", hierarchy=MaskHierarchy()),
            Column(name="edu", role="quasi-identifier", hierarchy=FileHierarchy(path=str(tmp_path / "school.csv"))),
            Column(name=SICK, role="sensitive"),
            Column(name="pay", role="insensitive"),
        ),
        privacy=(k_anonymity(2), alpha("0.5"), alpha("0.34", ["hiv"]), diversity("distinct", 2)),
        suppression=Suppression(limit=Fraction("0.3")),
    )


def mutated(place: int, column: int, value: Any) -> list[tuple[Any, ...]]:
    return [(*row[:column], value, *row[column + 1 :]) if at == place else row for at, row in enumerate(GOOD)]


def both(value: Any, column: int = 0) -> list[tuple[Any, ...]]:
    """The first class, whole, with another label."""
    return [(*row[:column], value, *row[column + 1 :]) for row in GOOD[:2]] + GOOD[2:]


TYPES = "string string string string double"


def test_a_correct_release_passes(spark: Any, policy: Policy) -> None:
    result = audit(spark, policy, GOOD, TYPES, rows_of_input=7, suppressed=0)
    assert result.ok and result.findings == ()
    assert sizes(result) == (7, 3, 2, 2.0, 7 / 3, 3)
    assert [m.worst for m in result.models] == [2, Fraction(1, 2), Fraction(1, 3), 2]


def test_a_halved_class_is_found_and_named(spark: Any, policy: Policy) -> None:
    result = audit(spark, policy, mutated(0, 0, "[20, 29]"), TYPES)
    assert (
        f"k-anonymity (k = 2): 2 classes of together 2 rows; 1 row: {AGE} = [20, 24], zip = 537**, edu = HS"
        in messages(result)[0]
    )
    assert [m.holds for m in result.models] == [False, False, True, False]


def test_swapped_sensitive_values_are_found_where_a_model_breaks(spark: Any, policy: Policy) -> None:
    rows = mutated(4, 3, "flu")
    rows[0] = (*rows[0][:3], "hiv", rows[0][4])
    result = audit(spark, policy, rows, TYPES)
    first, second = messages(result)
    alone = f"alpha-deassociation ({SICK}, alpha ="
    assert first == f"{alone} 0.5): 1 class of 3 rows, 2 with one value: {AGE} = [25, 29], zip = *, edu = School"
    assert second == f"{alone} 0.34, values = hiv): 1 class of 2 rows, 1 with one value: {AGE} = [20, 24], zip = 537**, edu = HS"


def test_lost_and_doubled_rows_are_found_though_the_models_hold(spark: Any, policy: Policy) -> None:
    assert messages(audit(spark, policy, [*GOOD, *GOOD[:2]], TYPES, rows_of_input=7)) == [
        "9 rows published, 2 more than the input's 7"
    ]
    short = [*GOOD[:2], *GOOD[5:]]
    assert messages(audit(spark, policy, short, TYPES, rows_of_input=7)) == ["3 rows suppressed of 7; the limit of 0.3 allows 2"]
    few = messages(audit(spark, policy, GOOD[:5], TYPES, rows_of_input=7, suppressed=1))
    assert few == ["5 published and 1 suppressed do not make up the input's 7 rows"]
    assert audit(spark, policy, GOOD[:5], TYPES, rows_of_input=7, suppressed=2).ok


def test_null_and_empty_are_told_apart_in_labels(spark: Any, policy: Policy) -> None:
    result = audit(spark, policy, mutated(5, 0, ""), TYPES)
    assert {finding.rule for finding in result.findings} == {"k-anonymity", "alpha-deassociation", "l-diversity", "labels"}
    nowhere = audit(spark, replace(policy, nulls="suppress"), GOOD, TYPES)
    assert messages(nowhere) == [f"{AGE}: 2 rows in 1 class with labels that its hierarchy does not print there: null"]


WRONG = [
    "[20, 23]",
    "[21, 25]",
    "[24, 20]",
    "[20, 29)",
    "[15, 19]",
    "[85, 94]",
    "< 20",
    ">= 89",
    "[20,24]",
    "20-24",
    "",
    "[18, 24]",
    "x",
    "[20, 24",
]
RIGHT = ["[20, 24]", "[20, 29]", "[20, 25)", "[18, 19]", "[80, 89]", "< 18", ">= 90", "*", "20", None, "NaN", "[20.0, 30.0)"]


def test_labels_foreign_to_their_hierarchy_are_counted(spark: Any, policy: Policy) -> None:
    lone = replace(policy, privacy=())
    result = audit(spark, lone, [row for label in [*WRONG, *RIGHT] for row in both(label)[:2]], TYPES)
    assert len(result.findings) == 1
    assert (
        f"{AGE}: {2 * len(WRONG)} rows in {len(WRONG)} classes with labels that its hierarchy does not print there: ''"
        in messages(result)[0]
    )
    assert messages(audit(spark, lone, both("All", 2), TYPES)) == [
        "edu: 2 rows in 1 class with labels that its hierarchy does not print there: All"
    ]
    assert audit(spark, lone, both("None", 2), TYPES).ok
    assert audit(spark, lone, both("7", 2), TYPES).ok
    deep = replace(lone, columns=tuple(replace(c, min_level=2) if c.name == AGE else c for c in lone.columns))
    assert len(messages(audit(spark, deep, both("[20, 29]"), TYPES))) == 1
    assert "[25, 29], null" in messages(audit(spark, deep, both("[20, 29]"), TYPES))[0].replace(
        "null, [25, 29]", "[25, 29], null"
    )


def test_columns_that_are_missing_extra_or_not_text(spark: Any, policy: Policy) -> None:
    frame = spark.createDataFrame(GOOD, f"`{AGE.replace('`', '``')}` string, zip string, edu string, `{SICK}` string, pay double")
    extra = audit_release(frame.selectExpr("*", "1 AS __anon_node", "2 AS ssn"), policy)
    assert messages(extra) == [
        "column __anon_node is published, though the policy does not name it",
        "column ssn is published, though its role is identifier",
    ]
    assert extra.rows == 7 and all(m.holds for m in extra.models)
    missing = audit_release(frame.drop("zip", "pay"), policy)
    assert messages(missing) == ["column zip is missing", "column pay is missing"]
    assert missing.rows is None and not any(m.holds for m in missing.models) and not missing.ok
    number = audit_release(frame.withColumn("zip", frame["pay"]), policy)
    assert messages(number) == ["column zip is of type double; labels are text"] and number.rows is None
    changed = audit_release(frame.withColumn("pay", frame["pay"].cast("string")), policy, untouched=frame.schema)
    assert messages(changed) == ["column pay is of type string; the input's is double"]
    kept = replace(policy, unlisted="keep")
    assert audit_release(frame.selectExpr("*", "1 AS more"), kept).ok
    assert messages(audit_release(frame.selectExpr("*", "1 AS more"), kept, untouched=frame.schema))[0].startswith(
        "column more is published"
    )


def test_an_empty_release_is_refused(spark: Any, policy: Policy) -> None:
    result = audit(spark, policy, [], TYPES)
    assert messages(result) == ["the release is empty"]
    assert (result.ok, result.rows, result.classes, result.smallest, result.mean) == (False, 0, 0, None, None)


def test_what_published_columns_cannot_show_is_said(spark: Any, policy: Policy) -> None:
    unsure = " / ".join(audit(spark, policy, GOOD, TYPES).cannot_know)
    assert "rows the input had" in unsure and "labels of zip are masked" in unsure and "raw value" in unsure
    known = " / ".join(audit(spark, policy, GOOD, TYPES, rows_of_input=7).cannot_know)
    assert "rows the input had" not in known


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_the_verdict_is_the_same_with_ansi_on_and_off(spark: Any, policy: Policy, ansi: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert audit(spark, policy, GOOD, TYPES, rows_of_input=7).ok
        assert len(audit(spark, policy, both("[no, 24]"), TYPES).findings) == 1
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
