"""How many of what, and which, in words."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str | None = None) -> str:
    """1 row, 32,561 rows; many: the plural where it is not ``one`` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some_of(names: Sequence[str], most: int = 20) -> str:
    """'a', 'b' and 3 more."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
