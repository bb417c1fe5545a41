"""Overrides from the command line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from anon_spark.config.hierarchy_keys import KINDS
from anon_spark.config.keys import ColumnKeys, ReportKeys, SettingsKeys, SinkKeys, SourceKeys, SuppressionKeys
from anon_spark.config.load import load
from anon_spark.config.model_keys import MODELS
from anon_spark.config.notes import Notes
from anon_spark.config.overrides import LISTS, override
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import MaskHierarchy, Policy, Settings

TEXT = """\
columns:
  - {name: age, role: quasi-identifier, hierarchy: {intervals: [5, 10]}}
  - {name: a.b, role: quasi-identifier, hierarchy: flat}
  - {name: disease, role: sensitive}
privacy:
  - {model: k-anonymity, k: 2}
report: null
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "job.yaml"
    file.write_text(TEXT)
    return str(file)


def refused(path: str, *sets: str) -> list[Fault]:
    with pytest.raises(ConfigurationError) as caught:
        load(path, sets)
    return list(caught.value.faults)


def test_a_value_an_index_a_name_a_name_with_dots(path):
    policy = load(path, ["privacy.0.k=25", "columns.age.max_level=2", "columns.a.b.weight=0.1", "columns.0.min_level=1"])
    assert policy.privacy[0].parameters == {"k": 25}
    assert (policy.columns[0].min_level, policy.columns[0].max_level) == (1, 2)
    assert policy.columns[1].weight == Fraction(1, 10)


def test_what_the_file_does_not_hold(path):
    policy = load(path, ["suppression.limit=0.05", "report.path=out/r", "settings.staging=/tmp/x=y", "input={table: db.t}"])
    assert policy.suppression.limit == Fraction(1, 20)
    assert policy.report == "out/r" and policy.settings == Settings(staging="/tmp/x=y")
    assert policy.input is not None and policy.input.table == "db.t"


def test_the_next_index_adds(path):
    policy = load(path, ["privacy.1.model=l-diversity", "privacy.1.l=2", "columns.3={name: x, role: insensitive}"])
    assert policy.privacy[1].parameters["l"] == 2 and policy.columns[3].name == "x"


def list_keys() -> set[str]:
    """Every key whose value is a list, as the schemas have them."""
    sections = [SinkKeys, SourceKeys, SettingsKeys, SuppressionKeys, ReportKeys, ColumnKeys, *KINDS.values(), *MODELS.values()]
    fields = [(name, str(field.annotation)) for schema in sections for name, field in schema.model_fields.items()]
    return {"columns", "privacy"} | {name for name, kind in fields if "list[" in kind}


def test_an_index_below_any_key_of_lists_begins_the_list_and_below_a_mapping_is_a_key(path):
    assert list_keys() == LISTS
    for name in sorted(LISTS - {"columns", "privacy"}):
        raw = override({}, [f"output.{name}.0=x", f"output.{name}.1=y"], notes := Notes("f"))
        assert raw == {"output": {name: ["x", "y"]}} and not notes.found
        override({"output": {name: None}}, [f"output.{name}.1=x"], notes := Notes("f"))
        with pytest.raises(ConfigurationError, match=f"--set output.{name}.1: found '1'; expected index 0, since the list is empty"):
            notes.stop()
    policy = load(path, ["output.path=out/a", "output.partition_by.0=disease", "columns.a.b.hierarchy={mask: left}",
                         "columns.a.b.hierarchy.steps.0=2"])  # fmt: skip
    assert policy.output is not None and policy.output.partition_by == ("disease",)
    assert policy.columns[1].hierarchy == MaskHierarchy(side="left", steps=(2,))
    assert override({}, ["privacy.0.lambda.1=0.5"], Notes("f"))["privacy"][0]["lambda"].keys() == {"1"}


def test_values_are_yaml_and_the_last_one_wins(path):
    policy = load(path, ["columns.a.b.hierarchy={mask: left}", "privacy.0.k=3", "privacy.0.k=4", "seed=", "nulls=suppress"])
    assert policy.columns[1].hierarchy == MaskHierarchy(side="left")
    assert policy.privacy[0].parameters == {"k": 4} and policy.seed is None and policy.nulls == "suppress"


def test_a_file_without_keys_and_all_of_them_set(tmp_path):
    file = tmp_path / "empty.yaml"
    file.write_text("# all set\n")
    sets = ["columns.0={name: a, role: quasi-identifier, hierarchy: flat}", "privacy.0={model: k-anonymity, k: 2}"]
    assert isinstance(load(str(file), sets), Policy)


@pytest.mark.parametrize(
    ("text", "key", "found", "advice"),
    [
        ("privcy.0.k=25", "privcy", "an unknown key", "did you mean 'privacy'?"),
        ("privacy.0.kk=25", "privacy.0.kk", "an unknown key", "did you mean 'k'?"),
        ("columns.agee.max_level=2", "columns.agee", "'agee'", "did you mean 'age'?"),
        ("columns.age.maxlevel=2", "columns.0.maxlevel", "an unknown key", "did you mean 'max_level'?"),
        ("privacy.k-anonymity.k=2", "privacy.k-anonymity", "'k-anonymity'", ""),
        ("privacy.7.k=2", "privacy.7", "'7'", ""),
        ("columns.-1.weight=2", "columns.-1", "'-1'", ""),
        ("columns.a.b.hierarchy.mask=left", "columns.1.hierarchy.mask", "columns.1.hierarchy holds a single value", None),
        ("privacy.0.k=0", "privacy.0.k", "0", ""),
        ("privacy.0.k='5'", "privacy.0.k", "'5'", "k='5' is text; write 5 without quotes"),
        ("privacy.0.k", "", "no key=value", ""),
        ("=5", "", "a key with an empty part", ""),
        ("privacy..k=5", "", "a key with an empty part", ""),
    ],
)
def test_one_bad_override(path, text, key, found, advice):
    (fault,) = refused(path, text)
    assert (fault.key, fault.found) == (key, found) and advice in (None, fault.advice)
    assert fault.where.startswith("--set") and (fault.where.split(" ")[-1] in text or fault.where == "--set")


def test_bad_overrides_beside_faults_of_the_file(path):
    keys = {fault.key for fault in refused(path, "privcy.0.k=3", "loss=gpc", "seed=[", "columns.age.weight=0")}
    assert keys == {"privcy", "loss", "seed", "columns.0.weight"}


def test_a_bad_value_is_not_repeated(path):
    (fault,) = refused(path, "input.options.password=*hunter2: x: y")
    assert "hunter2: x" not in str(fault) and fault.advice == "put quotes around the value"


def test_a_value_from_the_command_line_is_placed_there_all_of_it(path):
    (fault,) = refused(path, "columns.0={name: age, role: quasi-identifier, hierarchy: flat, weight: 0}")
    assert fault.where == "--set columns.0" and fault.key == "columns.0.weight"


def test_an_override_names_its_key_once(path):
    assert str(refused(path, "privacy.1=3")[0]).startswith("--set privacy.1: found 3; expected ")
    assert str(refused(path, "privacy.1={model: k-anonymity}")[0]).startswith("--set privacy.1: privacy.1.k: found nothing; ")
