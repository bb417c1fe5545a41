"""How many rows of a sample are unique in the population that it was drawn from: the estimator of Zayatz (1991)."""

from __future__ import annotations

from collections.abc import Mapping

ESTIMATOR = "Zayatz 1991"
NOTHING = 1e-18
"""A product of chances that adds nothing any more."""


def population_uniques(sizes: Mapping[int, int], population: int) -> float:
    """Estimated share of the rows that are unique in a population of ``population`` persons, in [0, share unique in the table].

    sizes: class size -> how many of the table's classes have it; the table is a simple random sample without replacement of
    n <= population rows. L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample",
    US Bureau of the Census, SRD report 91/08: the share of population classes of size j is taken to be that of the sample's; a class
    of j then shows as a sample unique with the hypergeometric chance H(j) of 1 row in n of N, so a sample unique is a population
    unique with the chance H(1) S_1 / sum_j H(j) S_j. Closed form, never outside its bounds, exact where the table is the population;
    too high for small samples, where the sample's classes are smaller than the population's.
    """
    rows = sum(size * classes for size, classes in sizes.items())
    single = sizes.get(1, 0)
    if not single:
        return 0.0
    weight = sum(classes * ratio for classes, ratio in zip(*_by_size(sizes, rows, population), strict=True))
    return single / rows * (single / weight)


def _by_size(sizes: Mapping[int, int], rows: int, population: int) -> tuple[list[int], list[float]]:
    """Classes of each size in ascending order, and H(j) / H(1) = j * prod_{i < j} (N - n - i + 1) / (N - i), until that is nothing."""
    classes, ratios, chance, at = [], [], 1.0, 1
    for size in sorted(sizes):
        while at < size and chance > NOTHING:
            chance *= max(population - rows - at + 1, 0) / (population - at)
            at += 1
        if chance <= NOTHING:
            break
        classes.append(sizes[size])
        ratios.append(size * chance)
    return classes, ratios
