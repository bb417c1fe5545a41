"""Ragged trees aligned at the root, so that two leaves meet at one level (METHODS 0: the lowest common ancestor)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import lcm

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy, LevelCost
from anon_spark.domain.policy import ROOT


def aligned(hierarchy: Hierarchy) -> Hierarchy:
    """The same tree with short lines padded by their leaf, not by the root; itself where no line is short.

    As files are read, lines align at the leaf: ``e;cde;*`` has cde at level 1, ``c;cd;cde;*`` at level 2, and no level says that
    both lie under cde. Here every node stands at one level, so the smallest node over leaves a <= b, which holds all leaves between
    them, is that of the first level at which a and b have the same node. Costs are those of the nodes, as before.
    """
    top, leaves = hierarchy.levels - 1, np.arange(len(hierarchy.leaves))
    first = np.full(len(leaves), top)
    for level in range(top - 1, 0, -1):
        roots = np.array([label == ROOT for label in hierarchy.labels[level]])
        first[roots[hierarchy.nodes[level]]] = level
    if (first == top).all():
        return hierarchy
    old = [np.maximum(level - (top - first), 0) for level in range(top + 1)]
    number: dict[str | None, int] = {}
    ids = [np.array([number.setdefault(label, len(number)) for label in labels]) for labels in hierarchy.labels[1:]]
    # a leaf is a node of its own, whatever it is called; a label of inner nodes stands for one node
    keys = np.stack([leaves - len(leaves), *(own[node] for own, node in zip(ids, hierarchy.nodes[1:], strict=True))])
    texts = [*hierarchy.leaves, *number]
    nodes, labels = [], []
    for at in old:
        key = keys[at, leaves]
        found, place, node = np.unique(key, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(place))
        numbered = rank[node.ravel()].astype(np.int32)
        numbered.setflags(write=False)
        nodes.append(numbered)
        labels.append(tuple(texts[int(found[i]) + len(leaves)] for i in np.argsort(place)))
    ncp, glm, height = (_moved(costs, old) for costs in (hierarchy.ncp, hierarchy.glm, hierarchy.height))
    return replace(hierarchy, nodes=tuple(nodes), labels=tuple(labels), ncp=ncp, glm=glm, height=height)


def _moved(costs: Sequence[LevelCost], old: Sequence[np.ndarray]) -> tuple[LevelCost, ...]:
    """Each leaf's costs at the levels where its nodes stand now, over one denominator."""
    whole = lcm(*(cost.denominator for cost in costs))
    scaled = [[n * (whole // cost.denominator) for n in cost.numerators] for cost in costs]
    return tuple(LevelCost(tuple(scaled[level][leaf] for leaf, level in enumerate(at.tolist())), whole) for at in old)
