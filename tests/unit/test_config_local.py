"""What the configuration of a local recoding may say, and what has no meaning there."""

from __future__ import annotations

from typing import Any

import pytest

from anon_spark import Policy
from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError


def config(job: str = "top-down", quasi: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "job": job,
        "columns": [{"name": "x", "role": "quasi-identifier", **(quasi or {})}],
        "privacy": [{"model": "k-anonymity", "k": 2}],
        **more,
    }


def faults(raw: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ConfigurationError) as caught:
        parse(raw)
    return [(fault.key, fault.found) for fault in caught.value.faults]


@pytest.mark.parametrize("quasi", [{}, {"type": "integer"}, {"type": "date"}, {"type": "timestamp"}, {"hierarchy": "flat"}])
@pytest.mark.parametrize("bounds", ["tight", "intervals"])
def test_numbers_and_dates_need_no_hierarchy(quasi: dict, bounds: str) -> None:
    policy = parse(config(quasi=quasi, bounds=bounds, numeric="bounds", settings={"block_combinations": 500}, seed=7))
    assert policy.job == "top-down" and policy.bounds == bounds and policy.settings.block_combinations == 500
    assert Policy.from_dict(Policy.from_dict(config(quasi=quasi)).to_dict()).job == "top-down"


@pytest.mark.parametrize("type_", ["string", "boolean"])
def test_text_and_truth_need_one(type_: str) -> None:
    assert faults(config(quasi={"type": type_})) == [("columns.0.hierarchy", f"nothing, on type {type_}")]


def test_the_lattice_needs_one_of_every_column() -> None:
    assert faults(config("lattice", quasi={"type": "integer"})) == [("columns.0.hierarchy", "nothing")]


def test_levels_and_other_losses_have_no_meaning() -> None:
    raw = config(quasi={"hierarchy": "flat", "min_level": 1, "max_level": 1}, loss="distortion")
    assert [key for key, _ in faults(raw)] == ["columns.0.min_level", "columns.0.max_level", "loss"]
    assert parse(config(loss="gcp")).loss == "gcp"


def test_bounds_have_no_meaning_in_a_lattice() -> None:
    assert faults(config("lattice", quasi={"hierarchy": "flat"}, bounds="intervals")) == [("bounds", "'intervals' in job lattice")]
    assert parse(config("lattice", quasi={"hierarchy": "flat"}, bounds="tight")).bounds == "tight"


@pytest.mark.parametrize("blocks", [0, "many", 1.5])
def test_block_sizes_are_counts_or_auto(blocks: object) -> None:
    assert [key for key, _ in faults(config(settings={"block_combinations": blocks}))] == ["settings.block_combinations"]
