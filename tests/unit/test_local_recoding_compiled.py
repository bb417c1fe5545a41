"""The compiled loops and the same source uncompiled find the same groups."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SCRIPT = """
from hierarchies import bind, flat, hierarchy, model
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.kernels.compiled import IS_COMPILED

tree = hierarchy("tree", [(x, "ab" if x in "ab" else "rest", "*") for x in "abcdef"])
places = {str(v): v for v in range(20)}
rows = [("abcdef"[i * i % 7 % 6], str(i * 13 % 20), "xyz"[i % 3], "st"[i * i % 5 % 2]) for i in range(60)]
models = [model("k-anonymity", k=3), model("l-diversity", "s", l=2, kind="distinct")]
trees = [tree, hierarchy("line", [(v, "*") for v in places], places), flat("flat", "xyz")]
problem, frequency = bind(rows, trees, models, ["s"])
for block in (None, 10):
    found = decide_local(problem, frequency, block)
    print(found.loss, found.cell.tolist(), found.group.tolist(), found.held.tolist(), found.low.tolist(), found.high.tolist())
import sys
print(IS_COMPILED, file=sys.stderr)
"""


def run(disabled: str) -> tuple[str, str]:
    places = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": places},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Warning" not in done.stderr
    return done.stdout, done.stderr.split()[-1]


def test_compiled_and_uncompiled_agree() -> None:
    compiled, uncompiled = run("0"), run("1")
    assert uncompiled[1] == "False" and compiled[0] == uncompiled[0] and compiled[0].count("\n") == 2
