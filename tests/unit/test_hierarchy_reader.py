"""Reading hierarchy files from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_spark.domain.errors import ConfigurationError
from anon_spark.io.hierarchy_files import read_tree


@pytest.mark.parametrize(
    ("content", "tree"),
    [
        (b"a;x;*\nb;x;*\n", [["a", "x", "*"], ["b", "x", "*"]]),
        (b"\xef\xbb\xbfa;x;*\r\nb;x;*", [["a", "x", "*"], ["b", "x", "*"]]),
        (b"a;*\n\n  \nb;*\n\n", [["a", "*"], ["b", "*"]]),
        (b'"a;b";x;*\n"say ""a""";x;*', [["a;b", "x", "*"], ['say "a"', "x", "*"]]),
        (b'5" pipe;x;*', [['5" pipe', "x", "*"]]),
        (b" a ;x;*", [[" a ", "x", "*"]]),
        ("Zürich;Österreich?;*".encode(), [["Zürich", "Österreich?", "*"]]),
        (b";unknown;*", [["", "unknown", "*"]]),
        (b"a;x;*\rb;x;*\r", [["a", "x", "*"], ["b", "x", "*"]]),
    ],
)
def test_content(tmp_path: Path, content: bytes, tree: list[list[str]]) -> None:
    (tmp_path / "tree.csv").write_bytes(content)
    assert read_tree(str(tmp_path / "tree.csv"), ";", near=None) == tree


def test_separators(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("a;b\tx\t*\n")
    assert read_tree(str(tmp_path / "tree.csv"), "\t") == [["a;b", "x", "*"]]
    for sep in ("", ";;", '"'):
        with pytest.raises(ConfigurationError, match="single character"):
            read_tree(str(tmp_path / "tree.csv"), sep)


def test_places_where_the_file_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf, work = tmp_path / "conf", tmp_path / "work"
    (conf / "deep").mkdir(parents=True)
    work.mkdir()
    monkeypatch.chdir(work)
    for place in (work / "tree.csv", conf / "tree.csv", conf / "deep" / "tree.csv", work / "deep" / "tree.csv"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{place.relative_to(tmp_path)};*")
        assert read_tree("deep/tree.csv", near=conf) == [[str(place.relative_to(tmp_path)), "*"]]


def test_a_missing_file_names_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        read_tree("deep/tree.csv", near=tmp_path / "conf")
    message = str(caught.value)
    assert message.startswith("deep/tree.csv: hierarchy: found no such file; expected a hierarchy file; tried ")
    for place in ("deep/tree.csv", "conf/deep/tree.csv", "conf/tree.csv", "tree.csv"):
        assert str(tmp_path / place) in message
    with pytest.raises(ConfigurationError, match="found a directory"):
        read_tree(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"a;x\xff;*", "a byte that is not UTF-8 at position 3"),
        ("a;*".encode("utf-16"), "not UTF-8"),
        (b"", "an empty file"),
        (b"\xef\xbb\xbf\n \n", "an empty file"),
        (b'a;*\n"b;*\n', "line 2 that can't be read"),
        (b'"a"b;*', "line 1 that can't be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, found: str) -> None:
    (tmp_path / "tree.csv").write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        read_tree(str(tmp_path / "tree.csv"))
    assert found in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "tree.csv"))


def test_each_place_that_was_tried_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        read_tree("none.csv", near=Path(""))
    assert str(caught.value).endswith(f"tried {tmp_path / 'none.csv'}")
