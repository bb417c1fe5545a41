"""Each fault of a configuration: its key, what was found, what is allowed, the nearest name; and all of them at once."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import pytest

from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError, Fault

BASE: dict[str, Any] = {
    "job": "lattice",
    "input": {"format": "csv", "path": "data/adult.csv"},
    "output": {"path": "out/adult"},
    "report": {"path": "out/adult-report"},
    "columns": [
        {"name": "age", "role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}},
        {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
        {"name": "occupation", "role": "sensitive"},
        {"name": "hours", "role": "insensitive"},
        {"name": "ssn", "role": "identifier"},
    ],
    "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "alpha-deassociation", "alpha": 0.5}],
}
GONE = type("Gone", (), {"__repr__": lambda self: "gone"})()


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    made = copy.deepcopy(BASE)
    for key, value in changes:
        *way, last = [int(part) if part.isdigit() else part for part in key.split(".")]
        holder: Any = made
        for step in way:
            holder = holder[step] if isinstance(holder, list) else holder.setdefault(step, {})
        if value is GONE:
            del holder[last]
        elif isinstance(holder, list) and last == len(holder):
            holder.append(value)
        else:
            holder[last] = value
    return made


def faults(*changes: tuple[str, Any]) -> list[Fault]:
    with pytest.raises(ConfigurationError) as caught:
        parse(changed(*changes), "adult.yaml")
    assert caught.value.exit_code == 2
    assert all("\n" not in str(fault) and str(fault).startswith("adult.yaml: ") for fault in caught.value.faults)
    return list(caught.value.faults)


def test_the_base_is_sound():
    assert parse(BASE).privacy[1].column == "occupation"


def test_every_column_may_be_text():
    policy = parse(changed(("columns.2.type", "string"), ("columns.3.type", "string")))
    assert [column.type for column in policy.columns] == [None, None, "string", "string", None]


ONE = [
    # single keys
    ("job", "latice", "job", "'latice'", "did you mean 'lattice'?"),
    ("suppresion_limit", 0.1, "suppresion_limit", "an unknown key", "did you mean 'suppression'?"),
    ("default_role", "drop", "default_role", "an unknown key", ""),
    ("unlisted", "drp", "unlisted", "'drp'", "did you mean 'drop'?"),
    ("nulls", "supress", "nulls", "'supress'", "did you mean 'suppress'?"),
    ("loss", "GCP", "loss", "'GCP'", "did you mean 'gcp'?"),
    ("seed", True, "seed", "true", ""),
    ("seed", "1", "seed", "'1'", "seed='1' is text; write 1 without quotes"),
    ("seed", 2**63, "seed", str(2**63), ""),
    ("suppression", {"limit": 5}, "suppression.limit", "5", "a share of 1: 5 % is 0.05"),
    ("suppression", {"limit": 1}, "suppression.limit", "1", "a share of 1: 1 % is 0.01"),
    ("suppression", {"limit": "5%"}, "suppression.limit", "'5%'", "a share of 1: 5 % is 0.05"),
    ("suppression", {"limit": -0.1}, "suppression.limit", "-0.1", ""),
    ("suppression", {"show": "stars"}, "suppression.show", "'stars'", "did you mean 'star'?"),
    ("suppression", {"limt": 0}, "suppression.limt", "an unknown key", "did you mean 'limit'?"),
    ("settings.driver_megabytes", -1, "settings.driver_megabytes", "-1", ""),
    ("settings.driver_megabytes", 1.5, "settings.driver_megabytes", "1.5", ""),
    ("settings.driver_megabyte", 1, "settings.driver_megabyte", "an unknown key", "did you mean 'driver_megabytes'?"),
    ("settings.block_combinations", 0, "settings.block_combinations", "0", ""),
    ("settings.block_combinations", "all", "settings.block_combinations", "'all'", ""),
    ("settings.staging", "out/adult/staging", "settings.staging", "a place inside the output", ""),
    ("settings.staging", "out", "settings.staging", "a place that holds the output", ""),
    # columns
    ("columns", [], "columns", "an empty list", ""),
    ("columns", GONE, "columns", "nothing", ""),
    ("columns", {"age": {}}, "columns", "a mapping", ""),
    ("columns.0", "age", "columns.0", "text", ""),
    ("columns.0.name", GONE, "columns.0.name", "nothing", ""),
    ("columns.0.name", None, "columns.0.name", "nothing", ""),
    ("columns.0.name", "", "columns.0.name", "an empty text", ""),
    ("columns.0.name", ["age"], "columns.0.name", "a list", ""),
    ("columns.0.role", GONE, "columns.0.role", "nothing", ""),
    ("columns.0.role", "QI", "columns.0.role", "'QI'", "did you mean 'quasi-identifier'?"),
    ("columns.0.role", "quasi_identifier", "columns.0.role", "'quasi_identifier'", "did you mean 'quasi-identifier'?"),
    ("columns.0.type", "String", "columns.0.type", "'String'", "did you mean 'string'?"),
    ("columns.0.type", "string", "columns.0.hierarchy.intervals", "intervals on type string", "write type: integer"),
    ("columns.0.weight", 0, "columns.0.weight", "0", ""),
    ("columns.0.weight", -1, "columns.0.weight", "-1", ""),
    ("columns.0.weight", float("nan"), "columns.0.weight", "nan", ""),
    ("columns.0.weight", float("inf"), "columns.0.weight", "inf", ""),
    ("columns.0.weigth", 1, "columns.0.weigth", "an unknown key", "did you mean 'weight'?"),
    ("columns.0.trim", "yes", "columns.0.trim", "'yes'", "write true without quotes"),
    ("columns.0.trim", 1, "columns.0.trim", "1", ""),
    ("columns.0.min_level", -1, "columns.0.min_level", "-1", ""),
    ("columns.0.max_level", True, "columns.0.max_level", "true", ""),
    ("columns.0.max_level", 2.0, "columns.0.max_level", "2.0", "write 2"),
    ("columns.0.max_level", 4, "columns.0.max_level", "4", ""),
    ("columns.1.min_level", 2, "columns.1.min_level", "2", ""),
    ("columns.0.hierarchy", GONE, "columns.0.hierarchy", "nothing", "the least is hierarchy: flat"),
    ("columns.0.nulls", "ignore", "columns.0.nulls", "nulls on role quasi-identifier", ""),
    ("columns.2.nulls", "ignored", "columns.2.nulls", "'ignored'", "did you mean 'ignore'?"),
    ("columns.2.weight", 2, "columns.2.weight", "weight on role sensitive", ""),
    ("columns.2.type", "integer", "columns.2.type", "type on role sensitive", ""),
    ("columns.3.hierarchy", "flat", "columns.3.hierarchy", "hierarchy on role insensitive", ""),
    ("columns.4.trim", True, "columns.4.trim", "trim on role identifier", ""),
    ("columns.3.max_level", 1, "columns.3.max_level", "max_level on role insensitive", ""),
    ("columns.3.min_level", 1, "columns.3.min_level", "min_level on role insensitive", ""),
    ("columns.5", {"name": "age", "role": "insensitive"}, "columns.5.name", "'age', also columns.0", ""),
    ("columns.5", {"name": "AGE", "role": "insensitive"}, "columns.5.name", "'AGE', also columns.0, 'age' but for capitals", ""),
    # privacy
    ("privacy", [], "privacy", "an empty list", ""),
    ("privacy", None, "privacy", "nothing", ""),
    ("privacy", {"k-anonymity": 5}, "privacy", "a mapping", ""),
    ("privacy.0", "k-anonymity", "privacy.0", "'k-anonymity'", ""),
    ("privacy.0.model", GONE, "privacy.0.model", "nothing", ""),
    ("privacy.0.model", "k-anonimity", "privacy.0.model", "'k-anonimity'", "did you mean 'k-anonymity'?"),
    ("privacy.0.k", 0, "privacy.0.k", "0", ""),
    ("privacy.0.k", "5", "privacy.0.k", "'5'", "k='5' is text; write 5 without quotes"),
    ("privacy.0.k", True, "privacy.0.k", "true", ""),
    ("privacy.0.k", 2.5, "privacy.0.k", "2.5", ""),
    ("privacy.0.k", GONE, "privacy.0.k", "nothing", ""),
    ("privacy.0.K", 3, "privacy.0.K", "an unknown key", "did you mean 'k'?"),
    ("privacy.0.column", "occupation", "privacy.0.column", "an unknown key", ""),
    ("privacy.1.alpha", 1.5, "privacy.1.alpha", "1.5", ""),
    ("privacy.1.alpha", 50, "privacy.1.alpha", "50", "a share of 1: 50 % is 0.5"),
    ("privacy.1.alpha", 0, "privacy.1.alpha", "0", ""),
    ("privacy.1.alpha", "1/0", "privacy.1.alpha", "'1/0'", ""),
    ("privacy.1.alpha", "1e99999999", "privacy.1.alpha", "'1e99999999'", ""),
    ("privacy.1.alpha", "1e-400", "privacy.1.alpha", "'1e-400'", "between 1e-300 and 1e300"),
    ("columns.0.weight", 10**400, "columns.0.weight", "an integer of more than 60 digits", "between 1e-300 and 1e300"),
    ("privacy.1.alpa", 0.5, "privacy.1.alpa", "an unknown key", "did you mean 'alpha'?"),
    ("privacy.1.values", "HIV", "privacy.1.values", "'HIV'", "write ['HIV']"),
    ("privacy.1.values", [], "privacy.1.values", "an empty list", "leave values out for every value"),
    ("privacy.1.values", [["HIV"]], "privacy.1.values.0", "a list", ""),
    ("privacy.1.refined", "on", "privacy.1.refined", "'on'", "write true without quotes"),
    ("privacy.1.column", "ocupation", "privacy.1.column", "'ocupation', which is no column", "did you mean 'occupation'?"),
    ("privacy.1.column", "age", "privacy.1.column", "'age', whose role is quasi-identifier", ""),
    ("columns.3.role", "sensitive", "privacy.1.column", "nothing", ""),
    ("columns.2.role", "insensitive", "privacy.1.column", "nothing", ""),
    ("privacy.1", {"model": "l-diversity", "l": 0}, "privacy.1.l", "0", ""),
    ("privacy.1", {"model": "l-diversity", "l": 2.5}, "privacy.1.l", "2.5", ""),
    ("privacy.1", {"model": "l-diversity", "l": 2, "kind": "distict"}, "privacy.1.kind", "'distict'", "did you mean 'distinct'?"),
    ("privacy.1", {"model": "l-diversity", "l": 2, "c": 1}, "privacy.1.c", "c beside kind distinct", ""),
    # input, output, report
    ("input", "data/adult.csv", "input", "text", "write {path: ...}"),
    ("input", {"format": "csv", "options": {"header": "true"}}, "input", "none of path, table, query", ""),
    ("input.format", GONE, "input.format", "nothing", "write format: csv"),
    ("input.path", GONE, "input", "none of path, table, query", ""),
    ("input.table", "db.t", "input", "path and table", ""),
    ("input.query", "SELECT 1", "input", "path and query", ""),
    ("input.option", {}, "input.option", "an unknown key", "did you mean 'options'?"),
    ("input.options", ["header"], "input.options", "a list", ""),
    ("input.options", {"header": None}, "input.options.header", "null", 'write "null" in quotes for the word itself'),
    ("input.options", {"header": {"a": 1}}, "input.options.header", "a mapping", ""),
    ("input.path", 5, "input.path", "5", ""),
    ("input.path", "  ", "input.path", "an empty text", ""),
    ("input.snapshot", "always", "input.snapshot", "'always'", ""),
    ("input", {"table": "t", "format": "delta"}, "input.format", "format beside table", ""),
    ("input", {"query": "SELECT 1", "options": {"a": 1}}, "input.options", "options beside query", ""),
    ("output", {"mode": "overwrite"}, "output", "none of path and table", ""),
    ("output.format", "Text", "output.format", "'Text'", "the release is audited where it was written"),
    ("output.mode", "append", "output.mode", "'append'", ""),
    ("output.path", "data/adult.csv", "output.path", "the place of the input", ""),
    ("output.path", "data", "output.path", "a place that holds the input", ""),
    ("output.path", "data/adult.csv/x", "output.path", "a place inside the input", ""),
    ("report", "out/report", "report", "text", "write {path: ...}"),
    ("suppression", 0.01, "suppression", "0.01", "write {limit: 0.01}"),
    ("columns.0.bounds", "intervals", "columns.0.bounds", "an unknown key", "it is a key of the top of the file"),
    ("limit", 0.01, "limit", "an unknown key", "it is a key of suppression"),
    ("privacy.0.nulls", "value", "privacy.0.nulls", "an unknown key", "it is a key of the top of the file and of a column"),
    ("report", {}, "report.path", "nothing", ""),
    ("report.path", "out/adult", "report.path", "the place of the output", ""),
    ("report.path", "./out/x/../adult/report/", "report.path", "a place inside the output", ""),
    ("report.path", "file:out/adult", "report.path", None, ""),
]


@pytest.mark.parametrize(("key", "value", "where", "found", "advice"), ONE, ids=[f"{c[0]}={str(c[1])[:30]}" for c in ONE])
def test_one_fault(key, value, where, found, advice):
    if found is None:
        parse(changed((key, value)))
        return
    assert [(fault.key, fault.found, fault.advice) for fault in faults((key, value))] == [(where, found, advice)]


def test_what_is_allowed_is_said():
    assert [fault.expected for fault in faults(("seed", 2**63))] == ["an integer of 64 bits"]
    assert [fault.expected for fault in faults(("privacy.0.k", 2**63))] == ["an integer >= 1, of 64 bits"]
    text = "\n".join(map(str, faults(("columns.0.type", "text"), ("privacy.1.alpha", 0), ("privacy.0.k", 0), ("loss", "x"))))
    losses = "gcp, distortion, glm, discernibility, c-avg"
    for words in ("string, integer, decimal", "a number in (0, 1]", "an integer >= 1", losses):
        assert words in text


def test_all_at_once_and_none_invented():
    found = faults(
        ("columns.0.role", "quasi"),
        ("columns.1.type", "String"),
        ("privacy.0.k", "5"),
        ("privacy.1.alpha", 1.5),
        ("suppression", {"limit": 5}),
        ("suppresion_limit", 1),
        ("output.format", 7),
        ("loss", "c-avg"),
    )
    expected = ["columns.0.role", "columns.1.type", "output.format", "privacy.0.k", "privacy.1.alpha"]
    assert sorted(fault.key for fault in found) == [*expected, "suppresion_limit", "suppression.limit"]


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ([("columns.0", {"name": "a", "role": "insensitive"}), ("columns.1", {"name": "b", "role": "label"})], ["columns"]),
        ([("columns.5", {"name": "a", "role": "label"}), ("columns.6", {"name": "b", "role": "label"})], ["columns.6.role"]),
        ([("columns.0.min_level", 2), ("columns.0.max_level", 1)], ["columns.0.min_level"]),
        ([("loss", "c-avg"), ("privacy", [{"model": "l-diversity", "l": 2}])], ["loss"]),
        ([("input", {"table": "db.T"}), ("output", {"table": "DB.t"})], ["output.table"]),
        ([("input.snapshot", "stage")], ["input.snapshot"]),
        ([("output", {"table": "t", "options": {"Path": "a"}})], ["output.options"]),
        (
            [("output", {"path": "out", "format": "json", "options": {"pathglobfilter": "a", "multiLine": True, "compression": "none"}})],
            ["output.options.pathglobfilter", "output.options.multiLine"],
        ),
        (
            [("output", {"path": "out", "format": "JSON", "options": {"linesep": ";", "charset": "UTF-16", "pretty": True}})],
            ["output.options.linesep", "output.options.charset", "output.options.pretty"],
        ),
        (
            [
                ("input", {"format": "jdbc", "options": {"url": "jdbc:postgresql://h/d?user=a", "dbtable": "s.t"}}),
                ("output", {"format": "JDBC", "options": {"URL": "jdbc:postgresql://h/d", "dbtable": '"s"."t"'}}),
            ],
            ["output.options"],
        ),
    ],
)
def test_faults_across_keys(changes, keys):
    assert [fault.key for fault in faults(*changes)][: len(keys)] == keys


@pytest.mark.parametrize(
    ("kind", "options", "refused"),
    [
        ("csv", {"lineSep": "\r\n", "encoding": "UTF-16", "quoteAll": True, "comment": "#", "header": False, "compression": "gzip"}, []),
        ("csv", {"lineSep": "", "sep": "\n"}, ["lineSep", "sep"]),
        ("parquet", {"compression": "snapy"}, ["compression"]),
        ("orc", {"compression": "ZLIB"}, []),
        ("csv", {"lineSep": "end", "nanValue": "-", "Mode": "PERMISSIVE"}, ["lineSep", "nanValue", "Mode"]),
        ("json", {"lineSep": "\r\n", "encoding": "utf-8", "pretty": False, "ignoreNullFields": False}, []),
        ("json", {"lineSep": "\x1e", "allowNonNumericNumbers": False}, ["allowNonNumericNumbers"]),
        ("json", {"lineSep": ""}, ["lineSep"]),
        ("parquet", {"lineSep": "ab", "pretty": True, "encoding": "x"}, []),
    ],
)
def test_options_under_which_an_output_could_not_be_read_back(kind, options, refused):
    output = {"path": "release", "format": kind, "options": options}
    if not refused:
        parse(changed(("output", output)))
        return
    assert [fault.key for fault in faults(("output", output))] == [f"output.options.{name}" for name in refused]


@pytest.mark.parametrize("level", ["min_level", "max_level"])
def test_levels_belong_to_the_lattice_job(level):
    found = [str(fault) for fault in faults(("job", "top-down"), (f"columns.0.{level}", 1))]
    assert f"adult.yaml: columns.0.{level}: found {level} in job top-down; expected it in job lattice alone" in found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dbfs:/out/a", "/dbfs/out/a/report"),
        ("dbfs:/Volumes/c/s/v/a", "/Volumes/c/s/v/a"),
        ("s3://bucket/a", "s3://bucket/a/b"),
        ("S3://bucket/a/", "s3://bucket/a"),
        ("file:/out/a", "file:///out/a/b"),
        ("/out/a", "file:/out//a"),
        ("/", "/out"),
    ],
)
def test_one_place_spelled_in_two_ways(one, other):
    assert [fault.key for fault in faults(("output.path", one), ("report.path", other), ("input", None))] == ["report.path"]


@pytest.mark.parametrize(("one", "other"), [("out/a", "out/ab"), ("s3://x/a", "s3://y/a"), ("out/a", "out"), ("s3://x/a", "/a")])
def test_places_apart(one, other):
    assert parse(changed(("output.path", one), ("report.path", other))).report == other


def test_no_input_no_output_no_report_is_a_policy_for_python():
    policy = parse(changed(("input", GONE), ("output", None), ("report", GONE)))
    assert (policy.input, policy.output, policy.report) == (None, None, None)


def test_sources_without_a_path():
    jdbc = {"format": "jdbc", "options": {"url": "jdbc:h2:mem", "dbtable": "t", "fetchsize": 100}}
    source = parse(changed(("input", jdbc))).input
    assert source is not None and source.options["fetchsize"] == "100"
    assert parse(changed(("input", {"table": "db.t", "options": {"versionAsOf": 3}}))).input.options == {"versionAsOf": "3"}


def test_outputs_that_are_tables():
    assert parse(changed(("output", {"table": "db.t", "mode": "overwrite"}))).output.place == "db.t"
    jdbc = {"format": "JDBC", "options": {"url": "jdbc:postgresql://h/d", "DBTable": "out.t", "password_env": "WORD"}}
    assert parse(changed(("output", jdbc))).output.place == "out.t"
    staged = parse(changed(("input.snapshot", "stage"), ("settings", {"staging": "scratch"})))
    assert staged.input.snapshot == "stage"


def test_a_jdbc_output_wants_its_options():
    found = faults(("output", {"format": "jdbc", "options": {"URL": "jdbc:h2:mem"}}))
    assert ("output.options", "no dbtable") in [(fault.key, fault.found) for fault in found]


@pytest.mark.parametrize(
    "name",
    [
        "console", "CONSOLE", "noop", "binaryFile", "kafka", "memory", "rate", "image", "socket", "libsvm",
        "org.apache.spark.sql.execution.streaming.ConsoleSinkProvider", "org.apache.spark.sql.kafka010.KafkaSourceProvider",
        "org.apache.spark.sql.execution.datasources.noop.NoopDataSource",
    ],
)  # fmt: skip
def test_a_format_that_cannot_be_read_back(name):
    (fault,) = faults(("output.format", name))
    assert (fault.key, fault.found) == ("output.format", repr(name)) and "parquet, orc" in fault.expected


@pytest.mark.parametrize("name", ["Parquet", "orc", "csv", "json", "avro", "xml", "delta", "com.acme.console.Tables"])
def test_a_format_that_can_be_read_back(name):
    assert parse(changed(("output.format", name))).output.format == name


def test_accepted_though_without_meaning_yet():
    policy = parse(changed(("settings", {"block_combinations": 1000, "driver_megabytes": 0}), ("input.snapshot", "none")))
    assert (policy.settings.block_combinations, policy.settings.driver_megabytes) == (1000, 0)


def test_a_column_name_is_only_a_name():
    name = "a`b; drop table x -- .\"' \n"
    assert parse(changed(("columns.3.name", name))).columns[3].name == name


def test_secrets_of_a_faulty_section_are_not_repeated():
    found = faults(("input", "jdbc:postgresql://me:hunter2@host/db"), ("output.options", {"password": ["hunter2"]}))
    assert "hunter2" not in "\n".join(map(str, found))


def test_values_that_no_yaml_holds():
    keys = ("job", "columns", "columns.0.name", "columns.0.hierarchy", "privacy.0.model", "privacy.0.k", "input.path", "output")
    for value in (object(), {1, 2}, b"x", lambda: None, 3 + 4j, 10**5000):
        for key in keys:
            assert faults((key, value))
    holding: list[Any] = []
    holding.extend([holding] * 3)
    assert faults(("columns", holding))
    assert faults(("columns.0.hierarchy", {(1, 2): 3})) and faults(("columns.0.hierarchy", {1: 2, "1": 3}))


def test_not_a_mapping_at_all():
    for value, found in (([], "a list"), ("job", "'job'"), (None, "nothing"), (5, "5")):
        with pytest.raises(ConfigurationError) as caught:
            parse(value)  # type: ignore[arg-type]
        assert caught.value.faults[0].found == found and len(caught.value.faults) == 1


STANDS_ON = {
    "columns.0.hierarchy": ("job", "columns.0"),
    "columns.0.hierarchy.intervals": ("columns.0",),
    "columns.0.max_level": ("job", "columns.0"),
    "columns.1.min_level": ("job", "columns.1"),
    "columns.0.nulls": ("columns.0",),
    "columns.5.name": ("columns.0",),
    "privacy.1.column": ("columns", "privacy"),
    "input": ("input",),
    "input.format": ("input",),
    "output.path": ("input", "output"),
    "settings.staging": ("output", "settings"),
    "report.path": ("output", "report"),
}
"""A fault's key -> what it is judged by: where that is faulty too, nothing is known. A model's keys stand on its name."""


def judged_by(where: str) -> tuple[str, ...]:
    section, _, rest = where.partition(".")
    return STANDS_ON.get(where, (f"privacy.{rest.partition('.')[0]}.model",) if section == "privacy" else ())


def test_no_fault_hides_another():
    pairs = 0
    for (one, value, where, told, _), (other, beside, second, also, _) in combinations(ONE, 2):
        nested = f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
        if nested or None in (told, also) or one.startswith(judged_by(second)) or other.startswith(judged_by(where)):
            continue
        pairs += 1
        assert {where, second} <= {fault.key for fault in faults((one, value), (other, beside))}, (one, value, other, beside)
    assert pairs > 5000


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ({"model": "l-diversity", "kind": "recursive", "column": "none"}, ["column", "l", "c"]),
        ({"model": "l-diversity", "kind": "recursive", "l": 1.5}, ["l", "c"]),
        ({"model": "l-diversity", "kind": "distict", "l": 0, "column": "age"}, ["kind", "l", "column"]),
        ({"model": "t-closeness", "distance": "hierarchical", "t": 2}, ["t", "hierarchy"]),
        ({"model": "t-closeness", "distance": "hierarchical", "hierarchy": "flat", "t": 2}, ["t", "hierarchy"]),
        ({"model": "epsilon-k-sensitivity", "epsilon": 2, "b": 1, "levels": {"a": "1.5"}}, ["epsilon", "k", "b", "levels"]),
        ({"model": "lambda-alpha-k", "k": 0, "lambda": {"1": 1}, "levels": 2, "alpha": 0.5}, ["k", "lambda"]),
        ({"model": "lambda-alpha-k", "lambda": {"1": 0}, "levels": 2, "alpha": 0.5}, ["k", "lambda.1"]),
        ({"model": "confidence-bound", "h": 2, "given": ["none"]}, ["value", "h", "given.0"]),
    ],
)
def test_faults_of_one_model_come_at_once(model, keys):
    assert sorted(fault.key for fault in faults(("privacy.1", model))) == sorted(f"privacy.1.{key}" for key in keys)
