"""Rules of the house that the syntax tree shows; those of import are in setup.cfg, for import-linter."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "anon_spark"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Spark Connect has none of these
CLASSIC_ONLY = {"rdd", "sparkContext", "_sc", "_jvm", "_jdf", "_jsc", "_jsparkSession"}
# a classic session renames and removes directories through Hadoop's own file system: one place, and no more of the JVM than that
CLASSIC_TOO = {"anon_spark/io/files.py": {"_jvm", "_jsparkSession"}}
KEEPS = {"persist(", "cache(", "localCheckpoint(", "checkpoint("}
ACTIONS = {
    "collect(", "count(", "first(", "foreach(", "foreachPartition(", "head(", "isEmpty(", "show(", "take(", "tail(", "toArrow(",
    "toLocalIterator(", "toPandas(", "write", "writeTo(", *KEEPS,
}  # fmt: skip
MAY_ACT = {"materialise.py", "fetch.py"}
LONGEST = 300


def attributes(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every attribute with its line, ``name(`` where it is called; not those of ``F`` and other modules in capitals."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id.isupper()):
            yield node.attr + ("(" if id(node) in called else ""), node.lineno


def found(text: str, names: set[str]) -> list[tuple[str, int]]:
    return [
        (name, line) for name, line in attributes(ast.parse(text)) if name in names or name.rstrip("(") in CLASSIC_ONLY & names
    ]


def where(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def test_there_are_modules_to_look_at():
    assert {"plans", "domain", "cli"} <= {module.parent.name for module in MODULES}
    assert {module.name for module in MODULES if module.parent.name == "plans"} >= MAY_ACT


def test_the_rules_see_what_they_forbid():
    assert found("df.rdd.map(f)", CLASSIC_ONLY) and found("spark._jvm.x", CLASSIC_ONLY)
    assert found("df.persist()", KEEPS) and not found("self.cache[0]", KEEPS)
    assert found("df.groupBy().count()", ACTIONS) and found("df.write.save(p)", ACTIONS)
    assert not found("F.count(F.lit(1))", ACTIONS)
    assert found('spark.conf.get("x")', {"conf"})


@pytest.mark.parametrize("module", MODULES, ids=where)
def test_the_data_frame_api_alone(module):
    assert not found(module.read_text(encoding="utf-8"), CLASSIC_ONLY - CLASSIC_TOO.get(where(module), set()))


@pytest.mark.parametrize("module", [m for m in MODULES if where(m) != "anon_spark/plans/materialise.py"], ids=where)
def test_what_is_kept_between_steps_is_kept_in_one_place(module):
    assert not found(module.read_text(encoding="utf-8"), KEEPS)


@pytest.mark.parametrize("module", [m for m in MODULES if where(m) != "anon_spark/plans/settings.py"], ids=where)
def test_settings_of_the_session_are_asked_and_set_in_one_place(module):
    """Sessions on serverless machines refuse most of them: a bare look would end the job."""
    assert not found(module.read_text(encoding="utf-8"), {"conf"})


@pytest.mark.parametrize("module", [m for m in MODULES if m.parent.name == "plans" and m.name not in MAY_ACT], ids=where)
def test_plans_do_not_act(module):
    assert not found(module.read_text(encoding="utf-8"), ACTIONS)


@pytest.mark.parametrize("module", MODULES, ids=where)
def test_nobody_inside_imports_from_the_door(module):
    """``from anon_spark import x``: such imports tie all modules into one knot."""
    imports = [node for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    assert not [node.lineno for node in imports if node.module == "anon_spark"]


@pytest.mark.parametrize("module", MODULES, ids=where)
def test_a_file_has_one_purpose_and_few_lines(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) < LONGEST
