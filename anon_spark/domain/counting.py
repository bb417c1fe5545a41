"""How many of what, in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """1 row, 32,561 rows; many: the plural where it is not ``one`` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
