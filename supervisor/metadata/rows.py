"""Inserts that may find their row already there, and lists longer than a statement takes."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from sqlalchemy import Connection, Table, insert
from sqlalchemy.exc import IntegrityError

Row = Mapping[str, object]

_UNIQUE = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, "23505"}
AT_ONCE = 500
"""Values in one list of a statement: a database bounds the variables it binds."""

_insert = lru_cache(insert)  # built once for each table


def chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield every id once, in order, in lists that fit into a statement."""
    every = sorted(set(ids))
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


def insert_unless_taken(connection: Connection, *rows: tuple[Table, Sequence[Row]]) -> bool:
    """Insert all rows, table by table, or none; False if a unique rule refused one.

    A savepoint leaves the caller's transaction usable, which PostgreSQL would else abort.
    """
    try:
        with connection.begin_nested():
            for table, values in rows:
                if values:
                    connection.execute(_insert(table), [dict(value) for value in values])
    except IntegrityError as error:
        if _code(error) in _UNIQUE:
            return False
        raise
    return True


def _code(error: IntegrityError) -> object:
    driver = error.orig
    return getattr(driver, "sqlite_errorcode", None) or getattr(driver, "sqlstate", None)
