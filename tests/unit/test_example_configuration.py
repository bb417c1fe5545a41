"""The configurations that users copy from: they parse, and the reference leaves no key out."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from anon_spark import Policy
from anon_spark.config import hierarchy_keys, keys
from anon_spark.io.hierarchy_files import read_tree

ROOT = Path(__file__).resolve().parents[2]
HIERARCHIES = sorted((ROOT / "conf/hierarchies").glob("*.csv"))


def reference() -> dict:
    return yaml.safe_load((ROOT / "conf/all-keys.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "job"), [("adult.yaml", "lattice"), ("adult-top-down.yaml", "top-down"), ("all-keys.yaml", "lattice")]
)
def test_an_example_is_a_sound_configuration(name, job):
    assert Policy.from_yaml(ROOT / "conf" / name).job == job


def test_the_same_table_is_asked_for_by_either_job():
    lattice, local = (Policy.from_yaml(ROOT / "conf" / name) for name in ("adult.yaml", "adult-top-down.yaml"))
    assert lattice.columns == local.columns and lattice.privacy == local.privacy


def test_the_job_in_the_readme_is_a_sound_configuration(tmp_path):
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    (tmp_path / "people.yaml").write_text(block, encoding="utf-8")
    policy = Policy.from_yaml(tmp_path / "people.yaml", "privacy.0.k=25", "output.path=out/people-25")
    assert policy.privacy[0].parameters == {"k": 25} and policy.columns[5].hierarchy.path == "job.csv"


def test_the_reference_shows_every_key():
    shown = reference()
    assert set(shown) == set(keys.TopKeys.names())
    assert set(shown["output"]) | {"table"} == set(keys.SinkKeys.names())
    assert set(shown["input"]) | {"table", "query"} == set(keys.SourceKeys.names())
    assert set(shown["suppression"]) == set(keys.SuppressionKeys.names())
    assert set(shown["settings"]) == set(keys.SettingsKeys.names())
    assert set(shown["report"]) == set(keys.ReportKeys.names())
    assert {key for column in shown["columns"] for key in column} == set(keys.ColumnKeys.names())


def test_the_reference_shows_every_hierarchy():
    shown = [column["hierarchy"] for column in reference()["columns"] if isinstance(column.get("hierarchy"), dict)]
    wanted = {key for kind in hierarchy_keys.KINDS.values() for key in kind.names()}
    assert {key for hierarchy in shown for key in hierarchy} == wanted


@pytest.mark.parametrize("path", HIERARCHIES, ids=lambda path: path.stem)
def test_an_example_hierarchy_is_a_tree(path):
    lines = read_tree(str(path))
    leaves = [line[0] for line in lines]
    parents: dict[tuple[int, str], str] = {}
    assert len(set(leaves)) == len(leaves) and {line[-1] for line in lines} == {"*"}
    for line in lines:
        for level, (child, parent) in enumerate(pairwise(line)):
            assert parents.setdefault((level, child), parent) == parent


def test_the_demo_publishes_nothing_that_undoes_a_quasi_identifier():
    roles = {column.name: column.role for column in Policy.from_yaml(ROOT / "conf/adult.yaml").columns}
    assert roles["relationship"] == roles["education-num"] == "identifier"
