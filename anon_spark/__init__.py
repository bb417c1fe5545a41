"""anon-spark: anonymizes tables about people where they live, on Spark.

>>> from anon_spark import Policy, anonymize  # doctest: +SKIP
>>> release = anonymize(table, Policy.from_yaml("conf/adult.yaml"))  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anon_spark.config.door import Policy
    from anon_spark.job.release import Release
    from anon_spark.job.run import anonymize

_HOME = {"Policy": "anon_spark.config.door", "Release": "anon_spark.job.release", "anonymize": "anon_spark.job.run"}
__all__ = ["Policy", "Release", "anonymize"]


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are asked for: importing a kernel on a worker loads neither YAML nor Spark."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
