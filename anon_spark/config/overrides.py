"""``--set key=value``: the value is YAML, the key dotted; a list takes an index, ``columns`` also the name of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_spark.config.keys import TopKeys
from anon_spark.config.notes import Key, Notes, did_you_mean
from anon_spark.config.yaml_text import read_yaml

LISTS = frozenset(("columns", "privacy", "partition_by", "intervals", "date", "steps", "values", "given"))
"""Keys that hold lists: an index below one that is not there yet begins a list, below any other key it is a key of a mapping."""


def override(raw: object, sets: Sequence[str], notes: Notes) -> object:
    """``raw`` with each override laid over it, in order; the next index of a list adds to it. Faulty overrides are noted."""
    if not sets or not isinstance(raw, (dict, type(None))):
        return raw
    top: dict[str, object] = raw or {}
    for text in sets:
        name, equals, value_text = text.partition("=")
        names = name.strip().split(".")
        # what follows "=" may be a password, and stays out of messages
        place = f"--set {name.strip()}" if equals else "--set"
        beside = Notes(place)
        if not equals or not all(names):
            beside.add((), "no key=value" if not equals else "a key with an empty part", "such as privacy.0.k=25")
        elif names[0] not in TopKeys.names():
            beside.add((names[0],), "an unknown key", "", did_you_mean(names[0], TopKeys.names()) or _all_names())
        else:
            value = read_yaml(value_text, beside, tuple(names))
            key = None if beside.found else _put(top, names, value, beside)
            if key is not None:
                _claim(notes, key, place)
        notes.take(beside)
    return top


def _all_names() -> str:
    return "one of " + ", ".join(TopKeys.names())


def _claim(notes: Notes, key: Key, place: str) -> None:
    """What stands at ``key`` came from the command line now, and nothing below it from the file."""
    for known in [known for known in notes.places if known[: len(key)] == key]:
        del notes.places[known]
    notes.places[key] = place


def _put(top: dict[str, object], names: list[str], value: object, beside: Notes) -> Key | None:
    """Set one value in place; its whole key, or None where the way to it is faulty."""
    holder: object = top
    key: Key = ()
    rest = list(names)
    while rest:
        step, used = _step(holder, rest, key, beside)
        if step is None:
            return None
        rest = rest[used:]
        key = (*key, step)
        filling: object = value if not rest else [] if step in LISTS else {}
        holder = _enter(holder, step, filling, last=not rest)
    return key


def _step(holder: object, names: list[str], key: Key, beside: Notes) -> tuple[str | int | None, int]:
    """The next step into ``holder`` and how many of ``names`` it takes; None, and a fault, where there is none."""
    if isinstance(holder, dict):
        return names[0], 1
    if not isinstance(holder, list):
        above = ".".join(map(str, key))
        expected = "a key below a mapping or a list"
        beside.add((*key, names[0]), f"{above} holds a single value", expected, f"set {above} as a whole")
        return None, 0
    number = _index(names[0])
    if number is not None and number <= len(holder):
        return number, 1
    called = [item.get("name") if isinstance(item, Mapping) else None for item in holder] if key == ("columns",) else []
    for used in range(len(names), 0, -1):
        if (joined := ".".join(names[:used])) in called:
            return called.index(joined), used
    known = [name for name in called if isinstance(name, str)]
    expected = f"an index from 0 to {len(holder)}" if holder else "index 0, since the list is empty"
    expected += ", or a column's name" if key == ("columns",) else ""
    beside.add((*key, names[0]), f"{names[0]!r}", expected, did_you_mean(names[0], known))
    return None, 0


def _index(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _enter(holder: object, step: str | int, filling: object, *, last: bool) -> object:
    """Go one step down, making what is not there; at the last step put the value."""
    if isinstance(holder, list) and isinstance(step, int):
        if step == len(holder):
            holder.append(filling)
        elif last or holder[step] is None:
            holder[step] = filling
        return holder[step]
    if isinstance(holder, dict) and (last or holder.get(str(step)) is None):
        holder[str(step)] = filling
    return holder[str(step)] if isinstance(holder, dict) else None
