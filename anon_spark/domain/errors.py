"""Every error that the product raises on purpose, one root, each with the exit code that users rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


class AnonError(Exception):
    """Root of all deliberate errors. ``str(error)`` is fit to print: it never holds a row or a raw value that was not asked for."""

    exit_code: ClassVar[int] = 1


class InternalError(AnonError):
    """A broken invariant: our own fault, never the user's."""

    exit_code = 1


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a configuration or with the data it names.

    where: file and, where there is one, the place in it ("conf/adult.yaml"); key: dotted key or column ("privacy.0.alpha");
    found, expected: in words; advice: what to do, the nearest valid name included. Empty parts are left out when printed.
    """

    where: str
    key: str
    found: str
    expected: str = ""
    advice: str = ""

    def __str__(self) -> str:
        # an override of the command line names the key itself
        key = "" if self.where.endswith(f" {self.key}") else self.key
        text = ": ".join(part for part in (self.where, key, f"found {self.found}" if self.found else "") if part)
        if self.expected:
            text += f"; expected {self.expected}"
        if self.advice:
            text += f"; {self.advice}"
        return " ".join(text.split("\n"))


class FaultsError(AnonError):
    """An error made of faults, all of them at once, a line each."""

    def __init__(self, faults: Iterable[Fault]):
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ConfigurationError(FaultsError):
    """The configuration, or what it says of the input's columns, is wrong. Nothing was read or written."""

    exit_code = 2


class OccupiedError(ConfigurationError):
    """The output exists, and the policy does not overwrite: a run is refused, while a dry run only says so."""


class DataError(FaultsError):
    """The data does not fit what the configuration says of it. Nothing was written."""

    exit_code = 3


class InfeasibleError(AnonError):
    """It is proven that no release can hold what was asked."""

    exit_code = 4


class AuditError(AnonError):
    """The independent audit refused the staged release. It was not published."""

    exit_code = 5


class NoneFoundError(AnonError):
    """This job found no release that holds what was asked; a heuristic proves nothing."""

    exit_code = 6


class PlatformError(AnonError):
    """Spark, Java, a disk or a network failed; a retry may help."""

    exit_code = 7


class OutputHeldError(AnonError):
    """Another run holds this output."""

    exit_code = 8
