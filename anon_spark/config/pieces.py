"""One section through its pydantic model, every fault of it noted in the product's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from anon_spark.config.keys import Keys, places_of
from anon_spark.config.notes import Key, Notes, did_you_mean, nearest, show
from anon_spark.config.scalars import Refused

K = TypeVar("K", bound=Keys)
Advise = Callable[[str], str]


@dataclass(frozen=True)
class Piece(Generic[K]):
    """keys: what could be read, with defaults in place of faulty keys; None where a key without default is missing or faulty.
    part: the same, there also in that case, when the keys named in ``bad`` are not to be read; None where nothing could be."""

    key: Key
    keys: K | None
    bad: frozenset[str] = frozenset()
    part: K | None = None

    def sound(self, *names: str) -> bool:
        """Whether none of these keys is faulty, or missing where it has no default."""
        return self.bad.isdisjoint(names)

    def gives(self, name: str) -> bool:
        """Whether the section gives this key, validly."""
        return self.part is not None and name in self.part.model_fields_set and name not in self.bad


def read_piece(schema: type[K], raw: object, key: Key, notes: Notes, advise: Advise | None = None) -> Piece[K]:
    """Read ``raw`` as one section. A null stands for a key that is not given. ``advise``: what to say of an unknown key."""
    if not isinstance(raw, Mapping):
        scalar = isinstance(raw, (str, int, float, Decimal, Fraction)) and not isinstance(raw, bool)
        advice = f"write {{{schema.MEANT}: {'...' if isinstance(raw, str) else show(raw)}}}" if schema.MEANT and scalar else ""
        # a whole section as text may be an address with a password in it
        found = "text" if isinstance(raw, str) else show(raw)
        notes.add(key, found, "a mapping with keys of " + ", ".join(schema.names()), advice)
        return Piece(key, None, frozenset(schema.names()))
    given = {name: value for name, value in raw.items() if value is not None or name not in schema.names()}
    try:
        keys = schema.model_validate(given)
        return Piece(key, keys, part=keys)
    except ValidationError as error:
        bad = frozenset(_note(schema, one, key, notes, advise) for one in error.errors(include_url=False))
    rest = {name: value for name, value in given.items() if name not in bad}
    try:
        keys = schema.model_validate(rest)
        return Piece(key, keys, bad, keys)
    except ValidationError:
        return Piece(key, None, bad, _part(schema, rest))


def _part(schema: type[K], sound: Mapping[str, object]) -> K:
    """A section without the keys that it lacks: reading one of those is an AttributeError."""
    part = schema.model_construct()
    for name, field in schema.model_fields.items():
        if (written := field.alias or name) in sound:
            schema.__pydantic_validator__.validate_assignment(part, name, sound[written])
    return part


def _elsewhere(name: str) -> str:
    """Where a key that is unknown here is known."""
    places = places_of(name)
    return f"it is a key of {' and of '.join(places)}" if places else ""


def _note(schema: type[Keys], error: Any, key: Key, notes: Notes, advise: Advise | None) -> str:
    """Note one of pydantic's errors; the name of the key of the section that holds it."""
    where: Key = (*key, *error["loc"])
    first, last = str(error["loc"][0]), str(error["loc"][-1])
    cause = error.get("ctx", {}).get("error")
    if error["type"] == "extra_forbidden":
        advice = (advise(first) if advise else "") or did_you_mean(first, schema.names()) or _elsewhere(first)
        expected = "" if nearest(first, schema.names()) else "one of " + ", ".join(schema.names())
        notes.add(where, "an unknown key", expected, advice)
    elif error["type"] == "missing":
        field = next(field for name, field in schema.model_fields.items() if (field.alias or name) == first)
        notes.add(where, "nothing", field.description or "a value")
    elif isinstance(cause, Refused):
        notes.add(where, cause.found, cause.expected, cause.advice.replace("{key}", last))
    else:
        kind = {"list_type": "a list", "dict_type": "a mapping"}.get(error["type"], error["msg"])
        scalar = kind == "a list" and isinstance(error["input"], (str, int)) and not isinstance(error["input"], bool)
        notes.add(where, show(error["input"]), kind, f"write [{show(error['input'])}]" if scalar else "")
    return first
