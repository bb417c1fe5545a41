"""Confidence bounding (Wang, Fung & Yu 2005; METHODS 1.14): a template <given -> value, h>."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anon_spark.models.alpha_deassociation import AlphaDeassociation


@dataclass(frozen=True)
class ConfidenceBound(AlphaDeassociation):
    """The value has at most h of the rows of every class of the columns ``given``.

    Of full classes it is alpha-deassociation of one value. Where ``given`` are some of the quasi-identifiers, a lattice job asks it of
    the classes that these alone make (``algorithms.templates``); a local job asks it of every full class, which is more.
    """

    given: tuple[str, ...] = ()
    name: ClassVar[str] = "confidence-bound"
    symbol: ClassVar[str] = "h"
