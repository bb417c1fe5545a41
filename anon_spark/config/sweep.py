"""Which ``--set`` names several values: ``privacy.0.k=2,5,10,25``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anon_spark.domain.errors import ConfigurationError, Fault

MOST_VALUES = 50


@dataclass(frozen=True)
class Sweep:
    """One key and its values as they were written; others: the overrides that all have in common."""

    key: str
    values: tuple[str, ...]
    others: tuple[str, ...]

    def sets(self, value: str) -> list[str]:
        """The overrides of one value, the swept one where it was last."""
        return [*self.others, f"{self.key}={value}"]


def sweep(sets: Sequence[str], where: str) -> Sweep:
    """The one override whose value is a list of words with commas between them; a list in brackets, or in quotes, is one value.

    Raises ConfigurationError where there is none, or more than one, or too many values.
    """
    several = [text for text in sets if _is_several(text)]
    if len(several) != 1:
        found = f"{len(several)} keys with several values" if several else "no key with several values"
        fault = Fault(where, "--set", found, "exactly one", "such as --set privacy.0.k=2,5,10,25")
        raise ConfigurationError([fault])
    key, _, text = several[0].partition("=")
    values = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if "" in values or len(values) > MOST_VALUES:
        found = "an empty value" if "" in values else f"{len(values)} values"
        raise ConfigurationError([Fault(where, f"--set {key.strip()}", found, f"2 to {MOST_VALUES} values with commas between them")])
    if key.strip().split(".")[0] in ("input", "output", "report"):
        raise ConfigurationError([Fault(where, f"--set {key.strip()}", "several values", "a key of what is decided", "run each of them")])
    return Sweep(key.strip(), values, tuple(text for text in sets if text is not several[0]))


def _is_several(text: str) -> bool:
    _, _, value = text.partition("=")
    return "," in value and not value.strip().startswith(("[", "{", '"', "'"))
