"""What the terminal shows: the summary of a run and the plan of a dry run."""

from __future__ import annotations

import dataclasses
import io
import re
from fractions import Fraction
from typing import Any

import pytest

from anon_spark.domain.errors import Fault, InfeasibleError, OccupiedError
from anon_spark.domain.policy import (
    Column,
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    MaskHierarchy,
    ModelSpec,
    Policy,
    Sink,
    Source,
    Suppression,
)
from anon_spark.report import words
from anon_spark.report.document import Report
from anon_spark.report.parts import (
    AuditFindings,
    ClassSize,
    Finding,
    Input,
    LatticeFigures,
    LossFigures,
    ModelFinding,
    Output,
    Suppressed,
)
from anon_spark.report.places import source_of, target_of, without_secrets
from anon_spark.report.plan import Plan, render_plan
from anon_spark.report.summary import print_summary, render_summary
from anon_spark.report.words import Example

LEVELS = {"sex": 1, "age": 2, "race": 0, "marital-status": 1, "education": 2, "native-country": 2, "workclass": 1}
REPORT = Report(
    job="lattice",
    status="published",
    started="2026-01-02T03:04:05+00:00",
    seconds=21.3456,
    input=Input(32_561, 15),
    output=Output(32_397, 215, ClassSize(10, 37, Fraction(32_397, 215), 4_021)),
    suppressed=Suppressed(164, Fraction(164, 32_561)),
    models=(
        ModelFinding("k-anonymity", {"k": 10}, True, 10),
        ModelFinding(
            "alpha-deassociation", {"column": "occupation", "values": None, "alpha": Fraction(1, 2), "refined": False}, True, 0.3
        ),
    ),
    loss=LossFigures(Fraction(482, 1000), Fraction(166, 10_000), Fraction(11, 20)),
    lattice=LatticeFigures(LEVELS, 2_160, 21, 1_400, 739),
    audit=AuditFindings(True, (Finding("k-anonymity", True), Finding("labels", True))),
    warnings=("fnlwgt (insensitive) is nearly unique.",),
    policy={"loss": "gcp", "suppression": {"limit": 0.05}},
)
EXAMPLES = [
    Example("age", "37", "[30, 40)"),
    Example("age", "24", "[20, 30)"),
    Example("age", "61", "[60, 70)"),
    Example("race", "White", "White"),
    Example("sex", "[red]Female[/red]", "*"),
    Example("education", None, "*"),
    Example("workclass", "", "*"),
    Example("workclass", None, "self", rare=True),
]


def test_the_summary_is_short_plain_and_complete() -> None:
    text = render_summary(REPORT, examples=EXAMPLES, release="out/adult", page="out/adult-report/report.html")
    lines = text.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 100
    assert "\x1b" not in text
    assert lines[0] == "Published: 32,397 rows in 215 classes. Every privacy model holds. The independent audit agrees."
    for told in (
        "asked       k-anonymity (k = 10)",
        "            alpha-deassociation (column = occupation, alpha = 0.5)",
        "            suppression of at most 5 % of the rows",
        "            least gcp among all generalizations",
        "age                 2  37 -> [30, 40);  24 -> [20, 30)",
        "race                0  White (unchanged)",
        "sex                 1  [red]Female[/red] -> *",
        "education           2  (null) -> *",
        "workclass           1  (empty) -> *;  rare values -> self",
        "classes     215: 10 to 4,021 rows, median 37",
        "suppressed  164 rows suppressed (0.504 %).",
        "loss        GCP 48.2 % (no release can be below 1.66 %), distortion 55 %",
        "lattice     2,160 nodes: 21 checked, 1,400 marked, 739 pruned",
        "audit       passed, 2 checks",
        "time        21.3 s",
        "warnings    fnlwgt (insensitive) is nearly unique.",
        "release     out/adult",
        "report      out/adult-report/report.html",
    ):
        assert told in lines, told
    assert "61" not in text  # a third example is too much


def test_a_terminal_gets_colour_and_a_file_none() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    plain, terminal = io.StringIO(), Terminal()
    print_summary(REPORT, plain)
    assert plain.getvalue() == render_summary(REPORT) and not re.search(r"[ \t]\n", plain.getvalue())
    assert "\x1b" not in plain.getvalue() and plain.getvalue().startswith("Published: 32,397 rows")
    print_summary(REPORT, terminal, start_up=6.25)
    assert "Published" in terminal.getvalue() and "s, after 6.25 s to start Spark" in terminal.getvalue()


def test_a_limit_that_is_no_decimal_is_told() -> None:
    assert "suppression of at most 33.3 % of the rows" in words.asked(
        dataclasses.replace(REPORT, policy={"suppression": {"limit": "1/3"}})
    )


def test_long_tables_and_many_warnings_are_cut() -> None:
    wide = dataclasses.replace(
        REPORT, lattice=LatticeFigures({f"c{i}": 1 for i in range(30)}, 1, 1, 0, 0), warnings=("w" * 500,) * 6
    )
    text = render_summary(wide)
    assert "and 22 more" in text and "and 3 more in the report" in text
    assert len(text.splitlines()) < 35 and max(map(len, text.splitlines())) <= 100


def test_a_refused_release_shows_what_broke() -> None:
    audit = AuditFindings(False, (Finding("labels", True), Finding("k-anonymity", False, "smallest class 3 < 10")))
    text = render_summary(Report(job="lattice", status="refused", started="", audit=audit))
    assert text.splitlines() == [
        "Not published: the independent audit refused the release.",
        "audit       REFUSED: k-anonymity: smallest class 3 < 10",
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0 %"),
        (Fraction(1, 10**7), "< 0.001 %"),
        (Fraction(404, 10_000), "4.04 %"),
        (1, "100 %"),
        (11.4, "1,140 %"),
        (Fraction(99_999, 100_000), "99.999 %"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_share_never_hides_something_or_claims_all(value: object, told: str) -> None:
    assert words.share(value) == told


def test_figures_times_and_parameters_in_words() -> None:
    assert [words.figure(v) for v in (32_561, 12_345.678, 0.123456, Fraction(1, 3), None, "x", float("inf"))] == [
        "32,561",
        "12,346",
        "0.1235",
        "0.3333",
        "–",
        "x",
        "–",
    ]
    assert [words.seconds(v) for v in (0.0123, 59.94, 75, 3_700, None)] == ["0.01 s", "59.9 s", "1 min 15 s", "1 h 1 min", "–"]
    assert words.model(
        "m", {"values": tuple("abcdefg"), "l": 2, "none": None, "on": True, "off": False, "levels": {"a": Fraction(1, 2)}}
    ) == ("m (values = a, b, c, d, e and 2 more, l = 2, on = yes, levels = a = 0.5)")
    one = dataclasses.replace(REPORT, suppressed=Suppressed(1, Fraction(1, 100), null_rows=7))
    assert words.suppressed(one) == "1 row suppressed (1 %). Left out: 7 rows with a null quasi-identifier."
    assert words.suppressed(dataclasses.replace(REPORT, suppressed=Suppressed(0, 0))) == "No row was suppressed."


POLICY = Policy(
    where="conf/adult.yaml",
    input=Source(
        format="jdbc",
        options={"url": "jdbc:postgresql://ann:secret1@db/x?password=secret2&ssl=on", "dbtable": "people", "Password": "secret3"},
    ),
    output=Sink(path="out/adult", mode="overwrite", partition_by=("sex",)),
    report="out/adult-report",
    columns=(
        Column(name="ssn", role="identifier"),
        Column(name="patient", role="person"),
        Column(
            name="age",
            role="quasi-identifier",
            hierarchy=IntervalHierarchy(widths=(Fraction(5), Fraction(10)), origin=Fraction(0)),
            min_level=1,
        ),
        Column(
            name="education",
            role="quasi-identifier",
            hierarchy=FileHierarchy(path="conf/education.csv", others="root"),
            weight=Fraction(1, 3),
        ),
        Column(name="zip", role="quasi-identifier", hierarchy=MaskHierarchy(), max_level=2),
        Column(name="birth", role="quasi-identifier", type="date", hierarchy=DateHierarchy(units=("month", "year"))),
        Column(name="[bold]a.b[/bold]", role="quasi-identifier", hierarchy=FlatHierarchy()),
        Column(name="occupation", role="sensitive", nulls="ignore"),
    ),
    privacy=(
        ModelSpec(model="k-anonymity", parameters={"k": 10}),
        ModelSpec(model="alpha-deassociation", column="occupation", parameters={"alpha": Fraction(1, 10)}),
    ),
    suppression=Suppression(limit=Fraction(1, 20)),
)


def test_a_plan_shows_what_a_run_would_do() -> None:
    plan = Plan(
        policy=POLICY,
        types={column.name: "string" for column in POLICY.columns} | {"age": "int"},
        levels={"age": 4, "education": 3, "zip": 6, "birth": 4, "[bold]a.b[/bold]": 2},
        distinct={"age": 73},
        nodes=1_296,
        rows=32_561,
        unlisted=("hours", "race"),
        refusals=(InfeasibleError("conf/adult.yaml: 3 rows < k = 10"),),
        tightest=("k-anonymity: k up to 32,561 rows",),
        warnings=("hours (insensitive) is nearly unique.",),
    )
    text = render_plan(plan)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert max(map(len, text.splitlines())) <= 100 and "\x1b" not in text
    for told in (
        "conf/adult.yaml: job lattice",
        "age quasi-identifier int 1-3 of 3 73 intervals",
        "education quasi-identifier string 0-2 file",
        "files education: conf/education.csv",
        "zip quasi-identifier string 0-2 of 5 mask",
        "[bold]a.b[/bold] quasi-identifier string 0-1 flat",
        "occupation sensitive string",
        "input jdbc people, 32,561 rows",
        "unlisted fail: hours, race",
        "models k-anonymity (k = 10)",
        "alpha-deassociation (column = occupation, alpha = 0.1)",
        "suppress at most 5 % of the rows, drop",
        "lattice 1,296 nodes, the one that holds with the least gcp is published",
        "tightest k-anonymity: k up to 32,561 rows",
        "of all rows together: without those suppressed, tighter ones may hold",
        "refused conf/adult.yaml: 3 rows < k = 10",
        "output out/adult (parquet), mode overwrite, by sex, 6 columns",
        "report out/adult-report",
        "warnings hours (insensitive) is nearly unique.",
        "Dry run: nothing was written.",
    ):
        assert told in lines, told
    assert "secret" not in text


def test_no_path_of_a_plan_is_wrapped() -> None:
    long = "/data/" + "/".join(f"folder-{i:02}" for i in range(20))
    columns = (Column(name="x", role="quasi-identifier", hierarchy=FileHierarchy(path=f"{long}/x.csv")),)
    policy = dataclasses.replace(
        POLICY, where=f"{long}/job.yaml", input=Source(format="csv", path=f"{long}/in.csv"), report=f"{long}/report",
        output=Sink(path=f"{long}/out"), columns=columns,
    )  # fmt: skip
    taken = OccupiedError([Fault(policy.where, "output.path", f"{long}/out, which exists already")])
    lines = render_plan(Plan(policy=policy, types={"x": "string"}, rows=3, refusals=(taken,))).splitlines()
    assert lines[0] == f"{long}/job.yaml: job lattice"
    for told in (
        f"files       x: {long}/x.csv",
        f"input       {long}/in.csv (csv), 3 rows",
        f"output      {long}/out (parquet), mode error, 1 column",
        f"report      {long}/report",
        f"refused     {taken}",
    ):
        assert told in lines, told


def test_a_plan_tells_what_becomes_of_nulls() -> None:
    def told(asked: str, **more: Any) -> str:
        text = " ".join(render_plan(Plan(policy=dataclasses.replace(POLICY, nulls=asked), types={}, **more)).split())
        return text.partition(" nulls ")[2].partition(" output ")[0]

    assert told("value") == "value"
    assert told("value", nulls={"age": 0, "zip": 0}) == "value: none there"
    assert told("value", nulls={"age": 1, "zip": 0, "birth": 1_200}) == "value: age in 1 row, birth in 1,200 rows"
    assert told("value", nulls={f"c{i}": 2 for i in range(9)}).endswith("c5 in 2 rows, 3 more columns")
    assert told("suppress", nulls={"age": 0}, null_rows=1_836) == "suppress: 1,836 rows of the input"


def test_a_plan_without_input_and_output_is_for_the_caller() -> None:
    text = render_plan(Plan(policy=Policy(columns=(Column(name="a", role="insensitive"),)), types={"a": "int"}))
    assert "the table given" in text and "handed to the caller, 1 column\n" in text and "lattice " not in text


def test_places_are_named_without_secrets() -> None:
    assert without_secrets("abfss://c@account.dfs/x?sig=abc&se=1") == "abfss://c@account.dfs/x?sig=(hidden)&se=1"
    assert without_secrets("https://token@host/x") == "https://(hidden)@host/x"
    assert without_secrets("s3://bucket/key/part=1") == "s3://bucket/key/part=1"
    assert without_secrets("jdbc:x://ann:s1@db/x?password=s2&ssl=on") == "jdbc:x://(hidden)@db/x?password=(hidden)&ssl=on"
    assert target_of(Sink(table="db.t", format="delta")) == "table db.t"
    assert target_of(None) is None and source_of(None) is None
    assert source_of(Source(query="SELECT 'Ann' AS name")) == "a query"
    assert source_of(Source(path="data/x.csv", format="csv")) == "data/x.csv (csv)"


def test_where_things_lie_can_be_copied_however_long_it_is() -> None:
    path = "/mnt/" + "a folder of long name/" * 9 + "report.html"
    text = render_summary(REPORT, release="s3a://bucket/out", page=path)
    assert text.endswith(f"\nrelease     s3a://bucket/out\nreport      {path}\n")
