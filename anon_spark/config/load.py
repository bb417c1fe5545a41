"""A configuration file, or a mapping, -> a policy; every fault at once."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from anon_spark.config.build import Look, Names, build
from anon_spark.config.notes import Notes, did_you_mean
from anon_spark.config.overrides import override
from anon_spark.config.plain import plain
from anon_spark.config.yaml_text import read_yaml
from anon_spark.domain.policy import Policy

MOST_BYTES = 8 * 1024 * 1024


def load(
    path: str | os.PathLike[str],
    sets: Sequence[str] = (),
    look: Look | None = None,
    names: Names | None = None,
    *,
    wanted: Collection[str] = (),
    roles_alone: bool = False,
) -> Policy:
    """The policy of a YAML file, with overrides such as ``privacy.0.k=25`` or ``columns.age.max_level=2`` laid over it.

    look: at hierarchy files, whose faults are then told with the configuration's. names, wanted, roles_alone: see
    ``build``.
    Raises ConfigurationError with every fault, each with file and line, key, what was found and expected.
    """
    notes = Notes(os.fspath(path))
    raw = read_yaml(_text(notes.where, notes), notes)
    if raw is None:
        if not notes.found and not sets:
            notes.add((), "nothing: the file is empty", "a mapping such as job: lattice")
        notes.stop()
    elif not isinstance(raw, Mapping):
        # never what it says: it may be a file of data
        notes.add((), "a list" if isinstance(raw, list) else "a text that is no YAML mapping", "a mapping such as job: lattice")
        notes.stop()
    return build(override(raw, sets, notes), notes, look, names, wanted=wanted, roles_alone=roles_alone)


def parse(mapping: Mapping[str, object], where: str = "policy", *, roles_alone: bool = False) -> Policy:
    """The policy of a mapping with the names of the YAML file; ``where`` names it in messages. roles_alone: see ``build``.

    Raises ConfigurationError with every fault.
    """
    notes = Notes(where)
    return build(plain(mapping, notes), notes, roles_alone=roles_alone)


def _text(path: str, notes: Notes) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark."""
    try:
        with open(path, "rb") as file:
            held = file.read(MOST_BYTES + 1)
        if len(held) > MOST_BYTES:
            notes.add((), f"a file of more than {MOST_BYTES // 1024**2} MB", "a job configuration")
        text = held.decode("utf-8-sig")
    except FileNotFoundError:
        notes.add((), "no such file", "a YAML file", _beside(path))
    except IsADirectoryError:
        notes.add((), "a directory", "a YAML file")
    except UnicodeDecodeError as error:
        line = held[: error.start].count(b"\n") + 1
        notes.add((), f"bytes that are not UTF-8 on line {line}", "text in UTF-8")
    except (OSError, ValueError) as error:
        notes.add((), f"a file that cannot be read: {getattr(error, 'strerror', None) or error}", "a YAML file")
    notes.stop()
    return text


def _beside(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        near = [entry for entry in os.listdir(folder or ".") if entry.endswith((".yaml", ".yml"))]
    except OSError:
        return f"there is no directory {folder}" if folder and not os.path.isdir(folder) else ""
    return did_you_mean(name, near)
