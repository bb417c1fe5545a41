"""report.json: its keys, its numbers, its nulls, its way back."""

from __future__ import annotations

import dataclasses
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from anon_spark.domain.errors import DataError, InternalError
from anon_spark.domain.recoding import FullDomainRecoding, LatticeTrace
from anon_spark.metrics.table_risk import table_risk
from anon_spark.report.document import KEYS, RETURNED, STATUS_OF_EXIT, Report
from anon_spark.report.parts import (
    AuditFindings,
    ClassSize,
    Finding,
    Input,
    LatticeFigures,
    LossFigures,
    ModelFinding,
    Output,
    Provenance,
    Risk,
    Step,
    Suppressed,
)
from anon_spark.report.plain import number, plain

NUMBER, COUNT, TEXT, FLAG = (int, float), (int,), (str,), (bool,)
SCHEMA = {
    "schema_version": COUNT,
    "job": TEXT,
    "status": TEXT,
    "release_id": TEXT,
    "started": TEXT,
    "seconds": NUMBER,
    "steps": [{"step": TEXT, "seconds": NUMBER, "text": TEXT}],
    "input": {"rows": COUNT, "columns": COUNT},
    "output": {"rows": COUNT, "classes": COUNT, "class_size": {"min": COUNT, "median": NUMBER, "mean": NUMBER, "max": COUNT}},
    "suppressed": {"rows": COUNT, "share": NUMBER, "null_rows": COUNT},
    "models": [{"model": TEXT, "parameters": dict, "holds": FLAG, "worst": (int, float, str)}],
    "loss": {
        "gcp": NUMBER,
        "gcp_lower_bound": NUMBER,
        "distortion": NUMBER,
        "glm": NUMBER,
        "discernibility": COUNT,
        "c_avg": NUMBER,
        "by_column": dict,
    },
    "lattice": {"levels": dict, "nodes": COUNT, "checked": COUNT, "marked": COUNT, "pruned": COUNT, "minimal": list},
    "audit": {"ok": FLAG, "findings": [{"check": TEXT, "ok": FLAG, "text": TEXT}]},
    "risk": {
        "prosecutor_max": NUMBER,
        "prosecutor_mean": NUMBER,
        "below_k_before": NUMBER,
        "journalist_max": NUMBER,
        "marketer": NUMBER,
        "unique_after": NUMBER,
        "prosecutor_max_before": NUMBER,
        "prosecutor_mean_before": NUMBER,
        "marketer_before": NUMBER,
        "unique_before": NUMBER,
    },
    "utility": dict,
    "warnings": [TEXT],
    "versions": dict,
    "policy": dict,
    "provenance": {"policy_sha256": TEXT, "input_fingerprint": TEXT, "fingerprint_key": TEXT, "manifest_sha256": TEXT},
}


def faults(value: object, schema: object, at: str = "") -> list[str]:
    """Where a JSON value departs from a schema: exact keys in order, types, null allowed everywhere."""
    if value is None:
        return []
    if isinstance(schema, dict):
        if not isinstance(value, dict) or list(value) != list(schema):
            return [f"{at}: keys {value}"]
        return [fault for key in schema for fault in faults(value[key], schema[key], f"{at}.{key}")]
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [fault for i, entry in enumerate(value) for fault in faults(entry, schema[0], f"{at}[{i}]")]
    kinds = schema if isinstance(schema, tuple) else (schema,)
    right = isinstance(value, kinds) and (isinstance(value, bool) == (bool in kinds))
    return [] if right else [f"{at}: {value!r}"]


RECODING = FullDomainRecoding(
    levels=(1, 0),
    suppressed_rows=2,
    classes=3,
    smallest=2,
    largest=4,
    losses={
        "gcp": Fraction(1, 3),
        "distortion": Fraction(1),
        "glm": Fraction(0),
        "discernibility": Fraction(44),
        "c-avg": Fraction(4, 3),
    },
    by_column=(Fraction(2, 3), Fraction(0)),
    trace=LatticeTrace(nodes=6, checked=2, marked=3, pruned=1, subset_checks=4, minimal=((0, 1), (1, 0))),
)
FULL = Report(
    job="lattice",
    status="published",
    release_id="r1",
    started="2026-01-02T03:04:05+00:00",
    seconds=Fraction(12_345_678, 1_000_000),
    steps=(Step("read", 0.12345, "Read 10 rows."), Step("remark", None)),
    input=Input(11, 4),
    output=Output(8, 3, ClassSize(2, 2, Fraction(8, 3), 4)),
    suppressed=Suppressed(2, Fraction(1, 5), null_rows=1),
    models=(
        ModelFinding("k-anonymity", {"k": 2}, True, 2),
        ModelFinding("alpha-deassociation", {"alpha": Fraction(1, 10)}, True, Fraction(1, 10)),
    ),
    loss=LossFigures.of(RECODING, ["zip", "a.b"], gcp_lower_bound=Fraction(1, 7)),
    lattice=LatticeFigures.of(RECODING, ["zip", "a.b"]),
    audit=AuditFindings(True, (Finding("k-anonymity", True, "smallest class 2 >= 2"),)),
    risk=Risk.of(smallest=2, classes=3, rows=8, below_k_before=Fraction(1, 2), before=table_risk({1: 4, 6: 1})),
    utility={"accuracy": Fraction(3, 4)},
    warnings=("ssn is nearly unique",),
    versions={"spark": "4.3.0"},
    policy={"loss": "gcp"},
    provenance=Provenance("a" * 64, "b" * 64, "c" * 64, "d" * 64),
)
BARE = Report(job="lattice", status="infeasible", started="2026-01-02T03:04:05+00:00")


@pytest.mark.parametrize("report", [FULL, BARE], ids=["full", "bare"])
def test_a_report_has_every_key_in_order_and_no_other(report: Report) -> None:
    document = json.loads(report.to_json())
    assert list(document) == list(KEYS) == list(SCHEMA)
    assert faults(document, SCHEMA) == []


def test_the_schema_check_can_fail() -> None:
    document = FULL.to_dict()
    document["output"]["rows"] = 1.5
    document["audit"]["ok"] = 1
    del document["risk"]["prosecutor_max"]
    assert [fault.split(":")[0] for fault in faults(document, SCHEMA)] == [".output.rows", ".audit.ok", ".risk"]


def test_numbers_are_rounded_once_at_the_end() -> None:
    document = FULL.to_dict()
    assert document["loss"]["gcp"] == 0.333333333333
    assert document["loss"]["gcp_lower_bound"] == 0.142857142857
    assert document["loss"]["by_column"] == {"zip": 0.666666666667, "a.b": 0.0}
    assert document["loss"]["discernibility"] == 44 and isinstance(document["loss"]["discernibility"], int)
    assert document["loss"]["c_avg"] == 1.33333333333
    assert document["output"]["class_size"] == {"min": 2, "median": 2, "mean": 2.66666666667, "max": 4}
    assert document["models"][1]["parameters"] == {"alpha": 0.1} and document["models"][1]["worst"] == 0.1
    assert document["seconds"] == 12.346 and document["steps"][0]["seconds"] == 0.123
    assert document["risk"] == {
        "prosecutor_max": 0.5,
        "prosecutor_mean": 0.375,
        "below_k_before": 0.5,
        "journalist_max": 0.5,
        "marketer": 0.375,
        "unique_after": 0.0,
        "prosecutor_max_before": 1.0,
        "prosecutor_mean_before": 0.5,
        "marketer_before": 0.5,
        "unique_before": 0.4,
    }
    assert document["suppressed"] == {"rows": 2, "share": 0.2, "null_rows": 1}
    assert document["lattice"] == {
        "levels": {"zip": 1, "a.b": 0},
        "nodes": 6,
        "checked": 2,
        "marked": 3,
        "pruned": 1,
        "minimal": [[0, 1], [1, 0]],
    }


def test_what_has_no_meaning_is_null() -> None:
    document = BARE.to_dict()
    assert [key for key in KEYS if document[key] is None] == [
        "release_id",
        "seconds",
        "input",
        "output",
        "suppressed",
        "loss",
        "lattice",
        "audit",
        "risk",
        "utility",
        "provenance",
    ]
    assert document["steps"] == document["models"] == document["warnings"] == []
    without_k = dataclasses.replace(RECODING, losses={**RECODING.losses, "c-avg": None})
    assert LossFigures.of(without_k, ["a", "b"]).c_avg is None
    unknown = dataclasses.replace(RECODING, trace=dataclasses.replace(RECODING.trace, minimal=None))
    assert plain(LatticeFigures.of(unknown, ["a", "b"]))["minimal"] is None  # type: ignore[index]
    assert Risk.of(smallest=0, classes=0, rows=0) == Risk(None, None, None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_number_that_json_lacks_is_null(value: float) -> None:
    text = dataclasses.replace(FULL, utility={"kl": value}).to_json()
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["utility"] == {"kl": None}


def test_numpy_and_exact_values_become_plain() -> None:
    found = plain(
        {"a": np.int64(3), "b": np.float64(0.1), "c": np.bool_(True), "d": (Fraction(1, 4), None), "e": {"y", "x"}, 7: "k"}
    )
    assert found == {"a": 3, "b": 0.1, "c": True, "d": [0.25, None], "e": ["x", "y"], "7": "k"}
    assert type(found["a"]) is int and found["c"] is True
    assert number(Decimal("0.5")) == 0.5 and number("1/3") == 0.333333333333
    assert number(0.1 + 0.2) == 0.3 and number(Fraction(1)) == 1.0


@pytest.mark.parametrize("report", [FULL, BARE], ids=["full", "bare"])
def test_a_report_comes_back_as_it_was_written(report: Report) -> None:
    document = json.loads(report.to_json())
    back = Report.from_dict(document)
    assert back.to_json() == report.to_json()
    assert back.lattice is None or back.lattice.minimal == ((0, 1), (1, 0))


def test_a_key_of_a_later_version_is_passed_over() -> None:
    document = {**FULL.to_dict(), "later": 1}
    document["output"]["later"] = 1
    assert Report.from_dict(document).to_dict() == FULL.to_dict()


def test_what_is_no_report_is_refused_in_one_line() -> None:
    document = FULL.to_dict()
    with pytest.raises(DataError, match=r"^out/report.json: schema_version: found 99; expected 1; read it with the version"):
        Report.from_dict({**document, "schema_version": 99}, "out/report.json")
    with pytest.raises(DataError, match=r"^report.json: loss: found nothing; expected a key"):
        Report.from_dict({key: value for key, value in document.items() if key != "loss"})
    with pytest.raises(DataError, match="schema_version: found None"):
        Report.from_dict([])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="a document that is no report"):
        Report.from_dict({**document, "output": {"rows": 1}})
    with pytest.raises(DataError, match="a document that is no report"):
        Report.from_dict({**document, "status": "great"})


def test_a_report_cannot_say_published_when_the_audit_refused() -> None:
    with pytest.raises(InternalError, match="cannot be published"):
        dataclasses.replace(FULL, audit=AuditFindings(False))
    with pytest.raises(InternalError, match="status must be one of"):
        Report(job="lattice", status="done", started="")


def test_only_exit_0_and_a_returned_release_count_as_published() -> None:
    for code, status in STATUS_OF_EXIT.items():
        assert Report(job="lattice", status=status, started="").published is (code == 0)
    assert Report(job="lattice", status=RETURNED, started="").published


def test_a_report_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.status = "refused"  # type: ignore[misc]
