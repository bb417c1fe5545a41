"""The public Policy: three ways in, equality, pickling, what is kept of it without credentials."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import json
import pickle
from fractions import Fraction
from typing import Any

import pytest
import yaml

from anon_spark.config import door
from anon_spark.config.door import Policy, as_dict
from anon_spark.config.load import load, parse
from anon_spark.config.mask import masked
from anon_spark.domain import policy as domain
from anon_spark.domain.errors import ConfigurationError

KEYS: dict[str, Any] = {
    "job": "lattice",
    "input": {"format": "csv", "path": "a.csv", "options": {"header": True, "sep": ";"}},
    "output": {"path": "out/a"},
    "report": {"path": "out/r"},
    "columns": [
        {"name": "age", "role": "quasi-identifier", "weight": 0.1, "hierarchy": {"intervals": [5, 10], "origin": "3/8"}},
        {
            "name": "zip",
            "role": "quasi-identifier",
            "hierarchy": {"mask": "right", "steps": [1, 2]},
            "max_level": 2,
            "trim": True,
        },
        {"name": "birth", "role": "quasi-identifier", "type": "date", "hierarchy": {"date": ["month"]}},
        {"name": "disease", "role": "sensitive", "nulls": "ignore"},
    ],
    "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "alpha-deassociation", "alpha": "1/3", "values": ["HIV"]}],
    "suppression": {"limit": 0.05, "show": "star"},
    "seed": 7,
}


@pytest.fixture
def policy() -> Policy:
    return Policy(**KEYS)


def test_three_ways_in_one_policy(policy, tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(KEYS))
    read = Policy.from_yaml(path)
    assert read == policy == Policy.from_dict(KEYS) and read.where == str(path)
    assert load(path) == policy and policy == parse(KEYS) and policy != Policy(**{**KEYS, "seed": 8})
    assert Policy.from_yaml(str(path), "seed=8", "privacy.0.k=6") == Policy(
        **{**KEYS, "seed": 8, "privacy": [{"model": "k-anonymity", "k": 6}, KEYS["privacy"][1]]}
    )
    assert policy != "policy"


def test_it_is_a_domain_policy_and_frozen(policy):
    assert isinstance(policy, domain.Policy) and isinstance(policy.columns[0], domain.Column)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.seed = 8
    with pytest.raises(TypeError, match="unhashable"):
        hash(policy)


def test_what_it_was_made_of_may_change_afterwards():
    options = {"header": "true"}
    policy = Policy(**{**KEYS, "input": {"format": "csv", "path": "a", "options": options}})
    options["header"] = "false"
    assert policy.input is not None and policy.input.options == {"header": "true"}


def test_pickle_and_replace(policy):
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy and type(again) is Policy
    other = dataclasses.replace(policy, seed=8)
    assert other.seed == 8 and type(other) is Policy and dataclasses.replace(other, seed=7) == policy
    with pytest.raises(ConfigurationError):
        dataclasses.replace(policy, privacy=())


def test_an_unknown_name_in_code():
    with pytest.raises(ConfigurationError, match=r"policy: privcy: found an unknown key; did you mean 'privacy'\?"):
        Policy(**KEYS, privcy=[])


def test_the_signature_names_the_keys():
    assert list(inspect.signature(Policy).parameters) == [field.name for field in dataclasses.fields(domain.Policy)]


def test_the_example_of_the_docstring():
    assert doctest.testmod(door).failed == 0 and doctest.testmod(door).attempted > 0


def test_to_dict_is_json_and_gives_the_same_policy(policy):
    made = policy.to_dict()
    assert Policy.from_dict(json.loads(json.dumps(made))) == policy
    assert parse(yaml.safe_load(yaml.safe_dump(made))) == policy
    assert made["columns"][0] == {
        "name": "age",
        "role": "quasi-identifier",
        "hierarchy": {"intervals": [5, 10], "origin": 0.375},
        "weight": 0.1,
    }
    assert made["privacy"][1] == {
        "model": "alpha-deassociation",
        "column": "disease",
        "values": ["HIV"],
        "alpha": "1/3",
        "refined": False,
    }
    assert made["suppression"] == {"limit": 0.05, "show": "star"} and made["report"] == {"path": "out/r"}
    assert set(made) == {field.name for field in dataclasses.fields(domain.Policy)} - {"where"}


def test_long_decimals_stay_exact():
    limit = "0.0123456789012345678901"
    policy = Policy(**{**KEYS, "suppression": {"limit": limit}})
    assert policy.to_dict()["suppression"]["limit"] == limit and policy.suppression.limit == Fraction(limit)


SECRETS = [
    {"format": "jdbc", "options": {"url": "jdbc:x", "dbtable": "t", "password": "hunter2"}},
    {"format": "jdbc", "options": {"url": "jdbc:x", "dbtable": "t", "sfPassword": "hunter2", "PWD": "hunter2"}},
    {"format": "csv", "path": "a", "options": {"fs.s3a.access.key": "hunter2", "fs.s3a.secret.key": "hunter2"}},
    {"format": "x", "options": {"apiToken": "hunter2", "credentialsFile": "hunter2", "credentials": "hunter2"}},
    {"format": "jdbc", "options": {"url": "jdbc:postgresql://me:hunter2@host:5432/db", "dbtable": "t"}},
    {"format": "jdbc", "options": {"url": "jdbc:sqlserver://host;databaseName=d;user=me;password=hunter2;encrypt=true"}},
    {"format": "jdbc", "options": {"url": "jdbc:sqlserver://host;password={hunter2;x}"}},
    {"format": "jdbc", "options": {"url": "jdbc:mysql://host/db?user=me&password=hunter2&useSSL=true"}},
    {"format": "jdbc", "options": {"url": "jdbc:oracle:thin:scott/hunter2@//host:1521/x"}},
    {"format": "mongo", "options": {"connection.uri": "mongodb+srv://me:hunter2@host/db"}},
    {"format": "csv", "path": "https://me:hunter2@host/a.csv"},
    {"format": "csv", "path": "https://host/a.csv?sig=hunter2&x=1"},
    {"format": "csv", "path": "wasbs://c@a.blob.core.windows.net/x?sas=hunter2"},
    {"query": "SELECT * FROM remote('s3://me:hunter2@bucket/x')"},
    {"query": "SELECT * FROM f('x', secret_key => 'hunter2')"},
    {"query": "SELECT * FROM f(OPTIONS (password 'hunter2'))"},
    {"format": "kafka", "options": {"kafka.sasl.jaas.config": 'a.B required username="me" password="hunter2";'}},
]


@pytest.mark.parametrize("source", SECRETS)
def test_no_credentials_in_what_is_kept(source):
    policy = Policy(**{**KEYS, "input": source})
    for text in (json.dumps(policy.to_dict()), repr(policy), json.dumps(as_dict(parse({**KEYS, "input": source})))):
        assert "hunter2" not in text and "***" in text
    assert "hunter2" in json.dumps(dataclasses.asdict(policy)["input"])


@pytest.mark.parametrize(
    "source",
    [
        {"format": "parquet", "path": "abfss://container@account.dfs.core.windows.net/a"},
        {"format": "csv", "path": "data/a@b.csv", "options": {"sep": "@", "header": "true"}},
        {"query": "SELECT * FROM a JOIN b ON a.key = b.key"},
        {"format": "jdbc", "options": {"url": "jdbc:postgresql://host/db?user=me", "dbtable": "t", "user": "me"}},
        {"format": "jdbc", "options": {"url": "jdbc:postgresql://host/db", "dbtable": "t", "password_env": "WORD"}},
        {"format": "jdbc", "options": {"url": "jdbc:postgresql://host/db", "dbtable": "t", "password_conf": "spark.word"}},
    ],
)
def test_what_holds_no_credentials_is_kept_whole(source):
    policy = Policy(**{**KEYS, "input": source})
    assert policy.to_dict()["input"] == {"options": {}, "snapshot": "auto", **source}
    assert Policy.from_dict(policy.to_dict()) == policy


def test_columns_and_values_are_never_masked():
    columns = [{"name": "password=x", "role": "quasi-identifier", "hierarchy": "flat"}]
    made = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}]).to_dict()
    assert made["columns"] == columns and masked(made) == made
