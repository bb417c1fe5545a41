"""The utility measures of a report as lines for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anon_spark.domain.counting import counted
from anon_spark.report import words
from anon_spark.report.plain import plain

Line = tuple[str, str, str]
"""What is measured, its figure, what it means."""
MEANING = {
    "classification_metric": (
        "class label",
        "rows whose class label is not the commonest of their class, or that are suppressed",
        words.share,
    ),
    "kl_divergence": (
        "KL divergence",
        "nats between the raw distribution and the one rebuilt from the release: 0 is the same",
        words.figure,
    ),
    "kl_divergence_pairs": ("KL divergence of two columns", "the same of each two columns, on average", words.figure),
}


def utility_lines(utility: Mapping[str, object] | None) -> list[Line]:
    """Known measures in words, others as they are; what was not measured is left out."""
    lines: list[Line] = []
    for name, value in (utility or {}).items():
        if value is None:
            continue
        if name in MEANING:
            title, meaning, show = MEANING[name]
            lines.append((title, show(value), meaning))
        elif name == "query_error" and isinstance(value, Mapping):
            lines += _queries(value)
        elif name == "classifier" and isinstance(value, Mapping):
            lines += _classifier(value)
        else:
            lines.append((name, value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False), ""))
    return lines


def _classifier(found: Mapping[str, Any]) -> list[Line]:
    told = found["accuracy"]
    meaning = (
        f"raw rows whose class label a {found['model']} tells right that learnt from the release; from the raw table "
        f"{words.share(told['raw'])}, by always naming the commonest {words.share(told['majority'])}"
    )
    return [("classifier", words.share(told["released"]), meaning)]


def _queries(found: Mapping[str, Any]) -> list[Line]:
    kinds = plain(found.get("kinds"))
    return [
        (
            f"counts over {counted(kind['columns'], 'column')}, {words.share(kind['selectivity'])} of the domain",
            words.share(kind["mean"]),
            f"mean relative error of {words.count(found.get('queries'))} random range counts; median {words.share(kind['median'])}",
        )
        for kind in (kinds if isinstance(kinds, Sequence) else ())
    ]
