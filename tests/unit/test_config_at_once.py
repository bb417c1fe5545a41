"""All that is wrong with a configuration is told in one pass, hierarchy files and undeclared columns included, each once."""

from __future__ import annotations

import json
import os
import stat
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from commands import runner

from anon_spark.cli.main import cli
from anon_spark.config import yaml_text
from anon_spark.config.load import load, parse
from anon_spark.config.notes import Notes
from anon_spark.config.yaml_text import read_yaml
from anon_spark.domain.errors import ConfigurationError


def configuration(folder: Path, hierarchy: object, **more: Any) -> Path:
    columns = [
        {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
        {"name": "zip", "role": "quasi-identifier", "hierarchy": hierarchy},
        {"name": "illness", "role": "sensitive"},
    ]
    given = {
        "input": {"format": "csv", "path": "in.csv"},
        "output": {"path": "out"},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        **more,
    }
    (folder / "job.yaml").write_text(json.dumps(given, indent=1))
    return folder / "job.yaml"


def lines(folder: Path, conf: Path, command: str = "run", *more: str) -> list[str]:
    result = runner().invoke(cli, [command, str(conf), *more])
    assert result.exit_code == 2, result.output
    assert not (folder / "out").exists()
    return result.stderr.splitlines()


@pytest.mark.parametrize("command", ["run", "check", "audit"])
def test_every_kind_of_fault_comes_at_once(tmp_path: Path, command: str) -> None:
    models = [{"model": "k-anonymity", "k": 0}, {"model": "alpha-deassociation", "column": "ilness", "alpha": 0.5}]
    conf = configuration(tmp_path, {"path": "none.csv"}, privacy=models, losss="gcp")
    told = lines(tmp_path, conf, command, "--set", "columns.sex.role=quasi")
    assert all(line.startswith("error: ") for line in told) and len(told) == 5
    for part in (
        "columns.0.role: found 'quasi'",
        "columns.1.hierarchy: found none.csv: no such file; expected a hierarchy file; tried ",
        "privacy.0.k: found 0",
        "privacy.1.column: found 'ilness', which is no column; expected a sensitive column; did you mean 'illness'?",
        "losss: found an unknown key; did you mean 'loss'?",
    ):
        assert sum(part in line for line in told) == 1, (part, told)
    assert f"{conf}:" in next(line for line in told if "none.csv" in line)


@pytest.mark.parametrize(
    ("broken", "column", "found"),
    [
        ({"role": "senstive"}, "ilness", ["'ilness', which is no column"]),
        ({"role": "senstive"}, "sex", ["'sex', whose role is quasi-identifier"]),
        ({"role": "senstive"}, "illness", []),
        ({"role": "senstive"}, None, []),
        ({"role": None}, "ilness", ["'ilness', which is no column"]),
        ({"name": ["x"]}, "illness", []),
    ],
)
def test_a_role_that_cannot_be_read_hides_no_undeclared_column(broken: dict[str, Any], column: str | None, found: list[str]) -> None:
    raw = {
        "columns": [
            {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
            {**{"name": "illness", "role": "sensitive"}, **broken},
        ],
        "privacy": [{"model": "l-diversity", "l": 2, "column": column}],
    }
    with pytest.raises(ConfigurationError) as caught:
        parse(raw)
    assert [fault.found for fault in caught.value.faults if fault.key == "privacy.0.column"] == found
    assert len(caught.value.faults) == 1 + len(found)


def test_a_hierarchy_beside_a_role_that_cannot_be_read_is_read_too(tmp_path: Path) -> None:
    conf = configuration(tmp_path, {"path": "none.csv", "sepp": ";"})
    told = lines(tmp_path, conf, "run", "--set", "columns.zip.role=quasi")
    assert [sum(part in line for line in told) for part in ("columns.1.role", "columns.1.hierarchy.sepp")] == [1, 1] and len(told) == 2


def path_of(folder: Path, kind: str) -> str:
    """A hierarchy's path of this kind, absolute unless it is too long to be made so."""
    path = folder / "tree.csv"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "unreadable":
        path.write_text("a;*\n")
    elif kind == "text":
        path.write_bytes(b"a;\xff;*\n")
    elif kind == "below a file":
        path.write_text("a;*\n")
        return str(path / "none.csv")
    return {"long name": "x" * 300, "long path": "x/" * 3000 + "t.csv", "nul": "a\0b"}.get(kind, str(path))


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("missing", "no such file"),
        ("below a file", "no such file"),
        ("directory", "a directory"),
        ("pipe", "no regular file"),
        ("long name", "a path that can't be read (File name too long)"),
        ("long path", "a path that can't be read (File name too long)"),
        ("nul", "a path with a NUL character"),
        ("unreadable", "a file that can't be read (Permission denied)"),
        ("text", "a byte that is not UTF-8 at position 2"),
    ],
)
@pytest.mark.parametrize("command", ["run", "check", "audit"])
def test_a_hierarchy_that_is_no_readable_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, found: str, command: str
) -> None:
    conf = configuration(tmp_path, {"path": path_of(tmp_path, kind)})
    if kind == "unreadable":  # to root every file is readable

        def refused(path: Path) -> bytes:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "read_bytes", refused)
    (line,) = lines(tmp_path, conf, command)
    assert f": columns.1.hierarchy: found {found}" in line.replace(f"{path_of_shown(tmp_path, kind)}: ", "")
    assert len(line) < 1000 and "\0" not in line


def path_of_shown(folder: Path, kind: str) -> str:
    """The path as a message names it."""
    path = {"long name": "x" * 300, "long path": "x/" * 3000, "nul": "a\0b"}.get(kind, str(folder / "tree.csv"))
    path += "/none.csv" if kind == "below a file" else ""
    path = path if len(path) <= 200 else path[:200] + "..."
    return path if path.isprintable() else repr(path)


def test_a_directory_that_may_not_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.stat

    def refused(path: Path, **more: Any) -> os.stat_result:
        if path.name == "tree.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **more)

    conf = configuration(tmp_path, {"path": "closed/tree.csv"})
    monkeypatch.setattr(Path, "stat", refused)
    (line,) = lines(tmp_path, conf)
    assert "found closed/tree.csv: a path that can't be read (Permission denied)" in line


def test_a_hierarchy_that_is_read_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("a;*\n")
    conf = configuration(tmp_path, {"path": "tree.csv"})
    looked = []
    load(conf, (), lambda tree: looked.append(tree.path) or ())
    assert looked == ["tree.csv"] and stat.S_ISREG((tmp_path / "tree.csv").stat().st_mode)


DEEP = {
    "lists": lambda n: "a: " + "[" * n + "]" * n,
    "open lists": lambda n: "[" * n,
    "mappings": lambda n: "{a: " * n + "1" + "}" * n,
    "block": lambda n: "".join(f"{' ' * i}a:\n" for i in range(min(n, 3000))),
    "dashes": lambda n: "- " * n + "x",
    "complex keys": lambda n: "? " * n + "x",
    "aliases": lambda n: "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, n)),
}


@pytest.mark.parametrize("deep", [50, 801, 20_000])
@pytest.mark.parametrize("kind", DEEP)
def test_deep_yaml_is_refused_quickly(kind: str, deep: int) -> None:
    text = DEEP[kind](deep if kind != "aliases" else min(deep, 2000))
    started = time.process_time()
    notes = Notes("job.yaml")
    read_yaml(text, notes)
    assert time.process_time() - started < 3
    with pytest.raises(ConfigurationError) as caught:
        notes.stop()
    assert "deep" in str(caught.value) and len(caught.value.faults) == 1 and str(caught.value).startswith("job.yaml")


def test_long_yaml_is_refused_before_it_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MOST_NODES", 1000)
    notes = Notes("job.yaml")
    started = time.process_time()
    assert read_yaml("a: [" + "1, " * 500_000 + "]", notes) is None
    assert time.process_time() - started < 3 and notes.found


def test_a_deep_override_is_told_with_its_key(tmp_path: Path) -> None:
    conf = configuration(tmp_path, "flat")
    (line,) = lines(tmp_path, conf, "run", "--set", "loss=" + "[" * 5000)
    assert line.startswith("error: --set loss: found values nested too deep")


def test_widths_and_bounds_that_the_audit_cannot_read_come_with_all_else(tmp_path: Path) -> None:
    hierarchy = {"intervals": [5, 10**30], "origin": "0.00000000001", "lower": -(10**19), "upper": 7}
    told = lines(tmp_path, configuration(tmp_path, hierarchy, losss="gcp"))
    assert [line.split(": ")[2] for line in told] == [
        "columns.1.hierarchy.intervals.1",
        "columns.1.hierarchy.origin",
        "columns.1.hierarchy.lower",
        "losss",
    ]
    assert "found 0.00000000001" in told[1] or "found '0.00000000001'" in told[1]
    assert all("expected a number below 10^19, with at most 10 decimal places" in line for line in told[:3])


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"intervals": ["0.0000000001"]},
        {"intervals": [10**19 - 1], "origin": -(10**19) + 1},
        {"intervals": [7], "origin": "2020-01-01", "upper": "9999-12-31"},
    ],
)
def test_the_finest_and_largest_that_the_audit_reads(hierarchy: dict[str, Any]) -> None:
    column = {"name": "age", "role": "quasi-identifier", "hierarchy": hierarchy}
    policy = parse({"columns": [column], "privacy": [{"model": "k-anonymity", "k": 2}]})
    assert policy.columns[0].hierarchy.widths == tuple(Fraction(str(width)) for width in hierarchy["intervals"])
