"""What a notebook shows, in a kernel of its own: release, policy and risk are tables, and nothing else is printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.kernel]
CELLS = (
    """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from anon_spark import Policy, anonymize
from anon_spark.job.risk import risk_of
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
table = spark.createDataFrame([("f", 20, "flu"), ("m", 21, "cold"), ("f", 22, "cold"), ("m", 33, "flu")], "sex string, age int, ill string")
columns = [{"name": n, "role": "quasi-identifier", "hierarchy": h} for n, h in (("sex", "flat"), ("age", {"intervals": [10]}))]
policy = Policy(columns=[*columns, {"name": "ill", "role": "sensitive"}], privacy=[{"model": "k-anonymity", "k": 2}])
""",
    "policy",
    "risk_of(spark, policy, table)",
    "release = anonymize(table, policy)",
    "release",
    "release.close(); spark.stop()",
)


def test_the_views_of_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "run"))
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text.strip()) for text in CELLS])
    NotebookClient(made, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        {kind: str(text) for output in cell["outputs"] if "data" in output for kind, text in output["data"].items()}
        for cell in made["cells"]
    ]
    assert [sorted(found) for found in shown[1:3]] == [["text/html", "text/plain"]] * 2
    assert "Policy: job lattice" in shown[1]["text/html"]
    assert "4 rows in 4 distinct combinations of 2 quasi-identifiers" in shown[2]["text/html"]
    assert "Every privacy model holds" in shown[4]["text/html"] and "<Release lattice" in shown[4]["text/plain"]
    printed = [output for cell in made["cells"][1:] for output in cell["outputs"] if output.get("name") == "stdout"]
    assert printed == []
