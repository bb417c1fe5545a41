"""What is told once a release is published: where nobody can be told, it is published all the same."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from anon_spark.cli import streams


class Full(io.StringIO):
    """A disk without room."""

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


class Narrow(io.StringIO):
    """A terminal of few letters."""

    def write(self, text: str) -> int:
        raise UnicodeEncodeError("ascii", text, 0, 1, "ordinal not in range(128)")


@pytest.mark.parametrize(("stream", "told"), [(Full(), "OSError"), (Narrow(), "UnicodeEncodeError"), (None, "AttributeError")])
def test_a_summary_that_cant_be_printed_takes_nothing_back(
    stream: io.StringIO | None, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with streams.summing_up():
        sys.stdout.write("Published")
    assert sys.stdout is not stream
    sys.stdout.close()
    monkeypatch.undo()
    assert capsys.readouterr().err == f"anon-spark: published; the summary could not be printed ({told})\n"


def test_letters_that_a_stream_lacks_are_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        streams.spell_all()
        out.write("ñ: 3")
        monkeypatch.undo()
    assert (tmp_path / "out").read_text() == "?: 3"
