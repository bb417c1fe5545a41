"""Names of tables: parts in, one spelling out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_spark.io import postgresql_tables
from anon_spark.io.table_names import parts_of, quoted

NAMES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("t", ("t",)),
        (" db.t ", ("db", "t")),
        ("`a b`.`c``d.e`", ("a b", "c`d.e")),
        ("db.t; DROP TABLE x", None),
        ("db.`t", None),
        ("db..t", None),
        ("t AS x", None),
        ("", None),
    ],
)
def test_parts(name: str, parts: tuple[str, ...] | None) -> None:
    assert parts_of(name) == parts


@given(NAMES)
def test_a_quoted_name_is_read_as_its_parts(parts: list[str]) -> None:
    assert parts_of(quoted(*parts)) == tuple(parts)


@given(NAMES)
def test_a_quoted_name_of_a_database_ends_where_it_should(parts: list[str]) -> None:
    """Between its quotes there is no quote that is not doubled."""
    for part in parts:
        text = postgresql_tables.quote(part)
        assert text[0] == text[-1] == '"' and '"' not in text[1:-1].replace('""', "") and text[1:-1].replace('""', '"') == part


def test_a_staging_table_is_known_by_its_name_alone() -> None:
    place = postgresql_tables.Place("out", "x" * 63)
    staged = place.staging("0" * 32)
    assert staged.schema == "out" and len(staged.name.encode()) <= postgresql_tables.MOST_BYTES
    assert staged.name != postgresql_tables.Place("out", "y").staging("0" * 32).name
    # a dot does not make one name of two
    assert postgresql_tables.Place("a.b", "c").digest != postgresql_tables.Place("a", "b.c").digest
