"""What local recoding of UCI Adult loses at most, age as a number, nothing suppressed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from adult import adult

from anon_spark.algorithms.local_recoding import decide_local


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize(("k", "most"), [(5, 0.0225), (10, 0.0370), (50, 0.0885), (100, 0.1215)])
def test_adult(shared: Path, k: int, most: float) -> None:
    rows, problem, frequency = adult(shared, k)
    found = decide_local(problem, frequency)
    assert found.size.min() >= k and found.size.sum() == len(rows) == found.held.sum()
    assert np.array_equal(np.bincount(found.cell, found.held), frequency.count)
    assert float(found.loss) <= most
