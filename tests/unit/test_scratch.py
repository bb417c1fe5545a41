"""Intermediates of runs that died are removed by the next run in that directory; those of runs that live are left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import uuid4

from local_files import local

from anon_spark.io import claims
from anon_spark.io.claims import Claim
from anon_spark.io.scratch import alive


def kept(folder: Path, run: str, **holder: object) -> list[str]:
    """What a run has in the directory. holder: of its sign of life; none without."""
    made = [f".anon-spark-{run}-input", f".anon-spark-{run}-frequency-set"]
    for name in made:
        (folder / name).mkdir()
        (folder / name / "part").write_text("raw")
    if holder:
        sign = Path(Claim(local(folder), str(folder / run), run, "").path)
        sign.write_text(json.dumps({"run": run, **claims._self(), **holder}))
        made.append(sign.name)
    return made


def test_what_dead_runs_left_goes_and_what_others_use_stays(tmp_path: Path) -> None:
    own = uuid4().hex
    lives = kept(tmp_path, uuid4().hex, process=os.getpid())
    kept(tmp_path, uuid4().hex, process=os.getpid(), born="long ago")
    kept(tmp_path, uuid4().hex)
    # a release that was returned to its caller, another output's staging, and what is nobody's of ours
    others = [f".anon-spark-{uuid4().hex}", f".anon-spark-people-{uuid4().hex}", f".anon-spark-{'a' * 32}-{uuid4().hex}", "mine"]
    for name in others:
        (tmp_path / name).mkdir()
    with alive(local(tmp_path), str(tmp_path), own, "job.yaml"):
        (tmp_path / f".anon-spark-{own}-input").mkdir()
        assert {path.name for path in tmp_path.iterdir()} == {*lives, *others, f".anon-spark-{own}-input", f".anon-spark-{own}.held"}
        with alive(local(tmp_path), str(tmp_path), uuid4().hex, "job.yaml"):
            assert (tmp_path / f".anon-spark-{own}-input").is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {*lives, *others, f".anon-spark-{own}-input"}


def test_a_directory_that_was_not_there_is_not_left(tmp_path: Path) -> None:
    with alive(local(tmp_path), str(tmp_path / "new"), uuid4().hex, "job.yaml"):
        assert (tmp_path / "new").is_dir()
    assert list(tmp_path.iterdir()) == []
