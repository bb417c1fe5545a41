"""Settings of sessions whose tables have some rows: what it costs to run small plans."""

from __future__ import annotations

QUICK = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Plans interpreted, not compiled: with tables of some rows the compiler takes most of the time."""
SMALL = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    **QUICK,
}
"""Of a session in a process of its own."""
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What is run in a session of tests pays neither Java's second compiler nor threads that collect garbage."""


def submit_arguments(settings: dict[str, str]) -> str:
    """PYSPARK_SUBMIT_ARGS that start a session with these settings."""
    return " ".join([*(f"--conf {key}={value}" for key, value in settings.items()), "pyspark-shell"])
