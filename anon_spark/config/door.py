"""The public ``Policy``: a validated, frozen configuration, from YAML, from a mapping, or built in code with the same names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from typing import Any

from anon_spark.config.dump import dumped
from anon_spark.config.load import load, parse
from anon_spark.config.mask import masked
from anon_spark.config.shown import policy_html
from anon_spark.domain import policy as domain


class Policy(domain.Policy):
    """A job configuration: ``Policy(job="lattice", columns=[{...}], privacy=[{...}], ...)`` with the names of the YAML file.

    Raises ConfigurationError with every fault. Equal to any policy that asks for the same, wherever it was read.

    >>> policy = Policy(
    ...     columns=[{"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"}],
    ...     privacy=[{"model": "k-anonymity", "k": 2}],
    ... )
    >>> policy.privacy[0].parameters
    {'k': 2}
    """

    __signature__ = inspect.Signature(
        [inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None) for field in fields(domain.Policy)]
    )

    def __init__(self, **keys: Any) -> None:
        where = str(keys.pop("where", None) or "policy")
        if isinstance(keys.get("report"), str):
            # dataclasses.replace passes the field as it is kept
            keys["report"] = {"path": keys["report"]}
        _adopt(self, parse(keys, where))

    @classmethod
    def from_yaml(cls, path: str | PathLike[str], *sets: str) -> Policy:
        """Read a YAML file; ``sets`` override keys as ``--set`` does: ``Policy.from_yaml("conf/a.yaml", "privacy.0.k=25")``."""
        return cls._of(load(path, sets))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Policy:
        """Read a mapping with the names of the YAML file, such as ``to_dict`` gives."""
        return cls._of(parse(mapping))

    @classmethod
    def _of(cls, policy: domain.Policy) -> Policy:
        return _adopt(cls.__new__(cls), policy)

    def to_dict(self) -> dict[str, Any]:
        """The mapping that gives an equal policy, defaults filled in: JSON's kinds alone, fractions exact, credentials masked."""
        return as_dict(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, domain.Policy):
            return NotImplemented
        names = [field.name for field in fields(domain.Policy) if field.name != "where"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    # mappings of options and parameters have no hash
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items() if value is not None)
        return f"Policy({given})"

    def _repr_html_(self) -> str:
        return policy_html(self.to_dict())


def as_dict(policy: domain.Policy) -> dict[str, Any]:
    """What ``Policy.to_dict`` gives, for any policy: what a report keeps of it."""
    made = dumped(policy)
    return masked(made) if isinstance(made, dict) else {}


def _adopt(door: Policy, policy: domain.Policy) -> Policy:
    for field in fields(domain.Policy):
        object.__setattr__(door, field.name, getattr(policy, field.name))
    return door
