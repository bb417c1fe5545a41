"""Where loops are not compiled, whoever waits is told why."""

import pytest

from anon_spark.job import cautions


@pytest.mark.parametrize(("compiled", "combinations", "told"), [(False, 501, 1), (False, 500, 0), (True, 10**7, 0)])
def test_many_combinations_without_numba(monkeypatch: pytest.MonkeyPatch, compiled: bool, combinations: int, told: int) -> None:
    monkeypatch.setattr(cautions, "IS_COMPILED", compiled)
    found = cautions.uncompiled(combinations)
    assert len(found) == told
    assert all("501 combinations" in line and "pip install 'anon-spark[compiled]'" in line for line in found)
