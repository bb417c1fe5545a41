"""A policy as a notebook shows it: what is asked of which column, in the names of the YAML file. No credentials, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

TABLE = "border-collapse:collapse;margin:.4em 0;font-family:system-ui,sans-serif;line-height:1.45"
CELL = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0"
HEAD = f"{CELL};opacity:.7;font-weight:600"
HEADS = "".join(f'<th scope="col" style="{HEAD}">{name}</th>' for name in ("column", "role", "how"))
MOST_COLUMNS = 100


def policy_html(made: Mapping[str, Any]) -> str:
    """HTML for ``_repr_html_``.  made: what ``Policy.to_dict`` gives."""
    columns = [column for column in made.get("columns") or () if isinstance(column, Mapping)]
    rows = [_row([str(c.get("name")), str(c.get("role")), _words(_rest(c))]) for c in columns[:MOST_COLUMNS]]
    if len(columns) > MOST_COLUMNS:
        rows.append(_row([f"and {len(columns) - MOST_COLUMNS} more", "", ""]))
    facts = {key: value for key, value in made.items() if key not in ("columns", "privacy", "job") and value is not None}
    models = [_words({key: value for key, value in model.items() if value is not None}) for model in made.get("privacy") or ()]
    asked = [_row(["privacy" if i == 0 else "", told]) for i, told in enumerate(models)]
    others = [_row([key, _words(value)]) for key, value in facts.items()]
    return (
        f'<div class="anon-spark-policy"><p style="margin:.2em 0"><strong>Policy: job {escape(str(made.get("job")))}</strong></p>'
        f'<table style="{TABLE}"><thead><tr>{HEADS}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
        f'<table style="{TABLE}"><tbody>{"".join(asked + others)}</tbody></table></div>'
    )


def _rest(column: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key not in ("name", "role") and value is not None}


def _row(cells: list[str]) -> str:
    return "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in cells) + "</tr>"


def _words(value: object) -> str:
    """Mappings as ``key = value``, lists with commas between."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_inner(entry)}" for key, entry in value.items() if entry is not None)
    return _inner(value)


def _inner(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_words(value)})"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_inner(entry) for entry in value) + "]"
    return "yes" if value is True else "no" if value is False else str(value)
