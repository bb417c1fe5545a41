"""The quickstart notebook, run cell by cell on the shared session, classic or Connect, as a notebook would."""

import json
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks/quickstart.py"
CELL = "\n# COMMAND ----------\n"


def cells() -> list[str]:
    text = NOTEBOOK.read_text(encoding="utf-8")
    header, _, rest = text.partition("\n")
    assert header == "# Databricks notebook source"
    return rest.split(CELL)


def test_a_cell_is_text_or_code():
    for cell in cells():
        lines = [line for line in cell.strip().splitlines() if line]
        magic = [line.startswith("# MAGIC") for line in lines]
        assert lines and (all(magic) or not any(magic))


@pytest.mark.spark
@pytest.mark.parity
def test_the_quickstart_runs(spark, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(type(SparkSession.builder), "getOrCreate", lambda self: spark)
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    names: dict = {}
    code = cells()
    for cell in code[:-1]:
        exec(compile(cell, str(NOTEBOOK), "exec"), names)
    rows = names["release"].table.collect()
    assert len(rows) == 8 and "name" not in rows[0].asDict()
    classes = names["release"].classes.collect()
    assert min(row["rows"] for row in classes) >= 2
    assert "Every privacy model holds" in names["release"]._repr_html_()
    printed = capsys.readouterr().out
    assert json.loads(printed[printed.rindex("\n{") :])["audit"]["ok"] is True
    exec(compile(code[-1], str(NOTEBOOK), "exec"), names)
    assert not list(tmp_path.iterdir())
    assert "anon_spark" in sys.modules
