"""Tables of PostgreSQL as the place of a release: what is there, what a dead run left, and the one transaction that publishes.

A table that is there keeps its grants, indexes, views and policies: its rows are deleted and those of the staged table inserted, in
one transaction. TRUNCATE was refused, and so were renames: a transaction that began to read before either of them would find an empty
table behind it, and a renamed table has none of the old one's grants and views. DELETE and INSERT show every reader the old rows or
the new ones, and nobody waits but who writes. A new table is the staged one, renamed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from anon_spark.domain.counting import some_of
from anon_spark.domain.errors import AuditError, ConfigurationError, Fault
from anon_spark.io.postgresql import Database

KEY = "output.options.dbtable"
MOST_BYTES = 63
"""Of a name; the server would cut longer ones in silence."""
_PART = r'"(?:[^"\0]|"")+"|[^\W\d][\w$]*'
_NAME = re.compile(rf"(?:(?:{_PART})\.)?(?:{_PART})")
_WAIT, _PATIENCE = "60s", "10s"
"""How long a statement waits for those who write the table, and for those who write a staging table that is no longer wanted."""


@dataclass(frozen=True)
class Place:
    """A table by its schema and name."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def quoted(self) -> str:
        """As it is written in a statement."""
        return f"{quote(self.schema)}.{quote(self.name)}"

    @property
    def digest(self) -> str:
        """What its staging tables are known by."""
        return hashlib.sha256(f"{self.schema}\0{self.name}".encode()).hexdigest()

    def staging(self, release_id: str) -> Place:
        """A table of a run's own in the same schema."""
        return Place(self.schema, f"anon_spark_{self.digest[:8]}_{release_id}")


@dataclass(frozen=True)
class Facts:
    """What the server tells of a table. kind: its relkind; parent: whether other tables inherit from it; referred: whether foreign keys
    of other tables name it; columns: by name, with those that the server computes."""

    kind: str
    parent: bool
    referred: bool
    columns: tuple[str, ...]
    computed: tuple[str, ...]


def quote(name: str) -> str:
    """A name of PostgreSQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def place_of(database: Database, dbtable: str, where: str) -> Place:
    """The table that is meant, in the first schema of the search path that has it, else in the current one."""
    if not _NAME.fullmatch(dbtable.strip()):
        raise _fault(where, repr(dbtable), "a table's name, such as schema.table", "put odd names in double quotes")
    parts = [p[1:-1].replace('""', '"') if p.startswith('"') else p.lower() for p in re.findall(_PART, dbtable.strip())]
    if any(len(part.encode()) > MOST_BYTES for part in parts):
        raise _fault(where, repr(dbtable), f"names of at most {MOST_BYTES} bytes", "choose a shorter one")
    what = "the table could not be looked for"
    if len(parts) == 1:
        found = database.run(
            "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.oid = to_regclass(CAST(:name AS text))",
            what,
            name=quote(parts[0]),
        ) or database.run("SELECT current_schema()", what)
        parts.insert(0, str(found[0][0]))
    if not database.run("SELECT 1 FROM pg_namespace WHERE nspname = CAST(:name AS text)", what, name=parts[0]):
        raise _fault(where, f"no schema {parts[0]!r}", "a schema of the database", "make it, or name another")
    return Place(*parts)


def facts_of(database: Database, place: Place) -> Facts | None:
    """What is known of a table; None where there is none."""
    what = "the table could not be looked at"
    rows = database.run(
        "SELECT c.relkind, c.relhassubclass, EXISTS (SELECT 1 FROM pg_constraint k WHERE k.confrelid = c.oid AND k.contype = 'f' "
        "AND k.conrelid <> c.oid), c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = CAST(:schema AS text) AND c.relname = CAST(:name AS text)",
        what,
        schema=place.schema,
        name=place.name,
    )
    if not rows:
        return None
    kind, parent, referred, oid = rows[0]
    columns = database.run(
        "SELECT attname, attgenerated <> '' OR attidentity = 'a' FROM pg_attribute "
        "WHERE attrelid = CAST(:oid AS oid) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        what,
        oid=oid,
    )
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    return Facts(kind, bool(parent), bool(referred), tuple(c[0] for c in columns), tuple(c[0] for c in columns if c[1]))


def refuse_unfit(facts: Facts, place: Place, where: str) -> None:
    """ConfigurationError for a table whose rows one transaction can't exchange without harm to others."""
    if facts.kind not in ("r", "p"):
        raise _fault(where, f"{place}, which is no table of its own", "a table", "choose another name")
    if facts.kind == "r" and facts.parent:
        raise _fault(where, f"{place}, from which other tables inherit", "a table without heirs", "their rows would be deleted with it")
    if facts.referred:
        found = f"{place}, to which other tables refer by foreign keys"
        raise _fault(where, found, "a table without such keys", "their rows could be deleted with the old release")
    if facts.computed:
        raise _fault(where, f"{facts.computed[0]!r} of {place}, which the server computes", "columns of the release", "drop it")


def refuse_columns(facts: Facts, place: Place, names: Sequence[str], where: str) -> None:
    """ConfigurationError where a table's columns are not the release's, in any order."""
    if sorted(facts.columns) != sorted(names):
        advice = "drop the table, and a new one is made; or publish to another"
        raise _fault(where, f"the columns {some_of(facts.columns)} in {place}", f"those of the release: {some_of(names)}", advice)


def refuse_names(names: Sequence[str], where: str) -> None:
    """ConfigurationError for columns that the server could not call by their name."""
    for name in names:
        if len(name.encode()) > MOST_BYTES or "\0" in name:
            raise _fault(where, f"the column {name!r}", f"names of at most {MOST_BYTES} bytes", "rename it in a query")


def lock_number(place: Place) -> int:
    """The number of the advisory lock that a run holds while it writes a table."""
    return int.from_bytes(hashlib.sha256(f"anon-spark\0{place.digest}".encode()).digest()[:8], "big", signed=True)


def take(database: Database, place: Place) -> bool:
    """Take the lock on a table as an output; whether no other run has it."""
    rows = database.run(
        "SELECT pg_try_advisory_lock(CAST(:number AS bigint))", "the output could not be claimed", number=lock_number(place)
    )
    return bool(rows[0][0])


def leftovers(database: Database, place: Place) -> list[Place]:
    """Staging tables of this output."""
    rows = database.run(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = CAST(:schema AS text) AND c.relkind = 'r' AND c.relname ~ CAST(:ours AS text)",
        "what dead runs left could not be looked for",
        schema=place.schema,
        ours=f"^{place.staging('').name}[0-9a-f]{{32}}$",
    )
    return [Place(place.schema, str(row[0])) for row in rows]


def drop(database: Database, staged: Place) -> None:
    """Remove a staging table, if it is there, when those who write it have ended."""
    database.run(f"SET lock_timeout = '{_PATIENCE}'", "a staging table could not be removed")
    database.run(f"DROP TABLE IF EXISTS {staged.quoted}", "a staging table could not be removed")


def exists(database: Database, place: Place) -> bool:
    """Whether a table is there."""
    return bool(database.run("SELECT to_regclass(CAST(:name AS text))", "a table could not be looked for", name=place.quoted)[0][0])


def outlives(database: Database, staged: Place) -> bool:
    """Whether a staging table is still there when those who hold it have ended."""
    what = "the end of a transaction could not be awaited"
    if exists(database, staged):
        database.run("BEGIN", what)
        database.run(f"SET LOCAL lock_timeout = '{_WAIT}'", what)
        # a refusal tells that it has gone by now, which is asked once more
        with suppress(ConfigurationError):
            database.run(f"LOCK TABLE {staged.quoted}", what)
        database.run("ROLLBACK", what)
    return exists(database, staged)


def rename(database: Database, staged: Place, place: Place, own: Sequence[str], names: Sequence[str]) -> None:
    """Make a staged table the new one ``place``, all but the commit. own: the staged columns, names: what they will be called."""
    what = "the release could not be put in place"
    _begin(database, what)
    for ours, name in zip(own, names, strict=True):
        database.run(f"ALTER TABLE {staged.quoted} RENAME COLUMN {quote(ours)} TO {quote(name)}", what)
    database.run(f"ALTER TABLE {staged.quoted} RENAME TO {quote(place.name)}", what)


def exchange(database: Database, staged: Place, place: Place, own: Sequence[str], names: Sequence[str], where: str) -> None:
    """Put the rows of a staged table in the place of all others, compare, drop it: all but the commit.

    Raises AuditError where the table then holds other rows than were audited: a trigger, a rule or a type changed them.
    """
    what = "the release could not be put in place"
    theirs, ours = ", ".join(map(quote, names)), ", ".join(map(quote, own))
    _begin(database, what)
    database.run(f"LOCK TABLE {place.quoted} IN SHARE ROW EXCLUSIVE MODE", what)
    database.run(f"DELETE FROM {place.quoted}", what)
    database.run(f"INSERT INTO {place.quoted} ({theirs}) SELECT {ours} FROM {staged.quoted}", what)
    # what triggers do only at the end would else come behind the comparison
    database.run("SET CONSTRAINTS ALL IMMEDIATE", what)
    counts = database.run(f"SELECT (SELECT count(*) FROM {place.quoted}), (SELECT count(*) FROM {staged.quoted})", what)[0]
    other = database.run(
        f"SELECT count(*) FROM (SELECT {theirs} FROM {place.quoted} EXCEPT ALL SELECT {ours} FROM {staged.quoted}) AS changed", what
    )[0][0]
    if counts[0] != counts[1] or other:
        raise AuditError(
            f"{where}: output: {place} would hold other rows than were audited; has it triggers, rules or narrower types? "
            "Nothing was published"
        )
    database.run(f"DROP TABLE {staged.quoted}", what)


def commit(database: Database) -> None:
    """End the transaction: what it did is seen from here on."""
    database.run("COMMIT", "the release could not be put in place")


def _begin(database: Database, what: str) -> None:
    database.run("BEGIN", what)
    database.run(f"SET LOCAL lock_timeout = '{_WAIT}'", what)
    # rows that a policy hides from this user would stay: better an error
    database.run("SET LOCAL row_security = off", what)


def _fault(where: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, KEY, found, expected, advice)])
