"""C02: what was printed, read again by ``anon-spark audit``: a class is what prints alike, and a lone suppressed row is a class of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import runner
from pyspark.sql import SparkSession

from anon_spark.cli.main import cli
from jobs import quasi, tree

pytestmark = pytest.mark.spark
PRINTED = [("<50", "female", "81***"), ("<50", "male", "81***"), (">=50", "male", "81***")] * 2
STAR = ("*", "*", "*")


@pytest.mark.parametrize("job", ["lattice", "top-down"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_our_own_output_is_audited(spark: SparkSession, tmp_path: Path, job: str, kind: str) -> None:
    zips = [";".join([code, *(code[: 5 - i] + "*" * i for i in range(1, 5)), "*"]) for code in ("81667", "81925", "81931")]
    columns = [
        quasi("age", tree(tmp_path, "age", "34;<50;*", "45;<50;*", "66;>=50;*", "70;>=50;*")),
        quasi("gender"),
        quasi("zipcode", tree(tmp_path, "zip", *zips)),
    ]
    for name, rows, code, told in (
        ("own", PRINTED, 0, ("6 rows", "3 classes", "k-anonymity: holds (worst class: 2)")),
        ("lone", [*PRINTED, STAR], 5, ("7 rows", "4 classes", "k-anonymity: FAILS (worst class: 1)")),
        ("two", [*PRINTED, STAR, STAR], 0, ("8 rows", "4 classes", "k-anonymity: holds (worst class: 2)")),
        ("null", [*PRINTED, (None, None, None)], 5, ("7 rows", "4 classes", "k-anonymity: FAILS (worst class: 1)")),
        ("foreign", [*PRINTED, ("<40", "male", "81***"), ("<40", "male", "81***")], 5, ("8 rows", "4 classes")),
    ):
        out = str(tmp_path / name)
        written = spark.createDataFrame(rows, "age string, gender string, zipcode string").write.format(kind)
        (written.options(header=True, nullValue="\\N") if kind == "csv" else written).save(out)
        conf = tmp_path / f"{name}.yaml"
        # the raw table is not there any more
        source = {"format": "csv", "path": str(tmp_path / "gone.csv"), "options": {"header": True}}
        asked = {"job": job, "input": source, "output": {"format": kind, "path": out}, "columns": columns}
        conf.write_text(json.dumps({**asked, "privacy": [{"model": "k-anonymity", "k": 2}]}))
        audited = runner().invoke(cli, ["audit", str(conf)])
        assert audited.exit_code == code, (name, audited.output)
        assert [text for text in told if text not in audited.stdout] == [], (name, audited.stdout)
        if name == "lone":
            assert "age = *, gender = *, zipcode = *" in audited.stderr


def test_listed_values_are_spelled_as_their_column_spells_them(spark: SparkSession, tmp_path: Path) -> None:
    """1 of a column of doubles is its 1.0: a value that matched no row would let its model pass unseen."""
    out = str(tmp_path / "out")
    spark.createDataFrame([("f", 1.0), ("f", 1.0), ("f", 2.5), ("m", 2.5)], "sex string, wage double").write.save(out)
    conf = tmp_path / "job.yaml"
    asked = {"output": {"path": out}, "columns": [quasi("sex"), {"name": "wage", "role": "sensitive"}]}
    for model, value in (({"model": "alpha-deassociation", "alpha": 0.5}, "values"), ({"model": "confidence-bound", "h": 0.5}, "value")):
        given = {**model, value: [1] if value == "values" else 1} | ({"given": ["sex"]} if value == "value" else {})
        conf.write_text(json.dumps({**asked, "privacy": [given]}))
        audited = runner().invoke(cli, ["audit", str(conf)])
        assert (audited.exit_code == 5 and "2 with one value" in audited.stderr) or "2 of 3 rows with the value" in audited.stderr
