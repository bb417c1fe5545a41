"""Reading the text of values, and printing them back."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from anon_spark.domain.values import DAY, Kind, decimal_places, parse, print_scaled, print_timestamp, print_value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("integer", "007", 7),
        ("integer", " -7 ", -7),
        ("integer", "+7", 7),
        ("integer", "7.0", None),
        ("integer", "1_000", None),
        ("integer", "٣", None),
        ("integer", "", None),
        ("decimal", "1.0E12", Decimal(10**12)),
        ("decimal", "-0.0", Decimal(0)),
        ("decimal", "0.05", Decimal("0.05")),
        ("decimal", ".5", Decimal("0.5")),
        ("decimal", "NaN", "NaN"),
        ("decimal", "-Infinity", "-Infinity"),
        ("decimal", "1E99999", None),
        ("decimal", "1,5", None),
        ("date", "1899-12-31", date(1899, 12, 31).toordinal()),
        ("date", "0001-01-01", 1),
        ("date", "1900-02-29", None),
        ("date", "+10000-01-01", None),
        ("date", "19000229", None),
        ("timestamp", "0001-01-01 00:00:01.5", DAY + 1_500_000),
        ("timestamp", "0001-01-01T01:00", DAY + 3_600_000_000),
        ("timestamp", "0001-01-01", DAY),
        ("timestamp", "2020-01-02 24:00:00", None),
        ("timestamp", "2020-01-02 03:04:05Z", None),
        ("boolean", "true", 1),
        ("boolean", "False", 0),
        ("boolean", "yes", None),
        ("text", " 007", " 007"),
    ],
)
def test_parse(kind: Kind, text: str, value: object) -> None:
    found = parse(kind, text)
    assert found == value
    assert (found is None) == (value is None)


@pytest.mark.parametrize(
    ("kind", "text", "printed"),
    [
        ("integer", "-007", "-7"),
        ("decimal", "-0.0", "0.0"),
        ("decimal", "1.50", "1.50"),
        ("decimal", "007.5", "7.5"),
        ("decimal", "5", "5"),
        ("decimal", "1.0E12", "1000000000000.0"),
        ("decimal", "1.0E-7", "0.0000001"),
        ("decimal", "NaN", "NaN"),
        ("date", "0099-01-02", "0099-01-02"),
        ("timestamp", "2020-01-02 03:04:05.500", "2020-01-02 03:04:05.5"),
        ("timestamp", "2020-01-02", "2020-01-02 00:00:00"),
        ("boolean", "TRUE", "true"),
    ],
)
def test_print_value(kind: Kind, text: str, printed: str) -> None:
    value = parse(kind, text)
    assert value is not None
    assert print_value(kind, value, text) == printed
    assert parse(kind, printed) == value


def test_print_timestamp_keeps_micros() -> None:
    assert print_timestamp(DAY + 1) == "0001-01-01 00:00:00.000001"


@pytest.mark.parametrize(
    ("number", "places", "printed"), [(0, 0, "0.0"), (-5, 2, "-0.05"), (1500, 2, "15.0"), (10**12, 0, "1000000000000.0")]
)
def test_print_scaled(number: int, places: int, printed: str) -> None:
    assert print_scaled(number, places) == printed


def test_decimal_places() -> None:
    assert [decimal_places(Fraction(text)) for text in ("5", "0.05", "1/8", "1/3", "100")] == [0, 2, 3, None, 0]
