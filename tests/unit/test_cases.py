"""The table of cases is true: every case is there, and every test it names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cases import CASES

TESTS = Path(__file__).resolve().parents[1]


def test_every_case_is_there() -> None:
    assert list(CASES) == [f"C{number:02}" for number in range(1, 24)]
    assert all(about and tests and len(set(tests)) == len(tests) for about, tests in CASES.values())


@pytest.mark.parametrize("case", CASES)
def test_every_test_of_a_case_is_there(case: str) -> None:
    for name in CASES[case][1]:
        file, _, function = name.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert function.startswith("test_")
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
