"""Keys of JSON objects that Spark reads as null or passes over in silence: another spelling of a column's name, and one key twice."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.input_options import Options, encoding, folded, keeps_ascii
from anon_spark.io.raw_lines import raw_lines
from anon_spark.plans.fetch import fetch_row

Parse = Callable[[Column, str], Column]


def refuse_lost_keys(spark: SparkSession, path: str, options: Options, schema: T.StructType, where: str) -> None:
    """One pass over a JSON input. Raises DataError where an object has a key that is a field's name in other capitals, which Spark
    does not read, or a key twice, of which it reads one.

    schema: of the table, whatever says it; what is in no field by any capitals is not looked at.
    """
    given = folded(options)
    if not keeps_ascii(encoding(given)):
        return
    allowed = {**{key: value for key, value in given.items() if key.startswith("allow")}, "mode": "PERMISSIVE"}
    whole = given.get("multiline", "").lower() == "true"
    lines, line = raw_lines(spark, path, given, whole)
    if whole:
        # a file is one object, or a list of them
        line = F.explode(F.coalesce(F.from_json(line, "array<string>", allowed), F.array(line)))
    objects = lines.select(line.alias("line"))
    other, twice = _found(F.col("line"), schema, lambda text, kind: F.from_json(text, kind, allowed))
    row = fetch_row(objects.agg(*[F.count(F.when(bad, True)).alias(name) for name, bad in (("other", other), ("twice", twice))]))
    faults = []
    if row["other"]:
        found = f"{counted(row['other'], 'object')} with a column's name in other capitals, which Spark would read as null"
        faults.append(Fault(where, "input", found, "one spelling a name", "rename the keys in the files"))
    if row["twice"]:
        faults.append(key_twice(where, f"{counted(row['twice'], 'object')} with a key twice"))
    if faults:
        raise DataError(faults)


def key_twice(where: str, found: str) -> Fault:
    """The fault of objects that have one key twice."""
    advice = "mend the files, or set spark.sql.caseSensitive to true where two keys differ by capitals"
    return Fault(where, "input", found, "each key once", advice)


def _found(text: Column, data_type: T.DataType, parse: Parse) -> tuple[Column, Column]:
    """Whether the JSON text of a value of this type has, at any depth, a key in other capitals, and a key twice; never null."""
    no = F.lit(False)
    if isinstance(data_type, T.ArrayType):
        if not _holds_objects(data_type.elementType):
            return no, no
        items, element = parse(text, "array<string>"), data_type.elementType
        other = F.exists(items, lambda item: _found(item, element, parse)[0])
        twice = F.exists(items, lambda item: _found(item, element, parse)[1])
        return F.coalesce(other, no), F.coalesce(twice, no)
    if not isinstance(data_type, T.StructType):
        return no, no
    # a map of it keeps all keys, each as often as it is there
    entries = parse(text, "map<string,string>")
    keys = F.map_keys(entries)
    names = F.array(*[F.lit(name) for name in data_type.names])
    folded_names = F.array(*[F.lower(F.lit(name)) for name in data_type.names])
    strange = F.exists(keys, lambda key: ~F.array_contains(names, key) & F.array_contains(folded_names, F.lower(key)))
    other, twice = F.coalesce(strange, no), F.coalesce(F.size(keys) > F.size(F.array_distinct(keys)), no)
    for field in data_type.fields:
        if _holds_objects(field.dataType):
            value = entries[field.name]
            below = _found(value, field.dataType, parse)
            other, twice = other | below[0], twice | below[1]
    return other, twice


def _holds_objects(data_type: T.DataType) -> bool:
    if isinstance(data_type, T.ArrayType):
        return _holds_objects(data_type.elementType)
    return isinstance(data_type, T.StructType)
