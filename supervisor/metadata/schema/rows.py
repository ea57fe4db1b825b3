"""Insert-if-absent with a savepoint, turns of transactions, and lists too long for a statement."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Insert,
    Integer,
    String,
    Table,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError

Row = Mapping[str, object]
_Id = TypeVar("_Id", str, int)

_UNIQUE = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, "23505"}
AT_ONCE = 500
"""Values in one list of a statement, because a database limits its bound variables."""
JSON_AT_ONCE = 20_000
"""Rows in one JSON text: some 3 MB, well within the timeout of a statement."""
_PLAIN = {String, Integer, BigInteger}

_insert = lru_cache(insert)  # built once for each table


def take_turns(connection: Connection, name: str) -> None:
    """Wait until no other transaction is open that takes turns under this name.

    What is counted then stays, as far as all who add to it take turns.  It locks no row.  Writers
    of SQLite take turns anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def chunks(ids: Iterable[_Id]) -> Iterator[list[_Id]]:
    """Yield every id once, in order, in lists that fit into a statement."""
    every = sorted(set(ids))
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


def insert_unless_taken(connection: Connection, *rows: tuple[Table, Sequence[Row]]) -> bool:
    """Insert all rows, table by table, or none; False if a unique constraint refused one.

    A savepoint keeps the caller's transaction usable.  PostgreSQL would abort it otherwise.
    """
    try:
        with connection.begin_nested():
            for table, values in rows:
                if values:
                    _insert_all(connection, table, values)
    except IntegrityError as error:
        if _code(error) in _UNIQUE:
            return False
        raise
    return True


def _insert_all(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows; a long list of plain rows goes to PostgreSQL as JSON, which the server unpacks.

    As bound values, each value would be a named parameter.  For 216,000 rows of seven columns the
    driver would look up 1.5 million names in the texts of the statements, with the term locked.
    That takes 10.5 s; JSON takes 0.9 s.
    """
    postgresql = connection.dialect.name == "postgresql"
    if not (postgresql and len(rows) > AT_ONCE and _is_plain(table)):
        connection.execute(_insert(table), [dict(row) for row in rows])
        return
    for start in range(0, len(rows), JSON_AT_ONCE):
        some = json.dumps([dict(row) for row in rows[start : start + JSON_AT_ONCE]])
        connection.execute(_insert_json(table), {"some": some})


@lru_cache
def _is_plain(table: Table) -> bool:
    """Return whether JSON can hold each column's values unchanged, and no column has a default."""
    return all(type(c.type) in _PLAIN and c.default is None for c in table.c)


@lru_cache
def _insert_json(table: Table) -> Insert:
    columns = [column(c.name, c.type) for c in table.c]
    rows = func.json_to_recordset(cast(bindparam("some", type_=String), JSON))
    given = rows.table_valued(*columns, name="given").render_derived(with_types=True)
    return insert(table).from_select([c.name for c in table.c], select(given))


def _code(error: IntegrityError) -> object:
    driver = error.orig
    return getattr(driver, "sqlite_errorcode", None) or getattr(driver, "sqlstate", None)


def distinct_values(connection: Connection, of: Column[str]) -> list[str]:
    """Return the different values of an indexed column, sorted: one look into its index for each.

    `SELECT DISTINCT` would read every row.
    """
    values: list[str] = []
    lowest = select(of).order_by(of).limit(1)
    value = connection.execute(lowest).scalar_one_or_none()
    while value is not None:
        values.append(value)
        value = connection.execute(lowest.where(of > value)).scalar_one_or_none()
    return values
