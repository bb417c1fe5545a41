"""Values of the data that are no leaves of a hierarchy file: refused, put under the root, or accepted as inner nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anon_spark.domain.file_tree import FileTree, with_inner
from anon_spark.domain.policy import ROOT, Column, FileHierarchy, FlatHierarchy
from anon_spark.domain.reading import Reading
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.domain.values import Value


def settle(tree: FileTree, reading: Reading, column: Column, values: Mapping[str | None, int], where: str) -> FileTree:
    """The tree, with inner values as leaves where ``inner: accept``; with ``others: root`` unknown ones go to its ``outside``.

    NaN and infinities that the file lists are its leaves. Raises UnmappedError for what is refused.
    """
    spec = column.hierarchy or FlatHierarchy()
    for text in [text for text, value in reading.specials.items() if value in tree.lines]:
        reading.value_of[text] = reading.specials.pop(text)
    strays = [text for text, value in reading.value_of.items() if value not in tree.lines]
    strays += [*reading.outside, *(text for text, value in reading.specials.items() if value in tree.inner)]
    if not strays:
        return tree
    inner = {text for text in strays if _is_inner(tree, reading.names[text], spec.others == "root" and spec.inner == "fail")}
    unknown = [text for text in strays if text not in inner]
    lost = unknown if spec.others == "fail" else []
    refused = sorted(inner) if spec.inner == "fail" else []
    if lost or refused:
        raise unmapped(column, lost, refused, values, where, _near(tree, reading, lost))
    for text in unknown:
        reading.value_of.pop(text, None)
        reading.outside[text] = reading.names[text]
    accepted: list[tuple[Value, str]] = []
    for text in sorted(inner):
        reading.outside.pop(text, None)
        reading.specials.pop(text, None)
        # A group's label need not be of the column's kind ("30-39" among integers): it is then known by its text.
        reading.value_of.setdefault(text, reading.names[text])
        accepted.append((reading.value_of[text], reading.names[text]))
    return with_inner(tree, accepted)


def unmapped(
    column: Column, lost: Iterable[str], inner: Iterable[str], values: Mapping[str | None, int], where: str, hint: str = "",
    kind: str = "",
) -> UnmappedError:  # fmt: skip
    """The error for these texts, with their rows. hint, kind: as UnmappedError takes them."""
    counts = ({text: values[text] for text in sorted(lost)}, {text: values[text] for text in inner})
    file = column.hierarchy.path if isinstance(column.hierarchy, FileHierarchy) else ""
    return UnmappedError(where, column.name, *counts, len(values), sum(values.values()), hint, kind, file)


def _is_inner(tree: FileTree, name: str, root_is_unknown: bool) -> bool:
    return name in tree.inner and not (root_is_unknown and tree.inner[name][1][0] == ROOT)


def _near(tree: FileTree, reading: Reading, lost: list[str]) -> str:
    """How many of the lost values would be leaves but for blanks, or but for upper and lower case."""
    stripped = {text.strip() for text, _ in tree.lines.values()}
    folded = {text.casefold() for text in stripped}
    names = [reading.names[text].strip() for text in lost]
    blanks = sum(name in stripped for name in names)
    case = sum(name not in stripped and name.casefold() in folded for name in names)
    parts = [f"{blanks} of them would match but for blanks around (trim: true takes those of the data off)"] if blanks else []
    parts += [f"{case} of them would match but for upper and lower case"] if case else []
    return "; ".join(parts)
