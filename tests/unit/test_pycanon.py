"""Agreement with pycanon (Sainz-Pardo & Lopez 2022) on random releases, where it is installed: with --no-deps, for it pins versions of
NumPy and others that are not ours, so that it is no dependency of the tests.

What it calls a release's t, beta, delta and l is the tightest that holds there: ours holds at it and not just beyond. Its l by entropy is
cut to a whole number after rounding, so that a uniform class of l values may have l - 1: there it is wrong.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import brute
import numpy as np
import pytest
from hierarchies import model
from test_histogram_models import Asked, Known, S, build, verdicts

anonymity = pytest.importorskip("pycanon.anonymity")
pd = pytest.importorskip("pandas")
HAIR = Fraction(1, 10**9)


@pytest.mark.parametrize("seed", range(12))
def test_what_pycanon_finds_is_the_tightest_that_holds(seed: int) -> None:
    rng = random.Random(seed)
    numbers = seed % 2 == 0
    rows = [(str(rng.randint(0, 4)), rng.choice([10, 20, 20, 30, 30, 30, 70])) for _ in range(60)]
    values = [(q, v if numbers else f"v{v}") for q, v in rows]
    frame = pd.DataFrame(values, columns=["q", S])
    table = Counter(str(v) for _, v in values)
    classes = [Counter(str(v) for q, v in values if q == one) for one in sorted({q for q, _ in values})]
    texts = tuple(sorted(table))
    known = Known(S, texts, np.array([table[v] for v in texts]), len(rows), np.arange(len(texts)))

    def hold(**given: object) -> bool:
        name = str(given.pop("name"))
        return all(verdicts(build(Asked(model(name, S, **given), {S: known})), table, classes))

    t = Fraction(float(anonymity.t_closeness(frame, ["q"], [S])))
    distance = "ordered" if numbers else "equal"
    assert hold(name="t-closeness", t=t + HAIR, distance=distance) and not hold(name="t-closeness", t=t - HAIR, distance=distance)
    beta = Fraction(float(anonymity.basic_beta_likeness(frame, ["q"], [S])))
    assert hold(name="beta-likeness", beta=beta + HAIR, kind="basic") and not hold(name="beta-likeness", beta=beta - HAIR, kind="basic")
    delta = Fraction(float(anonymity.delta_disclosure(frame, ["q"], [S])))
    assert hold(name="delta-disclosure", delta=delta + HAIR) and not hold(name="delta-disclosure", delta=delta - HAIR)
    entropy = int(anonymity.entropy_l_diversity(frame, ["q"], [S]))
    assert hold(name="l-diversity", kind="entropy", l=Fraction(entropy))
    least = min(map(brute.effective, classes))
    assert hold(name="l-diversity", kind="entropy", l=Fraction(entropy + 1)) == (least > entropy + 1 - 1e-9)
    assert least < entropy + 1 + 1e-9
