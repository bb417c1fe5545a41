"""Options of ``format: jdbc``: where the password comes from, and what keeps a driver from holding a whole table in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.io.input_options import folded
from anon_spark.plans.settings import setting

PASSWORD_ENV, PASSWORD_CONF = "password_env", "password_conf"
"""Options that name where the password is: a variable of the environment, a setting of the session."""
FETCH = "10000"
"""Rows that a driver is asked for at a time; PostgreSQL's takes all of them where nothing is said."""


def is_jdbc(format_: str | None) -> bool:
    """Whether a format is Spark's JDBC source."""
    return (format_ or "").strip().lower() == "jdbc"


def with_password(spark: SparkSession, options: Mapping[str, str], where: str, key: str) -> dict[str, str]:
    """The options with the password in the stead of what names it: ``password_env``, a variable of the environment, or
    ``password_conf``, a setting of the session.

    Raises ConfigurationError where it is not set, or a password stands beside it.
    """
    given = {name: value for name, value in options.items() if name.lower() not in (PASSWORD_ENV, PASSWORD_CONF)}
    named = {option: name for option in (PASSWORD_ENV, PASSWORD_CONF) if (name := folded(options).get(option)) is not None}
    if not named:
        return given
    (option, name), *others = named.items()
    beside = ["password"] * ("password" in folded(given)) + [other for other, _ in others]
    if beside:
        found = " and ".join([*beside, option])
        raise ConfigurationError([Fault(where, f"{key}.options", found, f"{option} alone", "leave the password out of the file")])
    value = os.environ.get(name) if option == PASSWORD_ENV else setting(spark, name, "") or None
    if value is None:
        what = "a variable of the environment" if option == PASSWORD_ENV else "a setting of the Spark session"
        raise ConfigurationError([Fault(where, f"{key}.options.{option}", f"{name!r}, which is not set", what, "set it")])
    return {**given, "password": value}


def for_spark(spark: SparkSession, options: Mapping[str, str], where: str, key: str) -> dict[str, str]:
    """The options as Spark takes them: the password in them, and the driver's class, without which a jar of the session is not found."""
    given = with_password(spark, options, where, key)
    names = folded(given)
    if "driver" not in names and names.get("url", "").startswith("jdbc:postgresql:"):
        given["driver"] = "org.postgresql.Driver"
    return given if "fetchsize" in names else {**given, "fetchsize": FETCH}
