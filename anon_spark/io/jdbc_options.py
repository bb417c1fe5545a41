"""Options of ``format: jdbc``: the password out of the environment, and what keeps a driver from holding a whole table in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.io.input_options import folded

PASSWORD_ENV = "password_env"
FETCH = "10000"
"""Rows that a driver is asked for at a time; PostgreSQL's takes all of them where nothing is said."""


def is_jdbc(format_: str | None) -> bool:
    """Whether a format is Spark's JDBC source."""
    return (format_ or "").strip().lower() == "jdbc"


def with_password(options: Mapping[str, str], where: str, key: str) -> dict[str, str]:
    """The options with the password that ``password_env`` names, a variable of the environment, in its stead.

    Raises ConfigurationError where it is not set, or a password stands beside it.
    """
    given = {name: value for name, value in options.items() if name.lower() != PASSWORD_ENV}
    name = folded(options).get(PASSWORD_ENV)
    if name is None:
        return given
    if "password" in folded(given):
        found = f"password and {PASSWORD_ENV}"
        raise ConfigurationError([Fault(where, f"{key}.options", found, f"{PASSWORD_ENV} alone", "leave the password out of the file")])
    value = os.environ.get(name)
    if value is None:
        fault = Fault(where, f"{key}.options.{PASSWORD_ENV}", f"{name!r}, which is not set", "a variable of the environment", "set it")
        raise ConfigurationError([fault])
    return {**given, "password": value}


def for_spark(options: Mapping[str, str], where: str, key: str) -> dict[str, str]:
    """The options as Spark takes them: the password in them, and the driver's class, without which a jar of the session is not found."""
    given = with_password(options, where, key)
    names = folded(given)
    if "driver" not in names and names.get("url", "").startswith("jdbc:postgresql:"):
        given["driver"] = "org.postgresql.Driver"
    return given if "fetchsize" in names else {**given, "fetchsize": FETCH}
