"""Laws of the configuration: what is valid survives being kept and read again; whatever is wrong is a ConfigurationError."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_spark.config.door import Policy, as_dict
from anon_spark.config.load import load, parse
from anon_spark.config.scalars import decimal, exact
from anon_spark.domain.errors import ConfigurationError

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8).filter(str.strip)
names = st.one_of(
    texts, st.sampled_from(["no", "007", "1e5", "a.b", "null", "~", "2020-01-31", "a`b; drop table x", "true", "<<", "="])
)
decimals = st.builds(lambda whole, places: Decimal(whole).scaleb(-places), st.integers(1, 10**6), st.integers(0, 8))
numbers = st.one_of(
    decimals,
    st.integers(1, 1000),
    st.floats(1e-6, 1e6),
    st.builds(lambda n, d: f"{n}/{d}", st.integers(1, 99), st.integers(1, 99)),
)
shares = st.one_of(
    st.floats(0, 1, exclude_min=True),
    st.integers(1, 99).map(lambda n: f"{n}/100"),
    st.integers(1, 999).map(lambda n: Decimal(n).scaleb(-3)),
)
below_one = st.one_of(st.just(0), st.floats(0, 0.99), st.integers(0, 998).map(lambda n: f"{n}/999"))
common = {"others": st.sampled_from(["fail", "root"]), "inner": st.sampled_from(["fail", "accept"])}


def widths(first: int, factors: list[int]) -> list[int]:
    made = [first]
    for factor in factors:
        made.append(made[-1] * factor)
    return made


hierarchies = st.one_of(
    st.just("flat"),
    st.fixed_dictionaries({"path": texts}, optional={"sep": st.sampled_from([";", ",", "\t", " | "]), **common}),
    st.fixed_dictionaries(
        {"intervals": st.builds(widths, st.integers(1, 9), st.lists(st.integers(2, 5), max_size=3))},
        optional={"origin": decimals, "lower": st.integers(-9, 0), "upper": st.integers(1, 99), **common},
    ),
    st.fixed_dictionaries(
        {"mask": st.sampled_from(["left", "right"])},
        optional={
            "character": st.sampled_from(["#", "x", 0]),
            "steps": st.sets(st.integers(1, 9), min_size=1).map(sorted),
            **common,
        },
    ),
    st.fixed_dictionaries(
        {"date": st.sampled_from([["month"], ["day", "year"], ["quarter", "half", "decade", "century"]])}, optional=common
    ),
)


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """A valid configuration of the lattice job."""
    called = draw(st.lists(names, min_size=2, max_size=6, unique_by=str.lower))
    columns: list[dict[str, Any]] = [{"name": called[0], "role": "quasi-identifier"}, {"name": called[1], "role": "sensitive"}]
    for name in called[2:]:
        columns.append(
            {"name": name, "role": draw(st.sampled_from(["quasi-identifier", "sensitive", "insensitive", "identifier"]))}
        )
    for column in columns:
        if column["role"] == "quasi-identifier":
            column["hierarchy"] = draw(hierarchies)
            optional = {"weight": numbers, "trim": st.booleans(), "min_level": st.just(0), "max_level": st.integers(0, 1)}
            column.update(draw(st.fixed_dictionaries({}, optional=optional)))
        if column["role"] == "sensitive":
            column.update(draw(st.fixed_dictionaries({}, optional={"nulls": st.sampled_from(["value", "ignore"])})))
    sensitive = st.sampled_from([column["name"] for column in columns if column["role"] == "sensitive"])
    values = st.lists(st.one_of(names, st.integers(-99, 99), st.booleans()), min_size=1, max_size=3)
    models = st.one_of(
        st.fixed_dictionaries({"model": st.just("k-anonymity"), "k": st.integers(1, 10**6)}),
        st.fixed_dictionaries(
            {"model": st.just("alpha-deassociation"), "alpha": shares, "column": sensitive},
            optional={"values": values, "refined": st.booleans()},
        ),
        st.fixed_dictionaries({"model": st.just("l-diversity"), "l": st.integers(1, 9), "column": sensitive}),
        st.fixed_dictionaries(
            {
                "model": st.just("l-diversity"),
                "l": numbers.filter(at_least_one),
                "column": sensitive,
                "kind": st.just("frequency"),
            }
        ),
    )
    optional = {
        "input": st.sampled_from(
            [{"format": "csv", "path": "in/a", "options": {"header": True, "n": 1}}, {"table": "t"}, {"query": "SELECT 1"}]
        ),
        "output": st.fixed_dictionaries({"path": st.just("out/a")}, optional={"mode": st.sampled_from(["error", "overwrite"])}),
        "report": st.just({"path": "out/r"}),
        "unlisted": st.sampled_from(["fail", "drop", "keep"]),
        "nulls": st.sampled_from(["value", "suppress", "fail"]),
        "suppression": st.fixed_dictionaries({"limit": below_one}, optional={"show": st.sampled_from(["drop", "star"])}),
        "loss": st.sampled_from(["gcp", "distortion", "glm", "discernibility"]),
        "seed": st.one_of(st.none(), st.integers(-(2**60), 2**60)),
        "settings": st.fixed_dictionaries({}, optional={"driver_megabytes": st.integers(0, 99), "staging": st.just("tmp")}),
    }
    privacy = draw(st.lists(models, min_size=1, max_size=3))
    return {"columns": columns, "privacy": privacy, **draw(st.fixed_dictionaries({}, optional=optional))}


def at_least_one(value: object) -> bool:
    number = exact(value)
    return number is not None and number >= 1


@settings(deadline=None, max_examples=80)
@given(configurations())
def test_a_valid_configuration_survives_being_kept(raw):
    before = copy.deepcopy(raw)
    policy = parse(raw)
    assert raw == before
    kept = as_dict(policy)
    assert parse(kept) == policy
    assert parse(json.loads(json.dumps(kept, allow_nan=False))) == policy
    assert Policy.from_dict(kept) == policy == pickle.loads(pickle.dumps(Policy(**raw)))
    assert dataclasses.replace(Policy(**raw), seed=policy.seed) == policy
    assert as_dict(parse(kept)) == kept


@settings(deadline=None, max_examples=25)
@given(configurations())
def test_yaml_and_code_say_the_same(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("law") / "job.yaml"
    plain = json.loads(json.dumps(raw, default=lambda number: format(number, "f")))
    path.write_text(yaml.safe_dump(plain), encoding="utf-8")
    assert Policy.from_yaml(path) == parse(raw)


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**5000),
    st.floats(),
    st.text(max_size=6),
    st.binary(max_size=3),
    st.just([]),
    st.just({}),
    st.just(object()),
    st.just(float),
    st.sampled_from(
        [Decimal("NaN"), Decimal("1e999999"), Fraction(1, 3), {1, 2}, "1/0", "lattice", "flat", "sensitive", "k-anonymity"]
    ),
    st.recursive(
        st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
        max_leaves=4,
    ),
)


def spots(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value of a configuration but the whole."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, inner in items for spot in [(*way, key), *spots(inner, (*way, key))]]


@settings(deadline=None, max_examples=150)
@given(configurations(), st.data())
def test_a_changed_configuration_is_read_or_refused_in_words(raw, data):
    raw = copy.deepcopy(raw)
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(spots(raw)))
        holder: Any = raw
        for step in way:
            holder = holder[step]
        change = data.draw(st.sampled_from(["value", "name", "gone"]))
        if change == "value" or isinstance(holder, list):
            holder[last] = copy.deepcopy(data.draw(odd))
        elif change == "name":
            holder[data.draw(st.one_of(st.text(max_size=5), st.integers(), st.none(), st.tuples(st.integers())))] = holder.pop(
                last
            )
        else:
            del holder[last]
        if not spots(raw):
            break
    try:
        policy = parse(raw)
    except ConfigurationError as error:
        assert error.faults and all(fault.found and "\n" not in str(fault) for fault in error.faults)
        assert len({(fault.key, fault.found) for fault in error.faults}) == len(error.faults)
    else:
        assert parse(as_dict(policy)) == policy


SOUND = "columns:\n- {name: q, role: quasi-identifier, hierarchy: flat}\nprivacy:\n- {model: k-anonymity, k: 2}\n"


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=40), st.integers(0, len(SOUND)), st.integers(0, 12))
def test_any_bytes_are_read_or_refused_in_words(tmp_path_factory, held, at, cut):
    path: Path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(SOUND[:at].encode() + held + SOUND[at + cut :].encode())
    try:
        load(path)
    except ConfigurationError as error:
        assert all(str(fault).startswith(str(path)) for fault in error.faults)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.builds(
                "{}={}".format,
                st.sampled_from(["privacy.0.k", "columns.q.weight", "columns", "seed", "a.b"]),
                st.text(max_size=8),
            ),
        ),
        max_size=3,
    )
)
def test_any_override_is_taken_or_refused_in_words(tmp_path_factory, sets):
    path: Path = tmp_path_factory.getbasetemp() / "sound.yaml"
    path.write_text(SOUND)
    try:
        load(path, sets)
    except ConfigurationError as error:
        assert error.faults


@given(st.fractions())
def test_fractions_print_and_read_back_exactly(number):
    assert exact(decimal(number)) == number


@pytest.mark.parametrize("number", [Fraction(1, 7), Fraction(1, 2**40), Fraction(10**30, 3), Fraction(123456789, 10**12)])
def test_numbers_that_floats_do_not_hold(number):
    assert exact(decimal(number)) == number
