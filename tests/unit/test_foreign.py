"""``overwrite`` removes releases alone: never a directory of other things, least of all one that holds the job's own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from local_files import remote

from anon_spark import Policy
from anon_spark.domain.errors import ConfigurationError
from anon_spark.io.foreign import foreign
from anon_spark.job.output import Output, open_output


def opening(folder: Path | str, conf: Path | str = "job.yaml", mode: str = "overwrite", **more: object) -> Output:
    quasi = {"name": "a", "role": "quasi-identifier", "hierarchy": more.pop("hierarchy", "flat")}
    privacy = [{"model": "k-anonymity", "k": 2}]
    policy = Policy(columns=[quasi], privacy=privacy, output={"path": str(folder), "mode": mode}, where=str(conf), **more)
    return open_output(remote(), policy, "id")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], None),
        (["_SUCCESS", "part-00000-x.snappy.parquet", "._SUCCESS.crc", ".part-00000-x.snappy.parquet.crc"], None),
        (["part-0.csv.gz", "sex=f", "sex=__HIVE_DEFAULT_PARTITION__"], None),
        (["_delta_log", "part-0.parquet"], None),
        (["_committed_1", "_started_1", "part-0.parquet"], None),
        (["_SUCCESS", "_anon_spark_manifest.json", "part-0.parquet"], None),
        (["_anon_spark_manifest.json.md"], "_anon_spark_manifest.json.md"),
        (["_SUCCESS", "people.csv"], None),
        (["people.csv"], "people.csv"),
        (["_SUCCESS", "part-0.parquet", "notes.md"], "notes.md"),
        (["b", "a", "part-0.parquet"], "a"),
        ([".git"], ".git"),
        ([".ssh", "_private"], ".ssh"),
        ([".=x"], ".=x"),
        (["part-0.parquet", "sub"], "sub"),
    ],
)
def test_what_is_no_release(names: list[str], found: str | None) -> None:
    assert foreign(names) == found


def test_a_directory_of_other_things_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.tex").write_text("x")
    told = r"^job\.yaml: output\.path: found .*thesis, which holds 'chapter\.tex'; expected .* a release or an empty directory; choose"
    for name in ("thesis", "thesis/", "thesis/../thesis/."):
        with pytest.raises(ConfigurationError, match=told):
            opening(f"{tmp_path}/{name}")
    (tmp_path / "link").symlink_to("thesis")
    with pytest.raises(ConfigurationError, match="chapter"):
        opening(tmp_path / "link")
    assert (tmp_path / "thesis/chapter.tex").read_text() == "x"


@pytest.mark.parametrize("names", [[], ["_SUCCESS", "part-0.parquet"]])
def test_an_empty_directory_and_a_release_are_overwritten(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in names:
        (tmp_path / "out" / name).touch()
    assert opening(tmp_path / "out").sink.path == str(tmp_path / "out")
    assert opening(tmp_path / "new").sink.path == str(tmp_path / "new")
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(names)


def test_the_jobs_own_files_are_told_by_name(tmp_path: Path) -> None:
    own = tmp_path / "out/sex=f"
    own.mkdir(parents=True)
    (own / "job.yaml").touch()
    (own / "zip.csv").write_text("1;*\n")
    (tmp_path / "link").symlink_to("out")
    for folder in (tmp_path / "out", tmp_path / "link", own):
        with pytest.raises(ConfigurationError, match=r"output\.path: found .*, which holds the configuration .*job\.yaml; expected"):
            opening(folder, own / "job.yaml")
        with pytest.raises(ConfigurationError, match=r"output\.path: found .*, which holds the hierarchy of a, .*zip\.csv; expected"):
            opening(folder, hierarchy={"path": str(tmp_path / "link/sex=f/zip.csv")})
    (tmp_path / "report").symlink_to("out/sex=f")
    with pytest.raises(ConfigurationError, match=r"which holds the report's directory .*report; expected"):
        opening(tmp_path / "out", report={"path": str(tmp_path / "report")})
    opening(tmp_path / "out", hierarchy={"path": str(tmp_path / "none.csv")})


def test_what_came_into_the_old_release_during_the_run_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/part-0").write_text("old")
    output = opening(tmp_path / "out")
    with output.held():
        output.files.write(f"{output.staged}/part-0", "new")
        (tmp_path / "out/notes.md").write_text("mine")
        with pytest.raises(ConfigurationError, match=r"which holds 'notes\.md'"):
            output.publish()
        output.remove()
        assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {"part-0": "old", "notes.md": "mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
