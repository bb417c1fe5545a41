"""Names of the columns of the lines that travel through blocks: a line is a part of a cell."""

from __future__ import annotations

from anon_spark.plans.columns import HELPER

BLOCK = HELPER + "block"
"""int: where the line goes."""
ROWS = HELPER + "n"
"""long: rows of the whole cell."""
HELD = HELPER + "held"
"""long: rows of this part."""
GROUP = HELPER + "group"
"""long: the group of this part, block times 2**32 and a number."""
BROKEN = HELPER + "broken"
"""boolean: whether the group still breaks a model."""
COMBINATIONS = HELPER + "combinations"
"""int: how many the block holds, on one of its lines; 0 on all others."""


def code_names(columns: int) -> list[str]:
    """int: leaf codes of the quasi-identifiers."""
    return [f"{HELPER}g{i}" for i in range(columns)]


def value_names(columns: int) -> list[str]:
    """int: numbers of the sensitive values."""
    return [f"{HELPER}v{j}" for j in range(columns)]


def word_names(words: int) -> list[str]:
    """long: the numbers of a row's texts, several side by side in each."""
    return [f"{HELPER}w{i}" for i in range(words)]


KEY = HELPER + "key"
"""long: block times 2**32 and the leading bits of the row's numbers: what rows are sorted by on their way to a block."""
MEMBERS = HELPER + "members"
"""array of structs, or of longs: the rows of a group, or the groups of a class."""
SIZES = HELPER + "sizes"
"""array of structs of two longs: rows of a raw combination, and how many combinations of the block have so many."""

FROM, TO, DEALT = HELPER + "from", HELPER + "to", HELPER + "dealt"
"""long, long, boolean: rows numbered from <= rank < to of a raw cell; whether the cell has several parts."""
SIZE = HELPER + "size"
"""long: rows of a group."""


def low_names(columns: int) -> list[str]:
    """int: smallest leaf codes of a group."""
    return [f"{HELPER}lo{i}" for i in range(columns)]


def high_names(columns: int) -> list[str]:
    """int: largest leaf codes of a group."""
    return [f"{HELPER}hi{i}" for i in range(columns)]


def box_names(columns: int) -> list[str]:
    """int: smallest, then largest leaf codes of a group, on lines that hold what it prints as well: that may bear the names above."""
    return [f"{name}_code" for name in (*low_names(columns), *high_names(columns))]


def look_names(columns: int) -> list[str]:
    """long: equal where two groups print alike."""
    return [f"{HELPER}look{i}" for i in range(columns)]
