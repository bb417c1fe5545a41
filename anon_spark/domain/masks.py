"""Masking characters from one side (METHODS 0): the lowest common ancestor of two values is their longest common part."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from anon_spark.domain.errors import Fault
from anon_spark.domain.ladder import Rung, runs
from anon_spark.domain.policy import ROOT, MaskHierarchy

_CHARACTERS = 1 << 22
"""Characters compared at once."""


def mask_faults(spec: MaskHierarchy, where: str, key: str) -> list[Fault]:
    """Everything wrong with the character and the steps."""
    faults = []
    if len(spec.character) != 1:
        faults.append(Fault(where, f"{key}.character", repr(spec.character), "a single character"))
    steps = spec.steps
    if steps is not None and (not steps or steps[0] < 1 or any(b <= a for a, b in pairwise(steps))):
        expected = "characters masked at each level, above 0 and ascending"
        faults.append(Fault(where, f"{key}.steps", f"[{', '.join(map(str, steps))}]", expected))
    return faults


def mask_rungs(spec: MaskHierarchy, texts: list[str]) -> tuple[list[str], tuple[Rung, ...]]:
    """The distinct texts in code order, and levels 1 and up without the root.

    Values shorter than the longest are padded on the masked side with the mask character, from level 1 on. A level that masks the
    longest value whole prints the root.
    """
    turn = slice(None, None, -1 if spec.side == "left" else 1)
    length = max(map(len, texts), default=0)
    pairs = sorted((text[turn].ljust(length, spec.character), text) for text in texts)
    padded = [whole for whole, _ in pairs]
    shared = _shared(padded, length)
    rungs = []
    for step in range(1, length) if spec.steps is None else spec.steps:
        kept = max(length - step, 0)
        nodes, first = runs(np.cumsum(shared < kept))
        labels = tuple((padded[i][:kept] + spec.character * step)[turn] for i in first) if kept else (ROOT,)
        rungs.append(Rung(nodes, labels))
    return [text for _, text in pairs], tuple(rungs)


def _shared(padded: list[str], length: int) -> np.ndarray:
    """(m,) leading characters that each text shares with the one before it; the first shares all of them."""
    shared = np.full(len(padded), length, np.int64)
    size = max(1, _CHARACTERS // max(length, 1))
    for start in range(1, len(padded) if length else 0, size):
        block = np.array(padded[start - 1 : start + size], dtype=f"U{length}").view(np.uint32).reshape(-1, length)
        differs = block[1:] != block[:-1]
        shared[start : start + len(differs)] = np.where(differs.any(axis=1), differs.argmax(axis=1), length)
    return shared
