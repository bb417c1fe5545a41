"""What is understood and refused until it is built, each key and value of it."""

from __future__ import annotations

from typing import Any

import pytest

from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError, Fault


def faults(key: str, value: object) -> list[Fault]:
    raw: dict[str, Any] = {
        "input": {"table": "t"},
        "output": {"path": "out/a"},
        "columns": [
            {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
            {"name": "occupation", "role": "sensitive"},
            {"name": "ssn", "role": "identifier"},
        ],
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    *way, last = [int(part) if part.isdigit() else part for part in key.split(".")]
    holder: Any = raw
    for step in way:
        holder = holder[step]
    holder[last] = value
    with pytest.raises(ConfigurationError) as caught:
        parse(raw)
    return list(caught.value.faults)


NOT_BUILT = [
    *[("job", job) for job in ("bottom-up", "alpha-k-top-down", "alpha-k-progressive", "ncp-clustering", "k-member")],
    *[("job", job) for job in ("kab", "milif", "anatomy", "bucketization", "tds", "pda", "marginals", "m-invariance")],
    ("numeric", "bounds"),
]


@pytest.mark.parametrize(("key", "value"), NOT_BUILT)
def test_what_is_not_built_is_understood_and_refused(key, value):
    (fault,) = faults(key, value)
    assert fault.key == key and fault.advice.endswith("is not built yet")


def test_a_misspelt_job_names_those_that_are_built_and_the_nearest_of_them():
    for asked, advice in (("latice", "did you mean 'lattice'?"), ("topdown", "did you mean 'top-down'?"), ("anatmy", "")):
        assert faults("job", asked) == [Fault("policy", "job", repr(asked), "one of lattice, top-down", advice)]
    assert faults("job", "kab") == [Fault("policy", "job", "'kab'", "one of lattice, top-down", "job kab is not built yet")]


def test_a_fault_of_what_is_not_built_is_still_a_fault():
    person = {"name": "ssn", "role": "person", "trim": 3}
    assert {fault.key for fault in faults("columns.2", person)} == {"columns.2.trim"}
    assert "output.partition_by.0" in {fault.key for fault in faults("output.partition_by", ["ssn"])}
    assert [fault.found for fault in faults("output.partition_by", ["sx"])] == ["'sx', which is no column"]
    assert [fault.found for fault in faults("output.partition_by", ["sex", "sex"])] == ["'sex' again"]
