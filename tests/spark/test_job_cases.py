"""Small inputs on which other tools fail, run through the whole job; the right answers were computed by brute force."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError, DataError, InfeasibleError
from anon_spark.job.check import check
from anon_spark.job.run import run
from jobs import class_sizes, policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark

C01 = [
    (34, "male", "81675"), (45, "female", "81667"), (66, "male", "81925"), (70, "female", "81931"),
    (34, "female", "81931"), (70, "male", "81931"), (45, "male", "81931"),
]  # fmt: skip
AGES = ("34;<50;*", "45;<50;*", "66;>=50;*", "70;>=50;*")


def zips(*codes: str) -> list[str]:
    return [";".join([code, *[code[: 5 - i] + "*" * i for i in range(1, 5)], "*"]) for code in codes]


def c01(folder: Path, *known: str) -> list[dict]:
    return [
        quasi("age", tree(folder, "age", *AGES)),
        quasi("gender"),
        quasi("zipcode", tree(folder, "zip", *zips(*known))),
    ]


def test_an_incomplete_hierarchy_stops_the_job_with_counts_alone(spark: SparkSession, tmp_path: Path) -> None:
    columns = c01(tmp_path, "81667", "81925", "81931")
    with pytest.raises(DataError) as raised:
        released(spark, C01, "age int, gender string, zipcode string", policy(columns, staging=tmp_path / "out"))
    assert "zipcode: 1 of 4 distinct values unmapped, 1 of 7 rows" in str(raised.value)
    assert "81675" not in str(raised.value)
    assert raised.value.exit_code == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("limit", "levels", "rows"),
    [("0", {"age": 1, "gender": 1, "zipcode": 2}, 7), ("1/7", {"age": 1, "gender": 0, "zipcode": 3}, 6)],
)
def test_the_optimum_with_and_without_suppression(
    spark: SparkSession, tmp_path: Path, limit: str, levels: dict[str, int], rows: int
) -> None:
    columns = c01(tmp_path, "81667", "81925", "81931", "81675")
    with released(
        spark, C01, "age int, gender string, zipcode string", policy(columns, staging=tmp_path, suppression={"limit": limit})
    ) as release:
        assert release.report.lattice.levels == levels
        assert min(class_sizes(release)) >= 2 and sum(class_sizes(release)) == rows


def test_a_lone_row_is_generalized_or_suppressed_never_published(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("A", status, 30) for status in ("Single", "Married", "Married", "Single", "Widow")]
    columns = [quasi("region"), quasi("status"), quasi("age", {"intervals": [20], "origin": 10})]
    with released(spark, rows, "region string, status string, age int", policy(columns, staging=tmp_path)) as release:
        assert printed(release) == Counter({("A", "*", "30"): 5})
    asked = policy(columns, staging=tmp_path, suppression={"limit": 0.2})
    with released(spark, rows, "region string, status string, age int", asked) as release:
        assert printed(release) == Counter({("A", "Single", "30"): 2, ("A", "Married", "30"): 2})
        assert release.report.suppressed.rows == 1


@pytest.mark.parametrize(
    "rows",
    [
        [("a:b", "c"), ("a", "b:c")],
        [("a,b", "c"), ("a", "b,c")],
        [("a\x00b", "c"), ("a", "b\x00c")],
        [("", "x"), (None, "x")],
        [("null", "x"), (None, "x")],
        [("x ", "x"), ("x", "x")],
        [("x", None), (None, "x")],
    ],
)
def test_values_that_only_look_alike_are_two_classes(spark: SparkSession, tmp_path: Path, rows: list[tuple]) -> None:
    with released(spark, rows, "a string, b string", policy([quasi("a"), quasi("b")], staging=tmp_path)) as release:
        assert release.report.lattice.levels != {"a": 0, "b": 0}
        assert release.report.risk.below_k_before == 1


def test_nan_is_one_class_and_zero_has_one_sign(spark: SparkSession, tmp_path: Path) -> None:
    nan = float("nan")
    rows = [(nan,), (nan,), (None,), (None,), (0.0,), (-0.0,), (1e12,), (1e12,), (float("inf"),), (float("inf"),)]
    with released(spark, rows, "x double", policy([quasi("x")], staging=tmp_path)) as release:
        texts = {row[0]: row[1] for row in release.classes.collect()}
        assert set(texts.values()) == {2} and None in texts and "NaN" in texts and "0.0" in texts
        assert {float(text) for text in texts if text not in (None, "NaN")} == {0.0, 1e12, float("inf")}


def test_null_empty_and_the_word_null_are_three_values(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("Oslo",)] * 3 + [("",)] * 3 + [(None,)] * 3 + [("NULL",)] * 3
    for more in ({"staging": tmp_path}, {"output": {"format": "csv", "path": str(tmp_path / "csv")}}):
        asked = policy([quasi("city")], k=3, **more)
        with released(spark, rows, "city string", asked) as release:
            assert printed(release) == Counter({("Oslo",): 3, ("",): 3, (None,): 3, ("NULL",): 3})
    blank = [*rows, (" Oslo",)]
    with released(spark, blank, "city string", policy([quasi("city", trim=True)], k=3, staging=tmp_path)) as release:
        assert printed(release)[("Oslo",)] == 4
    with released(spark, blank, "city string", policy([quasi("city")], k=3, staging=tmp_path)) as release:
        assert printed(release) == Counter({("*",): 13})


@pytest.mark.parametrize("columns", ["A", "AB", "AC", "ABC"])
def test_constant_columns_change_nothing(spark: SparkSession, tmp_path: Path, columns: str) -> None:
    rows = [(a, "b", None) for a in (1, 1, 1, 1, 2, 2)]
    asked = policy([quasi(name) for name in columns], staging=tmp_path, unlisted="drop")
    with released(spark, rows, "A int, B string, C string", asked) as release:
        assert class_sizes(release) == [2, 4]
        assert release.report.loss.gcp == 0


def test_nulls_can_fail_or_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    rows = list(zip([34, 36, 38, 40, 42, 44, 46, 48, None, None], "MMFFMMFFMF", strict=True))
    columns = [quasi("age", {"intervals": [20]}), quasi("sex")]
    with pytest.raises(DataError, match="age: found null in 2 rows"):
        released(spark, rows, "age int, sex string", policy(columns, staging=tmp_path, nulls="fail"))
    with released(spark, rows, "age int, sex string", policy(columns, staging=tmp_path, nulls="suppress")) as release:
        assert release.report.suppressed.null_rows == 2 and release.report.suppressed.rows == 0
        assert release.report.input.rows == 10 and sum(class_sizes(release)) == 8
    with released(spark, rows, "age int, sex string", policy(columns, staging=tmp_path)) as release:
        assert sum(class_sizes(release)) == 10 and min(class_sizes(release)) >= 2
    table = spark.createDataFrame(rows, "age int, sex string")
    assert check(spark, policy(columns, staging=tmp_path, nulls="suppress"), table).null_rows == 2
    assert check(spark, policy(columns, staging=tmp_path), table).nulls == {"age": 2, "sex": 0}


def test_a_list_is_no_quasi_identifier_but_its_text_is(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"diag.*array<string>.*explode"):
        released(spark, [(["X", "Y"],)], "diag array<string>", policy([quasi("diag")], staging=tmp_path))
    rows = [("X, Y",), ("X, Y",), ("Y, X",), ("Y, X",)]
    with released(spark, rows, "diag string", policy([quasi("diag")], staging=tmp_path)) as release:
        assert class_sizes(release) == [2, 2]


def workers_refused(spark: SparkSession, folder: Path, columns: list[dict]) -> str:
    """What is told of two workers with values outside the hierarchies of these columns."""
    rows = [("Private", "Sales"), ("State", "Clerk")]
    with pytest.raises(DataError) as raised:
        released(spark, rows, "workclass string, occupation string", policy(columns, staging=folder))
    return str(raised.value)


def test_the_wrong_file_is_told_by_the_column_it_fits(spark: SparkSession, tmp_path: Path) -> None:
    work, jobs = tree(tmp_path, "work", "Private;*", "State;*"), tree(tmp_path, "jobs", "Sales;*", "Clerk;*")
    text = workers_refused(spark, tmp_path, [quasi("workclass", jobs), quasi("occupation", work)])
    assert "workclass: 2 of 2 distinct values unmapped" in text
    assert "the hierarchy of 'occupation' would cover 100%" in text


def test_a_file_that_is_named_for_two_columns_is_told_by_the_one_it_fits(spark: SparkSession, tmp_path: Path) -> None:
    work = tree(tmp_path, "work", "Private;*", "State;*")
    text = workers_refused(spark, tmp_path, [quasi("workclass", work), quasi("occupation", work)])
    assert "occupation: 2 of 2 distinct values unmapped" in text and f"add them to {work['path']}" in text
    assert "its hierarchy fits column 'workclass', 100% of whose distinct values it covers" in text


@pytest.mark.parametrize(
    ("rows", "models", "k", "text"),
    [
        ([("a", "s")] * 3, [], 5, "3 rows < k = 5"),
        ([], [], 2, "no rows"),
        (
            [("a", "HIV")] * 3 + [("a", "flu")] * 7,
            [{"model": "alpha-deassociation", "values": ["HIV"], "alpha": 0.2}],
            2,
            "alpha = 0.2 is below HIV's share of the table, 0.3",
        ),
        ([("a", "s")] * 3, [{"model": "l-diversity", "l": 2}], 2, "l = 2"),
    ],
)
def test_the_impossible_is_proven_before_any_search(
    spark: SparkSession, tmp_path: Path, rows: list[tuple], models: list[dict], k: int, text: str
) -> None:
    asked = policy([quasi("a"), {"name": "s", "role": "sensitive"}], k=k, staging=tmp_path / "out", models=models)
    with pytest.raises(InfeasibleError, match=text) as raised:
        released(spark, rows, "a string, s string", asked)
    assert raised.value.exit_code == 4
    assert not (tmp_path / "out").exists()


def test_undeclared_columns_stop_the_job_or_are_dropped_or_kept(spark: SparkSession, tmp_path: Path) -> None:
    rows, schema = [("Ann", 30, "f", 1, 3), ("Bob", 30, "f", 0, 3)], "name string, age int, sex string, survived int, pclass int"
    columns = [{"name": "name", "role": "identifier"}, quasi("age"), quasi("sex")]
    with pytest.raises(ConfigurationError, match="'survived', 'pclass'"):
        released(spark, rows, schema, policy(columns, staging=tmp_path))
    with released(spark, rows, schema, policy(columns, staging=tmp_path, unlisted="drop")) as release:
        assert release.table.columns == ["age", "sex"]
    with released(spark, rows, schema, policy(columns, staging=tmp_path, unlisted="keep")) as release:
        assert release.table.columns == ["age", "sex", "survived", "pclass"]
        assert printed(release) == Counter({("30", "f", 1, 3): 1, ("30", "f", 0, 3): 1})


def test_all_faults_of_the_columns_come_at_once(spark: SparkSession, tmp_path: Path) -> None:
    columns = [quasi("agee"), quasi("diag"), quasi("when", {"date": ["month"]})]
    with pytest.raises(ConfigurationError) as raised:
        released(spark, [(1, ["x"], 3)], "age int, diag array<string>, when int", policy(columns, staging=tmp_path))
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert "did you mean 'age'?" in lines[0] and "no role" not in str(raised.value)


def test_weights_and_level_bounds_choose_among_equals(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")]
    schema = "a string, b string"
    with released(spark, rows, schema, policy([quasi("a", weight=1), quasi("b", weight=3)], staging=tmp_path)) as release:
        assert release.report.lattice.levels == {"a": 1, "b": 0}
        assert set(release.report.lattice.minimal) == {(1, 0), (0, 1)}
    with released(spark, rows, schema, policy([quasi("a", max_level=0), quasi("b")], staging=tmp_path)) as release:
        assert release.report.lattice.levels == {"a": 0, "b": 1}


def test_a_suppressed_row_is_dropped_where_its_star_class_would_show_it(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("common", i) for i in range(100)] + [("rare", 100)]
    columns = [quasi("a"), {"name": "n", "role": "insensitive"}]
    for show in ("drop", "star"):
        asked = policy(columns, staging=tmp_path, suppression={"limit": 0.05, "show": show})
        with released(spark, rows, "a string, n int", asked) as release:
            assert class_sizes(release) == [100]
            assert release.report.warnings[0].startswith("Suppressed rows: 1, fewer than k = 2.")
    asked = policy(columns, staging=tmp_path, suppression={"limit": 0.05, "show": "star"})
    with released(spark, [*rows, ("rarer", 101)], "a string, n int", asked) as release:
        assert class_sizes(release) == [2, 100]
        assert printed(release)[("*", 101)] == 1


def test_the_suppression_limit_is_exact(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("common",)] * 71 + [(f"rare{i}",) for i in range(29)]
    asked = policy([quasi("a")], staging=tmp_path, suppression={"limit": 0.29})
    with released(spark, rows, "a string", asked) as release:
        assert class_sizes(release) == [71] and release.report.suppressed.rows == 29


def test_nothing_of_ours_and_no_order_of_the_input_is_left(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(i % 2, i) for i in range(200)]
    columns = [quasi("__anon"), {"name": "n", "role": "insensitive"}]
    with released(spark, rows, "__anon int, n int", policy(columns, staging=tmp_path)) as release:
        assert release.table.columns == ["__anon", "n"]
        order = [row["n"] for row in release.table.collect()]
        assert sorted(order) == list(range(200)) and order != sorted(order)
    with pytest.raises(ConfigurationError, match="named like our own"):
        released(spark, rows, "__anon_n int, n int", policy([quasi("__anon_n"), columns[1]], staging=tmp_path))


def test_alpha_deassociation_is_sound_beside_a_suppression_limit(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("a1", "b1", "HIV"), ("a1", "b1", "HIV"), ("a2", "b1", "HIV"), ("a2", "b1", "flu"),
        ("a1", "b2", "flu"), ("a1", "b2", "cold"), ("a2", "b2", "flu"), ("a2", "b2", "cold"),
    ]  # fmt: skip
    models = [{"model": "alpha-deassociation", "alpha": 0.5, "values": ["HIV"]}]
    columns = [quasi("a"), quasi("b"), {"name": "disease", "role": "sensitive"}]
    for megabytes in (64, 0):
        settings = {"driver_megabytes": megabytes}
        asked = policy(columns, staging=tmp_path, models=models, suppression={"limit": 0.25}, settings=settings)
        with released(spark, rows, "a string, b string, disease string", asked) as release:
            assert release.report.lattice.levels == {"a": 0, "b": 0} and release.report.loss.gcp == 0.25
            assert release.report.suppressed.rows == 2
        with released(
            spark, rows, "a string, b string, disease string", policy(columns, staging=tmp_path, models=models, settings=settings)
        ) as release:
            assert release.report.lattice.minimal == ((0, 1),) and class_sizes(release) == [4, 4]


def test_odd_column_names_are_just_columns(spark: SparkSession, tmp_path: Path) -> None:
    odd = "a`b; drop table x"
    rows = [("x", "y", 1), ("x", "y", 2)]
    frame = spark.createDataFrame(rows, "q string, r string, n int").toDF(odd, "dotted.name", "with blank")
    columns = [quasi(odd), quasi("dotted.name"), {"name": "with blank", "role": "sensitive"}]

    with anonymize(frame, policy(columns, staging=tmp_path, models=[{"model": "l-diversity", "l": 2}])) as release:
        assert release.table.columns == [odd, "dotted.name", "with blank"]
        assert printed(release) == Counter({("x", "y", 1): 1, ("x", "y", 2): 1})


def test_a_listed_value_is_guarded_in_whatever_spelling(spark: SparkSession, tmp_path: Path) -> None:
    rows, columns = [("a", 1.0), ("a", 1.0), ("a", 2.0)], [quasi("q"), {"name": "s", "role": "sensitive"}]

    def models(*values: object) -> list[dict]:
        return [{"model": "alpha-deassociation", "alpha": 0.4, "values": list(values)}]

    for value in (1, "1.00", "01"):
        with pytest.raises(InfeasibleError, match=r"1\.0's share of the table"):
            released(spark, rows, "q string, s double", policy(columns, staging=tmp_path, models=models(value)))
    with pytest.raises(ConfigurationError, match=r"privacy.1.values: found 'one'; expected a value of s, which is double"):
        released(spark, rows, "q string, s double", policy(columns, staging=tmp_path, models=models("one")))
    with released(spark, rows, "q string, s double", policy(columns, staging=tmp_path, models=models(3))) as release:
        assert release.report.warnings == (
            "alpha-deassociation lists '3.0' of s, which no row holds: check its spelling, capitals and blanks.",
        )


@pytest.mark.parametrize(("rows", "told"), [(40, ["ID.1", "code"]), (19, [])])
def test_a_run_warns_of_columns_that_are_nearly_unique(spark: SparkSession, tmp_path: Path, rows: int, told: list[str]) -> None:
    columns = [
        quasi("q"), {"name": "ID.1", "role": "insensitive"}, {"name": "half", "role": "insensitive"},
        {"name": "code", "role": "sensitive"}, {"name": "name", "role": "identifier"},
    ]  # fmt: skip
    table = [("a", i, i // 2, f"c{i}", f"n{i}") for i in range(rows)]
    with released(spark, table, "q string, `ID.1` int, half int, code string, name string", policy(columns, staging=tmp_path)) as release:
        found = [warning for warning in release.report.warnings if "is nearly unique: about" in warning]
        assert [warning.partition(" (")[0] for warning in found] == told
        assert all(f"distinct values in {rows} rows" in warning for warning in found)


def test_the_input_is_never_overwritten(spark: SparkSession, tmp_path: Path) -> None:
    data, link = tmp_path / "data", tmp_path / "link"
    spark.createDataFrame([("a",), ("a",)], "q string").write.parquet(str(data))
    link.symlink_to(data)
    before = sorted(path.name for path in data.iterdir())
    for table in (spark.read.parquet(str(data)), spark.read.parquet(f"{tmp_path}/dat*")):
        for target in (data, link):
            asked = policy([quasi("q")], output={"path": str(target), "mode": "overwrite"})
            with pytest.raises(ConfigurationError, match="which holds the input"):
                anonymize(table, asked)
    assert sorted(path.name for path in data.iterdir()) == before


def test_a_path_to_write_is_no_pattern(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"output.path: found .*\[1\]"):
        released(spark, [("a",), ("a",)], "q string", policy([quasi("q")], output={"path": str(tmp_path / "out[1]")}))


def test_levels_above_the_root_are_told_together(spark: SparkSession, tmp_path: Path) -> None:
    columns = [quasi(name, tree(tmp_path, name, "x;*"), max_level=5) for name in "ab"]
    with pytest.raises(ConfigurationError) as raised:
        released(spark, [("x", "x")] * 2, "a string, b string", policy(columns, staging=tmp_path))
    assert len(str(raised.value).splitlines()) == 2


def test_a_text_keeps_its_leading_zeros_where_csv_would_infer_a_number(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("zip,n\n01264,1\n01265,2\n")
    source = {"format": "csv", "path": str(tmp_path / "in.csv"), "options": {"header": True, "inferSchema": True}}
    columns = [quasi("zip", {"mask": "right"}, type="string"), {"name": "n", "role": "insensitive"}]
    asked = policy(columns, input=source, staging=tmp_path / "out")
    with run(spark, asked).release as release:
        assert printed(release) == Counter({("0126*", 1): 1, ("0126*", 2): 1})
