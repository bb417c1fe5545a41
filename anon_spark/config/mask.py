"""Credentials out of what is kept of a policy: by the names of options, and inside addresses and queries."""

from __future__ import annotations

import re
from collections.abc import Mapping

MASK = "***"
SECTIONS = ("input", "output", "report", "settings")
"""The sections that may carry credentials; elsewhere a text is a column or a value."""
_SECRET = r"passw|pwd|passphrase|\bpass\b|secret|token|key|credential|authoriz|\bauth\b|signature|\bsas\b|\bsig\b"
_SECRET_NAME = re.compile(rf"(?!password_(?:env|conf)$)(?=.*(?:{_SECRET}))", re.IGNORECASE | re.DOTALL)
"""The name of a variable of the environment, or of a setting, is no secret, its value is."""
_STORE = re.compile(r"(?i)^(?:abfss?|wasbs?)://[^:/@\s]+@")
_USER_INFO = re.compile(r"(?<=://)[^/\s'\"]*@")
_ORACLE = re.compile(r"(?i)(jdbc:oracle:[a-z0-9]+:)[^@\s]+@")
_QUOTED = r"'[^']*'|\"[^\"]*\""
_IN_QUERY = re.compile(rf"(?i)([\w.\-]*(?:{_SECRET})[\w.\-]*['\"]?\s*(?:=>?|:|,)?\s*)({_QUOTED})")
_IN_ADDRESS = re.compile(rf"(?i)([\w.\-]*(?:{_SECRET})[\w.\-]*\s*=\s*)({_QUOTED}|\{{[^}}]*\}}|[^&;,\s'\")]+)")


def masked(policy: Mapping[str, object]) -> dict[str, object]:
    """A copy of a dumped policy without credentials; where it held any, it no longer gives an equal policy."""
    return {name: _section(value) if name in SECTIONS else value for name, value in policy.items()}


def _section(section: object) -> object:
    if not isinstance(section, Mapping):
        return section
    return {name: _options(value) if name == "options" else _text(name, value) for name, value in section.items()}


def _options(options: object) -> object:
    if not isinstance(options, Mapping):
        return options
    return {name: MASK if _SECRET_NAME.match(str(name)) else _text(str(name), value) for name, value in options.items()}


def _text(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    # abfss://container@account holds no credential
    text = value if _STORE.match(value) else _USER_INFO.sub(f"{MASK}@", value)
    text = _ORACLE.sub(rf"\g<1>{MASK}@", text)
    settings = _IN_QUERY if name in ("query", "dbtable") else _IN_ADDRESS
    return settings.sub(rf"\g<1>{MASK}", text)
