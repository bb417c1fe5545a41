"""Names of tables as Spark writes them: their parts, and the one spelling in which no part can be anything but a name."""

from __future__ import annotations

import re

_PART = r"`(?:[^`]|``)+`|[^`.\s;]+"
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


def parts_of(name: str) -> tuple[str, ...] | None:
    """The parts of ``a.b`` or ``a.`b c```, quotes taken off; None for what is no name."""
    if not _NAME.fullmatch(name.strip()):
        return None
    found = re.findall(_PART, name.strip())
    return tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in found)


def quoted(*parts: str) -> str:
    """A name in backticks, part by part."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)
