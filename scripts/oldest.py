"""Prints pip's constraints for the oldest releases that setup.cfg allows, on PySpark 3.5; scripts/parity runs its tests with them.

usage: python scripts/oldest.py CONSTRAINTS: what the oldest releases do not touch is taken from this file.
"""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path

LAST = (3, 11)
"""The last Python that packages of all the oldest releases were built for; later ones keep the usual versions, but PySpark's."""
EXTRAS = ("spark", "postgresql", "compiled", "plots", "utility")
THEIRS = ("contourpy", "grimp", "import-linter", "llvmlite", "py4j", "pydantic-core", "scipy", "scramp")
"""What goes with releases of others: pip chooses what fits them."""


def floors(setup: Path) -> dict[str, str]:
    """Package -> the first two numbers of the oldest release that setup.cfg allows."""
    config = configparser.ConfigParser()
    config.read_string(setup.read_text(encoding="utf-8"))
    extras = config["options.extras_require"]
    lines = "\n".join([config["options"]["install_requires"], *(extras[name] for name in EXTRAS)]).splitlines()
    found = (re.fullmatch(r"([A-Za-z0-9_-]+)>=(\d+(?:\.\d+)?)[0-9.]*(?:,.*)?", line.strip()) for line in lines)
    return {match[1].lower(): match[2] if "." in match[2] else f"{match[2]}.0" for match in found if match}


def main(pins: Path) -> None:
    """Print the constraints."""
    oldest = floors(Path(__file__).resolve().parents[1] / "setup.cfg")
    kept = {"pyspark", "py4j"}
    if sys.version_info[:2] <= LAST:
        kept = {*oldest, *THEIRS}
    else:
        oldest = {"pyspark": oldest["pyspark"]}
    for line in pins.read_text(encoding="utf-8").splitlines():
        if line.partition("==")[0] not in kept:
            print(line)
    for name, version in oldest.items():
        print(f"{name}=={version}.*")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
