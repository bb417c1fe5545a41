"""YAML text -> plain values and the line of every key. Nothing is constructed but texts, numbers, booleans, lists and mappings.

Booleans and null are those of YAML 1.2's core, not PyYAML's 1.1; numbers those that JSON writes without an exponent: ``no``, ``on``,
``007``, ``1_000``, ``12:30``, ``1e5`` and ``2020-01-31`` are texts as they are written. Fractional numbers become Decimal, so that no
digit is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import yaml

from anon_spark.config.notes import Key, Notes

MOST_NODES = 100_000
DEEPEST = 40
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"^(?:0|-?[1-9][0-9]{0,49})$")
_FLOAT = re.compile(r"^-?(?:0|[1-9][0-9]{0,49})\.[0-9]{1,50}$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")


class _TooLarge(Exception):
    """The text is deeper or longer than any configuration; line: where that is seen."""

    def __init__(self, line: int):
        self.line = line
        super().__init__()


class _Loader(yaml.SafeLoader):
    """Composes nodes only, and stops at the first that is too deep or too many; its constructors are never called."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  (PyYAML declares it so)
    deep = many = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node and all below it."""
        self.deep, self.many = self.deep + 1, self.many + 1
        if self.deep > DEEPEST + 1 or self.many > MOST_NODES:
            raise _TooLarge(self.peek_event().start_mark.line + 1)
        node = super().compose_node(parent, index)
        self.deep -= 1
        return node


_Loader.add_implicit_resolver(_TAG + "bool", _BOOL, list("tTfF"))
_Loader.add_implicit_resolver(_TAG + "null", _NULL, ["~", "n", "N", ""])
_Loader.add_implicit_resolver(_TAG + "int", _INT, list("-0123456789"))
_Loader.add_implicit_resolver(_TAG + "float", _FLOAT, list("-0123456789"))
_Loader.add_implicit_resolver(_TAG + "merge", re.compile(r"^<<$"), ["<"])


def read_yaml(text: str, notes: Notes, key: Key = ()) -> object:
    """The value of one YAML document, None where it is empty. Faults and the places of keys below ``key`` go to ``notes``."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _TooLarge as error:
        place = Notes(notes.where if key else f"{notes.where}:{error.line}")
        place.add(key, "values nested too deep, or too many", f"at most {MOST_NODES} values, {DEEPEST} deep")
        notes.take(place)
        return None
    except yaml.YAMLError as error:
        _syntax(error, text, notes, key)
        return None
    return _Walk(notes, lines=not key).value(node, key) if node is not None else None


def _syntax(error: yaml.YAMLError, text: str, notes: Notes, key: Key) -> None:
    # PyYAML's own message quotes the line, which may hold a password
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark else text[: getattr(error, "position", 0)].count("\n") + 1
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "text that is no YAML"
    advice = "indent with blanks, not tabs" if "\\t" in problem else ""
    place = Notes(notes.where if key else f"{notes.where}:{line}")
    place.add(key, f"a YAML syntax error: {problem}", "YAML", advice or ("put quotes around the value" if key else ""))
    notes.take(place)


@dataclass
class _Walk:
    """One walk over composed nodes; aliases are followed, so what may be visited is bounded."""

    notes: Notes
    lines: bool
    visited: int = 0
    above: list[int] = field(default_factory=list)

    def value(self, node: yaml.Node, key: Key) -> object:
        """The plain value of a node; faults are noted and give None."""
        self.visited += 1
        if self.visited > MOST_NODES or len(self.above) > DEEPEST or id(node) in self.above:
            if self.visited <= MOST_NODES + 1:
                self.notes.add(key, "a value that holds itself, or is too large", f"at most {MOST_NODES} values, {DEEPEST} deep")
                self.visited = MOST_NODES + 1
            return None
        self.above.append(id(node))
        try:
            return self._plain(node, key)
        finally:
            self.above.pop()

    def _plain(self, node: yaml.Node, key: Key) -> object:
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, key)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self._at(item, item, (*key, number)) for number, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, key)
        self.notes.add(key, f"the tag {node.tag!r}", "plain YAML without tags")
        return None

    def _scalar(self, node: yaml.ScalarNode, key: Key) -> object:
        kind, text = node.tag.removeprefix(_TAG), node.value
        if kind in ("str", "merge"):
            return text
        if kind == "null" and _NULL.match(text):
            return None
        if kind == "bool" and _BOOL.match(text):
            return text.lower() == "true"
        if kind == "int" and _INT.match(text):
            return int(text)
        if kind == "float" and _FLOAT.match(text):
            return Decimal(text)
        self.notes.add(key, f"the tag {node.tag!r}", "plain YAML without tags")
        return None

    def _mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, object]:
        own: dict[str, object] = {}
        first: dict[str, int] = {}
        for name_node, value_node in self._entries(node, key):
            name, line = name_node.value, name_node.start_mark.line + 1
            if name in first:
                self.notes.add((*key, name), f"the key twice, on lines {first[name]} and {line}", "every key once")
                continue
            first[name] = line
            own[name] = self._at(name_node, value_node, (*key, name))
        for name, value in self._merged(node, key).items():
            own.setdefault(name, value)
        return own

    def _entries(self, node: yaml.MappingNode, key: Key) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        for name_node, value_node in node.value:
            if name_node.tag == _TAG + "merge":
                continue
            if not isinstance(name_node, yaml.ScalarNode) or name_node.tag == _TAG + "null":
                line = name_node.start_mark.line + 1
                self.notes.add(key, f"a key on line {line} that is null or no text", "a name", "put quotes around it")
                continue
            yield name_node, value_node

    def _merged(self, node: yaml.MappingNode, key: Key) -> dict[str, object]:
        """What ``<<`` brings in: of several mappings the first that has a key gives it."""
        merged: dict[str, object] = {}
        for name_node, value_node in node.value:
            if name_node.tag != _TAG + "merge":
                continue
            for source in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                if not isinstance(source, yaml.MappingNode):
                    self.notes.add(key, "'<<' with something other than mappings", "<<: *name of a mapping")
                    continue
                known = dict(self.notes.places)
                brought = self.value(source, key)
                # what stands here keeps its own line
                self.notes.places.update(known)
                for name, value in brought.items() if isinstance(brought, dict) else ():
                    merged.setdefault(name, value)
        return merged

    def _at(self, place: yaml.Node, node: yaml.Node, key: Key) -> object:
        if self.lines:
            self.notes.places[key] = f"{self.notes.where}:{place.start_mark.line + 1}"
        return self.value(node, key)
