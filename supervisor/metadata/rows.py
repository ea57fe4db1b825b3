"""Inserts that may find their row already there."""

import sqlite3
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Table, insert
from sqlalchemy.exc import IntegrityError

Row = Mapping[str, object]

_UNIQUE = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, "23505"}


def insert_unless_taken(connection: Connection, *rows: tuple[Table, Sequence[Row]]) -> bool:
    """Insert all rows, table by table, or none; False if a unique rule refused one.

    A savepoint leaves the caller's transaction usable, which PostgreSQL would else abort.
    """
    try:
        with connection.begin_nested():
            for table, values in rows:
                if values:
                    connection.execute(insert(table), [dict(value) for value in values])
    except IntegrityError as error:
        if _code(error) in _UNIQUE:
            return False
        raise
    return True


def _code(error: IntegrityError) -> object:
    driver = error.orig
    return getattr(driver, "sqlite_errorcode", None) or getattr(driver, "sqlstate", None)
