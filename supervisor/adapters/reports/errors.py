"""Errors of SQLite and PostgreSQL as those of a store, by class and code, and never by text.

busy, away, full, I/O         StoreAway       a repeat may succeed
the content of a row          ContentRefused  no repeat ever does
login, rights, schema         StoreRefuses    somebody has to act first
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from supervisor.core.values.errors import MetadataBusy, MetadataUnavailable
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses

__all__ = ["translated"]

_SQLITE_CONTENT = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_TOOBIG,
}
_SQLITE_FIXES = {
    sqlite3.SQLITE_AUTH: "give this user the right to write the file and its folder",
    sqlite3.SQLITE_CORRUPT: "restore the file, or move it away and start a persister",
    sqlite3.SQLITE_ERROR: "start a persister with this TIDEGATE_REPORTS_URL, which migrates it",
    sqlite3.SQLITE_NOTADB: "set TIDEGATE_REPORTS_URL to another file",
    sqlite3.SQLITE_PERM: "give this user the right to write the file and its folder",
    sqlite3.SQLITE_READONLY: "give this user the right to write the file and its folder",
}
_POSTGRES_CONTENT = ("22", "23", "54")
"""Classes of SQLSTATE: data, constraints, and limits such as the size of an index row."""
_POSTGRES_FIXES = {
    "28": "correct the user and the password of TIDEGATE_REPORTS_URL",
    "3D": "create the database, or correct TIDEGATE_REPORTS_URL",
    "3F": "start a persister with this TIDEGATE_REPORTS_URL, which creates the schema",
    "42501": "grant the user all rights on the schema `reports`, or CREATE on the database",
    "42": "start a persister with this TIDEGATE_REPORTS_URL, which migrates it",
}


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of the database as `StoreAway`, `ContentRefused` or `StoreRefuses`."""
    try:
        yield
    except (MetadataBusy, MetadataUnavailable) as error:
        raise _of_driver(error.__cause__ or error) from error
    except DBAPIError as error:
        raise _of_driver(error.orig or error) from error
    except SQLAlchemyError as error:  # no connection became free in time, or a driver is missing
        raise StoreAway(f"the database of reports cannot be used: {_line(error)}") from error
    except (OverflowError, UnicodeError) as error:  # raised before the driver sent anything
        raise ContentRefused(f"no database takes it: {_line(error)}") from error


def _of_driver(error: BaseException) -> StoreAway | ContentRefused | StoreRefuses:
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _of_state(error, state)
    if "DataError" in {kind.__name__ for kind in type(error).__mro__}:
        return ContentRefused(f"the database of reports does not take it: {_line(error)}")
    # A refused login has no SQLSTATE: libpq says only that the server wanted a password.
    login = getattr(error, "pgconn", None)
    if getattr(login, "used_password", False) or getattr(login, "needs_password", False):
        return _refuses(error, _POSTGRES_FIXES["28"])
    return StoreAway(f"the database of reports cannot be reached: {_line(error)}")


def _of_sqlite(error: sqlite3.Error) -> StoreAway | ContentRefused | StoreRefuses:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the driver itself refused a value
        return ContentRefused(f"SQLite does not take it: {_line(error)}")
    kind = code & 0xFF  # the low byte
    if kind in _SQLITE_CONTENT:
        return ContentRefused(f"SQLite does not take it: {_line(error)}")
    if fix := _SQLITE_FIXES.get(kind):
        return _refuses(error, fix)
    return StoreAway(f"the database of reports cannot be used: {_line(error)}")


def _of_state(error: BaseException, state: str) -> StoreAway | ContentRefused | StoreRefuses:
    if state.startswith(_POSTGRES_CONTENT):
        return ContentRefused(f"the database of reports does not take it: {_line(error)}")
    if fix := _POSTGRES_FIXES.get(state) or _POSTGRES_FIXES.get(state[:2]):
        return _refuses(error, fix)
    return StoreAway(f"the database of reports cannot be used now: {_line(error)}")


def _refuses(error: BaseException, fix: str) -> StoreRefuses:
    return StoreRefuses(f"the database of reports refuses: {_line(error)}; {fix}")


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
