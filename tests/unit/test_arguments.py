"""What ``anonymize`` is given in code, without Spark: one clear line for what is no table or no policy."""

from __future__ import annotations

import pandas as pd
import pytest
from local_files import Remote

from anon_spark import Policy, anonymize
from anon_spark.domain.errors import ConfigurationError, PlatformError
from anon_spark.job.arguments import refuse_stream, refuse_unusable

POLICY = Policy(
    columns=[{"name": "a", "role": "quasi-identifier", "hierarchy": "flat"}], privacy=[{"model": "k-anonymity", "k": 2}]
)


class DataFrame:
    """What is asked of a table of Spark before it is read."""

    def __init__(self, streams: bool = False):
        self.isStreaming = streams
        self.schema = None


DataFrame.__module__ = "pyspark.sql.connect.dataframe"


@pytest.mark.parametrize(
    ("table", "policy", "lines"),
    [
        ("in", POLICY, ["anonymize: table: found str; expected a DataFrame of Spark"]),
        (None, POLICY, ["anonymize: table: found None; expected a DataFrame of Spark"]),
        (pd.DataFrame({"a": [1]}), POLICY, ["DataFrame; expected a DataFrame of Spark; spark.createDataFrame"]),
        (DataFrame(), "x.yaml", ["anonymize: policy: found str; expected a Policy; Policy.from_yaml(path) reads a file"]),
        (DataFrame(), None, ["anonymize: policy: found None; expected a Policy"]),
        (DataFrame(), {"job": "lattice"}, ["anonymize: policy: found dict; expected a Policy; Policy.from_yaml or Policy.from_dict"]),
        ("in", "x.yaml", ["table: found str", "policy: found str"]),
    ],
)
def test_what_is_no_table_or_no_policy(table: object, policy: object, lines: list[str]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        anonymize(table, policy)  # type: ignore[arg-type]
    told = str(refused.value).splitlines()
    assert len(told) == len(lines) and all(text in line for text, line in zip(lines, told, strict=True)), told


def test_a_stream_is_refused_and_a_table_is_not() -> None:
    refuse_stream(DataFrame(), "job.yaml")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^job\.yaml: table: found a streaming DataFrame; expected rows"):
        refuse_stream(DataFrame(streams=True), "job.yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [AttributeError("'NoneType' object has no attribute 'sc'"), ValueError("closed channel")])
def test_a_stopped_session_is_the_platforms(error: Exception) -> None:
    class Stopped(Remote):
        def range(self, end: int) -> None:
            raise error

    with pytest.raises(PlatformError, match=r"^job\.yaml: session: Spark answers no more; is it stopped\?"):
        refuse_unusable(Stopped(), "job.yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize("found", ["false", "FALSE"])
def test_a_session_whose_aggregates_lack_their_keys_is_refused(found: str) -> None:
    class Session(Remote):
        class conf:
            @staticmethod
            def get(name: str, default: str) -> str:
                return found if name == "spark.sql.retainGroupColumns" else default

        def range(self, end: int) -> DataFrame:
            return DataFrame()

    with pytest.raises(ConfigurationError, match=r"^job\.yaml: session: found spark\.sql\.retainGroupColumns = false; expected true"):
        refuse_unusable(Session(), "job.yaml")  # type: ignore[arg-type]
